"""
What people say while a persona is at work: turns like any other, which are answered next.

A person is answered once, however many messages it took them to say it. When too much is waiting, what is said on top
is only kept, and whoever says it is told so, once.
"""

from bot.domain import elaboration_wording
from bot.domain.agenda import Playbook
from bot.domain.effects import React, Speak, Tell
from bot.domain.elaboration import Beside, Elaboration
from bot.domain.floor import answering
from bot.domain.inputs import Say
from bot.domain.message import Message
from bot.domain.persona import Address, AddressKind
from bot.domain.roundtable import Roundtable
from bot.domain.transcript import Part
from bot.domain.transitions.sayings import lead_of
from bot.domain.transitions.steps import NOTED

LONGEST = 20
"""So many turns of people wait while a persona speaks. More, and every answer would be stale before it is written."""


def who_answers(rt: Roundtable, address: Address, playbook: Playbook) -> tuple[str, ...]:
    """
    Whoever the newest turn is for. Nobody else, when its author is going to be answered anyway: several messages of one
    person are one thing to say.
    """
    debate = rt.debate
    if address.kind is AddressKind.DEFAULT and debate.waiting and _goes_on(debate):
        return ()
    return answering(debate, playbook.roster, address)


def still_asked(rt: Roundtable, playbook: Playbook) -> tuple[str, ...]:
    """
    Who takes over from a persona whose answer came too late twice: somebody who did not have the floor since, if what
    waits was said to nobody in particular. Who is spoken to by name is not spoken for.
    """
    debate, roster, lead = rt.debate, playbook.roster, lead_of(rt, playbook).key
    addresses = (roster.addressed(turn.text, lead=lead) for turn in reversed(debate.unanswered))
    to_anybody = next((one for one in addresses if one.kind is AddressKind.DEFAULT), None)
    if debate.waiting or to_anybody is None:
        return ()
    others = (*answering(debate, roster, to_anybody), *(one.key for one in roster))
    return tuple(key for key in others if key not in debate.unheard)[:1]


def is_full(rt: Roundtable) -> bool:
    """Only while somebody speaks: on the people's floor they may talk to each other for as long as they like."""
    return rt.owes(Speak) and len(rt.debate.unanswered) >= LONGEST


def only_kept(rt: Roundtable, happened: Say) -> Roundtable:
    """On record, and given to whoever puts the discussion together; nobody answers it."""
    person = happened.person
    is_told = any(one.by == person.id for one in rt.debate.besides)
    rt = rt.heard(person, happened.text, ts=happened.ts, part=Part.WORKSHOP)
    beside = Beside(by=person.id, name=rt.name_of(person.id), text=happened.text, ts=happened.ts)
    rt = rt.but(elaboration=rt.debate.but(besides=(*rt.debate.besides, beside)))
    rt = rt.owing(React(ts=happened.ts, emoji=NOTED))
    if is_told:
        return rt
    return rt.owing(Tell(person=person.id, message=Message(text=elaboration_wording.too_much_at_once())))


def _goes_on(debate: Elaboration) -> bool:
    *earlier, newest = debate.unanswered
    return any(turn.by == newest.by for turn in earlier)
