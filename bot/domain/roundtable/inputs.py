"""
What can happen to a roundtable: commands of people, and outcomes of effects. Both come in by the same door.

Every input has a `key`: the same key twice is one input. Keys of people's inputs are made of content that Slack
repeats unchanged (channel and ts, trigger id, menu token), outcomes are keyed by their effect.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from bot.domain.catalog.steps import Depth
from bot.domain.discussion.elaboration import Fate, SealedPosition
from bot.domain.item.item import Item
from bot.domain.messages.message import Action
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.outcomes import Attachment, Event, Outcome
from bot.domain.specification.entries import Patch
from bot.domain.values.places import ChannelKind, Person, Place


class Start(Event):
    """
    Begin a roundtable on *item* at *place*; a thread there already is adopted. *planning* begins with the planning
    workshop, on what the *brief* says, if there is one: what the person knows already. *participants* are ids of people
    who are asked to take part, *due* is when answers are, and *personas* and *depth* are chosen in place of the
    channel's.
    """

    item: Item
    place: Place
    person: Person
    room: ChannelKind = ChannelKind.UNKNOWN
    reply_url: str = ""
    planning: bool = False
    brief: str = ""
    participants: tuple[str, ...] = ()
    due: str | None = None
    personas: tuple[str, ...] = ()
    depth: Depth | None = None


class Say(Event):
    """
    A person wrote *text* in the thread, as message *ts*. *private* is None where it was not said who can see it, and
    *under_us* where it was not said whether the root of the thread is a post of ours.
    """

    kind: Literal["say"] = "say"
    person: Person
    text: str
    ts: str
    private: bool | None = None
    under_us: bool | None = None
    files: tuple[Attachment, ...] = ()


class Press(Event):
    """A person pressed a button of the message *ts*, which carried the menu's `token` and a `value` of its own."""

    person: Person
    action: Action
    token: str
    ts: str
    value: str = ""


class Finish(Event):
    person: Person


class SetDepth(Event):
    """`ts` is that of the message that asked for it in the thread, if one did; so it is in `Stop` and `Plan`."""

    person: Person
    depth: Depth
    ts: str = ""


class Amend(Event):
    """A person edited the message *ts*."""

    kind: Literal["amend"] = "amend"
    person: Person
    text: str
    ts: str


class Retract(Event):
    """A person deleted the message *ts*."""

    kind: Literal["retract"] = "retract"
    person: Person
    ts: str


Undecided = Annotated[Say | Amend | Retract, Field(discriminator="kind")]
"""What waits until a post is answered: words, and what became of them meanwhile."""


class Stop(Event):
    person: Person
    ts: str = ""


class Mute(Event):
    """The personas shall be quiet, or speak again."""

    person: Person
    muted: bool


class Resume(Event):
    """Go on where the roundtable stopped. `place` is where it was asked for."""

    person: Person
    place: Place
    room: ChannelKind = ChannelKind.UNKNOWN
    reply_url: str = ""


class Export(Event):
    """Put the record so far into the thread. `reply_url` is where to say so if that cannot be."""

    person: Person
    reply_url: str = ""


class Plan(Event):
    """Hold the planning workshop on the item, or go on with it. `place` is where it was asked for."""

    person: Person
    place: Place
    room: ChannelKind = ChannelKind.UNKNOWN
    reply_url: str = ""
    ts: str = ""


class Specify(Event):
    """
    A person changed entries by a form, a menu or a typed command. `key` is made of the view or the press.

    `revisions` are the numbers of the last changes that this person saw, as in {"FR-003.priority": 2}; what is not in
    there is changed without asking. Ids of new entries are a wish: they get the next free number. `step_id` is the
    step that new entries belong to; empty means the current one.
    """

    person: Person
    patches: tuple[Patch, ...]
    revisions: Mapping[str, int] = {}
    step_id: str = ""


class MarkMessage(Event):
    """
    A person marked the message *ts*, by the form or by a reaction; *words* are theirs, if they gave some. *removed*:
    they took that mark back.
    """

    person: Person
    ts: str
    mark: MarkKind
    words: str = ""
    is_reaction: bool = False
    removed: bool = False


class AnswerDirectly(Event):
    """A person answered the open step *step_id* from a direct message. Everybody in the thread reads it."""

    person: Person
    step_id: str
    text: str


class AnswerQuestion(Event):
    """A person answered the recorded question *entry* from a direct message."""

    person: Person
    entry: str
    text: str


class SetDue(Event):
    """A person chose in a form when answers are *due*."""

    person: Person
    due: str


class RecordDecision(Event):
    """
    A person recorded a decision by a form. `option` is a letter, or empty; without `words` its text is the decision.
    `fates` are what becomes of open objections, by number. `replaces` are lines of decisions. `deciders` are the ids of
    those whom the person named as who decided; without any it is the person.
    """

    person: Person
    option: str = ""
    words: str = ""
    reason: str = ""
    revisit: str = ""
    fates: Mapping[int, Fate] = {}
    replaces: tuple[str, ...] = ()
    deciders: tuple[str, ...] = ()


class NameOption(Event):
    """A person named an option by a form. *is_own*: they are for it, and `why` may say the reason."""

    person: Person
    words: str
    why: str = ""
    is_own: bool = False


class RaiseObjection(Event):
    person: Person
    words: str
    settle: str = ""


class SettleObjection(Event):
    """What became of an objection, for a reason."""

    person: Person
    number: int
    fate: Fate
    because: str


class SealPosition(Event):
    """Given privately. *is_answered*: the person is told by what they gave it with."""

    person: Person
    position: SealedPosition
    is_answered: bool = False


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
    | Finish
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
)
OfSlack = ChannelGone | ChannelMoved | PersonChanged
Input = Command | TryAgain | TimeCame | Returned | OfSlack | Outcome
