"""
What can happen to a roundtable: commands of people, and outcomes of effects. Both come in by the same door.

Every input has a `key`: the same key twice is one input. Keys of people's inputs are made of content that Slack
repeats unchanged (channel and ts, trigger id, menu token), outcomes are keyed by their effect.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bot.domain.catalog.steps import Depth
from bot.domain.discussion.elaboration import Fate, SealedPosition
from bot.domain.item.item import Item
from bot.domain.messages import agent_wording, attendance_wording, discussion_wording, trouble_wording
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.outcomes import Attachment, Event, Outcome
from bot.domain.specification.fold import Patch
from bot.domain.values.places import ChannelKind, Person, Place


class ByPerson(Event):
    """`not_now` tells the person that it makes no sense at this point."""

    person: Person
    not_now: ClassVar[str] = ""


class Request(ByPerson):
    """Does what a button does: a policy may keep it from some people."""


class Start(ByPerson):
    """
    Begin a roundtable on *item* at *place*; a thread there already is adopted. *planning* begins with the step of
    the plan, on what the *brief* says, if there is one: what the person knows already. *participants* are ids of people
    who are asked to take part, *due* is when answers are, and *personas* and *depth* are chosen in place of the
    channel's.
    """

    item: Item
    place: Place
    room: ChannelKind = ChannelKind.UNKNOWN
    reply_url: str = ""
    planning: bool = False
    brief: str = ""
    participants: tuple[str, ...] = ()
    due: str | None = None
    personas: tuple[str, ...] = ()
    depth: Depth | None = None


class Say(ByPerson):
    """
    A person wrote *text* in the thread, as message *ts*. *private* is None where it was not said who can see it, and
    *under_us* where it was not said whether the root of the thread is a post of ours. *to_us*: it begins with our
    mention, which is not in *text*.
    """

    kind: Literal["say"] = "say"
    text: str
    ts: str
    private: bool | None = None
    under_us: bool | None = None
    to_us: bool = False
    files: tuple[Attachment, ...] = ()


class Press(Request):
    """A person pressed a button of the message *ts*, which carried the menu's `token` and a `value` of its own."""

    action: str
    token: str
    ts: str
    value: str = ""


class SetDepth(Request):
    """`ts` is that of the message that asked for it in the thread, if one did; so it is in `Stop` and `Plan`."""

    not_now = trouble_wording.NO_DEPTH_NOW
    depth: Depth
    ts: str = ""


class Amend(ByPerson):
    """A person edited the message *ts*."""

    kind: Literal["amend"] = "amend"
    text: str
    ts: str


class Retract(ByPerson):
    """A person deleted the message *ts*."""

    kind: Literal["retract"] = "retract"
    ts: str


Undecided = Annotated[Say | Amend | Retract, Field(discriminator="kind")]
"""What waits until a post is answered: words, and what became of them meanwhile."""


class Stop(Request):
    not_now = trouble_wording.NOTHING_RUNNING
    ts: str = ""


class Mute(Request):
    """The personas shall be quiet, or speak again."""

    muted: bool


class Resume(Request):
    """Go on where the roundtable stopped. `place` is where it was asked for."""

    place: Place
    room: ChannelKind = ChannelKind.UNKNOWN
    reply_url: str = ""


class Export(Request):
    """Put the record so far into the thread. `reply_url` is where to say so if that cannot be."""

    reply_url: str = ""


class Plan(Request):
    """Open the step of the plan. `place` is where it was asked for."""

    not_now = trouble_wording.NO_PLANNING_NOW
    place: Place
    room: ChannelKind = ChannelKind.UNKNOWN
    reply_url: str = ""
    ts: str = ""


class Specify(Request):
    """
    A person changed entries by a form, a menu or a typed command. `key` is made of the view or the press.

    `revisions` are the numbers of the last changes that this person saw, as in {"FR-003.priority": 2}; what is not in
    there is changed without asking. Ids of new entries are a wish: they get the next free number. `step_id` is the
    step that new entries belong to; empty means the current one.
    """

    patches: tuple[Patch, ...]
    revisions: Mapping[str, int] = {}
    step_id: str = ""


