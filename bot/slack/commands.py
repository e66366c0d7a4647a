"""The verbs of slash commands, mentions and the message shortcut, and the port that carries them out."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Protocol

from bot.domain.catalog.steps import Depth
from bot.domain.item.item import item_from
from bot.domain.messages import discussion_wording, start_form
from bot.domain.messages.form import InputForm, Submission, SubmissionResult
from bot.domain.messages.message import Action, Message
from bot.domain.reviews.notice import AskReview
from bot.domain.roundtable.inputs import (
    Amend,
    ChannelGone,
    ChannelMoved,
    Export,
    MarkMessage,
    Mute,
    PersonChanged,
    Plan,
    Press,
    Resume,
    Retract,
    Say,
    SetDepth,
    Start,
    Stop,
)
from bot.domain.values.places import ChannelKind, Person, Place
from bot.domain.values.text import one_line
from bot.errors import UserError

Reply = Message | None
"""An answer to only the person who asked; None when there is nothing to say."""


class CommandHandler(Protocol):
    """
    When a method returns, the input is saved; only then is Slack's delivery acknowledged. A UserError is shown to the
    person as it is. After any other error an event is not acknowledged, so Slack delivers it again.

    A *reference* names an item as people do. When it is empty, the thread says which item is meant; outside a thread
    the reply may be a picker.
    """

    async def start(self, start: Start) -> Reply: ...

    async def resume(self, resume: Resume, reference: str) -> Reply: ...

    async def resume_at_home(self, resume: Resume, slug: str) -> None:
        """From the Home tab, which says what became of it."""
        ...

    async def say(self, place: Place, said: Say, *, mentioned: bool = False) -> Reply:
        """A message in any thread. *mentioned*: it mentions us, and expects an answer."""
        ...

    async def amend(self, place: Place, amend: Amend) -> Reply:
        """A message in any thread was edited. Rarely, this arrives before the message itself."""
        ...

    async def retract(self, place: Place, retract: Retract) -> Reply:
        """A message was deleted, by its author or an admin: Slack does not say which."""
        ...

    async def press(self, place: Place, press: Press) -> Reply: ...

    async def form(self, place: Place, person: Person, action: Action, subject: str) -> InputForm:
        """The form that a button opens, from the store alone: the person's trigger lasts three seconds."""
        ...

    async def submit(self, submission: Submission) -> SubmissionResult:
        """A form was submitted. A UserError leaves it open."""
        ...

    async def start_submitted(
        self, submission: Submission, *, team: str, room: ChannelKind
    ) -> SubmissionResult:
        """The form that starts a roundtable was submitted. *room* is the kind of its channel."""
        ...

    async def mark_form(self, place: Place, ts: str) -> InputForm:
        """The form that marks the message *ts* of the thread. UserError for one that cannot be marked."""
        ...

    async def mark(self, place: Place, mark: MarkMessage) -> Reply:
        """A reaction to a message anywhere in a channel."""
        ...

    async def in_channel(self, place: Place, event: ChannelGone | ChannelMoved) -> None:
        """Something happened to a whole channel."""
        ...

    async def person_changed(self, event: PersonChanged) -> None: ...

    async def settings(self, place: Place, person: Person, reference: str) -> Reply:
        """A button that opens the form: words cannot."""
        ...

    async def plan(self, plan: Plan, reference: str) -> Reply:
        """When *reference* names no item and has several words, it is the brief of a new item."""
        ...

    async def stop(self, place: Place, stop: Stop, reference: str) -> Reply: ...

    async def mute(self, place: Place, mute: Mute, reference: str) -> Reply: ...

    async def depth(self, place: Place, set_depth: SetDepth) -> Reply: ...

    async def status(self, place: Place, person: Person, reference: str) -> Reply: ...

    async def waits_for(self, place: Place, person: Person) -> Reply:
        """Of all channels in a direct message, elsewhere of that channel."""
        ...

    async def greeted(self, person: Person) -> Reply:
        """Who we are and what waits for them, in a direct message."""
        ...

    async def belongs_nowhere(self, person: Person) -> Reply:
        """Words in a direct message that are no command."""
        ...

    async def catch_up(self, place: Place, person: Person, reference: str) -> Reply: ...

    async def export(self, place: Place, export: Export, reference: str) -> Reply: ...

    async def position(self, place: Place, person: Person, words: str, *, key: str, at: str) -> Reply:
        """A private position in the open discussion of the channel, or in a direct message in one of theirs."""
        ...

    async def listing(self, place: Place, person: Person) -> Reply: ...

    async def decisions(self, place: Place, person: Person, words: str) -> Reply:
        """The decisions with all of *words*, in every item that may be seen at *place*."""
        ...

    async def read_review(self, place: Place, person: Person, reference: str, number: int) -> Reply:
        """All that the review found, for this person; with 0 the newest one."""
        ...

    async def read_step(self, place: Place, person: Person, step_id: str) -> Reply:
        """All that the card of the step lists, for this person."""
        ...

    async def read_so_far(self, place: Place, person: Person, reference: str) -> Reply:
        """What an item has so far, for this person."""
        ...

    async def snooze(self, person: Person, how_long: str) -> Reply:
        """No daily message until tomorrow, or for *how_long*."""
        ...

    async def remind(self, person: Person, when: str) -> Reply:
        """When the daily message comes, or whether."""
        ...

    async def opened_home(self, person: str) -> None:
        """The Home tab is filled soon after this."""
        ...

    async def review(self, wish: AskReview, reference: str, lens: str) -> Reply:
        """The personas that *lens* names, or all of them, review the item; the result is shown later."""
        ...


