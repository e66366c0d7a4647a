"""How deep the questions go: for the rest of a phase, as people wish."""

from bot.domain import menus, wording
from bot.domain.agenda import Playbook
from bot.domain.effects import Survey
from bot.domain.inputs import Press, SetDepth
from bot.domain.message import Message
from bot.domain.meta import Change
from bot.domain.place import Person
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.steps import Depth
from bot.domain.transcript import Part
from bot.domain.transitions import asking, choosing
from bot.domain.transitions.saving import owe_commit


def asked(rt: Roundtable, happened: SetDepth, playbook: Playbook) -> Roundtable:
    return change(rt, happened.depth, playbook, person=happened.person)


def pressed(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    depth = menus.DEPTH_OF[happened.action]
    return change(rt, depth, playbook, person=happened.person, ts=happened.ts)


def change(rt: Roundtable, depth: Depth, playbook: Playbook, *, person: Person, ts: str = "") -> Roundtable:
    """Kept on resume: saved first, then the question or the menu again. The record has who wished for it."""
    kind = rt.menu.kind if rt.menu else None
    said = wording.depth_switched(depth)
    rt = rt.but(depth=depth, depth_overrides={**rt.depth_overrides, rt.phase_key: depth.value})
    rt = choosing.chosen(rt, menus.DEPTHS[depth].label, person, part=Part.CLARIFYING, ts=ts)
    rt = owe_commit(
        rt, f"depth {depth} for {rt.phase_key}", change=Change(depth_overrides={rt.phase_key: depth.value})
    )
    if rt.stage is not Stage.DISCUSSING:
        return asking.menu(rt, playbook, said, kind=kind)
    if rt.owes(Survey):
        return rt.telling(Message(text=said), part=Part.CLARIFYING)
    return asking.question(rt, playbook, said)
