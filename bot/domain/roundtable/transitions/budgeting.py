"""
What a voice took is counted; people are told in time, and asked when all of it is used.

Wherever people choose what comes next, they can allow more.
"""

from collections.abc import Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.budget import CAP, spent_by
from bot.domain.discussion.elaboration import EndReason
from bot.domain.messages import menus, step_wording, trouble_wording
from bot.domain.messages.menus import Menu, MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import budget as purse
from bot.domain.roundtable.effects import Effect, Post, Speak
from bot.domain.roundtable.inputs import Press
from bot.domain.roundtable.outcomes import EffectOutcome, spent
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, elaborations, speaking
from bot.domain.roundtable.transitions.saving import queue_commit

OFFERING_MORE = frozenset({MenuKind.PROMPT, MenuKind.STEP, MenuKind.PHASE, MenuKind.FLOOR})
"""The menus after which a model would be asked, if the budget were not used up."""


def limit_budget(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Models are asked for nothing beyond the budget; the open menu offers more."""
    if not purse.used_up(rt.purse, playbook.policy):
        return rt
    return _offering_more(rt)


def counted(rt: Roundtable, event: EffectOutcome) -> Roundtable:
    """What a model took for an effect, once."""
    facts, key = _facts_of(event), f"spent.{event.effect}"
    spent = spent_by(facts) if facts else None
    return rt.but(purse=rt.purse.paying(spent)).knowing(key) if spent and key not in rt.seen else rt


def charged(rt: Roundtable, event: EffectOutcome, *, late: bool = False) -> Roundtable:
    """The same for an answer of which nothing is used, such as one that nobody waits for any more (*late*)."""
    told = trouble_wording.ANSWER_TOO_LATE if late else trouble_wording.ANSWER_NOT_USABLE
    after = counted(rt, event)
    return rt if after is rt else after.recording(told, part=rt.part, **spent(_facts_of(event)))


def _facts_of(event: EffectOutcome) -> Mapping[str, Any]:
    return getattr(event, "facts", None) or {}


def noticed(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """How much of the budget is left, and at the end the question how to go on."""
    budget, level = playbook.policy.budget, purse.notice(rt.purse, playbook.policy)
    if not level or budget is None:
        return rt
    before, total = rt.purse.told, purse.total(budget, rt.purse.allowed)
    rt = rt.but(purse=rt.purse.but(told=level))
    if level < CAP:
        return rt.telling(Message(text=purse.noticed(level, rt.purse, budget)), part=rt.part)
    if before < CAP and rt.stage in {Stage.ELABORATING, Stage.DISCUSSING}:
        return _used_up(rt, playbook, total)
    return rt.telling(Message(text=trouble_wording.used_up_elsewhere(total)), part=rt.part)


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
            rt = _floor_again(rt, before, text)
        case _:
            rt = asking.question(asking.saying_first(rt, playbook, text), playbook, text)
    return speaking.waiting_speak(rt, playbook)


def _floor_again(rt: Roundtable, before: Menu | None, text: str) -> Roundtable:
    """With what people were asked to decide there."""
    offered = before.message.choices if before else menus.FLOOR
    choices = tuple(choice for choice in offered if choice.action != menus.ALLOW_MORE.action)
    return rt.offering(MenuKind.FLOOR, Message(text=text, choices=choices), part=rt.part)


def _used_up(rt: Roundtable, playbook: Playbook, total: str) -> Roundtable:
    if rt.stage is Stage.ELABORATING:
        return elaborations.conclude(rt, EndReason.BUDGET, playbook)
    message = Message(
        text=trouble_wording.used_up_in_a_step(total), choices=(menus.FINISH_STEP, menus.ALLOW_MORE)
    )
    rt = queue_commit(rt.dropping(Speak), "budget used up")
    return _offered(rt, MenuKind.PROMPT, message)


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
    if outbox == rt.outbox:
        return rt
    if rt.card and rt.card.token == menu.token:
        rt = rt.but(card=rt.card.but(message=rt.card.message.but(choices=message.choices)))
    if rt.board and rt.board.token == menu.token:
        rt = rt.but(board=rt.board.but(message=rt.board.message.but(choices=message.choices)))
    return rt.but(outbox=outbox, menu=menu.but(message=message))


def _offered(rt: Roundtable, kind: MenuKind, message: Message) -> Roundtable:
    """On the card of a step, the text of *message* stands above what the card says."""
    rt = rt.offering(kind, message, part=rt.part)
    if rt.card is None or rt.menu is None or rt.card.token != rt.menu.token:
        return rt
    return rt.but(card=rt.card.but(first=message.text))
