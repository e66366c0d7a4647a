"""
Dates as people type them, in six languages: `2026-11-30`, `30 Nov`, `1.12.`, `today`, `Freitag`, `in 3 days`, each with
a time or without. A closed list of words; any other word makes it no date.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from bot.domain.values.timestamps import OFFICE, local_time, moment

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
