"""
Sealing the lines of a transcript, and reading their seals.

The goals are at most 150 µs to seal a line and 60 µs to read one. The floors are the signature of a digest alone, and
reading the lines without their seals.
"""

from collections.abc import Callable
from itertools import count
from time import process_time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, Run, main
from bot.domain.transcript.lines import Line, LinePhase, Source, read
from bot.domain.transcript.seal import Sealer, read_chain

LINES, QUICK_LINES = 2_500, 100
SEALER = Sealer(b"of the benchmark")


async def measure(plan: Plan) -> list[Row]:
    number = plan.size(LINES, QUICK_LINES)
    lines = [said(at) for at in range(number)]
    content, key = SEALER.append(b"", lines), Ed25519PrivateKey.generate()
    more = (b"\n" * times for times in count())  # the same content is read once only
    sealing = await plan.compare(
        f"sealing {number:,} lines",
        floor_is="their signatures alone",
        floor=each(lambda: [key.sign(b"d" * 64) for _ in lines], number),
        ours=each(lambda: SEALER.append(b"", lines), number),
        goals={"cpu": Goal(at_most=4.0)},
        unit="µs",
    )
    reading = await plan.compare(
        f"reading {number:,} sealed lines",
        floor_is="reading them without their seals",
        floor=each(lambda: read(content), number),
        ours=each(lambda: read_chain(content + next(more), SEALER.trusted), number),
        goals={"cpu": NO_GOAL},
        unit="µs",
    )
    return [*sealing, *reading]


def each(work: Callable[[], object], number: int) -> Run:
    """By the processor's time, for one line."""

    async def run() -> Figures:
        began = process_time()
        work()
        return {"cpu": (process_time() - began) / number * 1e6}

    return run


def said(number: int) -> Line:
    """As long as what people say in a step, with an entry."""
    entry = {
        "id": f"FR-{number:03}",
        "kind": "requirement",
        "set": {"title": "Filter by date", "priority": "must"},
    }
    meta = {"message_id": f"C1.{number}", "person": "p-4xk2m7qza3", "entries": [entry]}
    return Line(
        ts=f"2026-03-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        round=number,
        actor="User",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=Source.USER,
        content="We need it for field work, without a network. " * 5,
        meta=meta,
    )


if __name__ == "__main__":
    main("seals", measure)
