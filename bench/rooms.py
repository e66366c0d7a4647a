"""
People and bots on the sandbox's sockets, with everything noted the moment people would see it.

The sandbox runs in the process that measures; every bot is a process of its own, and may be another checkout's: `bench`
is always this one, and what it runs is that one's.
"""

import asyncio
import subprocess
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TypeVar
from urllib.parse import urlsplit

from bench.children import ROOT, child, cpu_seconds
from bench.workspaces import git, workspace
from bot.slack.transport import CONNECTIONS
from slack_sandbox import Sandbox, SandboxMessage, SandboxPerson
from slack_sandbox.changes import ChangeKind, SandboxChange
from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE
from tests.all_steps import all_steps
from tests.e2e.meeting import CHANNEL, sandbox, ways
from tests.ports import free_port

T = TypeVar("T")

ITEMS = 100
"""In the workspace before anybody begins."""
PATIENCE_SECONDS = 90.0
QUIET_SECONDS = 0.3
AGAIN_SECONDS = 15.0
PRESSED_AGAIN = 6
READY_SECONDS = 60.0
READ_BYTES = 65_536
WHO = ("ada", "grace", "linus")
FINISH, CONTINUE = "finish_step", "continue"
MOST_MENUS = 4
"""Between a step and the next one, at the end of a phase."""

_titles = count(1)


