"""
Resuming an item with a transcript of 10,000 lines, when the store has lost it and the workspace is all there is.

Floor: reading that file and decoding every line of it with msgspec, into all its fields. Goal: ≤ 3×.
Beside it, what touches the whole file later: `roundtable replay` reads it, and the next finished step adds to it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec  # type: ignore[import-not-found, unused-ignore]
from redis.asyncio import Redis

from bench import seeds
from bench.canned import TEAM
from bench.commit import finished_step
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, Run, main
from bench.parts import Parts, parts
from bench.payloads import PERSON, unique
from bench.turn import slack_elsewhere
from bench.workspaces import ITEMS_DIR, workspace
from bot.domain.roundtable.stage import Stage
from bot.domain.transcript import lines as transcript
from bot.domain.values.places import Belonging, Person, Place
from bot.engine.ports import now
from bot.engine.verbs.verb import VerbRequest
from bot.slack import client as slack_client
from bot.storage.tasks import name_for
from tests.redis_server import running_redis_server

LINES = 10_000
ITEM = "long-item"
FLOOR = "reading and decoding it with msgspec"
CHANNEL = "C0RESUME"
RESUME_SECONDS = 30


Work = Callable[[], Awaitable[None]]


FIELDS = [(name, str) for name in ("ts", "actor", "phase", "role", "source", "content", "content_type")]
Decoded = msgspec.defstruct("Decoded", [*FIELDS, ("round", int), ("meta", dict[str, Any])])


async def measure(plan: Plan) -> list[Row]:
    """Before each resume the store forgets everything, which is not counted."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        redis = stack.enter_context(running_redis_server())
        client = await enter(
            slack_client.opened("xoxb-bench", api_url=await enter(slack_elsewhere(plan.folder)))
        )
        root = workspace(plan.folder / "workspace", 10)
        bot = await enter(parts(client, redis.url, root))
        file = await long_item(bot, root, plan.size(LINES, 100))
        what, floor = f"item with {plan.size(LINES, 100):,} lines", timed(lambda: decoded(file))
        forget = partial(forgotten, await enter(Redis.from_url(redis.url)))
        rows: list[Row] = []
        for does, ours, goal in (
            ("resume", timed(lambda: resumed(bot), before=forget), Goal(at_most=3.0)),
            ("replay reads it", timed(lambda: replayed(file)), NO_GOAL),
            ("a step adds to it", timed(lambda: added(file)), NO_GOAL),
        ):
            goals = {"time": goal}
            rows += await plan.compare(f"{what}: {does}", floor_is=FLOOR, floor=floor, ours=ours, goals=goals)
        return rows


async def nothing() -> None:
    pass


def timed(work: Work, *, before: Work = nothing) -> Run:
    async def run() -> Figures:
        await before()
        began = perf_counter()
        await work()
        return {"time": (perf_counter() - began) * 1000}

    return run


async def decoded(file: Path) -> None:
    decode = msgspec.json.Decoder(Decoded).decode
    await in_thread(lambda: [decode(row) for row in file.read_bytes().splitlines()])


async def resumed(bot: Parts) -> None:
    """Until the roundtable is in its thread again with an empty outbox: taken up, read, posted, committed."""
    key, place = f"resume.{unique()}", Place(team=TEAM, channel=CHANNEL)
    person = Person(id=PERSON, name="Ada", belongs=Belonging.MEMBER)
    await bot.desk.ask(VerbRequest(verb="resume", rest=ITEM, place=place, person=person, key=key, at=now()))
    ended = bot.payments.of(ITEM)
    async with asyncio.timeout(RESUME_SECONDS):
        while (rt := await bot.store.get(ITEM)) is None or rt.outbox:
            await ended.wait()
            ended.clear()
    assert rt.stage is not Stage.STALLED, "it was given up on the way"


async def replayed(file: Path) -> None:
    await in_thread(lambda: transcript.read(file.read_bytes()))


async def forgotten(redis: Redis) -> None:
    """Everything of the store; the queue of work stays, as it would not after a real flush."""
    work = name_for(TEAM).encode()
    if known := [key async for key in redis.scan_iter("roundtable:*") if not key.startswith(work)]:
        await redis.delete(*known)


async def added(file: Path) -> None:
    await in_thread(lambda: transcript.append(file.read_bytes(), finished_step(ITEM, 1).lines))


async def in_thread(work: Callable[[], object]) -> None:
    """As the bot does it, so that both include the cost of a thread."""
    await asyncio.to_thread(work)


async def long_item(bot: Parts, root: Path, lines: int) -> Path:
    """One commit with all of it, into a file that looks as if it had grown: people and personas in turn."""
    spoken, chance = (*seeds.discussing().lines, *seeds.elaborating().lines), seeds.chance(1)
    some = (spoken[number % len(spoken)] for number in range(lines))
    many = (
        line.but(
            content=seeds.prose(chance, words=30),
            round=max(line.round, spoken[-1].round),
            meta={**line.meta, "message_id": f"long.{number}"},
        )
        for number, line in enumerate(some)
    )
    await bot.files.commit(ITEM, finished_step(ITEM, 0).but(lines=tuple(many)), now=now())
    return root / ITEMS_DIR / ITEM / "planning" / "meeting.jsonl"


if __name__ == "__main__":
    main("resume", measure)
