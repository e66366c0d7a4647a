"""Dates as people type them, by their own clock."""

import pytest

from bot.domain.values.timestamps import LONGEST, date_in

NOW = "2026-11-26T12:00:00.000Z"  # a Thursday
HOUR = 3600


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("2026-11-30 17:00", "2026-11-30T17:00"),
        ("2026-11-30T09:30", "2026-11-30T09:30"),
        ("30 Nov", "2026-11-30T17:00"),
        ("Nov 30th, 2027", "2027-11-30T17:00"),
        ("1.12.", "2026-12-01T17:00"),
        ("1.12.2027 8:15", "2027-12-01T08:15"),
        ("am 3. März", "2027-03-03T17:00"),
        ("le 3 août 14h30", "2027-08-03T14:30"),
        ("el 5 de enero", "2027-01-05T17:00"),
        ("7 de março", "2027-03-07T17:00"),
        ("12月1日", "2026-12-01T17:00"),
        ("today 18:00", "2026-11-26T18:00"),
        ("demain", "2026-11-27T17:00"),
        ("mañana a las 9:00", "2026-11-27T09:00"),
        ("amanhã", "2026-11-27T17:00"),
        ("明日", "2026-11-27T17:00"),
        ("by Friday", "2026-11-27T17:00"),
        ("Donnerstag", "2026-12-03T17:00"),
        ("next mon 10:00", "2026-11-30T10:00"),
        ("in 3 days", "2026-11-29T17:00"),
        ("in 3 Tagen um 17:00 Uhr", "2026-11-29T17:00"),
        ("em 3 dias", "2026-11-29T17:00"),
        ("3日後", "2026-11-29T17:00"),
    ],
)
def test_a_date_in_words(words: str, moment: str) -> None:
    """In six languages, with a time or at the end of the day; without a year, the next such day."""
    assert date_in(words, now=NOW, offset=0) == f"{moment}:00.000Z"


def test_the_clock_is_that_of_the_person() -> None:
    """It is Friday in Auckland already."""
    assert date_in("tomorrow", now=NOW, offset=13 * HOUR) == "2026-11-28T04:00:00.000Z"
    assert date_in("today 09:00", now=NOW, offset=-5 * HOUR) == "2026-11-26T14:00:00.000Z"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "17:00",
        "soon",
        "next week",
        "30 February",
        "32.1.",
        "99 Foo",
        "today 25:00",
        "may be",
        "9" * LONGEST * 2,
    ],
)
def test_other_words_are_no_date(words: str) -> None:
    assert date_in(words, now=NOW, offset=0) == ""
