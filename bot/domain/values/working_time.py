"""When people work, and when answers are due, by the clock of one person."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone

from bot.domain.values.timestamps import moment
from bot.domain.values.value import Stored

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
SATURDAY = 5
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LONGEST_HOURS = 100

_DUE = re.compile(r"(\d{4})-(\d{2})-(\d{2})[T ]+(\d{1,2}):(\d{2})", re.ASCII)


class WorkingTime(Stored):
    """Hours of a day, and whether people work on Saturday and Sunday. Outside of it nobody is written to."""

    begins: int = 9
    ends: int = 17
    weekends: bool = False

    def is_working_day(self, day: date) -> bool:
        return self.weekends or day.weekday() < SATURDAY

    def holds(self, local: datetime) -> bool:
        return self.is_working_day(local.date()) and self.begins <= local.hour < self.ends

    def before(self, due: str, hours: int, *, offset: int) -> str:
        """The moment that is so many working hours before *due*."""
        at, left = local_time(due, offset), timedelta(hours=min(hours, LONGEST_HOURS))
        while left:
            opens, closes = (
                datetime.combine(at.date(), time(hour), at.tzinfo) for hour in (self.begins, self.ends)
            )
            if not self.is_working_day(at.date()) or at <= opens:
                at = closes - DAY
                continue
            at = min(at, closes)
            step = min(left, at - opens)
            at, left = at - step, left - step
        return moment(at.astimezone(UTC))

    def a_day_after(self, due: str, *, now: str, offset: int) -> str:
        """The same time on the next working day that is still to come."""
        at, passed = local_time(due, offset) + DAY, local_time(now, offset)
        if at < passed:
            at += DAY * (passed - at).days
        while at <= passed or not self.is_working_day(at.date()):
            at += DAY
        return moment(at.astimezone(UTC))


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
