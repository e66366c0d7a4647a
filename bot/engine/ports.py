"""
The ports of the engine, with what each call promises. Contract tests check every adapter and every fake.

Adapters translate foreign errors: to `EffectError` (with `again` set when the same call may succeed later) for Chat,
Voices and Workspace, to `Unavailable` and `Conflict` for Store. They do not retry; the engine does.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import IntEnum
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.elaboration import Contribution
from bot.domain.item.item import KnownItem
from bot.domain.item.meta import SlackPlace
from bot.domain.messages.home_page import ReminderSettings
from bot.domain.messages.message import Message
from bot.domain.roundtable.digest import StateChange
from bot.domain.roundtable.effects import Commit, Speak, WorkIndicator
from bot.domain.roundtable.outcomes import (
    CodeSurvey,
    CommitResult,
    DraftQuestion,
    DraftReview,
    ExportNote,
    LoadedItem,
    OpenedThread,
    ThreadMessage,
)
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.exported import ExportEdit
from bot.domain.specification.fold import Patch
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.lines import Line
from bot.domain.values.places import Belonging, Place
from bot.domain.values.timestamps import moment
from bot.engine.evidence_ports import NO_SIGHT, Sight
from bot.errors import BotError
from bot.files import CommittedFiles

Clock = Callable[[], str]
"""The time, as `bot.domain.values.timestamps` reads it."""


def now() -> str:
    return moment(datetime.now(UTC))


class Urgency(IntEnum):
    """What goes first where Slack's limits are short. What people wait for never queues behind what tidies up."""

    ANSWER = 0
    """To a press or a command."""
    SIGN = 1
    """That a press was taken, while what it leads to is being written: another edit of the message follows."""
    POST = 2
    CARD = 3
    """The card that people are at."""
    ROOT = 4
    """The first message of a thread."""
    REACTION = 5
    TIDY = 6
    """What is over, and what is kept current without anybody asking."""

    @property
    def is_waited_for(self) -> bool:
        return self <= Urgency.POST


NOTHING = LastLine()
"""Nothing is known to be committed."""


class ThreadMessages(NamedTuple):
    """Oldest first. Not *complete*: there is more than a few calls can read. *last_line* is that of our newest post."""

    heard: tuple[ThreadMessage, ...]
    complete: bool
    last_line: LastLine = LastLine()


class RootMessage(NamedTuple):
    """A root that we posted for an item, and how it reads."""

    slug: str
    text: str


class ExportFile(NamedTuple):
    """A file that people download."""

    name: str
    title: str
    content: bytes


class Profile(NamedTuple):
    """What Slack says of a person: also the name of their time zone, and their clock in seconds east of UTC."""

    name: str
    belongs: Belonging = Belonging.UNVERIFIED
    zone: str = ""
    offset: int | None = None


class Chat(Protocol):
    # Small signs in a thread: a message was heard, or we are at work. A sign that cannot be shown is no loss.

    async def react(self, place: Place, ts: str, emoji: str) -> None:
        """No error when it is there already."""
        ...

    async def unreact(self, place: Place, ts: str, emoji: str) -> None:
        """No error when it is not there."""
        ...

    async def show(self, place: Place, sign: WorkIndicator, words: str) -> None:
        """
        We are at work in the thread. Shown again, it lasts longer. A passing failure of Slack is no error; that Slack
        never shows the sign here is one.
        """
        ...

    async def clear(self, place: Place, sign: WorkIndicator) -> None:
        """No error when nothing is there."""
        ...

    async def name_session(self, place: Place, title: str, *, closed: bool) -> None:
        """
        The agent's session in the thread is called *title* from now on, and may be over. An error only when Slack never
        has sessions for this app, or when it may be closed later.
        """
        ...

    @property
    def lands_within(self) -> float:
        """Seconds after which a post whose caller died has appeared, or never will."""
        ...

    async def open(self, place: Place, message: Message, *, key: str, again: bool) -> OpenedThread:
        """
        Post *message* to the channel of *place*, as the root of a thread; with a thread in *place*, only find the
        permalink of its root after posting *message* into it.

        *key* goes into the message's metadata. *again* means that an earlier attempt may have succeeded: look for
        the key in the recent messages first, and post only when it is not there.
        """
        ...

    async def post(
        self, place: Place, message: Message, *, key: str, again: bool, broadcast: bool = False
    ) -> str:
        """
        Post into the thread, as the message's speaker; returns the ts of the part that carries the choices (else of
        the first). Long text becomes several messages; with *again*, only the parts that are not there yet. A
        *broadcast* also appears in the channel.
        """
        ...

    async def share(
        self, place: Place, sheets: tuple[ExportFile, ...], comment: Message, *, key: str, again: bool
    ) -> None:
        """
        Upload *sheets* into the thread, below *comment*, which names each of them. With *again*, the comment is looked
        for first.
        """
        ...

    async def rewrite(
        self, place: Place, ts: str, message: Message, *, urgency: Urgency = Urgency.ANSWER
    ) -> None:
        """
        Replace the message *ts*. A message that is gone is no error. Raises Postponed where Slack's limit leaves no
        room for an edit that people do not wait for.
        """
        ...

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        """Only *person* sees it: by the reply URL, else an ephemeral message, else a direct message."""
        ...

    async def read(self, place: Place, *, after: str) -> ThreadMessages:
        """What people, not bots, said in the thread, after the ts *after* if there is one; a few calls at most."""
        ...

    async def root(self, place: Place) -> RootMessage | None:
        """
        The root of the thread at *place*, if we posted it for an item: one call, and nothing that people wrote is
        kept of its answer.
        """
        ...

    async def find_root(self, place: Place, slug: str) -> str:
        """The ts of our newest root for *slug* in the recent messages of the channel, else empty."""
        ...

    async def profile(self, person: str) -> Profile:
        """Their id, unverified, when Slack does not say. Raises EffectError only when a later call may succeed."""
        ...


