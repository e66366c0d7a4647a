"""What people ask of us, by whichever door: the slash command, a mention, a message shortcut."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

from bot.domain.catalog.agenda import Depth
from bot.domain.item.item import item_from
from bot.domain.reviews.notice import AskReview
from bot.domain.roundtable.inputs import Export, Mute, Plan, Resume, SetDepth, Start, Stop
from bot.domain.values.places import Person, Place, Room
from bot.domain.values.text import one_line
from bot.errors import UserError
from bot.slack import wording
from bot.slack.commands import Desk, Reply
from bot.slack.wording import NO_TITLE, WHICH_DEPTH, plain

HELP = "help"
OPENING = frozenset({"start", "resume", "plan"})
"""They may open a thread where they were said."""
SHOWN_CHARS = 60
ALIKE = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    A verb and what came after it. `place` is where it was asked, and where the answer goes; `adopts` is the thread
    that a start takes over, `ts` the message that it was asked in, if that is in a thread. `room` is what is known of
    the channel; asked of Slack only for verbs that open a thread.
    """

    verb: str
    rest: str
    place: Place
    person: Person
    key: str
    at: str
    adopts: str = ""
    reply_url: str = ""
    room: Room = Room.UNKNOWN
    ts: str = ""


def verb_in(text: str) -> tuple[str, str] | None:
    """
    The verb that *text* begins with, and the rest. None when it is a sentence that only begins like one: nobody
    who says "stop worrying about that" wants us to stop.
    """
    text = _CATCH_UP.sub("catchup ", text.strip(), count=1)
    verb, _, rest = _SEPARATED.sub(" ", text.strip(), count=1).partition(" ")
    takes = _TAKES.get(verb.lower())
    return (verb.lower(), rest) if takes and takes.fullmatch(rest) else None


def command_in(text: str) -> tuple[str, str]:
    """As `verb_in`; but a command is said to nobody else, so that whatever follows the verb is what it is about."""
    verb, _, rest = text.strip().partition(" ")
    if _TAKES.get(verb.lower()) is _ONE_WORD:
        return verb.lower(), rest.strip()
    return verb_in(text) or (HELP, text)


async def ask(desk: Desk, asked: Asked) -> Reply:
    return await VERBS[asked.verb](desk, asked)


async def _start(desk: Desk, asked: Asked) -> Reply:
    if not asked.rest:
        raise UserError(NO_TITLE)
    return await desk.start(
        Start(
            key=asked.key,
            at=asked.at,
            item=item_from(asked.rest),
            place=asked.place.but(thread=asked.adopts),
            person=asked.person,
            room=asked.room,
            reply_url=asked.reply_url,
        )
    )


async def _resume(desk: Desk, asked: Asked) -> Reply:
    resume = Resume(
        key=asked.key,
        at=asked.at,
        person=asked.person,
        place=asked.place,
        room=asked.room,
        reply_url=asked.reply_url,
    )
    return await desk.resume(resume, asked.rest)


async def _plan(desk: Desk, asked: Asked) -> Reply:
    plan = Plan(
        key=asked.key,
        at=asked.at,
        person=asked.person,
        place=asked.place,
        room=asked.room,
        reply_url=asked.reply_url,
        ts=asked.ts,
    )
    return await desk.plan(plan, asked.rest)


async def _stop(desk: Desk, asked: Asked) -> Reply:
    stop = Stop(key=asked.key, at=asked.at, person=asked.person, ts=asked.ts)
    return await desk.stop(asked.place, stop, asked.rest)


async def _mute(muted: bool, desk: Desk, asked: Asked) -> Reply:  # noqa: FBT001 -- which of two verbs
    mute = Mute(key=asked.key, at=asked.at, person=asked.person, muted=muted)
    return await desk.mute(asked.place, mute, asked.rest)


