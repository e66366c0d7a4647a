"""
Resuming an item with a transcript of 2,500 lines, when the store has lost it and the workspace is all there is: with
its post and its commit. By the clock, since git does a part of the work. The goal is half a second.
"""

import asyncio
from contextlib import AsyncExitStack
from time import perf_counter

from redis.asyncio import Redis

from bench import seeds
from bench.canned import TEAM
from bench.commit import finished_step
from bench.harness import Goal, Plan, Row, main, share
from bench.parts import Parts, parts
from bench.payloads import PERSON, unique
from bench.turn import slack_elsewhere
from bench.workspaces import workspace
from bot.domain.roundtable.stage import Stage
from bot.domain.values.places import Belonging, Person, Place
from bot.engine.ports import now
from bot.engine.verbs.verb import VerbRequest
from bot.slack import client as slack_client
from bot.storage.team import prefix
from tests.redis_server import running_redis_server

LINES = 2_500
ITEM = "long-item"
SECONDS = 0.5
CHANNEL = "C0RESUME"
RESUME_SECONDS = 30


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
        lines = plan.size(LINES, 100)
        await add_long_item(bot, lines)
        store = await enter(Redis.from_url(redis.url))
        times = []
        for _ in range(plan.rounds):
            await forget_all(store)
            began = perf_counter()
            await resume_item(bot)
            times.append(perf_counter() - began)
        what, goal = f"item with {lines:,} lines: resume", Goal(at_most=1)
        return [share(what, "time", "s", f"{SECONDS} s", ours=min(times), floor=SECONDS, goal=goal)]


async def resume_item(bot: Parts) -> None:
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


async def forget_all(redis: Redis) -> None:
    """Everything; but who owns the team is known again at once, as it would not be after a real flush."""
    owner = (f"{prefix(TEAM)}owner".encode(), f"{prefix(TEAM)}fence".encode())
    if known := [key async for key in redis.scan_iter("roundtable:*") if key not in owner]:
        await redis.delete(*known)


async def add_long_item(bot: Parts, lines: int) -> None:
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


if __name__ == "__main__":
    main("resume", measure)
