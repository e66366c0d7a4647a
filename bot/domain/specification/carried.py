"""
What people and personas said that no entry carries: a number or a date that no entry about it has, a remark that
nothing rests on, and what a persona cited from the code.

Rules only. They find what is not there at all; whether an entry says it well is for people to see.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.domain.specification.entailment import Figures, content_words, figures, has_figure, lacking_figures
from bot.domain.values.text import one_line

STATEMENT_CHARS = 300
FEWEST_WORDS = 4
"""Words that say something. What has fewer is no statement of its own."""
MOSTLY = 0.5
RESTS_NOT = "no entry rests on it"
NOT_CITED = "no entry has what it cites"
CLAIMS_REMEMBERED = 5_000
_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|\n")
_CITED = re.compile(r"(?<![^\s:@()\[\]`])[^\s:@()\[\]`]{1,400}+:\d{1,7}(?:-\d{1,7})?@[0-9a-f]{7,40}")


class LostStatement(NamedTuple):
    """In the words in which it was said, and why it is listed."""

    text: str
    why: str


class _Claim(NamedTuple):
    words: frozenset[str]
    figures: Figures


@lru_cache(maxsize=CLAIMS_REMEMBERED)  # the same ones are held against every sentence
def _read_claim(claim: str) -> _Claim:
    return _Claim(content_words(claim), figures(claim))


def lost(text: str, claims: Sequence[str], *, is_cited: bool) -> Iterator[LostStatement]:
    """
    Of what a person said, the sentences with a number or a date that none of *claims* has; or all of it, when nothing
    rests on it. A question states nothing.
    """
    stated = [one for one in sentences(text) if not one.endswith(("?", "？"))]
    counted = [one for one in stated if has_figure(one) and content_words(one)]
    found = [
        LostStatement(one_line(one, STATEMENT_CHARS), why)
        for one in counted
        if (why := _lacking(one, claims))
    ]
    yield from found
    whole = " ".join(stated)
    if (
        not counted
        and not is_cited
        and len(content_words(whole)) >= FEWEST_WORDS
        and not _is_said(whole, claims)
    ):
        yield LostStatement(one_line(whole, STATEMENT_CHARS), RESTS_NOT)


def lost_citations(text: str, claims: Sequence[str], known: frozenset[str]) -> Iterator[LostStatement]:
    """Of what a persona said, the sentences that cite code, where neither *known* sources nor *claims* have it."""
    for sentence in sentences(text):
        cited = _CITED.findall(sentence)
        if not cited or not known.isdisjoint(cited):
            continue
        bare = _CITED.sub(" ", sentence)
        if not _is_said(bare, claims) or (has_figure(bare) and _lacking(bare, claims)):
            yield LostStatement(one_line(sentence, STATEMENT_CHARS), NOT_CITED)


def sentences(text: str) -> list[str]:
    """Without what is quoted from others."""
    rows = "\n".join(row for row in text.splitlines() if not row.lstrip().startswith(">"))
    return [one.strip() for one in _SENTENCES.split(rows) if one.strip()]


def citations_in(text: str) -> frozenset[str]:
    return frozenset(_CITED.findall(text))


def without_commits(text: str) -> str:
    """As people read it: `src/sync.py:40-58` for `src/sync.py:40-58@1a2b3c4`."""
    return _CITED.sub(lambda found: found[0].rpartition("@")[0], text)


def _lacking(sentence: str, claims: Sequence[str]) -> str:
    """Held against the claims that speak of the same: that another thing takes 40 % as well says nothing of this."""
    words = content_words(sentence)
    about = (one.figures for one in map(_read_claim, claims) if not words.isdisjoint(one.words))
    missing = next(lacking_figures(sentence, about), None)
    return f"no entry says “{missing.said.rstrip('.')}”" if missing else ""


def _is_said(text: str, claims: Sequence[str]) -> bool:
    words = content_words(text)
    most = max(1.0, MOSTLY * len(words))
    return any(len(words & _read_claim(one).words) >= most for one in claims)
