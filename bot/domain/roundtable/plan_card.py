"""
The card of the planning workshop follows from the state, as the card of a step does (see `cards`).

Each question and each decision is a menu of its own on the same message: it has its own token, so that a press that
comes twice, or late, does not answer the next question.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import planning_card, planning_wording, step_wording
from bot.domain.messages.menus import Menu, MenuKind
from bot.domain.messages.message import NO_STEP, Message
from bot.domain.planning.workshop import (
    FIRST_READING,
    Ask,
    Decide,
    Explain,
    PutAside,
    RequestPlan,
    RequestVerdict,
    Workshop,
    Write,
)
from bot.domain.roundtable.effects import Post, rephrased
from bot.domain.roundtable.inputs import Input, Press
from bot.domain.roundtable.outcomes import Attempted, Done
from bot.domain.roundtable.posts import PlanCard, PostedPrompt
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript.lines import HOST, LinePhase

DecideInput = Callable[[Roundtable, Input, Playbook], Roundtable]


def with_plan_card(decide: DecideInput) -> DecideInput:
    """*decide*, and the edit of the card that comes of it."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, event, playbook)
        if after is rt or after.plan_card is None:
            return after
        if isinstance(event, Attempted | Done) and after.plan_card is rt.plan_card and after.menu is rt.menu:
            return after
        file_url = playbook.policy.file_url
        return _current(after, after.plan_card, file_url, pressed=isinstance(event, Press))

    return decided


def _current(rt: Roundtable, card: PlanCard, file_url: str, *, pressed: bool) -> Roundtable:
    message = rendered(rt, card, file_url)
    if any(one.id == card.post and not one.attempts for one in rt.outbox):
        return rt.but(outbox=rephrased(rt.outbox, card.post, message), plan_card=card.but(shown=message))
    if not card.ts or message == card.shown:
        return rt
    asks_anew = bool(message.token) and message.token != card.shown.token
    rt = rt.edited(ts=card.ts, message=message, pressed=pressed or asks_anew)
    rt = rt.but(plan_card=card.but(shown=message, revision=card.revision + 1))
    return rt.asking_with(rt.outbox[-1]) if asks_anew else rt


# --- what happens to it -------------------------------------------------------------------------------------------


def opened(rt: Roundtable, first: str, *, part: LinePhase, line: str = "") -> Roundtable:
    """A card is posted below everything else; what stood there before says so. *line* is what the record has."""
    rt = _left_behind(rt)
    rt = rt.telling(Message(text=line or first), part=part)
    post = rt.outbox[-1]
    assert isinstance(post, Post), "telling ends with queueing a post"
    return rt.but(plan_card=PlanCard(post=post.id, first=first, shown=post.message))


def offering(
    rt: Roundtable, kind: MenuKind, message: Message, *, part: LinePhase, actor: str = HOST, **meta: Any
) -> Roundtable:
    """*message* is the open menu, on the card; the record has its text."""
    rt = rt.closing_menu(step_wording.SUPERSEDED)
    if rt.plan_card is None:
        rt = opened(rt, "", part=part, line=planning_wording.status(rt.workshop) if rt.workshop else "")
    card = rt.plan_card
    assert card, "it was opened"
    token = rt.token()
    rt = rt.saying_on_card(message.text, part=part, actor=actor, **meta)
    menu = Menu(kind=kind, token=token, message=message, ts=card.ts)
    rt = rt.but(menu=menu, plan_card=card.but(token=token, note=""))
    return rt if card.ts else rt.but(question=PostedPrompt(post=card.post))


def posted(rt: Roundtable, effect: str, ts: str) -> Roundtable:
    """The card stands in the thread, as message *ts*."""
    card = rt.plan_card
    if card is None or card.post != effect:
        return rt
    menu = rt.menu.but(ts=ts) if rt.menu and rt.menu.token == card.token else rt.menu
    return rt.but(plan_card=card.but(ts=ts), menu=menu)


def stands_at(rt: Roundtable, ts: str) -> bool:
    return rt.plan_card is not None and rt.plan_card.ts == ts


def reposted(rt: Roundtable, message: Message) -> Roundtable:
    """The card stands in a new message from now on: Slack does not let us edit the old one."""
    assert rt.plan_card, "there is a card"
    rt = rt.queueing(Post(message=message))
    card = rt.plan_card.but(post=rt.outbox[-1].id, ts="", shown=message) if rt.plan_card else None
    menu = rt.menu.but(ts="") if rt.menu and card and rt.menu.token == card.token else rt.menu
    return rt.but(plan_card=card, menu=menu).asking_with(rt.outbox[-1])


def _left_behind(rt: Roundtable) -> Roundtable:
    card, ws = rt.plan_card, rt.workshop
    if card is None or ws is None:
        return rt
    rt = rt.closing_menu(step_wording.SUPERSEDED)
    return rt.edited(ts=card.ts, message=planning_card.moved_card(ws)) if card.ts else rt


def is_posted(rt: Roundtable) -> bool:
    """Whether it stands in the thread; else it is on its way there."""
    return rt.plan_card is None or bool(rt.plan_card.ts)


# --- what it says -------------------------------------------------------------------------------------------------


def rendered(rt: Roundtable, card: PlanCard, file_url: str = "") -> Message:
    ws = rt.workshop
    if ws is None:
        return card.shown.spent().but(note=card.note)
    menu = rt.menu if rt.menu and rt.menu.token == card.token else None
    message = planning_card.planning_card(
        ws,
        rt.people,
        first=card.first,
        state=_state(rt, ws),
        choices=menu.message.choices if menu else (),
        file_url=file_url,
    )
    note = menu.message.note if menu else card.note
    return message.but(token=card.token if menu else "", note=note, about=NO_STEP)


def _state(rt: Roundtable, ws: Workshop) -> str:
    if ws.stage is LinePhase.REVIEW_READY and ws.due is None:
        return planning_wording.READY_BELOW
    if rt.stage is not Stage.PLANNING:
        return ""
    match ws.due:
        case RequestVerdict(role=role, challenge=True):
            return planning_wording.challenges(role)
        case RequestVerdict(round=round):
            return planning_wording.READING if round == FIRST_READING else planning_wording.round_begins(ws)
        case Decide():
            return headline(ws)
        case Explain(person=person):
            return planning_wording.explain(rt.name_of(person))
        case RequestPlan(errors=errors):
            return planning_wording.mending(errors) if errors else planning_wording.FORMALIZING
        case Write():
            return planning_wording.FORMALIZING
        case Ask() | PutAside() | None:
            return ""
        case other:
            assert_never(other)


def headline(ws: Workshop) -> str:
    assert ws.proposal, "there is a proposal where people are asked to decide"
    if ws.held:
        return planning_wording.HELD
    above = f"{planning_wording.not_mended(ws.errors)}\n\n" if ws.errors else ""
    return f"{above}{planning_wording.proposed(ws.proposal)}"
