"""
CPU from the start of the process to its first acknowledgement.

Floor: a process that imports the same libraries, and nothing else. Goal: ≤ 1.5×. Both find their byte code in one
cache that was warmed before, as it is in an image.

CPU of a command of git alone (a hook runs it with each commit), beside a process that loads typer, pydantic and pygit2,
which each of them needs. Goal: ≤ 2.5×.

And the time from SIGTERM to the end of a bot that has nothing to do. Goal: two seconds, over Socket Mode and HTTP.
"""

import ast
import asyncio
import os
import resource
import statistics
import sys
import time
from asyncio.subprocess import DEVNULL
from collections.abc import Iterator
from pathlib import Path

from bench import seeds
from bench.canned import TEAM, CannedSlack
from bench.children import ROOT, bot_settings, child, ready
from bench.harness import Figures, Goal, Plan, Row, main, share
from bench.load import over_http
from bench.workspaces import workspace
from bot.storage.redis import RedisStore
from tests.redis_server import running_redis_server

FLOOR = "importing the same libraries"
NOT_LOADED = ("voices/llm/loading.py", "voices/llm/calling.py", "integrations/agent_server.py")
"""What `roundtable run` does not import; the modules of voices/llm only where a model is configured."""
QUICK = ("trace --message docs/trace.md", "show x/FR-001", "why README.md", "schema entry", "-h")
LIBRARIES_OF_QUICK = "import typer, pygit2, pydantic\nclass Floor(pydantic.BaseModel): at: int"
STOP_MS = 2_000
TICKS = os.sysconf("SC_CLK_TCK")


async def measure(plan: Plan) -> list[Row]:
    cache = (
        {}
        if plan.quick
        else {"PYTHONPYCACHEPREFIX": str(plan.folder / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    )
    with running_redis_server() as redis:
        async with CannedSlack() as slack, RedisStore(redis.url, team=TEAM) as store:
            root = workspace(plan.folder / "workspace", 10)

            async def ours() -> Figures:
                settings = bot_settings(slack, root, redis.url, http=True) | cache
                [rt] = seeds.copies(seeds.discussing(), 1)
                await seeds.saved(store, [rt])
                log, port = plan.folder / "bot.log", int(settings["ROUNDTABLE_PORT"])
                async with child("-m", "bot", "run", env=settings, log=log) as running:
                    await ready(int(settings["ROUNDTABLE_HEALTH_PORT"]), running, log)
                    async with over_http(port, 1) as [send]:
                        await send(seeds.words_for(rt, seeds.TO_ONE_PERSONA))
                    return {"cpu": cpu_of(running.pid)}

            async def bare() -> Figures:
                before = cpu_of_children()
                script = "\n".join(imports())
                bare = await asyncio.create_subprocess_exec(
                    sys.executable, "-c", script, env={**os.environ, **cache}, cwd=ROOT
                )
                assert await bare.wait() == 0, "what the bot imports can be imported"
                return {"cpu": cpu_of_children() - before}

            async def alone(*words: str) -> float:
                took = []
                for _ in range(plan.rounds):
                    before = cpu_of_children()
                    ran = await asyncio.create_subprocess_exec(
                        sys.executable,
                        *words,
                        env={**os.environ, **cache},
                        cwd=ROOT,
                        stderr=DEVNULL,
                        stdout=DEVNULL,
                    )
                    await ran.wait()
                    took.append(cpu_of_children() - before)
                return min(took)

            async def quick(words: str) -> Row:
                ours, floor = await alone("-m", "bot", *words.split()), await alone("-c", LIBRARIES_OF_QUICK)
                return share(
                    words,
                    "CPU",
                    "ms",
                    "typer, pydantic, pygit2",
                    ours=ours,
                    floor=floor,
                    goal=Goal(at_most=2.5),
                )

            async def stopped(*, http: bool) -> Row:
                log, settings = plan.folder / "bot.log", bot_settings(slack, root, redis.url, http=http)
                took = []
                for _ in range(plan.rounds):
                    async with child("-m", "bot", "run", env=settings, log=log) as running:
                        await ready(int(settings["ROUNDTABLE_HEALTH_PORT"]), running, log)
                        began = time.perf_counter()
                        running.terminate()
                        await asyncio.to_thread(running.wait)
                        took.append((time.perf_counter() - began) * 1000)
                what = f"stop when idle, {'HTTP' if http else 'Socket Mode'}"
                goal = Goal(at_most=1)
                ours = statistics.median(took)
                return share(
                    what, "SIGTERM to exit", "ms", "two seconds", ours=ours, floor=STOP_MS, goal=goal
                )

            goals = {"cpu": Goal(at_most=1.5)}
            rows = await plan.compare(
                "start to first ack", floor_is=FLOOR, floor=bare, ours=ours, goals=goals
            )
            rows += [await quick(words) for words in QUICK]
            return [*rows, await stopped(http=False), await stopped(http=True)]


def imports() -> list[str]:
    """Every import of a third-party library, as it is written in the bot."""
    rooms = (
        path
        for path in (ROOT / "bot").rglob("*.py")
        if not path.relative_to(ROOT / "bot").as_posix().startswith(NOT_LOADED)
    )
    return sorted({line for path in rooms for line in _foreign(path)})


def _foreign(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Import(names=names):
                found = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module)):
                found = [module]
            case _:
                continue
        ours = {"bot", "__future__", *sys.stdlib_module_names}
        if any(name.split(".")[0] not in ours for name in found):
            yield ast.unparse(node)


def cpu_of(process: int) -> float:
    """Milliseconds so far, of all its threads; Linux counts in hundredths of a second."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / TICKS


def cpu_of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (spent.ru_utime + spent.ru_stime) * 1000


if __name__ == "__main__":
    main("start", measure)
