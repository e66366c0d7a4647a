"""
What a roundtable asks of the world. Effects are values; the engine performs them in order, one after the other.

An effect's `id` is unique for the item for ever, and names what it does from the outside: the metadata of a post,
the trailer of a commit, the `message_id` of a line. `attempts` counts how often it was begun; `attempted_at` is the
time of the last attempt, `attempted_before` that of the one before, if it may not have ended.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from bot.domain.catalog.taxonomy import Trouble
from bot.domain.discussion.elaboration import TurnKind
from bot.domain.item.artifacts import Edit
from bot.domain.item.meta import MetaChange
from bot.domain.messages.message import Message
from bot.domain.transcript.lines import Line
from bot.domain.values.value import Stored


class Attemptable(Stored):
    id: str = ""
    attempts: int = 0
    attempted_at: str = ""
    attempted_before: str = ""


class OpenThread(Attemptable):
    """
    Post the root message of a new thread, in the channel of the roundtable's place. `reply_url` is where to say
    so if that cannot be.
    """

    kind: Literal["open_thread"] = "open_thread"
    message: Message
    reply_url: str = ""


class ReadThread(Attemptable):
    """
    One bounded read of what people said in the thread without us, *after* a stamp and but for what is *known*.

    `recovering`: we were here before, and lost what was not in git. `quiet`: the thread is our own and new, but
    people may have answered before we knew where it stands. `missed`: we are at work in it, and were away. `lost` are
    the steps that only the thread has, after the workspace went back; None if it did not. `about` is the step of the
    newest known message.
    """

    kind: Literal["read_thread"] = "read_thread"
    recovering: bool = False
    quiet: bool = False
    missed: bool = False
    lost: tuple[str, ...] | None = None
    after: str = ""
    known: tuple[str, ...] = ()
    about: str = ""


class ReadItem(Attemptable):
    """
    Look at the item's folder: progress, quick scan, staleness. `discussing` is the menu after which a discussion
    begins, with the turn limit that meta.json has now.
    """

    kind: Literal["read_item"] = "read_item"
    recovering: bool = False
    discussing: Literal["", "step", "phase"] = ""


class Restore(Attemptable):
    """Bring back the newest meta.json in history that can be read. What follows is as after `ReadItem`."""

    kind: Literal["restore"] = "restore"
    recovering: bool = False


class Post(Attemptable):
    """`late` ones were refused before, and people were told. A `broadcast` also appears in the channel."""

    kind: Literal["post"] = "post"
    message: Message
    late: bool = False
    broadcast: bool = False


class Rewrite(Attemptable):
    """
    Edit our post *ts* to say *message*: a menu that was used, or a card whose subject changed. `late` ones were
    refused before. An edit of a card waits its turn, unless it follows from a press (`pressed`).
    """

    kind: Literal["rewrite"] = "rewrite"
    ts: str
    message: Message
    late: bool = False
    pressed: bool = False


class React(Attemptable):
    """An emoji on a person's message. A courtesy: when it fails, nothing is lost."""

    kind: Literal["react"] = "react"
    ts: str
    emoji: str


class Unreact(Attemptable):
    """Takes our own emoji from a message. When it is not there, that is as good."""

    kind: Literal["unreact"] = "unreact"
    ts: str
    emoji: str


class WorkIndicator(StrEnum):
    """How Slack shows that we are at work."""

    SESSION = "session"
    """Of an agent, with a button that stops it. It lasts until it is taken away."""
    STATUS = "status"
    """Words under the thread. They go with our next post there, and after two minutes."""
    REACTION = "reaction"
    """An emoji on the message that is being answered, which is a `React` and an `Unreact`."""


class ShowWork(Attemptable):
    """Says under the thread that we are at work, in *words* where there is room for some. A courtesy."""

    kind: Literal["show_work"] = "show_work"
    sign: WorkIndicator
    words: str


class ClearWork(Attemptable):
    """Takes *sign* away from under the thread. When it is not there, that is as good."""

    kind: Literal["clear_work"] = "clear_work"
    sign: WorkIndicator


class NameSession(Attemptable):
    """
    Of an app that is declared an agent: its session in the thread gets the *title*, and is *closed* when nothing goes
    on there any more. A courtesy.
    """

    kind: Literal["name_session"] = "name_session"
    title: str
    closed: bool = False


class Tell(Attemptable):
    """Something only *person* sees. `reply_url` is Slack's, if there is one; it is short-lived."""

    kind: Literal["tell"] = "tell"
    person: str
    message: Message
    reply_url: str = ""


