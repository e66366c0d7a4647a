"""Keywords: those that the code base was searched for, and those that people named."""

import re
from collections.abc import Iterator, Sequence

from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits
from bot.voices.offline.pages import table
from bot.voices.offline.phrases import key, words
from bot.voices.offline.reading import Kind, Said

NOT_SEARCHED = "not searched"
KEYWORD_WORDS_MAX = 4

_SEPARATORS = re.compile(r"[,;、，]|\s/\s|\band\b|\bor\b")
_MARKED = re.compile(r"`([^`\n]{1,60})`|[\"“]([^\"“”\n]{1,60})[\"”]")


def keywords_of(said: Sequence[Said]) -> tuple[str, ...]:
    """The words people named: short pieces of a list, and whatever stands in backticks or quotes."""
    found = [word for piece in said if piece.kind is not Kind.QUESTION for word in _named(piece)]
    return tuple({key(word): word for word in reversed(found)}.values())[::-1]


def searched(survey: CodeSurvey | None) -> str:
    if survey is None or not survey.tracked_files:
        return "_There was no code base to search; these are the words people named._"
    partly = "" if survey.complete else " The time for searching ran out, so there may be more."
    return f"_Searched {survey.tracked_files:,} tracked files.{partly}_"


def keyword_table(survey: CodeSurvey | None, named: Sequence[str]) -> str:
    """Empty when there is no word to show."""
    hits = survey.hits if survey and survey.tracked_files else ()
    known = {key(one.keyword) for one in hits}
    rows = [*map(_hit, hits), *((word, NOT_SEARCHED, "") for word in named if key(word) not in known)]
    return table(("Keyword", "Hits", "Key Files"), rows) if rows else ""


def named_in(text: str) -> Iterator[str]:
    """What somebody set apart as a name, in backticks or quotes."""
    for found in _MARKED.findall(text):
        if 0 < len(words("".join(found))) <= KEYWORD_WORDS_MAX:
            yield "".join(found).strip()


def _hit(hits: KeywordHits) -> tuple[str, str, str]:
    return hits.keyword, str(hits.count), ", ".join(f"`{path}`" for path in hits.files)


def _named(piece: Said) -> Iterator[str]:
    parts = [one for part in _SEPARATORS.split(piece.text) if (one := part.strip(" .!*_`\"'“”"))]
    is_list = len(parts) > 1 or piece.listed
    if is_list and all(len(words(one)) <= KEYWORD_WORDS_MAX for one in parts):
        yield from parts
        return
    yield from named_in(piece.text)
