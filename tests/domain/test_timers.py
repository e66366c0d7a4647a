"""What follows by itself when its time has come."""

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.message import Message
from bot.domain.roundtable import machine, timers
from bot.domain.roundtable.inputs import TimeCame
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName, cleared, due_at, set_timer
from tests.domain.table import Table

NOON, LATER, DAYS_LATER = "2026-11-21T12:00:00.000Z", "2026-11-21T13:00:00.000Z", "2026-11-25T09:00:00.000Z"


def told(rt: Roundtable, event: TimeCame, _playbook: Playbook) -> Roundtable:
    return rt.telling(Message(text=f"It is {event.at}."), part=rt.part)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    """A step is open, and a deadline says so in the thread when it is due."""
    monkeypatch.setitem(machine.TIMED, TimerName.DEADLINE, told)
    table = Table().start().stop_paying()
    table.rt = set_timer(table.rt, TimerName.DEADLINE, NOON)
    return table


def test_a_timer_follows_when_it_is_due_and_not_before(table: Table) -> None:
    """To the millisecond."""
    table.time_is("2026-11-21T11:59:59.999Z")
    assert not table.rt.outbox

    table.time_is(NOON)
    assert [effect.kind for effect in table.rt.outbox] == ["post"]
    assert table.rt.next_due == ""


def test_an_overdue_timer_follows_once(table: Table) -> None:
    """Two processes tell it, days later, and one of them twice."""
    [event] = due_at(table.rt, DAYS_LATER)
    table.rt = once = table.decided(event)
    again = table.decided(event)
    other = table.decided(event.but(at="2026-11-25T09:00:01.000Z"))

    assert [effect.kind for effect in once.outbox] == ["post"]
    assert again is once
    assert other is once


def test_a_timer_that_was_set_anew_does_not_follow_at_its_old_time(table: Table) -> None:
    """A person gave one more hour while a process was about to tell it."""
    [event] = due_at(table.rt, NOON)
    table.rt = before = set_timer(table.rt, TimerName.DEADLINE, LATER)

    assert table.decided(event) is before
    table.time_is(LATER)
    assert table.rt.outbox


def test_timers_follow_in_the_order_of_their_times(table: Table) -> None:
    """Each by itself; another one stays set."""
    table.rt = set_timer(table.rt, TimerName.ROLL_CALL, LATER)

    assert [event.name for event in due_at(table.rt, DAYS_LATER)] == ["deadline", "roll_call"]
    assert table.rt.next_due == NOON
    table.time_is(NOON)
    assert table.rt.next_due == LATER


def test_a_cleared_timer_does_not_follow(table: Table) -> None:
    """What it was for is over; clearing what is not set changes nothing."""
    table.rt = cleared(table.rt, TimerName.DEADLINE)

    assert cleared(table.rt, TimerName.DEADLINE) is table.rt
    table.time_is(DAYS_LATER)
    assert not table.rt.outbox


def test_a_timer_that_only_a_newer_version_knows_stays(table: Table) -> None:
    """It neither follows here nor is it lost."""
    table.rt = table.rt.but(timers={"tomorrow_s_idea": NOON})

    assert list(due_at(table.rt, DAYS_LATER)) == []
    assert not timers.is_current(table.rt, TimeCame(key="t", at=NOON, name="deadline", due=NOON))
    assert table.rt.next_due == NOON
