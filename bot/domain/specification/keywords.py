"""Words to search for, as people said them: three letters or more, and none that only fills a sentence."""

import re
from collections.abc import Collection, Iterable

from bot.domain.specification.entries import Specification

KEYWORD = "keyword"
"""The kind of entries that are such words."""
MOST_WORDS = 40
MOST_OF_A_TEXT = 8
FEWEST_LETTERS = 3
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[^\W_]_|[a-z][A-Z]|\d")
"""What is written as names in code are."""


def keywords_of(specification: Specification, filler: Collection[str] = ()) -> tuple[str, ...]:
    """What people, or a model, recorded as keywords; nothing is taken from free words."""
    return _searchable((str(one["word"] or "") for one in specification.active(KEYWORD)), filler)[:MOST_WORDS]


def words_in(text: str, filler: Collection[str] = ()) -> tuple[str, ...]:
    """In the order of *text*. Of many, those that look like names in code, and the longest."""
    words = _searchable(_WORD.findall(text), filler)
    telling = sorted(words, key=lambda one: (not _NAME.search(one), -len(one)))[:MOST_OF_A_TEXT]
    return tuple(sorted(telling, key=words.index))


def _searchable(words: Iterable[str], filler: Collection[str]) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for word in words:
        folded = word.casefold()
        if sum(c.isalnum() for c in word) >= FEWEST_LETTERS and folded not in filler:
            unique.setdefault(folded, word)
    return tuple(unique.values())
