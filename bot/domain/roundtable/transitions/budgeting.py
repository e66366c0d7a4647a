"""
What a voice took is counted; people are told in time, and asked when all of it is used.

Every card with a menu offers to allow more then.
"""

from collections.abc import Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.budget import CAP, spent_by
from bot.domain.discussion.elaboration import EndReason
from bot.domain.messages import menus, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import budget as purse
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.inputs import Press
from bot.domain.roundtable.outcomes import Outcome, spent
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, elaborations, speaking
from bot.domain.roundtable.transitions.saving import queue_commit


def counted(rt: Roundtable, event: Outcome) -> Roundtable:
    """What a model took for an effect, once: of what was asked before the store was lost, git says it."""
    if not event.effect.startswith(f"{rt.slug}.{rt.incarnation}."):
        return rt
    facts, key = _facts_of(event), f"spent.{event.effect}"
    spent = spent_by(facts) if facts else None
    return rt.but(purse=rt.purse.paying(spent)).knowing(key) if spent and key not in rt.seen else rt


def charged(rt: Roundtable, event: Outcome, *, late: bool = False) -> Roundtable:
    """The same for an answer of which nothing is used, such as one that nobody waits for any more (*late*)."""
    told = trouble_wording.ANSWER_TOO_LATE if late else trouble_wording.ANSWER_NOT_USABLE
    after = counted(rt, event)
    return rt if after is rt else after.recording(told, **spent(_facts_of(event)))


def _facts_of(event: Outcome) -> Mapping[str, Any]:
    return getattr(event, "facts", None) or {}


def noticed(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """How much of the budget is left, and at the end the question how to go on."""
    budget, level = playbook.policy.budget, purse.notice(rt.purse, playbook.policy)
    if not level or budget is None:
        return rt
    before, used = rt.purse.told, purse.used_of(rt.purse, budget)
    rt = rt.but(purse=rt.purse.but(told=level))
    if level < CAP:
        return rt.telling(Message(text=purse.noticed(level, rt.purse, budget)), part=rt.part)
    if before < CAP and rt.stage in {Stage.ELABORATING, Stage.DISCUSSING}:
        return _used_up(rt, playbook, used)
    return rt.telling(Message(text=trouble_wording.used_up_elsewhere(used)), part=rt.part)


def allowed_more(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """A person says so, and the line says who; then everything stands where it stood."""
    budget = playbook.policy.budget
    name, label = rt.name_of(event.person.id), menus.ALLOW_MORE.label
    before = rt.menu
    rt = rt.closing_menu(step_wording.chosen(label, name))
    rt = rt.but(purse=rt.purse.allowing_more(playbook.policy))
    total = purse.total(budget, rt.purse.allowed) if budget else ""
    text = trouble_wording.allowed(name, total)
    rt = rt.recording(text, by=event.person.id)
    match rt.stage:
        case Stage.AT_BOUNDARY:
            rt = asking.menu(rt, playbook, text, kind=before.kind if before else None)
        case Stage.ELABORATING:
            rt = speaking.on_a_card(rt, text)
        case _:
            rt = asking.question(asking.saying_first(rt, playbook, text), playbook, text)
    return speaking.waiting_speak(rt, playbook)


def _used_up(rt: Roundtable, playbook: Playbook, used: str) -> Roundtable:
    if rt.stage is Stage.ELABORATING:
        return elaborations.conclude(rt, EndReason.BUDGET, playbook)
    text = trouble_wording.used_up_in_a_step(used)
    rt = queue_commit(rt.dropping(Speak), "budget used up")
    rt = rt.offering(MenuKind.PROMPT, Message(text=text, choices=(menus.FINISH_STEP,)), part=rt.part)
    return rt.but(card=rt.card.but(first=text)) if rt.card else rt
