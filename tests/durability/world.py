# ruff: noqa: ARG002 -- the ports are wider than what is played here
"""
The world of the simulator: Slack, the store and the workspace, in memory and honest where the engine relies on them.

What survives a process is in `World`; the ports are what one process has of it. Nothing waits, so there is no loop.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, Self

from bot.domain.catalog.agenda import read_quick_scan
from bot.domain.item import meta
from bot.domain.item.meta import SlackPlace
from bot.domain.messages.home_page import DailyMessage, HomePage, ReminderSettings
from bot.domain.messages.message import NO_STEP, Message
from bot.domain.planning.projections import WRITTEN
from bot.domain.roundtable.digest import StateChange
from bot.domain.roundtable.effects import Commit, WorkIndicator
from bot.domain.roundtable.outcomes import (
    ChangedFile,
    CodeSurvey,
    CommitResult,
    ItemState,
    LoadedItem,
    OpenedThread,
    ThreadMessage,
)
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript import lines, open_step
from bot.domain.transcript.last_line import LastLine, last_line
from bot.domain.transcript.lines import Line
from bot.domain.values.places import Belonging, Person, Place
from bot.engine.ports import (
    NOTHING,
    ChangesSince,
    ExportFile,
    Listing,
    Noted,
    Pay,
    Planning,
    Profile,
    Records,
    RootMessage,
    Sweep,
    ThreadMessages,
    Urgency,
)
from bot.errors import Conflict, SlackError, Unavailable, WorkspaceError
from tests.durability.fates import Blind, Fates, Kind, Refused

NAMES = {"ada": "Ada", "grace": "Grace", "linus": "Linus"}
MINUTES_A_MESSAGE = 3
BEGIN = datetime(2026, 1, 1)  # noqa: DTZ001 -- the only clock of this world


class Post(NamedTuple):
    """A message in the thread: a person's when it has no key."""

    ts: str
    message: Message
    key: str = ""
    person: str = ""
    resumed: bool = False
    files: bool = False
    """Nobody said it: the transcript has no line of it."""
    step: str = ""
    """It was posted as the card of this step."""
    token: str = ""
    """Of the menu that it was posted with."""


class Made(NamedTuple):
    effect: str
    step: str
    subject: str


@dataclass
class World:
    """`files` are what is on the disk, `made` the commits, and `waited` the seconds in which timers ran."""

    fates: Fates = field(default_factory=Fates)
    store: dict[str, Roundtable] = field(default_factory=dict)
    thread: list[Post] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    excused: set[str] = field(default_factory=set)
    """What people said while the thread was being opened, or in one that was lost before it had a folder."""
    changed: dict[str, str] = field(default_factory=dict)
    """What stood there before people changed it, by ts."""
    taken_back: set[str] = field(default_factory=set)
    commands: int = 0
    waited: float = 0.0

    def copied(self, fates: Fates) -> Self:
        return replace(
            self, fates=fates, store=dict(self.store), thread=list(self.thread), files=dict(self.files),
            made=list(self.made), said=list(self.said), excused=set(self.excused),
            changed=dict(self.changed), taken_back=set(self.taken_back),
        )  # fmt: skip

    def same_as(self, other: "World") -> bool:
        """Whether everything to come is the same in both."""
        stored = {slug: rt.but(version=0) for slug, rt in self.store.items()}
        return (
            self.thread == other.thread
            and self.files == other.files
            and (self.made, self.said, self.excused) == (other.made, other.said, other.excused)
            and (self.changed, self.taken_back) == (other.changed, other.taken_back)
            and stored == {slug: rt.but(version=0) for slug, rt in other.store.items()}
        )

    def now(self) -> str:
        """Time passes with what is said, so that detours lead to the same world."""
        passed = timedelta(minutes=len(self.thread) * MINUTES_A_MESSAGE, seconds=self.waited)
        return f"{BEGIN + passed:%Y-%m-%dT%H:%M:%S.000Z}"

    def post(self, message: Message, **what: str | bool) -> str:
        ts = f"{1_000_000 + len(self.thread)}.000100"
        step = message.about if message.card and message.about != NO_STEP else ""
        self.thread.append(Post(ts, message, step=step, token=message.token, **what))  # type: ignore[arg-type]
        return ts

    def change(self, text: str | None) -> str:
        """What somebody said last: other words, or None to delete it. Its ts."""
        place, newest = next((n, post) for n, post in reversed(list(enumerate(self.thread))) if post.person)
        self.changed[newest.ts] = newest.message.text
        if text is None:
            self.taken_back.add(newest.ts)
            self.thread[place] = newest._replace(person="", message=Message(text="(deleted)"))
        else:
            self.thread[place] = newest._replace(message=Message(text=text))
        return newest.ts