class Room:
    """One sandbox. *bots* are the processes that are connected to it."""

    def __init__(self, slack: Sandbox) -> None:
        self.slack = slack
        self.bots: list[subprocess.Popen[bytes]] = []
        self._signs: dict[str, asyncio.Future[float]] = {}
        self._menus: dict[str, dict[str, SandboxMessage]] = defaultdict(dict)
        self._roots: list[str] = []
        self._watching: set[asyncio.Future[None]] = set()
        slack.workspace.watch(self._changed)

    async def opened(self, text: str) -> str:
        """A thread that a person began: its root."""
        return await self.slack.person("ada").say(CHANNEL, text)

    async def item(self, channel: str = CHANNEL) -> "Item":
        """A roundtable whose first step is open."""
        before, title = len(self._roots), f"Offline sync {next(_titles)}"
        await self.slack.person("ada").slash(channel, f"/roundtable start {title}")
        await self.until(lambda: len(self._roots) > before, what=f"the root of {title!r}")
        item = Item(self, self._roots[before], channel)
        await item.offered(FINISH)
        return item

    async def sign_for(self, root: str, text: str, *, who: str) -> float:
        """Seconds from a word in the thread to the app's first reaction on it."""
        began = perf_counter()
        ts = await self.slack.person(who).say(CHANNEL, text, thread_ts=root)
        sign = self._signs[ts] = asyncio.get_running_loop().create_future()
        async with asyncio.timeout(PATIENCE_SECONDS):
            at: float = await sign
            return at - began

    def cpu(self) -> float:
        """Seconds that the bots have used so far."""
        return sum(cpu_seconds(one.pid) for one in self.bots)

    async def quiet(self) -> None:
        """Returns when the app has not called Slack for a moment: what was measured before is over."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            calls = -1
            while calls != len(self.slack.calls):
                calls = len(self.slack.calls)
                await asyncio.sleep(QUIET_SECONDS)

    async def until(
        self,
        wanted: Callable[[], T | None],
        *,
        what: str,
        root: str = "",
        seconds: float = PATIENCE_SECONDS,
    ) -> T:
        """Looks again when people see something new."""
        try:
            async with asyncio.timeout(seconds):
                while not (found := wanted()):
                    changed = asyncio.get_running_loop().create_future()
                    self._watching.add(changed)
                    await changed
        except TimeoutError:
            raise TimeoutError(
                f"not within {seconds:g} s: {what}. {self._story(root) if root else ''}"
            ) from None
        return found

    def _story(self, root: str) -> str:
        """For who looks for the reason: the end of the thread, and what single people were told."""
        thread = [
            f"{one.ts} {one.text[:80]!r} {one.actions}" for one in self.slack.thread(CHANNEL, root)[-6:]
        ]
        told = [one.text[:80] for name in WHO for one in self.slack.person(name).ephemerals[-3:]]
        refused = [f"{call.method}: {call.error}" for call in self.slack.calls if call.error]
        failed = [one.error for one in self.slack.deliveries if one.error]
        return f"Thread: {thread}. Told: {told}. Refused: {refused[-5:]}. Not delivered: {failed[-5:]}."

    def menus(self, root: str) -> Iterable[SandboxMessage]:
        """What can be pressed in a thread, the newest message first."""
        return sorted(self._menus[root].values(), key=lambda one: float(one.ts), reverse=True)

    def _changed(self, change: SandboxChange) -> None:
        if change.kind is ChangeKind.REACTED and change.user == self.slack.bot_user_id:
            sign = self._signs.pop(change.detail["ts"], None)
            if sign and not sign.done():
                sign.set_result(perf_counter())
        elif change.kind in {ChangeKind.POSTED, ChangeKind.EDITED} and change.message:
            self._shown(change.message)
        elif change.kind is ChangeKind.DELETED and change.before:
            self._menus[change.before.root_ts].pop(change.before.ts, None)

    def _shown(self, message: SandboxMessage) -> None:
        if not message.by_bot or message.only_for:
            return
        if not message.is_reply and message.ts not in self._roots:
            self._roots.append(message.ts)
        if message.actions:
            self._menus[message.root_ts][message.ts] = message
        else:
            self._menus[message.root_ts].pop(message.ts, None)
        watching, self._watching = self._watching, set()
        for one in watching:
            if not one.done():
                one.set_result(None)


class Item:
    """One roundtable of a room, and how people get through its steps."""

    def __init__(self, room: Room, root: str, channel: str = CHANNEL) -> None:
        self.root = root
        self.channel = channel
        self.presses = 0
        self._room = room

    async def offered(self, action: str, *, since: str = "0") -> SandboxMessage:
        what = f"{action} is offered"
        return await self._room.until(lambda: self._offering(action, since=since), what=what, root=self.root)

    async def say(self, text: str, *, who: str = "grace") -> None:
        """Until it was heard."""
        await self._room.sign_for(self.root, text, who=who)

    async def write(self, text: str, *, who: str = "grace") -> None:
        """Without waiting for a reaction."""
        await self._room.slack.person(who).say(self.channel, text, thread_ts=self.root)

    async def finish(self) -> float:
        """Seconds from the press to the menu: the step is written and committed by then."""
        card = await self.offered(FINISH)
        began = perf_counter()
        await self._press(card, FINISH, until=partial(self._offering, CONTINUE, since=card.ts))
        return perf_counter() - began

    async def go_on(self) -> None:
        """To the next step; at the end of a phase through the phase's menu."""
        menu = await self.offered(CONTINUE)
        for _ in range(MOST_MENUS):
            menu = await self._press(menu, CONTINUE, until=partial(self._next_after, menu))
            if FINISH in ways(menu):
                return
        raise AssertionError(f"no step follows in {self.root}")

    async def _press(
        self, message: SandboxMessage, action: str, *, until: Callable[[], SandboxMessage | None]
    ) -> SandboxMessage:
        """Where it led to. Whoever is told that it could not be saved presses again; it counts once."""
        self.presses += 1
        for _ in range(PRESSED_AGAIN):
            await self._ada.press(message, *ways(message)[action])
            with suppress(TimeoutError):
                what = f"what {action} leads to"
                return await self._room.until(until, what=what, root=self.root, seconds=AGAIN_SECONDS)
        raise TimeoutError(f"{action} in {self.root} led to nothing")

    @property
    def _ada(self) -> SandboxPerson:
        return self._room.slack.person("ada")

    def _next_after(self, pressed: SandboxMessage) -> SandboxMessage | None:
        step = self._offering(FINISH, since=pressed.ts)
        menu = self._offering(CONTINUE, since=pressed.ts)
        if step and step.ts != pressed.ts:
            return step
        return menu if menu and _offer(menu) != _offer(pressed) else None

    def _offering(self, action: str, *, since: str) -> SandboxMessage | None:
        found = (one for one in self._room.menus(self.root) if action in ways(one))
        return next((one for one in found if float(one.ts) >= float(since)), None)


