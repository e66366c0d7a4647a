"""
The session that an app has in its thread when it is declared an agent: its title says the item and the step, and it is
closed when the analysis is done.

Both follow from the state, as the sign of work does (`working.py`), so what a crash has lost is asked for by the next
input.
"""

from collections.abc import Callable
from functools import wraps

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import agent_wording
from bot.domain.roundtable.effects import NameSession, WorkIndicator
from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.posts import ShownSession
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable

NOT_YET = frozenset({Stage.OPENING, Stage.STALLED})

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def with_session(decide: Decide) -> Decide:
    """*decide*, and what its outcome makes of the session."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, event, playbook)
        return _current(after, playbook) if after is not rt and playbook.policy.agent else after

    return decided


def _current(rt: Roundtable, playbook: Playbook) -> Roundtable:
    if not rt.place.thread or rt.stage in NOT_YET or WorkIndicator.SESSION in rt.signs_refused:
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
    if rt.stage is Stage.PLANNING:
        return agent_wording.session(rt.title, agent_wording.PLAN)
    step = playbook.agenda.get(rt.step_id)
    return agent_wording.session(rt.title, step.title if step else "")