class SimStore:
    def __init__(self, world: World) -> None:
        self._world = world
        self._firsts: set[str] = set()

    async def get(self, slug: str) -> Roundtable | None:
        return self._world.store.get(slug)

    async def put(self, roundtable: Roundtable, *, expected: int) -> None:
        try:
            self._world.fates.io(Kind.SAVE, lambda: self._put(roundtable, expected))
        except Refused:
            raise Unavailable("no answer in time") from None

    async def at(self, place: Place) -> Roundtable | None:
        return next((rt for rt in self._world.store.values() if rt.place == place), None)

    async def in_channel(self, team: str, channel: str) -> tuple[Roundtable, ...]:
        return tuple(self._world.store.values())

    async def unfinished(self, *, quiet_since: str = "", now: str = "") -> tuple[str, ...]:
        stored = self._world.store.items()
        return tuple(slug for slug, rt in stored if rt.outbox or "" < rt.next_due <= now)

    async def several(self, slugs: Iterable[str]) -> Mapping[str, Roundtable]:
        return {slug: self._world.store[slug] for slug in slugs if slug in self._world.store}

    async def missing(self, slugs: Iterable[str]) -> tuple[str, ...]:
        return tuple(slug for slug in slugs if slug not in self._world.store)

    async def stages(self) -> Mapping[str, int]:
        return {}

    async def held(self) -> tuple[str, ...]:
        return tuple(self._world.store)

    async def noted(self, what: Noted) -> str:
        return ""

    async def note(self, what: Noted, at: str) -> None: ...

    async def first(self, key: str, *, seconds: float, renew: bool = False) -> bool:
        first = renew or key not in self._firsts
        self._firsts.add(key)
        return first

    async def people(self) -> dict[str, ReminderSettings]:
        return {}

    async def keep_person(self, person: str, settings: ReminderSettings) -> None: ...

    async def ping(self) -> None: ...

    def _put(self, roundtable: Roundtable, expected: int) -> None:
        stored = self._world.store.get(roundtable.slug)
        if (stored.version if stored else 0) != expected:
            raise Conflict("somebody else saved first")
        self._world.store[roundtable.slug] = one(roundtable)


