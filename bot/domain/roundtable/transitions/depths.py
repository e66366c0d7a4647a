"""How deep the questions go: for the rest of a phase, or once more for phases that were closed with steps missing."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import Depth
from bot.domain.item.meta import MetaChange
from bot.domain.messages import menus, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import covering, root
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import Speak, Survey, Then
from bot.domain.roundtable.inputs import Press, SetDepth
from bot.domain.roundtable.stage import BUSY, RESTING, Stage
from bot.domain.roundtable.state import BRIEF, Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.roundtable.transitions.saving import HEAD, queue_commit
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.text import counted
from bot.errors import NotNow


def change(rt: Roundtable, event: Press | SetDepth, playbook: Playbook) -> Roundtable:
    """
    For this phase and all later ones, also after a pause: saved first, then the question or the menu again. The record
    has who wished for it.
    """
    depth = event.depth if isinstance(event, SetDepth) else menus.DEPTH_OF[event.action]
    if rt.step_id == playbook.agenda.plan.step_id:
        return rt.whispering(event.person.id, step_wording.PLAN_HAS_NO_DEPTH)
    kind = rt.menu.kind if rt.menu else None
    said = step_wording.depth_switched(depth)
    phases = [one.key for one in playbook.agenda.phases if one.key >= rt.phase_key]
    wished = dict.fromkeys(phases, depth.value)
    rt = rt.but(depth=depth, depth_overrides={**rt.depth_overrides, **wished})
    before, playbook = playbook, playbook_for(rt, playbook)
    is_asked_otherwise = playbook.agenda.steps_of(rt.phase_key) != before.agenda.steps_of(rt.phase_key)
    if is_asked_otherwise and not asking.lacks_step(rt, playbook):
        rt, kind = _asked_otherwise(rt, playbook), None
    rt = asking.chosen(rt, menus.DEPTHS[depth].label, event.person, part=LinePhase.CLARIFYING)
    rt = queue_commit(
        rt,
        f"depth {depth} for {rt.phase_key}",
        change=MetaChange(depth_overrides=wished),
    )
    if rt.stage is not Stage.DISCUSSING:
        rt = asking.menu(rt, playbook, said, kind=kind)
        return rt.but(card=rt.card.but(first=_with(rt.card.first, said))) if rt.card else rt
    if rt.has_pending(Survey):
        return rt.telling(Message(text=said), part=LinePhase.CLARIFYING)
    rt = asking.saying_first(rt, playbook, said)
    first = _with(rt.card.first, said) if rt.card and rt.card.step_id == rt.step_id else said
    return asking.question(rt, playbook, first, anew=False)


def _asked_otherwise(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """With the card of the phase, or step by step: what its card passed over is asked."""
    of_phase = playbook.agenda.ids_of(rt.phase_key)
    rt = rt.but(
        passed=tuple(one for one in rt.passed if one.step_id not in of_phase),
        saved_cards=tuple(one for one in rt.saved_cards if one not in of_phase),
    )
    card = next((step for step in playbook.agenda.steps_of(rt.phase_key) if step.is_card), None)
    if card is None or rt.stage is not Stage.DISCUSSING:
        return rt
    return rt.but(step_id=card.step_id, reopened=card.step_id)


def _with(first: str, said: str) -> str:
    """What the card says first, with *said* in place of an earlier change."""
    earlier = {step_wording.depth_switched(one) for one in Depth}
    return "\n\n".join([*(one for one in first.split("\n\n") if one and one not in earlier), said])


# --- phases that were closed --------------------------------------------------------------------------------------


def means_all_steps(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    """Whether `go deeper` is about all steps: on a card, and where no step of a phase is open."""
    is_card = any(step.is_card for step in playbook.agenda.steps_of(rt.phase_key))
    return is_card or rt.stage in RESTING or rt.step_id == playbook.agenda.plan.step_id


def go_deeper(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """
    The phases that were closed with steps missing are open again, and exactly the missing steps are asked. That is
    saved before the first of them is asked, so that it is not lost.
    """
    if rt.stage in BUSY:
        raise NotNow(trouble_wording.SAVING)
    if rt.stage is Stage.ELABORATING:
        raise NotNow(step_wording.DEEPER_AFTER_DISCUSSION)
    if rt.stage in {Stage.PAUSED, Stage.STALLED}:
        raise NotNow(step_wording.DEEPER_AFTER_RESUME)
    missing, asked = covering.missing_steps(rt, playbook), covering.steps_to_deepen(rt, playbook)
    if not asked:
        raise NotNow(step_wording.ASKED_ALREADY if missing else step_wording.EVERY_STEP_IS_DONE)
    in_phases = [step.phase_key for step in missing]
    ended = rt.phase_key if rt.menu and rt.menu.kind is MenuKind.PHASE else ""
    closed = [one for one in playbook.agenda.phases if one.key == ended and ended not in in_phases]
    reopened = tuple(dict.fromkeys(key for key in in_phases if key in rt.phases_completed))
    later = (one.key for one in playbook.agenda.phases if one.key >= in_phases[0])
    change = MetaChange(
        phases=tuple(phase.key for phase in closed),
        reopened=reopened,
        depth_overrides={key: covering.depth_by_steps(rt, key).value for key in later},
        codebase_hash=HEAD if closed else "",
    )
    label = menus.go_deeper(asked).label
    rt = asking.chosen(rt, label, event.person, part=LinePhase.CLARIFYING)
    for phase in closed:
        rt = rt.recording(step_wording.phase_complete(phase), part=LinePhase.FORMALIZING)
    chosen = step_wording.chosen(label, rt.name_of(event.person.id))
    rt = _without_button(rt, change, chosen, playbook)
    # What was said about the step that is left is in the specification, and stands on its card later.
    rt = rt.but(answers=(), filed=(), reopened="", board=None).dropping(Speak, Survey)
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.DISCUSSING)
    return queue_commit(rt, f"deeper: {counted(asked, 'step')}", then=Then.PHASE, change=change)


def _without_button(rt: Roundtable, change: MetaChange, chosen: str, playbook: Playbook) -> Roundtable:
    """The brief stays in the thread, with what was *chosen*; there is a new one when the analysis is complete again."""
    rest = tuple(key for key in rt.phases_completed if key not in change.reopened)
    after = rt.but(phases_completed=rest, depth_overrides={**rt.depth_overrides, **change.depth_overrides})
    brief = root.final_brief(after, playbook_for(after, playbook))
    rt = rt.ending(BRIEF, brief.but(note=chosen))
    return rt.showing_ending(BRIEF, pressed=True) if BRIEF in rt.live else rt