class ShareRecord(Attemptable):
    """
    Upload the record into the thread, with the lines that no commit has yet. *asked_at* names the files; *person* is
    told when that cannot be.
    """

    kind: Literal["share_record"] = "share_record"
    person: str
    asked_at: str
    reply_url: str = ""


class Speak(Attemptable):
    """
    Ask the voice of *persona* for entries of the open step; people asked *then*, too, by name: they speak after it. Or
    for what *personas* say in a discussion; each speaks with its own voice where it is alone. *by_other*: the model
    that reviews drafts makes this one.
    """

    kind: Literal["speak"] = "speak"
    persona: str
    task: Literal["draft", "turn"]
    turn: TurnKind = TurnKind.ROUND
    personas: tuple[str, ...] = ()
    by_other: bool = False
    then: tuple[str, ...] = ()


class Survey(Attemptable):
    """Search the workspace's code base, if it holds one, for *keywords*."""

    kind: Literal["survey"] = "survey"
    keywords: tuple[str, ...]


class ReviewDraft(Attemptable):
    """
    Ask another model what is wrong with what is proposed and recorded. Nothing waits for it. *said* are the lines of
    people in the discussion that ended before it.
    """

    kind: Literal["review"] = "review"
    said: tuple[str, ...] = ()


class Then(StrEnum):
    """What waits for a commit. It follows when the commit is done, and when it failed, too: the meeting goes on."""

    NOTHING = ""
    OPENING = "opening"
    STEP = "step"
    SYNTHESIS = "synthesis"
    PHASE = "phase"


class Commit(Attemptable):
    """
    Artifacts, then meta.json, then meeting.jsonl, then one commit: all of it or none.

    `step` is set for a finished step and a discussion, and becomes the trailer `Roundtable-Step`. `snapshot` is the
    text of specification.json; empty leaves the file as it is. `people` are the names that we know, by id. `late` ones
    have failed before, and nothing waits for them any more.
    """

    kind: Literal["commit"] = "commit"
    subject: str
    step: str = ""
    edits: tuple[Edit, ...] = ()
    change: MetaChange = MetaChange()
    lines: tuple[Line, ...] = ()
    snapshot: str = ""
    people: Mapping[str, str] = {}
    then: Then = Then.NOTHING
    late: bool = False


class PushIssue(Attemptable):
    """
    Create an issue for the piece of work *entry* in *repository*, with *labels*; or, with the address of its *issue*,
    renew what is ours in that. *person* asked for it, at *asked_at*; *since* then one may have been created already.
    """

    kind: Literal["push_issue"] = "push_issue"
    person: str
    entry: str
    repository: str
    issue: str = ""
    title: str
    text: str
    labels: tuple[str, ...] = ()
    asked_at: str
    since: str = ""


class ReadIssue(Attemptable):
    """Read again the issue *reference*, with which the item began. *person* asked for it."""

    kind: Literal["read_issue"] = "read_issue"
    person: str
    reference: str


class ReadIssues(Attemptable):
    """Look which of *issues*, by their addresses, were opened or closed *since*. Nothing waits for it."""

    kind: Literal["read_issues"] = "read_issues"
    issues: tuple[str, ...]
    since: str


class MeetPerson(Attemptable):
    """Find out what *person* is called."""

    kind: Literal["meet_person"] = "meet_person"
    person: str


class Log(Attemptable):
    """A trouble that people are not shown."""

    kind: Literal["log"] = "log"
    trouble: Trouble


Effect = Annotated[
    OpenThread
    | ReadThread
    | ReadItem
    | Restore
    | Post
    | Rewrite
    | React
    | Unreact
    | ShowWork
    | ClearWork
    | NameSession
    | Tell
    | ShareRecord
    | Speak
    | Survey
    | ReviewDraft
    | Commit
    | PushIssue
    | ReadIssue
    | ReadIssues
    | MeetPerson
    | Log,
    Field(discriminator="kind"),
]


UNDER_WAY = (Speak, Survey, ReviewDraft, ReadItem)
"""Dropped when people stop or leave; resuming asks for it again."""


def is_opening(effect: Attemptable) -> bool:
    """Whether it is one of those that open a discussion at the same time, without hearing each other."""
    return isinstance(effect, Speak) and effect.task == "turn" and effect.turn is TurnKind.OPENING


def rephrased(outbox: Iterable[Effect], post: str, message: Message) -> tuple[Effect, ...]:
    """The *post*, which has not been tried yet, says *message* at once; words below it are about the same step."""
    return tuple(
        one.but(message=message.but(about=message.about or one.message.about, recorded=one.message.recorded))
        if isinstance(one, Post) and one.id == post
        else one
        for one in outbox
    )