class SimWake:
    """Nobody is told: the simulator pays after everything that happens."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def wake(self, slug: str) -> None:
        self._world.fates.io(Kind.WAKE, lambda: None)

    async def run(self, pay: Pay, sweep: Sweep | None = None) -> None:
        raise AssertionError("the simulator pays")


class SimChat:
    """
    Posts carry their key. *again* means that it may stand there already: we look first, and what is on its way lands
    before we look a second time, which is what waiting is for. When Slack does not let us look, it is marked.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    lands_within = 0.0

    async def open(self, place: Place, message: Message, *, key: str, again: bool) -> OpenedThread:
        ts = await self.post(place, message, key=key, again=again)
        self._called(Kind.SLACK)
        root = place.thread or ts
        posted = ts if place.thread else ""
        return OpenedThread(ts=root, permalink=f"https://slack.test/p{root}", posted=posted)

    async def post(
        self, place: Place, message: Message, *, key: str, again: bool, broadcast: bool = False
    ) -> str:
        resumed = False
        if again:
            found, resumed = self._looked(key)
            if found:
                return found
        return self._posted(message, key, resumed=resumed)

    async def share(
        self, place: Place, sheets: tuple[ExportFile, ...], comment: Message, *, key: str, again: bool
    ) -> None:
        found, resumed = self._looked(key) if again else ("", False)
        if not found:
            post = partial(self._world.post, comment, key=key, files=True, resumed=resumed)
            self._called(Kind.POST, post)

    async def rewrite(
        self, place: Place, ts: str, message: Message, *, urgency: Urgency = Urgency.ANSWER
    ) -> None:
        def rewritten() -> None:
            thread = self._world.thread
            thread[:] = [post._replace(message=message) if post.ts == ts else post for post in thread]

        self._called(Kind.EDIT, rewritten)

    async def react(self, place: Place, ts: str, emoji: str) -> None:
        self._called(Kind.SLACK)

    async def unreact(self, place: Place, ts: str, emoji: str) -> None:
        self._called(Kind.SLACK)

    async def show(self, place: Place, sign: WorkIndicator, words: str) -> None:
        self._called(Kind.SLACK)

    async def clear(self, place: Place, sign: WorkIndicator) -> None:
        self._called(Kind.SLACK)

    async def name_session(self, place: Place, title: str, *, closed: bool) -> None:
        self._called(Kind.SLACK)

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        self._called(Kind.SLACK)

    async def read(self, place: Place, *, after: str) -> ThreadMessages:
        self._called(Kind.SLACK)
        said, about = [], ""
        for post in self._world.thread:
            about = about if post.person else post.message.about
            if post.person and post.ts > after:
                who, text = person(post.person), post.message.text
                said.append(ThreadMessage(person=who, text=text, ts=post.ts, about=about))
        return ThreadMessages(tuple(said), complete=True)

    async def root(self, place: Place) -> RootMessage | None:
        self._called(Kind.SLACK)
        return None

    async def find_root(self, place: Place, slug: str) -> str:
        self._called(Kind.SLACK)
        return ""

    async def profile(self, person: str) -> Profile:
        self._called(Kind.SLACK)
        return Profile(NAMES.get(person, person), Belonging.MEMBER, offset=0)

    async def members(self, channel: str) -> frozenset[str]:
        return frozenset()

    async def is_shared(self, channel: str) -> bool | None:
        return None

    async def name_or_id(self, person: str) -> str:
        return person

    async def publish_home(self, person: str, page: HomePage, *, urgency: Urgency) -> None: ...

    async def send_daily(self, person: str, message: DailyMessage, *, key: str) -> None: ...

    def _looked(self, key: str) -> tuple[str, bool]:
        """Where it stands, and whether nobody knows."""
        try:
            for _ in range(2):
                if found := self._called(Kind.LOOK, lambda: self._stands(key)):
                    return found, False
                self._world.fates.land()
        except Blind:
            return "", True
        return "", False

    def _stands(self, key: str) -> str:
        return next((post.ts for post in self._world.thread if post.key == key), "")

    def _posted(self, message: Message, key: str, *, resumed: bool) -> str:
        return self._called(Kind.POST, lambda: self._world.post(message, key=key, resumed=resumed))

    def _called(self, kind: Kind, act: Callable[[], str | None] = lambda: "") -> str:
        try:
            return self._world.fates.io(kind, act) or ""
        except Refused:
            raise SlackError("Slack did not answer in time.", reason="timeout", again=True) from None


