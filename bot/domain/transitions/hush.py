"""
When personas hold their tongues: people muted them, or there is nothing left to pay them with.

What people say is heard all the same, and what personas were about to say waits for its time.
"""

from bot.domain import menus, refusals, safety_wording, wording
from bot.domain.agenda import Playbook
from bot.domain.effects import Speak
from bot.domain.inputs import Mute
from bot.domain.menu import MenuKind
from bot.domain.message import Message
from bot.domain.purse import used_up
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.transcript import Part
from bot.domain.transitions import asking
from bot.domain.transitions.sayings import round_over
from bot.errors import NotNow


def hushed(rt: Roundtable, playbook: Playbook) -> bool:
    return rt.manners.muted or used_up(rt.purse, playbook.house)


def asking_to_speak(rt: Roundtable, speak: Speak, playbook: Playbook) -> Roundtable:
    return rt if hushed(rt, playbook) else rt.owing(speak)


def opening(rt: Roundtable, intro: str, playbook: Playbook, *, speak: Speak) -> Roundtable:
    """Of a discussion: *speak* frames it. In silence the floor is the people's from the beginning."""
    message = Message(text=intro)
    if hushed(rt, playbook):
        return rt.offering(MenuKind.FLOOR, message.but(choices=menus.FLOOR), part=Part.WORKSHOP)
    rt = rt.offering(MenuKind.ROUND, message.but(choices=menus.ROUND), part=Part.WORKSHOP)
    return rt.asking_with(rt.outbox[-1]).owing(speak)


def mute_asked(rt: Roundtable, happened: Mute, playbook: Playbook) -> Roundtable:
    if not rt.place.thread:
        raise NotNow(refusals.nothing_running())
    if happened.muted is rt.manners.muted:
        raise NotNow(refusals.muted_already() if happened.muted else refusals.not_muted())
    name = rt.name_of(happened.person.id)
    rt = rt.but(manners=rt.manners.but(muted=happened.muted))
    return _muted(rt, name) if happened.muted else _speaking_again(rt, name, playbook)


def _muted(rt: Roundtable, name: str) -> Roundtable:
    """Whoever was about to speak does not; a discussion can still be ended."""
    rt = round_over(rt.without_owing(Speak))
    message = Message(text=safety_wording.muted(name))
    if rt.stage is not Stage.ELABORATING or rt.menu:
        return rt.telling(message, part=rt.part)
    return rt.offering(MenuKind.FLOOR, message.but(choices=menus.FLOOR), part=rt.part)


def _speaking_again(rt: Roundtable, name: str, playbook: Playbook) -> Roundtable:
    return waiting_speak(rt.telling(Message(text=safety_wording.unmuted(name)), part=rt.part), playbook)


def waiting_speak(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """What would have been said meanwhile: the newest answer is acknowledged, and whoever has the floor takes it."""
    if hushed(rt, playbook) or rt.owes(Speak):
        return rt
    if rt.stage is Stage.DISCUSSING and rt.answers:
        return rt.owing(Speak(persona=asking.speaker_of(rt, playbook).key, task="acknowledge"))
    if rt.stage is not Stage.ELABORATING:
        return rt
    if not rt.debate.framed:
        return rt.owing(Speak(persona=rt.debate.lead, task="frame"))
    if not rt.debate.waiting:
        return rt
    rt = rt.closing_menu(wording.superseded(), quietly=True)
    return rt.owing(Speak(persona=rt.debate.waiting[0], task="respond"))


def let_speak(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Somebody presses for the personas to go on: that ends a silence which people asked for, and no other."""
    if used_up(rt.purse, playbook.house):
        raise NotNow(refusals.budget_used_up())
    return rt.but(manners=rt.manners.but(muted=False))