# --- verbs ----------------------------------------------------------------------------------------------------------

HELP = "help"
POSITION = "position"
"""Only where nobody else reads it: a slash command, or a direct message. Said in a thread, it is no verb."""
OPENING = frozenset({"start", "resume", "plan"})
"""Verbs that may open a thread in the channel."""
SHOWN_CHARS = 60
ALIKE = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbRequest:
    """
    A verb and the text after it. The answer goes to `place`. `adopts` is the thread that a start takes over, `ts` the
    message with the verb, if it is in a thread. `room` is what the payload says about the channel; Slack is asked only
    for verbs that open a thread. `called` are ids of people whom a start mentions.
    """

    verb: str
    rest: str
    place: Place
    person: Person
    key: str
    at: str
    adopts: str = ""
    reply_url: str = ""
    room: ChannelKind = ChannelKind.UNKNOWN
    ts: str = ""
    called: tuple[str, ...] = ()


def verb_in(text: str) -> tuple[str, str] | None:
    """
    The verb that *text* begins with, and the rest. None for a sentence that only begins like a command, such as "stop
    worrying about that".
    """
    text = _CATCH_UP.sub("catchup ", text.strip(), count=1)
    text = next((verb for verb, phrase in _PHRASES.items() if phrase.fullmatch(text)), text)
    verb, _, rest = _SEPARATED.sub(" ", text.strip(), count=1).partition(" ")
    arguments = _ARGUMENTS.get(verb.lower())
    return (verb.lower(), rest) if arguments and arguments.fullmatch(rest) else None


def command_in(text: str) -> tuple[str, str]:
    """As `verb_in`, but less strict: a slash command is always for us, so any text after the verb belongs to it."""
    if found := _POSITION.fullmatch(text):
        return POSITION, found["words"]
    verb, _, rest = text.strip().partition(" ")
    if _ARGUMENTS.get(verb.lower()) is _ONE_WORD:
        return verb.lower(), rest.strip()
    return verb_in(text) or (HELP, text)


def position_in(text: str) -> tuple[str, str] | None:
    """In a direct message: the verb has a colon there, or a letter behind it."""
    found = _GIVEN.fullmatch(text)
    return (POSITION, found["words"]) if found else None


