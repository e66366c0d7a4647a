"""
`roundtable drill`: holds small meetings with a bot process on this machine, breaks something in the middle of each, and
looks afterwards at what people were promised.

The bot has the operator's settings of storage and content. It talks to the sandbox's Slack, its personas are the
offline ones, and it has no remote: nothing leaves this machine but what goes to the Redis of `REDIS_URL`.
"""

import asyncio
import re
import resource
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from secrets import token_hex
from shutil import copytree, ignore_patterns, rmtree
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

from bot.cli import replay
from bot.cli.demo import CHANNEL, ways
from bot.domain.item import meta
from bot.domain.item.item import generate_slug
from bot.domain.transcript import lines as transcript
from bot.domain.values.text import counted
from bot.errors import BotError, ConfigError, Unavailable
from bot.files import META_BYTES, folder
from bot.record.verify import META
from bot.sandbox import App, Delivery, Sandbox, SandboxMessage, Timing
from bot.settings import PREFIX, Settings, name_of
from bot.slack.manifest import BOT_EVENTS, SCOPES
from bot.storage import redis_check
from bot.storage.git.command import Git
from bot.storage.git.history import EFFECT, ITEM, STEP
from bot.storage.git.repository import STATE
from bot.storage.team import recorded

T = TypeVar("T")

KEPT = frozenset({
    "items_dir",
    "personas",
    "quiet",
    "redact",
    "redelivery_seconds",
    "redis_url",
    "seal_key",
    "steps",
})  # fmt: skip
"""The operator's settings that the bot of a drill has. All others have their defaults."""
STAGING = "--yes-this-is-staging"
PERSON = "ada"
WORDS = (
    "Field workers lose their edits in tunnels. Scope: small",
    "We look for sync, edits and tunnels",
    "Both photos and notes are concerned",
    "Sync has to be through within a minute",
    "About twenty files are touched",
)
FINISH, CONTINUE, RESUME = "finish_step", "continue", "resume"
PATIENCE_SECONDS = 120.0
AGAIN_SECONDS = 3.0
"""After this a button of which nothing came is pressed again."""
RESUME_SECONDS = 20.0
"""After this `/roundtable resume` is typed."""
FELT_SECONDS = 40.0
"""A commit is tried for a quarter of a minute before people are told."""
LISTENING_SECONDS = 60.0
STOP_SECONDS = 15.0
TIMING = Timing(retry_seconds=(0, 1, 3, 10, 20))
"""Slack repeats what was not acknowledged for six minutes; here it does so sooner."""
LOST = re.compile("workspace went back|no longer has the later commits")


class Promise(StrEnum):
    """What has to hold after every fault; the value is the heading of its column."""

    WORDS = "no word lost"
    POSTS = "nothing posted twice"
    STEPS = "steps committed once"
    RECORD = "record verifies"


class DrillResult(NamedTuple):
    """*broken* are sentences by promise. *skipped* says why there was no such drill."""

    fault: str
    broken: Mapping[Promise, tuple[str, ...]] = {}
    skipped: str = ""


class NotPossible(Exception):
    """This fault cannot be caused on this machine, for the reason in the message."""


