"""
Acknowledgements while the bot is busy: 64 turns are running, and each second a step is finished and committed, in a
workspace with 20,000 items.

Floor: the same process, idle. Goal: p99 ≤ 2×. A turn here takes as long as a model would (the post is slow); people
answer as soon as a persona has spoken. What is measured are words in other threads, one message at a time.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bench import seeds
from bench.acknowledge import first_messages
from bench.canned import SLOW_CHANNEL, CannedSlack
from bench.children import accepting, bot_settings, child
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, main, timings
from bench.load import Send, over_http
from bench.workspaces import workspace
from bot.domain.messages.message import Action
from bot.storage.redis import RedisStore
from tests.redis_server import running_redis_server

ITEMS = 20_000
TURNS = 64
TURN_SECONDS = 5.0
COMMIT_SECONDS = 1.0
PAUSE_SECONDS = 0.03
SETTLING_SECONDS = 2.0
FLOOR = "the same, idle"


async def measure(plan: Plan) -> list[Row]:
    items, number = plan.size(ITEMS, 10), plan.size(200, 5)
    root = workspace(plan.folder / "workspace", items)
    log = plan.folder / "bot.log"
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        redis = stack.enter_context(running_redis_server())
        slack = await enter(CannedSlack(post_seconds=plan.size(int(TURN_SECONDS), 0)))
        store = await enter(RedisStore(redis.url))
        settings = bot_settings(slack, root, redis.url, http=True)
        running = await enter(child("-m", "bot", "run", env=settings, log=log))
        port = int(settings["ROUNDTABLE_PORT"])
        await accepting(port, running, log)
        [send] = await enter(over_http(port, 1))

        async def idle() -> Figures:
            return await asked(send, store, number)

        async def busy() -> Figures:
            async with meetings(slack, store, port, turns=plan.size(TURNS, 2)):
                await asyncio.sleep(plan.size(int(SETTLING_SECONDS), 0))
                return await asked(send, store, number)

        return await plan.compare(
            f"message, {plan.size(TURNS, 2)} turns and a commit each second, {items:,} items",
            floor_is=FLOOR, floor=idle, ours=busy, goals={"p50": NO_GOAL, "p99": Goal(at_most=2.0)},
        )  # fmt: skip


async def asked(send: Send, store: RedisStore, number: int) -> Figures:
    """Messages of people in other threads, with pauses in which their effects are performed."""
    seconds = []
    for payload in (await first_messages(store, number)).payloads:
        seconds.append(await send(payload))
        await asyncio.sleep(PAUSE_SECONDS)
    return timings(seconds)


@asynccontextmanager
async def meetings(slack: CannedSlack, store: RedisStore, port: int, *, turns: int) -> AsyncIterator[None]:
    async with over_http(port, turns + 1) as [first, *others], asyncio.TaskGroup() as people:
        tasks = [people.create_task(talk(slack, store, send)) for send in others]
        tasks.append(people.create_task(finish_steps(store, first)))
        yield
        for task in tasks:
            task.cancel()


async def talk(slack: CannedSlack, store: RedisStore, send: Send) -> None:
    """One after the other, each in a thread of its own: discussions are bounded."""
    while True:
        [rt] = seeds.copies(seeds.elaborating(), 1, channel=SLOW_CHANNEL)
        await seeds.saved(store, [rt])
        answered = slack.reply_in(rt.place.thread)
        await send(seeds.words_for(rt, seeds.TO_ONE_PERSONA))
        await answered


async def finish_steps(store: RedisStore, send: Send) -> None:
    while True:
        [rt] = seeds.copies(seeds.discussing(), 1)
        await seeds.saved(store, [rt])
        await send(seeds.press_on(rt, Action.FINISH_STEP))
        await asyncio.sleep(COMMIT_SECONDS)


if __name__ == "__main__":
    main("busy", measure)