class SimRecords(Records):
    def __init__(self, world: World) -> None:
        self._world = world

    async def sheets(
        self, slug: str, pending: tuple[Line, ...], *, title: str, name: str
    ) -> tuple[ExportFile, ...]:
        held = lines.append(self._world.files.get(MEETING, b""), pending)
        return (ExportFile(f"{name}.jsonl", title, held),)

    async def recall(
        self, slug: str, pending: tuple[Line, ...], *, person: str, permalink: str
    ) -> ChangesSince:
        return ChangesSince(StateChange(is_said=bool(pending)))


META, MEETING = "meta.json", "planning/meeting.jsonl"


class SimWorkspace:
    """Every file is one write, whole or not at all; if one is refused, none is changed. The branch moves last."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def items(self) -> tuple[Listing, ...]:
        return ()

    async def backlog(self) -> str:
        return ""

    async def read(self, slug: str, *, now: str, after: LastLine = NOTHING) -> LoadedItem:
        return LoadedItem(state=self._state(now) if META in self._world.files else None)

    async def restore(self, slug: str, *, now: str) -> LoadedItem:
        return await self.read(slug, now=now)

    async def files(self, slug: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        return {path: self._world.files[path].decode() for path in paths if path in self._world.files}

    async def people(self) -> Mapping[str, str]:
        return {}

    async def planning(self, slug: str) -> Planning:
        files = {path: self._world.files[path].decode() for path in WRITTEN if path in self._world.files}
        return Planning(files, lines.read(self._world.files.get(MEETING, b"")))

    async def survey(self, keywords: tuple[str, ...], *, seconds: float) -> CodeSurvey:
        return CodeSurvey()

    async def ping(self) -> None: ...

    async def commit(
        self, slug: str, work: Commit, *, now: str, after: LastLine = NOTHING, home: SlackPlace | None = None
    ) -> CommitResult:
        try:
            if all(made.effect != work.id for made in self._world.made):
                self._write(work, now)
        except Refused:
            raise WorkspaceError("The disk is full.", reason="disk_full", again=True) from None
        touched = tuple(ChangedFile(path=edit.path) for edit in work.edits)
        known = last_line(self._world.files.get(MEETING, b""))
        return CommitResult(state=self._state(now), sha=work.id, touched=touched, last_line=known)

    def _write(self, work: Commit, now: str) -> None:
        before = dict(self._world.files)
        try:
            self._write_files(work, now)
        except Refused:
            self._world.files = before
            raise
        self._world.fates.io(
            Kind.REF, lambda: self._world.made.append(Made(work.id, work.step, work.subject))
        )

    def _write_files(self, work: Commit, now: str) -> None:
        for edit in work.edits:
            before = self._world.files.get(edit.path)
            after = edit.apply(None if before is None else before.decode())
            self._replace(edit.path, after.encode())
        before = self._world.files.get(META)
        raw = meta.read(before, now=now).raw if before else {}
        self._replace(META, meta.write(meta.apply(raw, work.change)).encode())
        self._replace(MEETING, lines.append(self._world.files.get(MEETING, b""), work.lines))

    def _replace(self, path: str, content: bytes) -> None:
        self._world.fates.io(Kind.FILE, lambda: self._world.files.__setitem__(path, content))

    def _state(self, now: str) -> ItemState:
        files = self._world.files
        known = meta.read(files[META], now=now).meta
        rows = files.get(MEETING, b"").splitlines()
        held = lines.ending(reversed(rows))
        return ItemState(
            meta=known,
            said=open_step.answers(reversed(rows), done=known.steps_completed),
            scan=read_quick_scan(files.get("quick-scan.md", b"").decode()),
            last_round=held.last.round if held.last else 0,
            last_ts=held.last.ts if held.last else "",
            heard=held.heard,
            artifacts=tuple(sorted(path for path in files if path.endswith(".md") and "/" not in path)),
        )


def one(roundtable: Roundtable) -> Roundtable:
    """`quickly` makes equal states one object here."""
    return roundtable


def person(who: str) -> Person:
    return Person(id=who, name=NAMES.get(who, ""))
