"""
Times at which something follows by itself: a reminder, a deadline, the end of a silence.

A roundtable has at most one timer of each name, with the moment at which it is due; both are saved with it. A
transition sets and clears timers with `set_timer` and `cleared`. When a timer is due, the engine wakes the roundtable
with `TimeCame`: the timer is then gone, and the transition that `machine.TIMED` names for it follows, in every stage.
An overdue timer comes once, also after days without a process.
"""

from collections.abc import Iterator
from enum import StrEnum

from bot.domain.roundtable.inputs import TimeCame
from bot.domain.roundtable.state import Roundtable


class TimerName(StrEnum):
    """What a timer is for. The value is stored."""

    ROLL_CALL = "roll_call"
    DEADLINE = "deadline"
    QUIET = "quiet"
    """Since people last wrote in a discussion that has no turns left."""
    ROUND = "round"
    """Since people last spoke in a discussion, for the personas to take it up."""
    FEEDBACK = "feedback"
    """Since people last wrote below the menu of a finished step."""
    UNANSWERED = "unanswered"
    """Since people last wrote while something waits for one of them by name."""
    SLOW = "slow"
    """Since a model was asked for a draft, or its review."""
    DRAFT = "draft"
    """Since people last wrote what no model has read."""
    DRAFT_LATEST = "draft_latest"
    """Since the first of such words."""
    ISSUES = "issues"
    """Since it was last looked whether issues of the item are open."""


OF_DRAFTS = (TimerName.DRAFT, TimerName.DRAFT_LATEST)
KNOWN = frozenset(TimerName)
"""A timer that only a newer version knows stays as it is."""


def set_timer(rt: Roundtable, name: TimerName, due: str) -> Roundtable:
    """*name* is due at the moment *due*, which may be over already, in place of an earlier one of that name."""
    return rt.but(timers={**rt.timers, name.value: due})


def cleared(rt: Roundtable, *names: TimerName) -> Roundtable:
    """No error when a timer is not set."""
    gone = {name.value for name in names}
    if gone.isdisjoint(rt.timers):
        return rt
    return rt.but(timers={name: due for name, due in rt.timers.items() if name not in gone})


def due_at(rt: Roundtable, at: str) -> Iterator[TimeCame]:
    """The inputs that follow at the moment *at*, the earliest first."""
    for name, due in sorted(rt.timers.items(), key=lambda timer: timer[1]):
        if due <= at and name in KNOWN:
            yield TimeCame(key=f"timer.{name}.{due}", at=at, name=name, due=due)


def is_current(rt: Roundtable, event: TimeCame) -> bool:
    """Another process may have told it already, or a person's act may have set another time meanwhile."""
    return rt.timers.get(event.name) == event.due and event.due <= event.at
