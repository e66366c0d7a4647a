"""How deep the questions go: for the rest of a phase, as people wish."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import Depth
from bot.domain.item.meta import MetaChange
from bot.domain.messages import menus, step_wording
from bot.domain.messages.message import Message
from bot.domain.roundtable.effects import Survey
from bot.domain.roundtable.inputs import Press, SetDepth
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.roundtable.transitions.saving import queue_commit
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person


def asked(rt: Roundtable, event: SetDepth, playbook: Playbook) -> Roundtable:
    return change(rt, event.depth, playbook, person=event.person)


def pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    depth = menus.DEPTH_OF[event.action]
    return change(rt, depth, playbook, person=event.person, ts=event.ts)


def change(rt: Roundtable, depth: Depth, playbook: Playbook, *, person: Person, ts: str = "") -> Roundtable:
    """Kept on resume: saved first, then the question or the menu again. The record has who wished for it."""
    kind = rt.menu.kind if rt.menu else None
    said = step_wording.depth_switched(depth)
    rt = rt.but(depth=depth, depth_overrides={**rt.depth_overrides, rt.phase_key: depth.value})
    rt = asking.chosen(rt, menus.DEPTHS[depth].label, person, part=LinePhase.CLARIFYING, ts=ts)
    rt = queue_commit(
        rt,
        f"depth {depth} for {rt.phase_key}",
        change=MetaChange(depth_overrides={rt.phase_key: depth.value}),
    )
    if rt.stage is not Stage.DISCUSSING:
        rt = asking.menu(rt, playbook, said, kind=kind)
        return rt.but(card=rt.card.but(first=_with(rt.card.first, said))) if rt.card else rt
    if rt.has_pending(Survey):
        return rt.telling(Message(text=said), part=LinePhase.CLARIFYING)
    rt = asking.saying_first(rt, playbook, said)
    first = _with(rt.card.first, said) if rt.card and rt.card.step_id == rt.step_id else said
    return asking.question(rt, playbook, first, anew=False)


def _with(first: str, said: str) -> str:
    """What the card says first, with *said* in place of an earlier change."""
    earlier = {step_wording.depth_switched(one) for one in Depth}
    return "\n\n".join([*(one for one in first.split("\n\n") if one and one not in earlier), said])
