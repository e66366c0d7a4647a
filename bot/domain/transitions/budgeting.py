"""
What a voice took is counted; people are told in time, and asked when only the reserve is left.

When that is gone, too, no model is asked for anything: what is to be written down is written without one, and the
planning waits. Wherever people choose what comes next, they can allow more.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from bot.domain import menus, minds, purse, safety_wording, wording
from bot.domain.agenda import Playbook
from bot.domain.effects import Draft, Effect, Formalize, Judge, Post, Speak, Synthesize
from bot.domain.elaboration import Ending
from bot.domain.inputs import Input, Press
from bot.domain.menu import Menu, MenuKind
from bot.domain.message import Message
from bot.domain.outcomes import Outcome
from bot.domain.roundtable import Roundtable
from bot.domain.spending import CAP, spent_by
from bot.domain.stage import Stage
from bot.domain.transitions import asking, elaborations, hush, planning_due, steps
from bot.domain.transitions.saving import owe_commit

OFFERING_MORE = frozenset(
    {
        MenuKind.PROMPT,
        MenuKind.STEP,
        MenuKind.PHASE,
        MenuKind.FLOOR,
        MenuKind.PLAN_QUESTION,
        MenuKind.PLAN_DECISION,
    }
)
"""Where somebody would speak, judge or write next, if there were anything to pay them with."""

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def bounded(decide: Decide) -> Decide:
    """*decide*, within what models may take."""

    @wraps(decide)
    def decided(rt: Roundtable, happened: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, happened, playbook)
        if after is rt or not purse.used_up(after.purse, playbook.house):
            return after
        if purse.gone(after.purse, playbook.house):
            after = _without_models(after, playbook)
        return _offering_more(after)

    return decided


def counted(rt: Roundtable, happened: Outcome) -> Roundtable:
    facts: Mapping[str, Any] = getattr(happened, "facts", None) or {}
    spent = spent_by(facts) if facts else None
    return rt.but(purse=rt.purse.paying(spent)) if spent else rt


def noticed(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """After what was said for the money: how much of it is left, and at the end what shall become of the rest."""
    budget, level = playbook.house.budget, purse.notice(rt.purse, playbook.house)
    if not level or budget is None:
        return rt
    before, total = rt.purse.told, purse.total(budget, rt.purse.allowed)
    rt = rt.but(purse=rt.purse.but(told=level))
    if level < CAP:
        return rt.telling(Message(text=purse.noticed(level, rt.purse, budget)), part=rt.part)
    if rt.menu and rt.menu.kind is MenuKind.PLAN_BUDGET:
        return rt
    if before < CAP and rt.stage in {Stage.ELABORATING, Stage.DISCUSSING}:
        return _used_up(rt, playbook, total)
    is_gone = purse.gone(rt.purse, playbook.house)
    text = safety_wording.reserve_gone(total) if is_gone else safety_wording.used_up_elsewhere(total)
    return rt.telling(Message(text=text), part=rt.part)


def allowed_more(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    """A person says so, and the line says who; then everything stands where it stood."""
    budget = playbook.house.budget
    name, label = rt.name_of(happened.person.id), menus.ALLOW_MORE.label
    before, was_plain = rt.menu, rt.purse.plain
    rt = rt.closing_menu(wording.chosen(label, name), ts=happened.ts)
    rt = rt.but(purse=rt.purse.allowing_more(playbook.house))
    total = purse.total(budget, rt.purse.allowed) if budget else ""
    text = safety_wording.allowed(name, total)
    rt = rt.recording(text, part=rt.part, user_id=happened.person.id, user_name=name)
    match rt.stage:
        case Stage.AT_BOUNDARY if was_plain and rt.answers and rt.step_id in rt.steps_completed:
            return steps.write(rt)
        case Stage.AT_BOUNDARY:
            return asking.menu(rt, playbook, text, kind=before.kind if before else None)
        case Stage.ELABORATING:
            rt = _floor_again(rt, before, text)
        case Stage.PLANNING:
            return planning_due.on(rt, playbook)
        case _:
            rt = asking.question(rt, playbook, text)
    return hush.waiting_speak(rt, playbook)


def _floor_again(rt: Roundtable, before: Menu | None, text: str) -> Roundtable:
    """With whatever people were asked to decide there."""
    offered = before.message.choices if before else menus.FLOOR
    choices = tuple(choice for choice in offered if choice.action is not menus.ALLOW_MORE.action)
    return rt.offering(MenuKind.FLOOR, Message(text=text, choices=choices), part=rt.part)


def _used_up(rt: Roundtable, playbook: Playbook, total: str) -> Roundtable:
    if rt.stage is Stage.ELABORATING:
        return elaborations.conclude(rt, Ending.BUDGET, playbook)
    message = Message(
        text=safety_wording.used_up_in_a_step(total), choices=(menus.FINISH_STEP, menus.ALLOW_MORE)
    )
    rt = owe_commit(rt.without_owing(Speak), "budget used up")
    return rt.offering(MenuKind.PROMPT, message, part=rt.part)


def _without_models(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """What can be written down without one is; nobody judges or plans for nothing."""

    def unaided(effect: Effect) -> Effect:
        if isinstance(effect, Draft | Synthesize) and minds.thinks(effect, rt, playbook):
            return effect.but(unaided=True)
        return effect

    outbox = tuple(map(unaided, rt.outbox))
    is_plain = rt.purse.plain or any(isinstance(one, Draft) and one.unaided for one in outbox)
    rt = rt.but(outbox=outbox, purse=rt.purse.but(plain=is_plain))
    waits = any(isinstance(one, Judge | Formalize) and minds.thinks(one, rt, playbook) for one in outbox)
    return planning_due.asked_for_more(rt.without_owing(Judge, Formalize), playbook) if waits else rt


def _offering_more(rt: Roundtable) -> Roundtable:
    """The menu that is about to be posted has the button, too. One that stands there already keeps its own."""
    menu, more = rt.menu, menus.ALLOW_MORE
    if menu is None or menu.kind not in OFFERING_MORE or menu.offers(more.action):
        return rt
    message = menu.message.but(choices=(*menu.message.choices, more))

    def offering(effect: Effect) -> Effect:
        if isinstance(effect, Post) and effect.message.token == menu.token and not effect.attempts:
            return effect.but(message=effect.message.but(choices=message.choices))
        return effect

    outbox = tuple(map(offering, rt.outbox))
    return rt if outbox == rt.outbox else rt.but(outbox=outbox, menu=menu.but(message=message))
