"""Words to search a code base for, as people said them."""

from collections.abc import Iterable

from bot.domain.specification.entries import Specification

KEYWORD = "keyword"
"""The kind of entries that are such words."""
MOST_WORDS = 40
FEWEST_LETTERS = 2


def keywords_of(specification: Specification) -> tuple[str, ...]:
    """What people, or a model, recorded as keywords; nothing is taken from free words."""
    return _searchable(str(one["word"] or "") for one in specification.active(KEYWORD))


def words_to_search(specification: Specification, title: str) -> tuple[str, ...]:
    """For the first look of a model: the keywords, else the words of the *title*."""
    return keywords_of(specification) or _searchable(
        word.strip("`'\"()[]{}.,:;!?*_") for word in title.split()
    )


def _searchable(words: Iterable[str]) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for word in words:
        if sum(c.isalnum() for c in word) >= FEWEST_LETTERS:
            unique.setdefault(word.casefold(), word)
    return tuple(unique.values())[:MOST_WORDS]
