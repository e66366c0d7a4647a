"""
What follows when people have written nothing for a while.

A discussion that has no turns left ends when everybody was heard and the thread has been quiet, or when answers are
due.
What people say below the menu of a finished step is committed when they pause, if they have not gone on by then.
What they say about a step is drafted from when they pause, or after a while (`speaking.draft_due`).
Who is waited for by name is asked by name.
"""

from collections.abc import Callable

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.elaboration import EndReason
from bot.domain.messages import discussion_wording
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.inputs import Command, Input, Press, TimeCame
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, Roundtable
from bot.domain.roundtable.timers import OF_DRAFTS, TimerName, cleared, set_timer
from bot.domain.roundtable.transitions import drafts, elaborations, steps
from bot.domain.roundtable.transitions.saving import has_content
from bot.domain.roundtable.waiting import entries_waited_for, unheard_in_discussion
from bot.domain.values.timestamps import after as moment_after
from bot.domain.values.timestamps import in_words, seconds_since

SECONDS = {
    TimerName.FEEDBACK: 120,
    TimerName.ROUND: 15,
    TimerName.UNANSWERED: 600,
    TimerName.SLOW: 20,
    TimerName.DRAFT_LATEST: 90,
}
"""The channel's policy says the others."""
LATE_SECONDS = 120.0
"""A timer that comes later than this proves no silence: nothing ran, and people may have written meanwhile."""


def set_timers(rt: Roundtable, before: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    """
    Each timer of `WAITS` runs while its condition holds, and begins again when a person does something; those of drafts
    when there are other words to read, and not when a draft of them begins; that of a slow model does not.
    """
    is_read = rt.has_pending(Speak) and not before.has_pending(Speak)
    for name, holds in WAITS:
        begins = _has_new_words(rt, before, event) if name in OF_DRAFTS else isinstance(event, Command)
        begins = begins and name is not TimerName.SLOW
        if not holds(rt) or (is_read and name in OF_DRAFTS):
            rt = cleared(rt, name)
        elif not holds(before) or (begins and not (name is TimerName.DRAFT_LATEST and name in rt.timers)):
            rt = _waiting(rt, name, playbook)
    return rt


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
        return _waiting(rt, TimerName.QUIET, playbook)
    if not unheard_in_discussion(rt):
        return elaborations.conclude(rt, EndReason.QUIET, playbook)
    return elaborations.conclude(rt, EndReason.DUE, playbook) if _is_due(rt) else rt


def feedback_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    """The menu stays as it is. Without it a step that nobody goes on from would be behind in git for days."""
    return steps.feedback_saved(rt, playbook) if rt.stage is Stage.AT_BOUNDARY else rt


def ended_by_due_time(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """While people write, it ends when they pause."""
    return rt if TimerName.QUIET in rt.timers else elaborations.conclude(rt, EndReason.DUE, playbook)


def only_people_go_on(rt: Roundtable) -> bool:
    """Whether the open discussion has no turns left, and nobody is asked for a sealed position."""
    debate = rt.elaboration if rt.stage is Stage.ELABORATING else None
    return debate is not None and debate.exhausted and debate.sealed is None


def _is_due(rt: Roundtable) -> bool:
    """A time that was over when the discussion began is not its limit."""
    return rt.debate.opened_at < rt.attendance.due <= rt.now


def _has_feedback(rt: Roundtable) -> bool:
    return rt.stage is Stage.AT_BOUNDARY and has_content(rt.unheld)


def unanswered_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    """Who is waited for by name is asked, once for each thing; see `prompts`."""
    if seconds_since(event.due, event.at) > LATE_SECONDS:
        return _waiting(rt, TimerName.UNANSWERED, playbook)
    return rt.but(attendance=rt.attendance.but(nudged=(*rt.attendance.nudged, *_not_nudged(rt))))


def _not_nudged(rt: Roundtable) -> tuple[str, ...]:
    """The entries that somebody waits for, and nobody was asked about by name."""
    return tuple(one for one in entries_waited_for(rt) if one not in rt.attendance.nudged)


def _has_unread_words(rt: Roundtable) -> bool:
    return rt.stage in ABOUT_A_STEP and bool(rt.unread)


def _has_new_words(rt: Roundtable, before: Roundtable, event: Input) -> bool:
    """Or none reads them any more, because a person changed them, or went on."""
    now, then = ({(one.ts, one.text) for one in at.unread} for at in (rt, before))
    is_stopped = isinstance(event, Press) and event.action == Action.STOP_DRAFT
    is_dropped = before.has_pending(Speak) and not rt.has_pending(Speak) and not is_stopped
    return bool(now - then) or (isinstance(event, Command) and (now != then or is_dropped))


def _waiting(rt: Roundtable, name: TimerName, playbook: Playbook) -> Roundtable:
    policy = playbook.policy
    chosen = {TimerName.QUIET: 60 * policy.quiet_minutes, TimerName.DRAFT: policy.draft_seconds}
    due = moment_after(rt.now, (SECONDS | chosen)[name])
    if name is TimerName.UNANSWERED:
        due = policy.working.opening(due, offset=rt.attendance.offsets.get(rt.started_by, 0))
    return set_timer(rt, name, due)


WAITS: tuple[tuple[TimerName, Callable[[Roundtable], object]], ...] = (
    (TimerName.QUIET, only_people_go_on),
    (TimerName.FEEDBACK, _has_feedback),
    (TimerName.ROUND, elaborations.wants_round),
    (TimerName.UNANSWERED, _not_nudged),
    (TimerName.SLOW, drafts.is_at_work),
    (TimerName.DRAFT, _has_unread_words),
    (TimerName.DRAFT_LATEST, _has_unread_words),
)
"""When each timer runs: from when that begins to hold, and anew with everything that a person does meanwhile."""
