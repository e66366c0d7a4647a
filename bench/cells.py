"""
What a second process costs a team, what more teams bring, and how soon another process has the team.

- Two processes of one team against one: Redis commands and CPU of a press. Goals: ≤ 1.1 times both.
- Two and four teams, each with a process of its own, against one. Cores are short where this is measured, so each
  bot is a small machine: it runs for 4 of every 20 ms. Goals: ≥ 1.8 and ≥ 3.4 times the presses of one. With
  `--latency 50` also when Redis and Slack are 50 ms away.
- What a press takes: a bot's CPU and Redis' CPU, which teams share, and of a team's repository the one thread that
  commits, and pushes. A part that is busy for so many milliseconds of a press carries a thousand divided by that in a
  second. The last line on stderr says at how many teams which part is full.
- From a kill (SIGKILL), or a stop (SIGTERM), of the owner to the next owner. Goals: ≤ 8 s, ≤ 1 s. What people say
  meanwhile is heard, each word once, or the benchmark fails.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import redis

from bench.commit import Ours, timed
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, main, share
from bench.rooms import ITEMS, Item, Room, bots
from bench.throughput import CPU, PRESSES, worked
from bench.workspaces import git, workspace
from bot.storage.git.seal import Seal
from bot.storage.git.workspace import GitWorkspace
from bot.storage.team import SANDBOX, prefix
from tests.redis_server import running_redis_server

AT_ONCE = 16
RUNS_SECONDS, RESTS_SECONDS = 0.004, 0.016
TURN_SECONDS = 0.002
COMMANDS, REDIS = "commands", "redis"
UNITS = {PRESSES: "1/s", CPU: "ms", COMMANDS: "", REDIS: "ms"}
WORDS, WORD_SECONDS = 20, 0.5
PUSHES = 10
OWNER = f"{prefix(SANDBOX)}owner"


class Teams:
    """Rooms on one Redis, each with a database of its own, as cells have a Redis of their own."""

    def __init__(self, rooms: Sequence[Room], server: Any, *, are_small: bool) -> None:
        self._rooms = rooms
        self._server = server
        self._are_small = are_small

    async def pressed(self, plan: Plan) -> Figures:
        """16 threads of all teams together, each at its first step."""
        each = plan.size(AT_ONCE, len(self._rooms)) // len(self._rooms)
        items = [[await room.item() for _ in range(each)] for room in self._rooms]
        for room in self._rooms:
            await room.quiet()
        before, presses, cpu = self._counted(), _presses(items), self._cpu()
        began = perf_counter()
        async with slowed(self._rooms if self._are_small else ()):
            steps = plan.size(4, 1)
            await asyncio.gather(
                *(worked(room, some, steps=steps) for room, some in zip(self._rooms, items, strict=True))
            )
        seconds, presses = perf_counter() - began, _presses(items) - presses
        after = self._counted()
        return {
            PRESSES: presses / seconds,
            CPU: 1000 * (self._cpu() - cpu) / presses,
            COMMANDS: (after[0] - before[0]) / presses,
            REDIS: 1000 * (after[1] - before[1]) / presses,
        }

    def _cpu(self) -> float:
        return sum(room.cpu() for room in self._rooms)

    def _counted(self) -> tuple[int, float]:
        """Commands, also those in scripts, and seconds of CPU."""
        told = self._server.info()
        return told["total_commands_processed"], told["used_cpu_user"] + told["used_cpu_sys"]


def _presses(items: Sequence[Sequence[Item]]) -> int:
    return sum(item.presses for some in items for item in some)


@asynccontextmanager
async def slowed(rooms: Sequence[Room]) -> AsyncIterator[None]:
    """Each bot of *rooms* has a fifth of a core, and they take turns."""
    pids = [bot.pid for room in rooms for bot in room.bots]

    async def turns() -> None:
        whole, running = RUNS_SECONDS + RESTS_SECONDS, dict.fromkeys(pids, True)
        while True:
            for number, pid in enumerate(pids):
                may_run = (monotonic() + number * whole / len(pids)) % whole < RUNS_SECONDS
                if running[pid] != may_run:
                    running[pid] = may_run
                    os.kill(pid, signal.SIGCONT if may_run else signal.SIGSTOP)
            await asyncio.sleep(TURN_SECONDS)

    turning = asyncio.create_task(turns())
    try:
        yield
    finally:
        turning.cancel()
        await asyncio.wait({turning})
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@asynccontextmanager
async def teams(
    folder: Path, count: int, *, each: int = 1, are_small: bool = False, latency: float = 0.0
) -> AsyncIterator[Teams]:
    async with AsyncExitStack() as stack:
        url = stack.enter_context(running_redis_server()).url.removesuffix("/0")
        rooms = [
            await stack.enter_async_context(
                bots(folder / str(number), redis_url=f"{url}/{number}", each=each, latency=latency)
            )
            for number in range(count)
        ]
        server = stack.enter_context(redis.Redis.from_url(url))
        yield Teams(rooms, server, are_small=are_small)


async def measure(plan: Plan) -> list[Row]:
    rows: list[Row] = []
    async with teams(plan.folder / "one", 1) as one, teams(plan.folder / "pair", 1, each=2) as pair:
        goals = {COMMANDS: Goal(at_most=1.1), CPU: Goal(at_most=1.1), REDIS: NO_GOAL, PRESSES: NO_GOAL}
        rows += await plan.compare(
            "two processes, one team", floor_is="one process",
            floor=partial(one.pressed, plan), ours=partial(pair.pressed, plan), goals=goals,
        )  # fmt: skip
    for latency in dict.fromkeys((0.0, plan.latency)):
        rows += await scaled(plan, latency)
    rows = [row.with_unit(UNITS[row.metric]) for row in rows]
    took = {row.metric: row.floor for row in rows[:4]}
    rows += _demands(took[CPU], took[REDIS], await committed(plan), await pushed(plan))
    for how, most in ((signal.SIGKILL, 8.0), (signal.SIGTERM, 1.0)):
        seconds = max([await taken_over(plan.folder / f"{how.name} {n}", how) for n in range(plan.rounds)])
        rows.append(
            share(
                "another process has the team",
                f"after {how.name}",
                "s",
                "a second",
                ours=seconds,
                floor=1.0,
                goal=Goal(at_most=most),
            )
        )
    return rows


async def scaled(plan: Plan, latency: float) -> list[Row]:
    """Two and four teams against one, with Redis and Slack *latency* away."""
    rows: list[Row] = []
    folder, away = plan.folder / f"{latency}", f", {1000 * latency:.0f} ms away" if latency else ""
    async with teams(folder / "small", 1, are_small=True, latency=latency) as one:
        for count, least in ((2, 1.8), (4, 3.4)):
            where = folder / f"{count} teams"
            async with teams(where, count, are_small=True, latency=latency) as several:
                rows += await plan.compare(
                    f"{count} teams, small machines{away}", floor_is="one team, one small machine",
                    floor=partial(one.pressed, plan), ours=partial(several.pressed, plan),
                    goals={PRESSES: Goal(at_least=least), COMMANDS: NO_GOAL, CPU: NO_GOAL},
                )  # fmt: skip
    return rows


def _demands(bot: float, server: float, commit: float, push: float) -> list[Row]:
    """How many presses in a second each part carries, against one press a second, which is a busy team."""
    busy = {
        "a process (its core)": bot,
        "one Redis (its core)": server,
        "a repository (one commit after another)": commit,
        "a remote (one push after another)": push,
    }
    print(binding(bot, server, commit, push), file=sys.stderr)
    return [
        share(f"what {part} carries", PRESSES, "1/s", "one press a second", ours=1000 / each, floor=1.0)
        for part, each in busy.items()
    ]


def binding(bot: float, server: float, commit: float, push: float) -> str:
    """From milliseconds of a press, with one press a second of each team."""
    full = {"a process": 1000 / bot, "Redis": 1000 / server}
    (first, teams), (other, more) = sorted(full.items(), key=lambda one: one[1])
    own = min(1000 / commit, 1000 / push)
    return (
        f"A press takes {bot:.1f} ms of a process, {server:.2f} ms of Redis, {commit:.1f} ms of the team's repository"
        f" and {push:.1f} ms of its remote: with one press a second of each team, {first} is full first, at"
        f" {teams:.0f} teams, {other} at {more:.0f}; a repository and its remote are one team's, and carry"
        f" {own:.0f} presses a second."
    )


async def committed(plan: Plan) -> float:
    """Milliseconds in which a team's repository makes no other commit; every second press commits."""
    root = workspace(plan.folder / "committing", ITEMS)
    async with GitWorkspace(root, seal=Seal()) as files:
        took = await timed(Ours(files, root).commit, plan.size(PUSHES, 2))()
    return took["p50"] / 2


