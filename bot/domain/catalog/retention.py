"""How long things are kept: `words:2y,item:5y` in `ROUNDTABLE_RETENTION`. What is not named is kept for ever."""

import re
from datetime import datetime, timedelta

from bot.domain.values.value import Value

LEAST_DAYS, DAYS_A_YEAR = 7, 365
FORM = "words and item with days or years of at least a week, such as words:2y,item:never"
_AGE = re.compile("([0-9]{1,5})([dy])")


class Retention(Value):
    """In days since a person last wrote; None for ever. `words` are those of people, `item` all of an item."""

    words: int | None = None
    item: int | None = None

    def are_words_over(self, last: str, now: str) -> bool:
        return self.words is not None and _days_between(last, now) >= self.words

    def is_item_over(self, last: str, now: str) -> bool:
        return self.item is not None and _days_between(last, now) >= self.item


def retention(text: str) -> Retention:
    """Raises ValueError."""
    found: dict[str, int | None] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, age = part.partition(":")
        if name not in Retention.model_fields or name in found:
            raise ValueError(f"{name!r} is no kind, or stands there twice")
        found[name] = None if age == "never" else _days(age)
    return Retention(**found)


def _days(age: str) -> int:
    given = _AGE.fullmatch(age)
    days = int(given[1]) * (DAYS_A_YEAR if given[2] == "y" else 1) if given else 0
    if days < LEAST_DAYS:
        raise ValueError(f"{age!r} is no age of at least a week")
    return days


def _days_between(last: str, now: str) -> int:
    return (datetime.fromisoformat(now) - datetime.fromisoformat(last)) // timedelta(days=1)