class BotProcess:
    """`roundtable run`, as an operating system sees it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._listening = asyncio.Event()
        self._said: list[str] = []

    async def start(self) -> None:
        """Returns when it listens. Raises ConfigError with its last words when it does not."""
        self._running = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "run",
            env=self._env, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        self._reading = asyncio.create_task(self._read())
        listening = asyncio.create_task(self._listening.wait())
        await asyncio.wait(
            {listening, self._reading}, timeout=LISTENING_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        listening.cancel()
        if not self._listening.is_set():
            await self.kill()
            raise ConfigError(
                f"The bot of the drill did not start: {' '.join(self._said[-3:]) or 'no reason'}"
            )

    async def kill(self) -> None:
        await self._ended(signal.SIGKILL)

    async def stop(self) -> None:
        """As an orchestrator does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._ended(signal.SIGTERM)
                return
        await self.kill()

    def may_write(self, most: int | None) -> None:
        """
        How large its files may be, in bytes. Raises NotPossible where the system cannot limit another process, and
        TimeoutError when this one has ended.
        """
        if not hasattr(resource, "prlimit"):
            raise NotPossible("this system cannot limit the files of a running process")
        pid = self._running.pid
        try:
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard if most is None else most, hard))
        except ProcessLookupError:
            raise TimeoutError("the bot has ended") from None
        except OSError as error:
            raise NotPossible(f"the files of the bot cannot be limited ({error.strerror})") from error

    async def _ended(self, how: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._running.send_signal(how)
        await self._running.wait()
        await self._reading

    async def _read(self) -> None:
        assert self._running.stderr
        async for row in self._running.stderr:
            self._said = [*self._said[-20:], row.decode("utf-8", "replace").strip()]
            if b"is listening" in row:
                self._listening.set()


@dataclass
class Drill:
    """One meeting of three steps. Something breaks in the second."""

    sandbox: Sandbox
    settings: Settings
    env: Mapping[str, str]
    title: str
    root: str = ""
    said: list[str] = field(default_factory=list)
    """Stamps of what a person said."""
    finished: int = 0

    def __post_init__(self) -> None:
        self.bot = BotProcess(self.env)

    @property
    def slug(self) -> str:
        return generate_slug(self.title)

    @property
    def workspace(self) -> Path:
        return self.settings.workspace

    @property
    def thread(self) -> list[SandboxMessage]:
        return self.sandbox.thread(CHANNEL, self.root)

    async def hold(self, strike: "Strike") -> None:
        await self.bot.start()
        try:
            await self.begin()
            await self.say(WORDS[0])
            await self.finish()
            await self.press(CONTINUE, FINISH)
            await self.say(WORDS[1])
            await strike(self)
            await self.go_on()
            await self.say(WORDS[-1])
            for ts in self.said:
                await self._until(partial(self.heard, ts), "all that was said is acknowledged")
            await self.finish()
        finally:
            await self.bot.stop()

    # --- what people do -------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        await self.sandbox.person(PERSON).slash(CHANNEL, f"/roundtable start {self.title}")
        roots = await self._until(
            lambda: [one for one in self.sandbox.messages(CHANNEL) if one.by_bot and self.title in one.text],
            "the roundtable is opened",
        )
        self.root = roots[-1].ts
        await self._until(lambda: self.newest(FINISH), "the first question")

    async def say(self, text: str, *, arrives: bool = True) -> None:
        """Once; Slack repeats it until it is acknowledged."""
        self.said.append(await self.sandbox.person(PERSON).say(CHANNEL, text, thread_ts=self.root))
        if arrives:
            await self._until(lambda: self.heard(self.said[-1]), f"{text!r} is acknowledged")

    def heard(self, ts: str) -> bool:
        return any(one.acked for one in self.deliveries(ts))

    def deliveries(self, ts: str) -> list[Delivery]:
        return [one for one in self.sandbox.events("message") if one.event.get("ts") == ts]

    async def finish(self) -> None:
        await self.press(FINISH, CONTINUE)
        self.finished += 1

    async def press(self, action: str, then: str) -> None:
        """Again and again, until it has led to a message that offers *then*: a press may get lost with the bot."""

        def led_on() -> bool:
            return self.newest(then) is not None

        until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        await self._until(lambda: self.newest(action) or led_on(), f"{action} is offered")
        while not led_on():
            if asyncio.get_running_loop().time() >= until:
                raise TimeoutError(f"nothing comes of pressing {action}")
            await self.press_once(action)
            with suppress(TimeoutError):
                await self.sandbox.until(led_on, seconds=AGAIN_SECONDS)

    async def press_once(self, action: str) -> None:
        if found := self.newest(action):
            await self.sandbox.person(PERSON).press(found, *ways(found)[action])

    async def go_on(self) -> None:
        """From wherever the meeting is now, to the question of the next step."""
        if not self.newest(CONTINUE):
            await self.press(FINISH, CONTINUE)
        self.finished += 1
        await self.press(CONTINUE, FINISH)

    async def back(self, *, after: str) -> None:
        """The meeting goes on by itself after *after*, or because a person wants it to."""

        def offered() -> object:
            return any(self.newest(one, after=after) for one in (FINISH, CONTINUE, RESUME))

        with suppress(TimeoutError):
            await self.sandbox.until(offered, seconds=RESUME_SECONDS)
            return
        await self.sandbox.person(PERSON).slash(CHANNEL, f"/roundtable resume {self.slug}")
        await self._until(offered, "the meeting is back")

    def newest(self, action: str, *, after: str = "") -> SandboxMessage | None:
        """The newest message of the thread that has buttons, if it offers *action*, and is newer than *after*."""
        offers = [one for one in self.thread if one.actions]
        return offers[-1] if offers and offers[-1].ts > after and action in ways(offers[-1]) else None

    async def _until(self, wanted: Callable[[], T], what: str) -> T:
        try:
            return await self.sandbox.until(wanted, seconds=PATIENCE_SECONDS)
        except TimeoutError:
            raise TimeoutError(f"not within {PATIENCE_SECONDS:.0f} s: {what}") from None


Strike = Callable[[Drill], Awaitable[None]]


# What breaks.


async def kill(drill: Drill) -> None:
    """As soon as it has heard a word, while it finishes a step, and while it says what comes next."""
    await drill.bot.kill()
    await drill.say(WORDS[2], arrives=False)
    await drill.bot.start()
    await drill.say(WORDS[3])
    await drill.press_once(FINISH)
    await drill.bot.kill()
    await drill.bot.start()
    await drill.press(FINISH, CONTINUE)
    await drill.press_once(CONTINUE)
    await drill.bot.kill()
    await drill.bot.start()
    await drill.press(CONTINUE, FINISH)
    drill.finished += 1
    await drill.say(WORDS[4])


async def empty_redis(drill: Drill) -> None:
    """While a step is open, so that what was said in it is in no commit yet."""
    url = drill.settings.redis_url
    if url is None:
        raise NotPossible("REDIS_URL is not set, so there is no Redis to empty")
    before = drill.thread[-1].ts
    try:
        await redis_check.empty(url.get_secret_value())
    except Unavailable as error:
        raise NotPossible(f"Redis cannot be emptied ({error})") from error
    await drill.back(after=before)


async def old_backup(drill: Drill) -> None:
    """A copy of the workspace from before a step that was finished since; `.roundtable` is in no backup of git."""
    with TemporaryDirectory(prefix="roundtable-backup-") as place:
        kept = Path(place) / "workspace"
        copytree(drill.workspace, kept, symlinks=True, ignore=ignore_patterns(STATE))
        await drill.finish()
        await drill.press(CONTINUE, FINISH)
        await drill.say(WORDS[2])
        await drill.bot.stop()
        before = drill.thread[-1].ts
        with folder(drill.workspace) as workspace:
            folders, names = workspace.folders(), workspace.names()
        for name in names:
            (rmtree if name in folders else Path.unlink)(drill.workspace / name)
        copytree(kept, drill.workspace, symlinks=True, dirs_exist_ok=True)
    await drill.bot.start()
    if drill.settings.redis_url is None:  # the store was in `.roundtable`
        await drill.sandbox.person(PERSON).slash(CHANNEL, f"/roundtable resume {drill.slug}")
        await drill.back(after=before)


async def full_disk(drill: Drill) -> None:
    """No file of the bot may grow, as on a full disk. Then there is room again."""
    drill.bot.may_write(0)
    try:
        before = len(drill.thread)
        await drill.say(WORDS[2], arrives=False)
        await drill.press_once(FINISH)

        def felt() -> bool:
            again = any(one.attempts > 1 for one in drill.deliveries(drill.said[-1]))
            return again or any("disk" in one.text for one in drill.thread[before:])

        try:
            await drill.sandbox.until(felt, seconds=FELT_SECONDS)
        except TimeoutError:
            raise NotPossible("a limit on the size of files does not stop the bot from saving here") from None
    finally:
        drill.bot.may_write(None)


FAULTS: Mapping[str, Strike] = {
    "kill -9": kill,
    "empty Redis": empty_redis,
    "old backup": old_backup,
    "full disk": full_disk,
}


# What is promised.


def broken(drill: Drill) -> dict[Promise, tuple[str, ...]]:
    """Found out from outside alone: what stands in Slack, in the files and in git."""
    found = {
        Promise.WORDS: _lost_words(drill),
        Promise.POSTS: _posted_twice(drill),
        Promise.STEPS: _steps(drill),
        Promise.RECORD: _differences(drill),
    }
    return {promise: tuple(_explained(sentences)) for promise, sentences in found.items()}


def _explained(sentences: Iterator[str]) -> Iterator[str]:
    """A record that cannot be read breaks the promise, too."""
    try:
        yield from sentences
    except (BotError, OSError, meta.Corrupt) as error:
        yield str(error)


def _lost_words(drill: Drill) -> Iterator[str]:
    content = replay.item(drill.settings, drill.slug).record.read()
    heard = Counter(str(line.meta.get("message_ts")) for line in transcript.read(content).lines)
    texts = {message.ts: message.text for message in drill.thread}
    for ts in drill.said:
        if heard[ts] != 1:
            yield f"{texts[ts]!r} is {heard[ts]} times in the transcript"


def _posted_twice(drill: Drill) -> Iterator[str]:
    posted = Counter(
        str(message.metadata["event_payload"].get("key"))
        for message in drill.thread
        if message.by_bot and "event_payload" in message.metadata
    )
    yield from (f"{key} is {count} times in the thread" for key, count in posted.items() if count > 1)


def _steps(drill: Drill) -> Iterator[str]:
    """What was lost with the workspace may be missing, if the thread says so."""
    one = replay.item(drill.settings, drill.slug)
    done = meta.read(one.file(one.folder / META, META_BYTES).read(), now="").meta.steps_completed
    told = any(LOST.search(message.text) for message in drill.thread)
    if len(done) < drill.finished and not told:
        yield f"people saw {counted(drill.finished, 'step')} finished, and meta.json has {len(done)}"
    commits = _commits(drill)
    per_step = Counter(step for step, _ in commits if step)
    for step in done:
        if per_step[step] != 1 and not (told and not per_step[step]):
            yield f"step {step} has {counted(per_step[step], 'commit')}"
    effects = Counter(effect for _, effect in commits)
    yield from (f"{effect} was committed {count} times" for effect, count in effects.items() if count > 1)


def _commits(drill: Drill) -> list[tuple[str, str]]:
    """Step and effect of each commit of a step's end and of others; a synthesis names its step, too."""
    shown = "%x1f".join(f"%(trailers:key={name},valueonly,separator=%x2C)" for name in (ITEM, STEP, EFFECT))
    said = Git(drill.workspace).at_once("log", f"--format={shown}%x1f%s")
    if said.code:
        raise ConfigError(f"git log failed: {said.error.strip()}")
    rows = [row.split("\x1f") for row in said.out.splitlines()]
    return [
        (step if ": step " in subject else "", effect)
        for item, step, effect, subject in rows
        if item == drill.slug
    ]


def _differences(drill: Drill) -> Iterator[str]:
    found = replay.verified(replay.item(drill.settings, drill.slug))
    yield from (str(one) for one in found if not one.stands)


# The command.


async def drilled(
    env: Mapping[str, str],
    *,
    workspace: Path | None,
    is_staging: bool = False,
    faults: Mapping[str, Strike] | None = None,
    tell: Callable[[str], None] = lambda _sentence: None,
) -> tuple[DrillResult, ...]:
    """
    Holds a meeting for each fault. Raises ConfigError where there are roundtables already, unless *is_staging*.

    *workspace* is a temporary folder if None. At the end, Redis has no key of ours.
    """
    with ExitStack() as stack:
        if workspace is None:
            workspace = (
                Path(stack.enter_context(TemporaryDirectory(prefix="roundtable-drill-"))) / "workspace"
            )
        settings = Settings.from_env({**_kept(env), "ROUNDTABLE_WORKSPACE": str(workspace.absolute())})
        url = settings.redis_url.get_secret_value() if settings.redis_url else ""
        if not is_staging:
            await _refuse_what_is_in_use(workspace, url)
        try:
            async with _sandbox(recorded(settings.workspace / STATE)) as sandbox:
                results = []
                for name, strike in (FAULTS if faults is None else faults).items():
                    tell(f"{name} …")
                    title = f"Drill {name} {token_hex(3)}"
                    drill = Drill(sandbox, settings, _for_bot(env, settings, sandbox), title)
                    results.append(await _result(name, drill, strike))
                return tuple(results)
        finally:
            if url:
                with suppress(Unavailable):
                    await redis_check.empty(url)


async def _result(name: str, drill: Drill, strike: Strike) -> DrillResult:
    stuck: tuple[str, ...] = ()
    try:
        await drill.hold(strike)
    except NotPossible as error:
        return DrillResult(name, skipped=str(error))
    except TimeoutError as error:
        stuck = (f"the meeting is stuck: {error}",)
    found = broken(drill)
    return DrillResult(name, found | {Promise.STEPS: (*stuck, *found[Promise.STEPS])})


def _for_bot(env: Mapping[str, str], settings: Settings, sandbox: Sandbox) -> dict[str, str]:
    return environment(
        env,
        ROUNDTABLE_WORKSPACE=str(settings.workspace),
        ROUNDTABLE_HEALTH_PORT=str(_free_port()),
        SLACK_API_URL=sandbox.api_url,
        SLACK_BOT_TOKEN=sandbox.bot_token,
        SLACK_APP_TOKEN=sandbox.app_token,
    )


async def _refuse_what_is_in_use(workspace: Path, url: str) -> None:
    with suppress(FileNotFoundError), folder(workspace) as found:
        if found.names():
            raise ConfigError(
                f"{workspace} is not empty. A drill sets its workspace back to an older copy of it: name an empty"
                f" folder, or add {STAGING}."
            )
    if url and await redis_check.is_in_use(url):
        raise ConfigError(
            "The Redis of REDIS_URL holds roundtables. A drill removes them: name another database, or add"
            f" {STAGING}."
        )


@asynccontextmanager
async def _sandbox(team: str) -> AsyncIterator[Sandbox]:
    """Of the *team* that the workspace is for: a bot of another one would refuse it."""
    async with Sandbox(app=App(events=frozenset(BOT_EVENTS)), timing=TIMING) as sandbox:
        sandbox.workspace.team_id = team or sandbox.workspace.team_id
        sandbox.scopes.intersection_update(SCOPES)
        yield sandbox


def environment(env: Mapping[str, str], **more: str) -> dict[str, str]:
    """For the bot: what of *env* is no setting of ours, the settings that are KEPT, and *more*."""
    ours = {name_of(one) for one in Settings.model_fields}
    others = {name: text for name, text in env.items() if name not in ours and not name.startswith(PREFIX)}
    return {**others, **_kept(env), **more}


def _kept(env: Mapping[str, str]) -> dict[str, str]:
    return {name: env[name] for name in map(name_of, KEPT) if name in env}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def is_broken(results: Iterable[DrillResult]) -> bool:
    return any(sentences for one in results for sentences in one.broken.values())


def as_text(results: Iterable[DrillResult]) -> str:
    results = tuple(results)
    width = max(len(one.fault) for one in results)
    rows = ["  ".join((" " * width, *Promise))]
    for one in results:
        if one.skipped:
            rows.append(f"{one.fault:{width}}  not run: {one.skipped}")
            continue
        marks = (f"{'BROKEN' if one.broken[promise] else 'ok':{len(promise)}}" for promise in Promise)
        rows.append("  ".join((f"{one.fault:{width}}", *marks)).rstrip())
    rows += [
        f"{one.fault}, {promise}: {sentence}"
        for one in results
        for promise, sentences in one.broken.items()
        for sentence in sentences
    ]
    return "\n".join(rows)
