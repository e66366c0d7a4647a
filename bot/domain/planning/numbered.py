"""Answers by number: `2. The drivers.` answers question 2."""

import re

_NUMBERED = re.compile(r"\s*(?P<number>\d{1,3})[.)]\s+(?=\S)")


def number_in(text: str) -> int:
    """The number in front of `2. The drivers.`; 0 where there is none, and in front of a list of several."""
    numbers = [found for row in text.splitlines() if (found := _NUMBERED.match(row))]
    first = _NUMBERED.match(text)
    return int(first["number"]) if first and len(numbers) == 1 else 0


def without_number(text: str, number: int) -> str:
    """*text* without *number* in front of it. With 0, and with another number in front, it stays as it is."""
    found = _NUMBERED.match(text)
    return text[found.end() :] if found and number and number_in(text) == number else text
