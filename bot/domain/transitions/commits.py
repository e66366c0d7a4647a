"""
What comes after a commit. The meeting goes on whether it could be made or not: what is not in git yet is in the
store, and is tried again before the next commit.
"""

from collections.abc import Callable, Mapping

from bot.domain.agenda import Playbook
from bot.domain.effects import Commit, Then
from bot.domain.outcomes import Committed
from bot.domain.roundtable import Roundtable
from bot.domain.taxonomy import trouble
from bot.domain.transcript import Part
from bot.domain.transitions import opening, pausing, phases, planning, steps, syntheses
from bot.domain.transitions.reporting import report
from bot.domain.transitions.saving import is_behind, not_saved, saved

Follows = Callable[[Roundtable, Playbook, Committed | None], Roundtable]
"""None when it could not be made."""

FOLLOWS: Mapping[Then, Follows] = {
    Then.OPENING: opening.opened,
    Then.STEP: steps.step_written,
    Then.FEEDBACK: steps.feedback_written,
    Then.SYNTHESIS: syntheses.saved,
    Then.PHASE: phases.closed,
    Then.PLAN: planning.written,
    Then.PLAN_ASIDE: planning.set_aside,
}


def made(rt: Roundtable, commit: Commit, playbook: Playbook, *, told: Committed) -> Roundtable:
    return _goes_on(saved(rt, commit, told), commit, playbook, told=told)


def failed(rt: Roundtable, commit: Commit, playbook: Playbook, *, why: str) -> Roundtable:
    """
    People are told *why* once, not at every attempt (ERR-META-003).

    What was to be committed after it fails with it: git must not get ahead of what it has missed.
    """
    told = is_behind(rt) or commit.late
    rt = not_saved(rt, commit)
    found = trouble("ERR-ELAB-009" if commit.then is Then.SYNTHESIS else "ERR-META-003", unsaved=why)
    rt = rt.logging(found) if told else report(rt, [found], part=Part.FORMALIZING)

    behind = [effect for effect in rt.outbox if isinstance(effect, Commit)]
    for other in behind:
        rt = not_saved(rt.paid(other.id), other)
    for one in (commit, *behind):
        rt = _goes_on(rt, one, playbook)
    return rt


def _goes_on(
    rt: Roundtable, commit: Commit, playbook: Playbook, *, told: Committed | None = None
) -> Roundtable:
    follows = FOLLOWS.get(commit.then)
    return follows(rt, playbook, told) if follows else pausing.notes_saved(rt, playbook)
