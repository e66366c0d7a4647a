"""
How long a message of 40,000 characters takes to be read without a model, in the processor's time: the slowest of twelve
shapes made to be slow. The goal is a fifth of a second, which is no time to a person who sent that much.
"""

from collections.abc import Iterable
from time import process_time

from bench.harness import Goal, Plan, Row, main, share
from bot.content.playbook import load
from bot.domain.catalog.schema import Schema
from bot.domain.specification import reader
from bot.domain.specification.entries import Specification
from bot.domain.specification.said_entries import Here
from bot.shipped import personas_dir, steps_dir

CHARS, QUICK_CHARS = 40_000, 4_000
SECONDS = 0.2
PIECES = ("word ", "a: ", ". ", "A) ", "1. ", "FR-001, ", "\t", "; x: ", "-> ", "❤️", "=", "a, ")


async def measure(plan: Plan) -> list[Row]:
    schema = load(personas_dir(), steps_dir()).schema
    size = plan.size(CHARS, QUICK_CHARS)
    texts = [("requirement: " + piece * size)[:size] for piece in PIECES]
    slowest = max(_seconds(text, schema, range(plan.rounds)) for text in texts)
    what, goal = f"a message of {size:,} characters", Goal(at_most=1)
    return [share(what, "slowest of 12 shapes", "s", f"{SECONDS} s", ours=slowest, floor=SECONDS, goal=goal)]


def _seconds(text: str, schema: Schema, rounds: Iterable[int]) -> float:
    """The best of some rounds."""
    here = Here(schema=schema, specification=Specification(), step_id="01-06", person="U1")
    times = []
    for _ in rounds:
        began = process_time()
        reader.read(text, here)
        times.append(process_time() - began)
    return min(times)


if __name__ == "__main__":
    main("reading", measure)