async def ask(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await VERBS[asked.verb](desk, asked)


def _said_by(asked: VerbRequest) -> dict[str, Any]:
    """The fields that every input of a person has."""
    return {"key": asked.key, "at": asked.at, "person": asked.person}


def _placed(asked: VerbRequest) -> dict[str, Any]:
    """Those, and the fields that say where the answer goes."""
    return {**_said_by(asked), "place": asked.place, "reply_url": asked.reply_url}


async def _start(desk: CommandHandler, asked: VerbRequest) -> Reply:
    if not asked.rest:
        return start_form.button(asked.adopts)
    start = Start(**_placed(asked), item=item_from(asked.rest), room=asked.room, participants=asked.called)
    return await desk.start(start.but(place=asked.place.but(thread=asked.adopts)))


async def _resume(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.resume(Resume(**_placed(asked), room=asked.room), asked.rest)


async def _plan(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.plan(Plan(**_placed(asked), room=asked.room, ts=asked.ts), asked.rest)


async def _stop(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.stop(asked.place, Stop(**_said_by(asked), ts=asked.ts), asked.rest)


async def _mute(muted: bool, desk: CommandHandler, asked: VerbRequest) -> Reply:  # noqa: FBT001 -- which of two verbs
    return await desk.mute(asked.place, Mute(**_said_by(asked), muted=muted), asked.rest)


async def _depth(desk: CommandHandler, asked: VerbRequest) -> Reply:
    wanted = asked.rest.lower()
    if wanted not in set(Depth):
        raise UserError(WHICH_DEPTH)
    return await desk.depth(asked.place, SetDepth(**_said_by(asked), depth=Depth(wanted), ts=asked.ts))


async def _review(desk: CommandHandler, asked: VerbRequest) -> Reply:
    reference, lens = reviewed(asked.rest)
    return await desk.review(AskReview(**_placed(asked), title="", personas=()), reference, lens)


async def _read(desk: CommandHandler, asked: VerbRequest) -> Reply:
    if so_far := _SO_FAR.fullmatch(asked.rest):
        return await desk.read_so_far(asked.place, asked.person, so_far["of"] or "")
    if _STEP.fullmatch(asked.rest):
        return await desk.read_step(asked.place, asked.person, asked.rest)
    found = _READ.fullmatch(asked.rest)
    item, number = (found["item"] or "", found["number"] or "0") if found else ("", "0")
    return await desk.read_review(asked.place, asked.person, item, int(number))


def reviewed(rest: str) -> tuple[str, str]:
    """The item and the lens, as in "offline-sync by Maya and Jordan", "for risks", "by everyone"."""
    found = _REVIEW.fullmatch(rest)
    reference, lens = (found["item"] or "", found["lens"] or found["alone"] or "") if found else ("", "")
    return reference, "" if lens.lower() in {"everyone", "everybody", "all"} else lens


async def _status(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.status(asked.place, asked.person, asked.rest)


async def _settings(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.settings(asked.place, asked.person, asked.rest)


async def _catch_up(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.catch_up(asked.place, asked.person, asked.rest)


async def _export(desk: CommandHandler, asked: VerbRequest) -> Reply:
    export = Export(**_said_by(asked), reply_url=asked.reply_url)
    return await desk.export(asked.place, export, asked.rest)


async def _position(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.position(asked.place, asked.person, asked.rest, key=asked.key, at=asked.at)


async def _waiting(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.waits_for(asked.place, asked.person)


async def _snooze(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.snooze(asked.person, asked.rest)


async def _remind(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.remind(asked.person, asked.rest)


async def _list(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.listing(asked.place, asked.person)


async def _decisions(desk: CommandHandler, asked: VerbRequest) -> Reply:
    return await desk.decisions(asked.place, asked.person, asked.rest)


async def _help(_desk: CommandHandler, asked: VerbRequest) -> Reply:
    """A word that was not understood is named first, with a similar verb."""
    first = asked.rest.strip().split(" ", 1)[0].lower()
    if first in {"", HELP}:
        return plain(HELP_TEXT)
    if first.rstrip(":") == POSITION:
        return plain(discussion_wording.SAID_OPENLY)
    close = get_close_matches(first, VERBS, n=1, cutoff=ALIKE)
    text = _CODE.sub("", one_line(asked.rest, SHOWN_CHARS))
    return plain(f"{not_understood(text, meant=''.join(close))}\n\n{HELP_TEXT}")


VERBS: Mapping[str, Callable[[CommandHandler, VerbRequest], Awaitable[Reply]]] = {
    "start": _start,
    "resume": _resume,
    "status": _status,
    "list": _list,
    "decisions": _decisions,
    "catchup": _catch_up,
    "export": _export,
    "depth": _depth,
    POSITION: _position,
    "stop": _stop,
    "review": _review,
    "read": _read,
    "plan": _plan,
    "mute": partial(_mute, True),
    "unmute": partial(_mute, False),
    "settings": _settings,
    "waiting": _waiting,
    "snooze": _snooze,
    "remind": _remind,
    HELP: _help,
}

_SEPARATED = re.compile(r"[:,\s]+")
_CATCH_UP = re.compile(r"catch[\s-]*(?:me\s+)?up\b(?:[,\s]+(?:on|please)\b)?", re.IGNORECASE)
_PHRASES: Mapping[str, re.Pattern[str]] = {
    "remind off": re.compile(r"no\s+reminders\s*[.!]?", re.IGNORECASE),
    "read so far": re.compile(r"what\s+(?:do\s+)?we\s+have\s+so\s+far\W*", re.IGNORECASE),
    "waiting": re.compile(r"what(?:['’]s| is)?\s+wait(?:s|ing)\s+for\s+me\W*", re.IGNORECASE),
}
"""Sentences that mean a verb."""
_POSITION = re.compile(r"\s*position(?:\s*[:\uff1a]\s*|\s+|$)(?P<words>.*)", re.IGNORECASE | re.DOTALL)
_GIVEN = re.compile(
    r"\s*(?i:position)\s*(?:[:\uff1a]\s*|(?<=\s)(?=(?:\S+:\s*)?(?:[Oo]ption\s+)?[A-HJ-Z](?:$|\W)))(?P<words>\S.*)",
    re.DOTALL,
)
_CODE = re.compile("`+")
_NOTHING = re.compile("")
_ONE_WORD = re.compile(r"\S*")
_REVIEW = re.compile(
    r"(?!(?:by|with|for)\b)(?P<item>\S*)(?:\s+(?:by|with|for)\s+(?P<lens>\S.{0,200}))?"
    r"|(?:by|with|for)\s+(?P<alone>\S.{0,200})",
    re.IGNORECASE | re.DOTALL,
)
_READ = re.compile(r"(?:(?P<item>(?!\d{1,4}\Z)\S+)\s*)?(?P<number>\d{1,4})?", re.ASCII)
_SO_FAR = re.compile(r"so\s+far(?:\s+(?P<of>\S+))?", re.IGNORECASE)
_STEP = re.compile(r"\d\d-\d\d", re.ASCII)
_ARGUMENTS: Mapping[str, re.Pattern[str]] = {
    "start": re.compile(".*", re.DOTALL),
    "resume": _ONE_WORD,
    "status": _ONE_WORD,
    "list": _NOTHING,
    "decisions": re.compile(r"(?:\S+(?:\s+\S+){0,4})?"),
    "catchup": _ONE_WORD,
    "export": _ONE_WORD,
    "depth": _ONE_WORD,
    "stop": _ONE_WORD,
    "mute": _ONE_WORD,
    "unmute": _ONE_WORD,
    "settings": _ONE_WORD,
    "snooze": _ONE_WORD,
    "remind": _ONE_WORD,
    HELP: _NOTHING,
    "review": _REVIEW,
    "read": re.compile(f"(?i:{_SO_FAR.pattern})|{_READ.pattern}", re.ASCII),
    "waiting": _NOTHING,
    "plan": re.compile(".*", re.DOTALL),
}


# --- sentences ------------------------------------------------------------------------------------------------------

COMMAND = "/roundtable"
USAGE = (
    "start Dark mode | resume | status | catchup | export | list | decisions | depth deep | review | read | plan | mute"
    " | unmute | settings | stop | help"
)

WHICH_DEPTH = "How deep? Say `depth brief`, `depth standard` or `depth deep`."

HELP_TEXT = """\
I hold roundtables: three personas lead your team through an analysis in one thread, and everything agreed is kept.

• `/roundtable start Dark mode` – begin on a title, an issue (`#42`, `PROJ-12`) or an item I know; `start` alone \
opens a form
• `/roundtable resume` – go on with an item of this channel that you pick; `resume dark-mode` names it
• `/roundtable status` – how far an item is
• `/roundtable catchup` – what you have missed since you last said something
• `/roundtable export` – the record as files, into the thread
• `/roundtable list` – what is in this channel
• `/roundtable decisions` – what was decided, in all items that you may see here; `decisions redis` looks for a word
• `/roundtable depth deep` – how much I ask: `brief`, `standard` or `deep`
• `/roundtable review` – what the personas find in an item's files; `review dark-mode by Maya`, or `for risks`
• `/roundtable read` – all that the newest review of an item found; `read 2` for review 2; `read 01-06` \
shows all of a step, `read so far` what there is of all steps
• `/roundtable plan` – five roles ask what they have to know, judge, and write a plan; `plan dark-mode` for that item, \
`plan` and a few words for something new
• `/roundtable position A, very sure` – your position in the open discussion; nobody else sees it until all are shown
• `/roundtable stop` – pause; nothing is lost
• `/roundtable mute` – the personas say nothing, and what you write is still recorded; `unmute` ends that
• `/roundtable settings` – depth and personas, in a form
• `/roundtable waiting` – what waits for you in this channel, or in a direct message everywhere
• `/roundtable remind 09:00` – when I tell you in a direct message what waits for you; `snooze` for a day, \
`no reminders` for good
• `/roundtable help` – this

Slack has no slash commands inside threads: mention me there instead, as in `@roundtable status`.
In the thread of a roundtable you can simply write; everything said there belongs to it, except what begins with \
`aside:`, which is not recorded and not answered. `stop`, alone in a message, stops a discussion at once, and `help` \
tells what else you can say there."""


def not_understood(text: str, *, meant: str) -> str:
    """*meant* is the verb that it begins with, or nearly; empty when it is like none."""
    if not meant:
        return f"I don't understand `{text}`. Here is what I can do."
    if text.lower().startswith(meant):
        return f"I know `{meant}`, but not `{text}`. These are the commands."
    return f"I don't understand `{text}`. Did you mean `{meant}`?"


def plain(sentence: str) -> Message:
    return Message(text=sentence)
