"""
The session that an app has in its thread when it is declared an agent: its title says the item and the step, and it is
closed when the analysis is done.

Both follow from the state, as the sign of work does (`working.py`), so what a crash has lost is asked for by the next
input.
"""

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import agent_wording
from bot.domain.roundtable.effects import NameSession, WorkIndicator
from bot.domain.roundtable.posts import ShownSession
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable

NOT_YET = frozenset({Stage.OPENING, Stage.STALLED})


def name_session(rt: Roundtable, playbook: Playbook) -> Roundtable:
    is_shown = playbook.policy.agent and rt.place.thread
    if not is_shown or rt.stage in NOT_YET or WorkIndicator.SESSION in rt.signs_refused:
        return rt
    closed = rt.stage is Stage.ANALYSED and not rt.working_at
    wanted = ShownSession(thread=rt.place.thread, title=_title(rt, playbook), closed=closed)
    if wanted == rt.session:
        return rt
    named = NameSession(title=wanted.title, closed=closed)
    return rt.dropping(NameSession).queueing(named).but(session=wanted)


def _title(rt: Roundtable, playbook: Playbook) -> str:
    if rt.stage is Stage.ANALYSED:
        return agent_wording.session(rt.title)
    step = playbook.agenda.get(rt.step_id)
    return agent_wording.session(rt.title, step.title if step else "")
