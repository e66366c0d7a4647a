"""What a voice took is counted; people are told in time, and asked when only the reserve is left."""

from collections.abc import Mapping
from typing import Any

from bot.domain import menus, purse, safety_wording, wording
from bot.domain.agenda import Playbook
from bot.domain.effects import Speak
from bot.domain.elaboration import Ending
from bot.domain.inputs import Press
from bot.domain.menu import MenuKind
from bot.domain.message import Message
from bot.domain.outcomes import Outcome
from bot.domain.roundtable import Roundtable
from bot.domain.spending import CAP, spent_by
from bot.domain.stage import Stage
from bot.domain.transitions import asking, elaborations, hush
from bot.domain.transitions.saving import owe_commit


def counted(rt: Roundtable, happened: Outcome) -> Roundtable:
    facts: Mapping[str, Any] = getattr(happened, "facts", None) or {}
    spent = spent_by(facts) if facts else None
    return rt.but(purse=rt.purse.paying(spent)) if spent else rt


def noticed(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """After what was said for the money: how much of it is left, and at the end what shall become of the rest."""
    budget, level = playbook.house.budget, purse.notice(rt.purse, playbook.house)
    if not level or budget is None:
        return rt
    rt = rt.but(purse=rt.purse.but(told=level))
    if level == CAP:
        return _used_up(rt, playbook, purse.total(budget, rt.purse.allowed))
    return rt.telling(Message(text=purse.noticed(level, rt.purse, budget)), part=rt.part)


def allowed_more(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    """A person says so, and the line says who; then everything stands where it stood."""
    budget = playbook.house.budget
    name, label = rt.name_of(happened.person.id), menus.ALLOW_MORE.label
    kind = rt.menu.kind if rt.menu else None
    rt = rt.closing_menu(wording.chosen(label, name), ts=happened.ts)
    rt = rt.but(purse=rt.purse.allowing_more(playbook.house))
    total = purse.total(budget, rt.purse.allowed) if budget else ""
    text = safety_wording.allowed(name, total)
    rt = rt.recording(text, part=rt.part, user_id=happened.person.id, user_name=name)
    if rt.stage is Stage.AT_BOUNDARY:
        return asking.menu(rt, playbook, text, kind=kind)
    return hush.waiting_speak(asking.question(rt, playbook, text), playbook)


def _used_up(rt: Roundtable, playbook: Playbook, total: str) -> Roundtable:
    match rt.stage:
        case Stage.ELABORATING:
            return elaborations.conclude(rt, Ending.BUDGET, playbook)
        case Stage.DISCUSSING:
            message = Message(
                text=safety_wording.used_up_in_a_step(total), choices=(menus.FINISH_STEP, menus.ALLOW_MORE)
            )
            rt = owe_commit(rt.without_owing(Speak), "budget used up")
            return rt.offering(MenuKind.PROMPT, message, part=rt.part)
        case _:
            return rt.telling(Message(text=safety_wording.used_up_elsewhere(total)), part=rt.part)
