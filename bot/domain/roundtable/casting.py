"""
The playbook as it applies to one roundtable: its own personas, what the policies say about its channel, and the cards
of the short path in the phases that are asked at depth `brief`.
"""

from bot.domain.catalog.agenda import Playbook, depth_for
from bot.domain.catalog.steps import Depth
from bot.domain.roundtable.state import Roundtable


def playbook_for(rt: Roundtable, playbook: Playbook) -> Playbook:
    here = (playbook.whole or playbook).within(rt.place.channel, rt.personas_active)
    return here.shortened(
        [phase.key for phase in here.agenda.phases if _depth_of(rt, phase.key) is Depth.BRIEF]
    )


def _depth_of(rt: Roundtable, phase_key: str) -> Depth | None:
    """As it was chosen, or as it was found when the phase began."""
    depth, why, _ = depth_for(phase_key, rt.depth_overrides, None)
    if why == "override":
        return depth
    return rt.depth if phase_key == rt.phase_key else None