async def pushed(plan: Plan) -> float:
    """Milliseconds of one push of one commit to a remote on this disk; every second press commits."""
    root, remote = plan.folder / "pushing", plan.folder / "pushed.git"
    root.mkdir()
    git(root, "init", "--quiet")
    git(plan.folder, "init", "--quiet", "--bare", str(remote))
    took = 0.0
    for number in range(plan.size(PUSHES, 2)):
        git(
            root,
            "-c",
            "user.name=bench",
            "-c",
            "user.email=b@x",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            f"{number}",
        )
        began = perf_counter()
        await asyncio.to_thread(git, root, "push", "--quiet", str(remote), "HEAD:refs/heads/main")
        took += perf_counter() - began
    return 1000 * took / plan.size(PUSHES, 2) / 2


async def taken_over(folder: Path, how: signal.Signals) -> float:
    """Seconds from the end of the owner to the next one, while a person writes twice a second."""
    async with AsyncExitStack() as stack:
        url = stack.enter_context(running_redis_server()).url
        room = await stack.enter_async_context(bots(folder, redis_url=url, each=2))
        client = stack.enter_context(redis.Redis.from_url(url))
        item = await room.item()
        await item.say("before")
        await room.quiet()
        before, owner = client.get(OWNER), _owner(folder)
        began = time.monotonic()
        room.bots[owner].send_signal(how)

        async def word(number: int) -> None:
            await asyncio.sleep(number * WORD_SECONDS)
            await item.say(f"word {number} of many")

        async def taken() -> float:
            while client.get(OWNER) in {None, before}:  # noqa: ASYNC110 -- of another process
                await asyncio.sleep(0.01)
            return time.monotonic() - began

        taking = asyncio.create_task(taken())
        await asyncio.gather(taking, *(word(number) for number in range(WORDS)))
        await item.finish()
        lines = git(folder / "workspace", "grep", "-h", "of many", "HEAD", "--", "*.jsonl").splitlines()
        heard = Counter(json.loads(line)["content"] for line in lines)
        assert heard == {f"word {number} of many": 1 for number in range(WORDS)}, heard
        return taking.result()


def _owner(folder: Path) -> int:
    """Which of the processes said last that it owns the team."""
    logs = sorted(folder.glob("workspace-*.log"))
    return next(number for number, log in enumerate(logs) if "this process owns" in log.read_text("utf-8"))


if __name__ == "__main__":
    main("cells", measure, takes_latency=True)
