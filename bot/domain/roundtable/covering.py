"""
Which steps the answers to the cards of the short path cover: those for which somebody accepted an entry. And which
steps are missing.
"""

from bot.domain.catalog.agenda import Playbook, depth_for
from bot.domain.catalog.steps import Depth, Step
from bot.domain.messages.step_scene import is_given
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking


def covered_steps(rt: Roundtable, playbook: Playbook) -> tuple[str, ...]:
    """Those not done so far, of this phase and those before it, in their order."""
    cards = (step for step in playbook.agenda.steps if step.is_card and step.phase_key <= rt.phase_key)
    return tuple(
        step_id
        for card in cards
        for step_id, asks in card.covers.items()
        if step_id not in rt.steps_completed and any(is_given(one, rt.specification) for one in asks)
    )


# --- what is missing --------------------------------------------------------------------------------------------------


def missing_steps(rt: Roundtable, playbook: Playbook) -> tuple[Step, ...]:
    """Those that are not done, without those that are not needed when they are asked one by one."""
    scan = asking.scan_of(rt)
    return tuple(
        step
        for step in playbook.all_steps
        if step.step_id not in rt.steps_completed
        and not step.is_excused(scan.facts(depth_by_steps(rt, step.phase_key)))
    )


def passed_over(rt: Roundtable, playbook: Playbook) -> bool:
    """Whether a missing step is in a phase that is closed."""
    return any(step.phase_key in rt.phases_completed for step in missing_steps(rt, playbook))


def steps_to_deepen(rt: Roundtable, playbook: Playbook) -> int:
    """How many steps *Go deeper* asks; 0 where it changes nothing, since all of them are asked already."""
    with_card = {step.phase_key for step in playbook.agenda.steps if step.is_card}
    missing = missing_steps(rt, playbook)
    is_of_use = any(step.phase_key in {*rt.phases_completed, *with_card} for step in missing)
    return len(missing) if is_of_use else 0


def depth_by_steps(rt: Roundtable, phase_key: str) -> Depth:
    """That of the phase, where it asks step by step."""
    depth, _, _ = depth_for(phase_key, rt.depth_overrides, asking.scan_of(rt))
    return Depth.DEEP if depth is Depth.DEEP else Depth.STANDARD