async def _depth(desk: Desk, asked: Asked) -> Reply:
    wanted = asked.rest.lower()
    if wanted not in set(Depth):
        raise UserError(WHICH_DEPTH)
    set_depth = SetDepth(key=asked.key, at=asked.at, person=asked.person, depth=Depth(wanted), ts=asked.ts)
    return await desk.depth(asked.place, set_depth)


async def _review(desk: Desk, asked: Asked) -> Reply:
    reference, lens = reviewed(asked.rest)
    wish = AskReview(
        key=asked.key,
        at=asked.at,
        title="",
        personas=(),
        person=asked.person,
        place=asked.place,
        reply_url=asked.reply_url,
    )
    return await desk.review(wish, reference, lens)


def reviewed(rest: str) -> tuple[str, str]:
    """Which item, and through whose lens: of "offline-sync by Maya and Jordan", "for risks", "by everyone"."""
    found = _REVIEW.fullmatch(rest)
    reference, lens = (found["item"] or "", found["lens"] or found["alone"] or "") if found else ("", "")
    return reference, "" if lens.lower() in {"everyone", "everybody", "all"} else lens


async def _status(desk: Desk, asked: Asked) -> Reply:
    return await desk.status(asked.place, asked.person, asked.rest)


async def _catch_up(desk: Desk, asked: Asked) -> Reply:
    return await desk.catch_up(asked.place, asked.person, asked.rest)


async def _export(desk: Desk, asked: Asked) -> Reply:
    export = Export(key=asked.key, at=asked.at, person=asked.person, reply_url=asked.reply_url)
    return await desk.export(asked.place, export, asked.rest)


async def _list(desk: Desk, asked: Asked) -> Reply:
    return await desk.listing(asked.place, asked.person)


async def _help(_desk: Desk, asked: Asked) -> Reply:
    """What was not understood is said first: nobody looks for a misspelt word in a list of words."""
    first = asked.rest.strip().split(" ", 1)[0].lower()
    if first in {"", HELP}:
        return plain(wording.HELP)
    close = get_close_matches(first, VERBS, n=1, cutoff=ALIKE)
    text = _CODE.sub("", one_line(asked.rest, SHOWN_CHARS))
    return plain(f"{wording.not_understood(text, meant=''.join(close))}\n\n{wording.HELP}")


VERBS: Mapping[str, Callable[[Desk, Asked], Awaitable[Reply]]] = {
    "start": _start,
    "resume": _resume,
    "status": _status,
    "list": _list,
    "catchup": _catch_up,
    "export": _export,
    "depth": _depth,
    "stop": _stop,
    "review": _review,
    "plan": _plan,
    "mute": partial(_mute, True),
    "unmute": partial(_mute, False),
    HELP: _help,
}

_SEPARATED = re.compile(r"[:,\s]+")
_CATCH_UP = re.compile(r"catch[\s-]*(?:me\s+)?up\b(?:[,\s]+(?:on|please)\b)?", re.IGNORECASE)
"""As people say it."""
_CODE = re.compile("`+")
_NOTHING = re.compile("")
_ONE_WORD = re.compile(r"\S*")
_REVIEW = re.compile(
    r"(?!(?:by|with|for)\b)(?P<item>\S*)(?:\s+(?:by|with|for)\s+(?P<lens>\S.{0,200}))?"
    r"|(?:by|with|for)\s+(?P<alone>\S.{0,200})",
    re.IGNORECASE | re.DOTALL,
)
_TAKES: Mapping[str, re.Pattern[str]] = {
    "start": re.compile(".*", re.DOTALL),
    "resume": _ONE_WORD,
    "status": _ONE_WORD,
    "list": _NOTHING,
    "catchup": _ONE_WORD,
    "export": _ONE_WORD,
    "depth": _ONE_WORD,
    "stop": _ONE_WORD,
    "mute": _ONE_WORD,
    "unmute": _ONE_WORD,
    HELP: _NOTHING,
    "review": _REVIEW,
    "plan": re.compile(".*", re.DOTALL),
}
