"""
How people come to the step of the plan from wherever they rest. It belongs to no phase, so that the analysis goes on
where it stood.
"""

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import trouble_wording
from bot.domain.roundtable.inputs import Plan, Press
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, phases
from bot.errors import NotNow


def plan_asked(rt: Roundtable, event: Plan | Press, playbook: Playbook) -> Roundtable:
    """Asked for once more, it is asked again, with what was said since."""
    step_id = playbook.agenda.plan.step_id
    if Stage.ELABORATING in {rt.stage, rt.heading_for}:
        # Also while it is only stopped: in the record its turns stand together, up to the synthesis.
        raise NotNow(trouble_wording.DISCUSSING)
    if rt.stage is Stage.PAUSED:
        rt = rt.but(stage=rt.heading_for or Stage.AT_BOUNDARY, heading_for=None)
    if rt.stage is Stage.DISCUSSING and rt.step_id == step_id:
        return asking.question(rt, playbook)
    return phases.reopen(rt, step_id, event.person, playbook)


def begin(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """A thread that was opened for it."""
    step = playbook.agenda.plan
    rt = rt.but(phase_key=step.phase_key, reopened=step.step_id, heading_for=None, depth=step.depth)
    return asking.open_step(rt, step, playbook)
