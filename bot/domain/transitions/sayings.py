"""What personas say in a discussion, on its way into the thread and the transcript."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.domain import elaboration_wording, menus
from bot.domain.agenda import Playbook
from bot.domain.menu import MenuKind
from bot.domain.message import Choice, Message
from bot.domain.persona import Persona
from bot.domain.roundtable import Roundtable
from bot.domain.transcript import Part

TURN_ID = "turn_id"


class Saying(NamedTuple):
    """Something a persona says, and the facts for its line; only a turn has some. *note* is small print below it."""

    persona: Persona
    text: str
    facts: Mapping[str, Any] = {}
    note: str = ""


def lead_of(rt: Roundtable, playbook: Playbook) -> Persona:
    return playbook.roster.get(rt.debate.lead) or playbook.roster.lead_of(rt.phase_key)[0]


def told(rt: Roundtable, sayings: list[Saying]) -> Roundtable:
    for one in sayings:
        message = Message(text=one.text, speaker=one.persona.key, note=one.note)
        rt = rt.telling(message, part=Part.WORKSHOP, actor=one.persona.actor, **one.facts)
        rt = _written(rt, one)
    return rt


def going_on(rt: Roundtable, sayings: list[Saying]) -> Roundtable:
    """Somebody else speaks after them: a round that goes on can be stopped, with one button however long it is."""
    if rt.menu or not sayings:
        return told(rt, sayings)
    *earlier, last = sayings
    return _offered(told(rt, earlier), last, menus.ROUND, kind=MenuKind.ROUND)


def offered(rt: Roundtable, saying: Saying, choices: tuple[Choice, ...]) -> Roundtable:
    """The people's floor, under the last thing that was said."""
    return _offered(round_over(rt), saying, choices, kind=MenuKind.FLOOR)


def round_over(rt: Roundtable) -> Roundtable:
    """Nothing became of the button that nobody needed."""
    if rt.menu is None or rt.menu.kind is not MenuKind.ROUND:
        return rt
    return rt.closing_menu(elaboration_wording.still_talking(), quietly=True)


def _offered(rt: Roundtable, saying: Saying, choices: tuple[Choice, ...], *, kind: MenuKind) -> Roundtable:
    persona, text, facts, note = saying
    message = Message(text=text, speaker=persona.key, note=note, choices=choices)
    rt = rt.offering(kind, message, part=Part.WORKSHOP, actor=persona.actor, **facts)
    return _written(rt, saying)


def _written(rt: Roundtable, saying: Saying) -> Roundtable:
    """A turn knows its line, so that what rests on it can be looked up."""
    if TURN_ID not in saying.facts:
        return rt
    return rt.but(elaboration=rt.debate.written(rt.lines[-1].message_id))
