"""Words to search a code base for, as people said them."""

from bot.domain.specification.entries import Specification

KEYWORD = "keyword"
"""The kind of entries that are such words."""
MOST_WORDS = 40
FEWEST_LETTERS = 2


def words_to_search(specification: Specification, title: str, *, said: str = "") -> tuple[str, ...]:
    """The keywords of the *specification*, then every word that people *said*, else those of the *title*."""
    entries = [str(one["word"] or "") for one in specification.active(KEYWORD)]
    said = said or ("" if entries else title)
    words = [*entries, *(word.strip("`'\"()[]{}.,:;!?*_") for word in said.split())]
    unique: dict[str, str] = {}
    for word in words:
        if sum(c.isalnum() for c in word) >= FEWEST_LETTERS:
            unique.setdefault(word.casefold(), word)
    return tuple(unique.values())[:MOST_WORDS]
