"""
What follows when people have written nothing for a while.

A discussion that has no turns left ends when everybody was heard and the thread has been quiet, or when answers are
due.
The timer begins again with each thing that a person does.
"""

from collections.abc import Callable
from functools import wraps

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.elaboration import EndReason
from bot.domain.messages import discussion_wording
from bot.domain.roundtable.inputs import Command, Input, TimeCame
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName, cleared, set_timer
from bot.domain.roundtable.transitions import elaborations
from bot.domain.roundtable.waiting import unheard_in_discussion
from bot.domain.values.timestamps import after as moment_after
from bot.domain.values.timestamps import seconds_since
from bot.domain.values.working_time import in_words

LATE_SECONDS = 120.0
"""A timer that comes later than this proves no silence: nothing ran, and people may have written meanwhile."""

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def with_silence(decide: Decide) -> Decide:
    """*decide*, and the timers of what it is quiet about now."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, event, playbook)
        if after is rt:
            return after
        begins = isinstance(event, Command) or not only_people_go_on(rt)
        if not only_people_go_on(after):
            return cleared(after, TimerName.QUIET)
        return _waiting(after, TimerName.QUIET, 60 * playbook.policy.quiet_minutes) if begins else after

    return decided


def ending(rt: Roundtable, playbook: Playbook) -> str:
    """When the open discussion ends by itself, in one sentence."""
    due, offset = rt.attendance.due, rt.attendance.due_offset
    to_come = in_words(due, offset=offset) if due > rt.now else ""
    missing = [rt.name_of(one) for one in unheard_in_discussion(rt)]
    return discussion_wording.ends_by_itself(missing, playbook.policy.quiet_minutes, to_come)


def quiet_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    if not only_people_go_on(rt):
        return rt
    if seconds_since(event.due, event.at) > LATE_SECONDS:
        return _waiting(rt, TimerName.QUIET, 60 * playbook.policy.quiet_minutes)
    if not unheard_in_discussion(rt):
        return elaborations.conclude(rt, EndReason.QUIET, playbook)
    return elaborations.conclude(rt, EndReason.DUE, playbook) if _is_due(rt) else rt


def ended_by_due_time(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """While people write, it ends when they pause."""
    return rt if TimerName.QUIET in rt.timers else elaborations.conclude(rt, EndReason.DUE, playbook)


def only_people_go_on(rt: Roundtable) -> bool:
    """Whether the open discussion has no turns left, and nobody is asked for a sealed position."""
    debate = rt.elaboration if rt.stage is Stage.ELABORATING else None
    return debate is not None and debate.exhausted and debate.sealed is None


def _is_due(rt: Roundtable) -> bool:
    """A time that was over when the discussion began is not its limit."""
    opened_at = rt.debate.opened_at
    return bool(opened_at) and opened_at < rt.attendance.due <= rt.now


def _waiting(rt: Roundtable, name: TimerName, seconds: float) -> Roundtable:
    return set_timer(rt, name, moment_after(rt.now, seconds))
