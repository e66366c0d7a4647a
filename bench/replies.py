"""
Events to threaded replies in a second, over Socket Mode, 16 at a time.

Floor: slack-machine with one plugin that answers in the thread, and saves nothing. What we say is a persona's, and all
of it is saved on the way. Goal: at least as many.
"""

import asyncio
import os
import subprocess
import sys
from contextlib import AsyncExitStack
from time import perf_counter

from bench import seeds
from bench.canned import CannedSlack
from bench.children import BOT_APP, PEER_APP, bot_settings, child
from bench.harness import Figures, Goal, Plan, Row, main
from bench.load import over_sockets
from bench.workspaces import workspace
from bot.domain.roundtable.state import Roundtable
from bot.slack.transport import CONNECTIONS
from bot.storage.redis import RedisStore
from tests.redis_server import running_redis_server

FLOOR = "slack-machine, which saves nothing"
AT_ONCE = 16
PEER_PYTHON = "BENCH_PEER_PYTHON"
"""In the environment: the Python that has slack-machine, if it is another one."""
REPLY_SECONDS = 60


async def measure(plan: Plan) -> list[Row]:
    python = os.environ.get(PEER_PYTHON, sys.executable)
    if await asyncio.to_thread(lacks_machine, python):
        print("slack-machine is not installed: use bench/run, which installs it", file=sys.stderr)
        return []
    number = plan.size(400, 8)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        redis = stack.enter_context(running_redis_server())
        slack = await enter(CannedSlack())
        store = await enter(RedisStore(redis.url))
        env = bot_settings(slack, workspace(plan.folder / "workspace", 10), redis.url, http=False)
        await enter(child("-m", "bot", "run", env=env, log=plan.folder / "bot.log"))
        peer = {"SLACK_API_URL": slack.api_url, "SLACK_APP_TOKEN": PEER_APP}
        await enter(child("-m", "bench.peer", env=peer, log=plan.folder / "peer.log", python=python))
        await slack.connected(BOT_APP, sockets=CONNECTIONS)
        await slack.connected(PEER_APP, sockets=1)

        async def ours() -> Figures:
            held = seeds.copies(seeds.elaborating(), number)
            await seeds.saved(store, held)
            return await replies(slack, BOT_APP, held)

        async def machine() -> Figures:
            return await replies(slack, PEER_APP, seeds.copies(seeds.elaborating(), number))

        goals = {"per second": Goal(at_least=1.0)}
        return await plan.compare(
            "replies", floor_is=FLOOR, floor=machine, ours=ours, goals=goals, unit="1/s"
        )


def lacks_machine(python: str) -> bool:
    return bool(
        subprocess.run([python, "-c", "import machine"], stderr=subprocess.DEVNULL, check=False).returncode
    )


async def replies(slack: CannedSlack, app: str, held: list[Roundtable]) -> Figures:
    left = iter(held)
    [send, *_] = over_sockets(slack, app, 1)

    async def person() -> None:
        for rt in left:
            answered = slack.reply_in(rt.place.thread)
            await send(seeds.words_for(rt, seeds.TO_ONE_PERSONA))
            await answered

    began = perf_counter()
    async with asyncio.timeout(REPLY_SECONDS):
        await asyncio.gather(*(person() for _ in range(AT_ONCE)))
    return {"per second": len(held) / (perf_counter() - began)}


if __name__ == "__main__":
    main("replies", measure)
