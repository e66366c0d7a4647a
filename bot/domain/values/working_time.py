"""When people work, and when answers are due, by the clock of one person."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import NamedTuple

from bot.domain.values.timestamps import moment
from bot.domain.values.value import Stored

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
SATURDAY = 5
NOTHING, MINUTE, DAY = timedelta(), timedelta(minutes=1), timedelta(days=1)
MINUTES_A_DAY = 24 * 60
OFFICE = (9 * 60, 17 * 60)
LONGEST_HOURS = 100

_DUE = re.compile(r"(\d{4})-(\d{2})-(\d{2})[T ]+(\d{1,2}):(\d{2})", re.ASCII)


class QuietHours(Stored):
    """
    The part of a day in which people are not written to, by their own clock, as minutes since midnight. It may go
    past midnight.
    """

    begin: int
    end: int

    def contain(self, minute: int) -> bool:
        if self.begin <= self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end


class WorkingTime(NamedTuple):
    """
    When people work: on each day but Saturday and Sunday, unless there are *weekends*; from nine to five, or at all
    hours that are not *quiet*.
    """

    quiet: QuietHours | None = None
    weekends: bool = False

    def is_working_day(self, day: date) -> bool:
        return self.weekends or day.weekday() < SATURDAY

    def before(self, due: str, hours: int, *, offset: int) -> str:
        """The moment that is so many working hours before *due*."""
        at, left = local_time(due, offset), timedelta(hours=min(hours, LONGEST_HOURS))
        day = at.date()
        while True:
            for opens, closes in reversed(self._hours(day, at.tzinfo)):
                step = min(left, max(min(at, closes) - opens, NOTHING))
                left -= step
                if not left:
                    return moment((min(at, closes) - step).astimezone(UTC))
            day -= DAY

    def opening(self, at: str, *, offset: int) -> str:
        """*at*, or the moment after it at which people work again."""
        local = local_time(at, offset)
        day = local.date()
        while True:
            for opens, closes in self._hours(day, local.tzinfo):
                if local < closes:
                    return moment(max(local, opens).astimezone(UTC))
            day += DAY

    def a_day_after(self, due: str, *, now: str, offset: int) -> str:
        """The same time on the next working day that is still to come."""
        at, passed = local_time(due, offset) + DAY, local_time(now, offset)
        if at < passed:
            at += DAY * (passed - at).days
        while at <= passed or not self.is_working_day(at.date()):
            at += DAY
        return moment(at.astimezone(UTC))

    def _hours(self, day: date, zone: tzinfo | None) -> tuple[tuple[datetime, datetime], ...]:
        """From when until when people work on *day*."""
        if not self.is_working_day(day):
            return ()
        begins = datetime.combine(day, time(), zone)
        spans: tuple[tuple[int, int], ...] = (OFFICE,)
        if self.quiet:
            begin, end = self.quiet.begin, self.quiet.end
            spans = ((end, begin),) if begin > end else ((0, begin), (end, MINUTES_A_DAY))
        return tuple((begins + MINUTE * opens, begins + MINUTE * closes) for opens, closes in spans)


def local_time(at: str, offset: int) -> datetime:
    """*offset* is in seconds east of UTC."""
    return datetime.fromisoformat(at).astimezone(timezone(timedelta(seconds=offset)))


def due_in(text: str, *, offset: int) -> str:
    """The moment that *text* names as `2026-11-30 17:00`, by a clock with *offset*; empty when it names none."""
    found = _DUE.fullmatch(text.strip())
    if not found:
        return ""
    try:
        local = datetime(*map(int, found.groups()), tzinfo=timezone(timedelta(seconds=offset)))  # type: ignore[arg-type,misc]
        return moment(local.astimezone(UTC))
    except (ValueError, OverflowError):
        return ""


def in_words(at: str, *, offset: int) -> str:
    """`Monday 30 November, 17:00 (UTC+1)`: people in one thread have several clocks."""
    local = local_time(at, offset)
    return (
        f"{DAYS[local.weekday()]} {local.day} {MONTHS[local.month - 1]}, {local:%H:%M} ({zone_name(offset)})"
    )


def zone_name(offset: int) -> str:
    hours, minutes = divmod(abs(offset) // 60, 60)
    sign = "+" if offset >= 0 else "-"
    return f"UTC{sign}{hours}{f':{minutes:02}' if minutes else ''}" if offset else "UTC"