def _offer(menu: SandboxMessage) -> tuple[str, tuple[str, ...]]:
    """Where people can press what: a card is edited in place."""
    return menu.ts, tuple(f"{one['action_id']} {one.get('value', '')}" for one in menu.elements)


@asynccontextmanager
async def room(people: Iterable[User] = PEOPLE, *, rate_limits: bool = False) -> AsyncIterator[Room]:
    async with sandbox(people, rate_limits=rate_limits) as slack:
        yield Room(slack)


@asynccontextmanager
async def bots(
    folder: Path,
    *,
    checkout: Path = ROOT,
    clones: int = 1,
    each: int = 1,
    redis_url: str = "",
    has_remote: bool = False,
    more: Mapping[str, str] | None = None,
    people: Iterable[User] = PEOPLE,
    rate_limits: bool = False,
    latency: float = 0.0,
) -> AsyncIterator[Room]:
    """
    A room with *clones* of one workspace and *each* so many processes on it, all connected. With *rate_limits* the
    sandbox has those of Slack, and the bots keep them. Slack and Redis are *latency* away, there and back.
    """
    first, remote = _prepared(folder, has_remote=has_remote)
    roots = [first] if clones == 1 else [folder / f"clone-{number}" for number in range(clones)]
    async with AsyncExitStack() as stack:
        made = await stack.enter_async_context(room(people, rate_limits=rate_limits))
        if latency:
            slack = made.slack.slack
            slack.base_url = await stack.enter_async_context(distant(slack.base_url, latency))
            redis_url = redis_url and await stack.enter_async_context(distant(redis_url, latency))
        for root in roots:
            for number in range(each):
                env = {
                    **_settings(made.slack, root),
                    **({"REDIS_URL": redis_url} if redis_url else {}),
                    **({"ROUNDTABLE_REMOTE": str(remote)} if has_remote else {}),
                    **({"BENCH_SPEED": "1"} if rate_limits else {}),
                    **of(checkout, folder),
                    **(more or {}),
                }
                log = folder / f"{root.name}-{number}.log"
                run = child("-P", "-m", "bench.measured", "run", env=env, log=log)
                made.bots.append(await stack.enter_async_context(run))
        await made.slack.until(
            lambda: made.slack.connections >= CONNECTIONS * len(made.bots), seconds=READY_SECONDS
        )
        yield made


@asynccontextmanager
async def distant(url: str, latency: float) -> AsyncIterator[str]:
    """The address of a way to *url* that takes half of *latency* in each direction."""
    there = urlsplit(url)

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(READ_BYTES):
                asyncio.get_running_loop().call_later(latency / 2, writer.write, data)
        asyncio.get_running_loop().call_later(latency / 2, writer.close)

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, on = await asyncio.open_connection(there.hostname, there.port)
        await asyncio.gather(carry(reader, on), carry(back, writer))

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield there._replace(netloc=f"127.0.0.1:{server.sockets[0].getsockname()[1]}").geturl()
    finally:
        server.close()


def _prepared(folder: Path, *, has_remote: bool) -> tuple[Path, Path]:
    folder.mkdir(parents=True)
    first, remote = workspace(folder / "workspace", ITEMS), folder / "remote.git"
    if has_remote:
        git(folder, "clone", "--quiet", "--bare", str(first), str(remote))
    return first, remote


def of(checkout: Path, folder: Path) -> dict[str, str]:
    """The environment in which `bench` is this one's, and everything else is *checkout*'s."""
    if checkout == ROOT:
        return {"PYTHONPATH": str(ROOT)}
    only_bench = folder / "only-bench"
    only_bench.mkdir(parents=True, exist_ok=True)
    if not (only_bench / "bench").exists():
        (only_bench / "bench").symlink_to(ROOT / "bench", target_is_directory=True)
    return {"PYTHONPATH": f"{only_bench}:{checkout}"}


def _settings(slack: Sandbox, root: Path) -> dict[str, str]:
    return {
        "SLACK_API_URL": f"{slack.slack.base_url}/api/",
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "ROUNDTABLE_WORKSPACE": str(root),
        "ROUNDTABLE_PORT": str(free_port()),
        "ROUNDTABLE_HEALTH_PORT": str(free_port()),
        "ROUNDTABLE_STEPS": all_steps(),
    }
