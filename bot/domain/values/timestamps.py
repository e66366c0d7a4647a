"""
Moments, in the one form that a transcript knows: UTC with milliseconds. Slack's, which are its own clock's; and when
people work and answers are due, by the clock of one person. Dates as people type them, in six languages: `2026-11-30`,
`30 Nov`, `1.12.`, `today`, `Freitag`, `in 3 days`, each with a time or without: a closed list of words; any other word
makes it no date.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import NamedTuple

from bot.domain.values.value import Stored

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""
_SLACK_TS = re.compile(r"([0-9]{1,12})\.([0-9]{1,6})", re.ASCII)


def moment(at: datetime) -> str:
    """Of a time in UTC."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def slack_time(ts: str) -> tuple[int, int] | None:
    """Seconds and microseconds of a Slack timestamp, exact, to be compared. None for other text."""
    found = _SLACK_TS.fullmatch(ts)
    return (int(found[1]), int(found[2].ljust(6, "0"))) if found else None


def written_at(ts: str) -> str:
    """The moment of a Slack timestamp; empty for other text."""
    time = slack_time(ts)
    if time is None or time[0] > _LAST_SECOND:
        return ""
    return moment(_EPOCH + timedelta(seconds=time[0], microseconds=time[1]))


def slack_stamp(at: str) -> str:
    """A moment of our clock in the form of a Slack timestamp, to be compared with others."""
    return f"{seconds(at):.6f}" if at else ""


def seconds_since(at: str, now: str) -> float:
    """Of two moments; 0 when there is no *at*. Raises ValueError for what is none."""
    return seconds(now) - seconds(at) if at else 0.0


def seconds(at: str) -> float:
    """Since 1970, as Slack counts."""
    return datetime.fromisoformat(at).timestamp()


def after(now: str, in_seconds: float) -> str:
    """The moment so many seconds after *now*."""
    return before(now, -in_seconds)


def before(now: str, seconds_ago: float) -> str:
    """The moment so many seconds before *now*. Moments of this form sort as text."""
    return moment(datetime.fromisoformat(now).astimezone(UTC) - timedelta(seconds=seconds_ago))


# --- by the clock of one person


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


LONGEST = 60
"""Of what names a date, in characters."""

_CLOCK = re.compile(r"(?:(?<=\s)|(?<=\dt)|\A)(?P<hour>\d{1,2})[:h](?P<minute>\d{2})(?: uhr)?\Z")
_ISO = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})t?")
_DAY_MONTH = re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})?")
_NAMED = re.compile(
    r"(?P<day>\d{1,2})(?:\.|st|nd|rd|th|er)? (?:de )?(?P<name>[^\W\d]{1,20})\.?(?: (?:de )?(?P<year>\d{4}))?"
)
_NAME_FIRST = re.compile(
    r"(?P<name>[^\W\d]{1,20})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?"
)
_JAPANESE = re.compile(r"(?P<month>\d{1,2})月(?P<day>\d{1,2})日")
_IN_DAYS = re.compile(
    r"(?:in|dans|en|em) (?P<days>\d{1,3}) (?:days?|tage?n?|jours?|días?|dias?)|(?P<later>\d{1,3})日後"
)


def _numbered(*languages: str) -> Mapping[str, int]:
    return {
        word: at for told in languages for at, words in enumerate(told.split()) for word in words.split("/")
    }


_MONTHS = _numbered(
    "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep/sept october/oct "
    "november/nov december/dec",
    "januar/jänner/jän februar märz/mär april mai juni juli august september oktober/okt november dezember/dez",
    "janvier/janv février/févr mars avril/avr mai juin juillet/juil août septembre octobre novembre décembre/déc",
    "enero/ene febrero marzo abril/abr mayo junio julio agosto/ago septiembre octubre noviembre diciembre/dic",
    "janeiro fevereiro/fev março abril maio/mai junho julho agosto setembro/set outubro/out novembro dezembro/dez",
)
_WEEKDAYS = _numbered(
    "monday/mon tuesday/tue wednesday/wed thursday/thu friday/fri saturday/sat sunday/sun",
    "montag/mo dienstag/di mittwoch/mi donnerstag/do freitag/fr samstag/sa/sonnabend sonntag/so",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "segunda/segunda-feira terça/terça-feira quarta/quarta-feira quinta/quinta-feira sexta/sexta-feira sábado domingo",
    "月曜日/月曜 火曜日/火曜 水曜日/水曜 木曜日/木曜 金曜日/金曜 土曜日/土曜 日曜日/日曜",
)
_AHEAD = _numbered(
    "today tomorrow", "heute morgen", "aujourd'hui demain", "hoy mañana", "hoje amanhã", "今日 明日"
)
_SMALL = frozenset(
    ["on", "by", "at", "next", "until", "am", "um", "bis", "le", "à", "el", "a", "las", "às", "na", "até"]
)


def date_in(text: str, *, now: str, offset: int) -> str:
    """
    The moment that *text* names by a clock with *offset* (in seconds east of UTC), at the end of office hours where it
    names no time. Empty for other words.
    """
    words = text.replace("’", "'").casefold().split()
    said = " ".join(one for one in words if one not in _SMALL)
    if len(said) > LONGEST:
        return ""
    try:
        clock, found = time(OFFICE[1] // 60), _CLOCK.search(said)
        if found:
            clock = time(int(found["hour"]), int(found["minute"]))
            said = f"{said[: found.start()]} {said[found.end() :]}"
        today = local_time(now, offset)
        day = _day(said.strip(" ,"), today.date())
        return moment(datetime.combine(day, clock, today.tzinfo).astimezone(UTC)) if day else ""
    except (ValueError, OverflowError):  # 30 February
        return ""


def _day(said: str, today: date) -> date | None:
    if said in _AHEAD:
        return today + timedelta(days=_AHEAD[said])
    if said in _WEEKDAYS:
        return today + timedelta(days=(_WEEKDAYS[said] - today.weekday() - 1) % 7 + 1)
    if found := _IN_DAYS.fullmatch(said):
        return today + timedelta(days=int(found["days"] or found["later"]))
    for form in (_ISO, _DAY_MONTH, _JAPANESE, _NAMED, _NAME_FIRST):
        if found := form.fullmatch(said):
            given = found.groupdict()
            month = (
                int(given["month"]) if given.get("month") else _MONTHS.get(given["name"].rstrip("."), -1) + 1
            )
            return _next(int(given["day"]), month, given.get("year"), today) if month else None
    return None


def _next(day: int, month: int, year: str | None, today: date) -> date:
    """Without a year, the next one that is not over."""
    named = date(int(year or today.year), month, day)
    return named if year or named >= today else named.replace(year=today.year + 1)