Noted = Literal["listened", "expired"]
"""That a process hears Slack, and that what is older than the settings keep it was taken out."""


class Store(Protocol):
    """Where the live roundtables are. Every call is bounded in time, and raises Unavailable when it is over."""

    async def get(self, slug: str) -> Roundtable | None:
        """The object that was saved or read here last, while that is what is stored: then nothing has to be read."""
        ...

    async def put(self, roundtable: Roundtable, *, expected: int) -> None:
        """
        Save *roundtable* whole and atomically, if version *expected* is what is stored now (0: nothing is).

        Raises Conflict otherwise. `roundtable.version` must be `expected + 1`. Once this returns, the roundtable
        survives the death of the process, and `at` finds it by its thread.
        """
        ...

    async def at(self, place: Place) -> Roundtable | None:
        """The one held in this thread."""
        ...

    async def in_channel(self, team: str, channel: str) -> tuple[Roundtable, ...]:
        """The roundtables held in a channel, the most recently touched first."""
        ...

    async def unfinished(self, *, quiet_since: str = "", now: str = "") -> tuple[str, ...]:
        """
        Slugs of roundtables with something to perform. What is only tried again counts when there was no input since
        *quiet_since*. A timer counts when it is due at *now*.
        """
        ...

    async def several(self, slugs: Iterable[str]) -> Mapping[str, Roundtable]:
        """As `get`, of those of *slugs* that are stored: asked for once, however many they are."""
        ...

    async def missing(self, slugs: Iterable[str]) -> tuple[str, ...]:
        """Those of *slugs* of which nothing is stored."""
        ...

    async def stages(self) -> Mapping[str, int]:
        """How many roundtables there are in each stage. Slow: for metrics only."""
        ...

    async def held(self) -> tuple[str, ...]:
        """Slugs of the roundtables that are in a thread and not over. Slow: not for every input."""
        ...

    async def noted(self, what: Noted) -> str:
        """When *what* was last noted, in the form of a transcript's `ts`; empty when it never was, or that is lost."""
        ...

    async def note(self, what: Noted, at: str) -> None: ...

    async def first(self, key: str, *, seconds: float, renew: bool = False) -> bool:
        """
        True for one caller alone, in all processes: *key* was not there, and is now kept for *seconds*. With *renew*
        always: it is kept for so long from now.
        """
        ...

    async def people(self) -> dict[str, ReminderSettings]:
        """How people want to be reminded, by person; only those who have said so, or have opened Home."""
        ...

    async def keep_person(self, person: str, settings: ReminderSettings) -> None: ...

    async def ping(self) -> None:
        """Raises Unavailable when the store cannot be used."""
        ...


class OnceMarks(Protocol):
    """The part of the store that says what was done once, in all processes. Raises Unavailable."""

    async def first(self, key: str, *, seconds: float) -> bool:
        """True for one caller only: *key* was not there, and is now kept for *seconds*."""
        ...


class Listing(NamedTuple):
    """
    One item of the workspace, for lists: the thread that meta.json names, and who can see that, if it says.

    Only a `sealed` one was written by us. Others may have been pushed by anyone: nothing is read or posted because of
    them, and a channel is not public because they say so.
    """

    known: KnownItem
    status: str
    steps_completed: int
    team: str
    channel: str
    thread: str
    private: bool | None = None
    sealed: bool = False

    def is_in(self, place: Place) -> bool:
        """Whether meta.json names the channel of *place*."""
        return (self.team, self.channel) == (place.team, place.channel)

    @property
    def hidden(self) -> bool:
        """Whether only its own channel may see it. An item without a channel is no secret."""
        return self.private is not False and bool(self.channel)

    @property
    def is_signed_private(self) -> bool:
        """An item that we signed as private stays hidden, whatever the store says, until we sign it as public."""
        return self.sealed and bool(self.private)

    @property
    def home(self) -> Place | None:
        """Where the item is held, if that is known for certain."""
        return self.named if self.sealed else None

    @property
    def named(self) -> Place | None:
        """The thread that meta.json names, sealed or not."""
        return Place(team=self.team, channel=self.channel, thread=self.thread) if self.thread else None