class MarkMessage(ByPerson):
    """
    A person marked the message *ts*, by the form or by a reaction; *words* are theirs, if they gave some. *removed*:
    they took that mark back.
    """

    ts: str
    mark: MarkKind
    words: str = ""
    is_reaction: bool = False
    removed: bool = False


class AnswerDirectly(ByPerson):
    """A person answered the open step *step_id* from a direct message. Everybody in the thread reads it."""

    not_now = agent_wording.STEP_IS_OVER
    step_id: str
    text: str


class AnswerQuestion(ByPerson):
    """A person answered the recorded question *entry* from a direct message."""

    entry: str
    text: str


class SetDue(Request):
    """A person chose in a form when answers are *due*."""

    not_now = attendance_wording.NO_DUE_NOW
    due: str


class RecordDecision(Request):
    """
    A person recorded a decision by a form. `option` is a letter, or empty; without `words` its text is the decision.
    `fates` are what becomes of open objections, by id. `deciders` are the ids of those whom the person named as who
    decided; without any it is the person.
    """

    not_now = discussion_wording.NO_DISCUSSION
    option: str = ""
    words: str = ""
    reason: str = ""
    revisit: str = ""
    fates: Mapping[str, Fate] = {}
    deciders: tuple[str, ...] = ()


class NameOption(Request):
    """A person named an option by a form. *is_own*: they are for it, and `why` may say the reason."""

    not_now = discussion_wording.NO_DISCUSSION
    words: str
    why: str = ""
    is_own: bool = False


class RaiseObjection(Request):
    not_now = discussion_wording.NO_DISCUSSION
    words: str
    settle: str = ""


class SettleObjection(Request):
    """What became of the objection *entry*, for a reason."""

    not_now = discussion_wording.NO_DISCUSSION
    person: Person
    entry: str
    fate: Fate
    because: str


class SealPosition(Request):
    """Given privately. *is_answered*: the person is told by what they gave it with."""

    not_now = discussion_wording.NO_DISCUSSION
    position: SealedPosition
    is_answered: bool = False


class CreateIssues(Request):
    """
    A person chose in a form which pieces of work (ids) become issues in *repository*, by default the first. New ones
    get these *labels*.
    """

    entries: tuple[str, ...]
    repository: str = ""
    labels: tuple[str, ...] = ()


class AgentAsked(Event):
    """
    A coding agent asks the team, for the person *owner*. The key is made of agent, item and words, so that the same
    question is asked once. `about` are ids of entries.
    """

    agent: str
    owner: str
    text: str
    options: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


class AgentWithdrew(Event):
    """*agent* takes back its question *entry*."""

    agent: str
    entry: str


class IssueChanged(Event):
    """A tracker says that the issue at this address is not what it was."""

    issue: str


class TryAgain(Event):
    """Some time has passed since something could not be saved, or said."""


class TimeCame(Event):
    """The timer *name* is due, as it was set for the moment *due*."""

    name: str
    due: str


class ChannelGone(Event):
    """The channel was *archived*, or the bot was removed from it."""

    archived: bool = False


class ChannelMoved(Event):
    """Slack gave the channel another id, *channel*; messages before the stamp *ts* had the old one."""

    channel: str
    ts: str


class PersonChanged(Event):
    """*person* has another name now, or belongs to the workspace in another way."""

    person: Person


class Returned(Event):
    """The bot was away since *since*, for longer than Slack repeats what it could not deliver."""

    since: str


Command = (
    Start
    | Say
    | Amend
    | Retract
    | Press
    | SetDepth
    | Stop
    | Mute
    | Resume
    | Export
    | Plan
    | Specify
    | MarkMessage
    | AnswerDirectly
    | AnswerQuestion
    | SetDue
    | RecordDecision
    | NameOption
    | RaiseObjection
    | SettleObjection
    | SealPosition
    | CreateIssues
)
OfPrograms = AgentAsked | AgentWithdrew | IssueChanged
Input = (
    Command
    | OfPrograms
    | TryAgain
    | TimeCame
    | Returned
    | ChannelGone
    | ChannelMoved
    | PersonChanged
    | Outcome
)