class Planning(NamedTuple):
    """*files* are those of the plan, by their path in the item's folder; *lines* are the transcript's."""

    files: Mapping[str, str]
    lines: tuple[Line, ...]


class VersionedFile(NamedTuple):
    """A file at one commit; the same *id* is the same content."""

    id: str
    read: Callable[[], bytes]


class ItemVersion(NamedTuple):
    """
    An item at one commit. *author* is empty when the commit is ours. *files* are by path in the item's folder; the file
    that all items share is under its own path.
    """

    sha: str
    author: str
    files: Mapping[str, VersionedFile]


class Workspace(Protocol):
    """
    The git workspace: one folder an item, one commit a step.

    *after* is the last line that was committed of the item. What git still has of a branch that lacks it is put back
    first; else the state is `behind`, and `lost` says so once it is sure that no other clone has it.
    """

    async def items(self) -> tuple[Listing, ...]: ...

    async def backlog(self) -> str:
        """The text of a BACKLOG.md at the top of the workspace; empty when there is none."""
        ...

    async def read(self, slug: str, *, now: str, after: LastLine = NOTHING) -> LoadedItem: ...

    async def files(self, slug: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        """The artifacts that exist, of *paths* (relative to the item's folder, or the shared one)."""
        ...

    async def planning(self, slug: str) -> Planning:
        """What the folder `planning/` of an item holds."""
        ...

    async def people(self) -> Mapping[str, str]:
        """What the people of all items are called, by their ids; a name that is there stays."""
        ...

    async def commit(
        self, slug: str, work: Commit, *, now: str, after: LastLine = NOTHING, home: SlackPlace | None = None
    ) -> CommitResult:
        """
        *home* is where the item is held, as the store has it: it goes into meta.json, sealed, in place of what the
        file says.

        Write the artifacts, then meta.json, then meeting.jsonl, then make one commit: idempotent by content and by
        the ids of the lines, so that after a crash the same call finishes what an earlier one began.
        """
        ...

    async def restore(self, slug: str, *, now: str) -> LoadedItem:
        """
        Bring back the newest meta.json of *slug* that can be read, in a commit; what stood in its place is kept
        beside it. Where there is nothing to bring back, or no need to, only what there is is read.
        """
        ...

    async def survey(self, keywords: tuple[str, ...], *, seconds: float) -> CodeSurvey: ...

    async def ping(self) -> None:
        """Raises WorkspaceError when nothing could be written."""
        ...


# --- files that commits write for other tools -----------------------------------------------------------------------


class FoundFile(NamedTuple):
    """*written* is what we wrote there last, None if we never did. *is_ours*: nobody changed it since."""

    text: str
    written: str | None
    is_ours: bool


class FoundFolder(NamedTuple):
    """The plain files by their paths in the repository. *is_gone*: there were some in a commit of ours."""

    files: Mapping[str, FoundFile]
    is_gone: bool


class DueExports(NamedTuple):
    """*files* are the texts to write, by their paths."""

    files: Mapping[str, str]
    notes: tuple[ExportNote, ...]


class FoundEdits(NamedTuple):
    """*edits* without their authors. *read* gives the `proposal` of each that a text of such a file has."""

    edits: Iterator[ExportEdit]
    read: Callable[[str], Collection[tuple[str, ...]]]


class Exports(Protocol):
    """Raises UserError and WorkspaceError for an item that cannot be read."""

    @property
    def above(self) -> tuple[str, ...]:
        """The folders that only exports are in."""
        ...

    def folders(self, slug: str) -> tuple[str, ...]:
        """Where exports of the item may be, also of the command."""
        ...

    def due(self, slug: str, record: CommittedFiles, look: Callable[[str], FoundFolder]) -> DueExports:
        """What a commit with this *record* writes. *look* finds the folder at a path."""
        ...

    def edits(
        self, slug: str, record: CommittedFiles, look: Callable[[str], Mapping[str, FoundFile]]
    ) -> FoundEdits:
        """What the record has not heard of. *look* finds the files of a folder."""
        ...


# --- what was said --------------------------------------------------------------------------------------------------


class ChangesSince(NamedTuple):
    """`left_off` is where the reader's last words stand, when that is known."""

    since: StateChange
    left_off: str = ""


class Records(Protocol):
    """What was said about an item: the lines in git, and the *pending* ones that are not committed yet."""

    async def sheets(
        self, slug: str, pending: tuple[Line, ...], *, title: str, name: str
    ) -> tuple[ExportFile, ...]:
        """The record to read as text, and as a page for a browser; files called *name*. Raises WorkspaceError."""
        ...

    async def recall(
        self, slug: str, pending: tuple[Line, ...], *, person: str, permalink: str
    ) -> ChangesSince:
        """Everything after the last words of *person*, or from the start if there are none. Raises WorkspaceError."""
        ...


Pay = Callable[[str], Awaitable[None]]
Sweep = Callable[[], Coroutine[Any, Any, None]]


class Wake(Protocol):
    """Durable work with one verb: perform the outbox of *slug*."""

    async def wake(self, slug: str) -> None:
        """
        Some process runs `pay` for *slug* soon, one at a time. A wake during such a run is not lost: the next run sees
        everything that was saved before the wake.
        """
        ...

    async def run(self, pay: Pay, sweep: Sweep | None = None) -> None:
        """Until cancelled, with *sweep* beside it. A run that raises CancelledError by itself is begun again."""
        ...


class Meter:
    """
    Counts what engines, Slack's listeners and the synchronisation do; this one counts nothing. Every call returns at
    once and raises nothing. Inputs, aggregates, effects and outcomes are those of the engine that counts.
    """

    def decided(self, event: Any, before: Any, after: Any) -> None:
        """*event* is saved; or it changed nothing, and *after* is *before*. A new aggregate has no *before*."""

    def refused(self, event: Any, error: BotError) -> None:
        """Nothing of *event* was saved: it made no sense (UserError), or the store did not take it."""

    def conflicted(self) -> None:
        """Another process saved first, and the decision is made again."""

    def performed(self, effect: Any, outcome: Any, *, seconds: float) -> None:
        """*seconds* from the first attempt to the outcome, waits between attempts included."""

    def retried(self, effect: Any) -> None: ...

    def acknowledged(self, door: str, *, taken: bool, seconds: float) -> None:
        """Slack was answered; *taken* says that it need not deliver this again. *door* is the kind of delivery."""

    def handed_over(self, *, answered: bool) -> None:
        """A delivery of Slack was given to the process that owns the team. *answered*: in time."""

    def pushed(self, result: str) -> None:
        """One word: whether the commits are at the remote."""

    def reviewed(self, result: str) -> None:
        """
        `taken`: a review was asked for or sent, and that is saved. `posted` and `changed`: the message of an item.
        `failed`: an effect was refused for good.
        """


NO_METER = Meter()


def kind_of(event: type[Any]) -> str:
    """`SetDepth` is counted as `set_depth`."""
    return _snake_case(event.__name__)


@cache
def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


Facts = Mapping[str, Any]
"""
What a model used, for the line's `meta`: provider, model, tokens_in, tokens_out, tokens_cached, seconds, and cost as a
decimal text. What is unknown is absent.
"""

NO_FACTS: Facts = {}


async def no_files() -> Mapping[str, str]:
    return {}


class VoiceContext(NamedTuple):
    """
    What a voice is given: everything, read only. `files` reads the item's artifacts, for a voice that wants them;
    `sight` is what else it may be shown. `by_other`: by the model that reviews drafts.
    """

    roundtable: Roundtable
    playbook: Playbook
    persona: str
    files: Callable[[], Awaitable[Mapping[str, str]]] = no_files
    sight: Sight = NO_SIGHT
    by_other: bool = False


class Speech(NamedTuple):
    """
    What a persona makes of the answers to the open step. `by_rule`: no model was asked. `patches` are the entries that
    it proposes, None when it did not look for any; `questions` are for people, `next_questions` for the step after this
    one.
    """

    text: str
    facts: Facts = NO_FACTS
    by_rule: bool = False
    patches: tuple[Patch, ...] | None = None
    questions: tuple[DraftQuestion, ...] = ()
    next_questions: tuple[DraftQuestion, ...] = ()


class TurnSpeech(NamedTuple):
    """What personas say in a discussion; nothing when they have nothing to add. `facts` are those of the call."""

    contributions: tuple[Contribution, ...] = ()
    facts: Facts = NO_FACTS
    by_rule: bool = False


class Voices(Protocol):
    """Raises VoiceError; `reason` "context" when the discussion no longer fits, "unstructured" for bad output."""

    async def draft(self, cue: VoiceContext) -> Speech:
        """What a persona makes of the answers to the open step: entries, questions, and a sentence if it has one."""
        ...

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        """What the personas of *asked* say in the running discussion."""
        ...

    async def review(self, cue: VoiceContext) -> tuple[DraftReview, Facts]:
        """By another model than that of the personas, if there is one."""
