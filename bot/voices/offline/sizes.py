"""
The size of a change, read out of people's words: scope, complexity, numbers of files.

Only what is said counts. A size word is taken where it plainly is one ("Scope: medium", "a small change", "I'd
say large", or alone between commas); the newest of several is meant.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.domain.catalog.agenda import QuickScan, scope_of_count
from bot.voices.offline.counting import Count, counted
from bot.voices.offline.reading import Kind, Said

UNKNOWN = "unknown"
SIZED_CHARS = 2_000
"""Nobody needs more words in a row to say how big something is."""

_SIZES = {
    "tiny": "small",
    "small": "small",
    "medium": "medium",
    "mid-size": "medium",
    "large": "large",
    "big": "large",
    "huge": "large",
}
_LEVELS = ("low", "medium", "high")

_SIZE = rf"(?P<word>{'|'.join(_SIZES)})(?:[- ]sized)?"
_LEVEL = rf"(?P<word>{'|'.join(_LEVELS)})"
_LABEL = r"[\s*_]*(?:[:=]|\bis\b|->|→)[\s*_\"'“`]*"
_HEDGES = (
    r"(?:\s(?:a|an|rather|quite|pretty|very|probably|maybe|still|about|more|like|of|something|it|as|is))*"
)
_SAYS = r"(?:it['’]?s|it is|this is|that['’]?s|that is|say|size|guess|bet|call it|seems?|looks?|feels?|think|scope)"
_THING = r"(?:change|scope|task|feature|job|piece|one|effort|item|project|refactor\w*|thing)"
_FLAGS = re.IGNORECASE

_ANY_SIZE = re.compile(_SIZE, _FLAGS)
_ANY_LEVEL = re.compile(_LEVEL, _FLAGS)

_SCOPES = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        rf"\b(?:scope|size)\b(?: class| estimate| classification)?{_LABEL}{_HEDGES} ?{_SIZE}\b",
        rf"(?<!not a )(?<!not )\b{_SIZE}\s+{_THING}\b",
        rf"\b{_SAYS}{_HEDGES} {_SIZE}\b(?! complex)(?! \w+s\b)",
        rf"^[\W_]*(?:(?:rather|quite|pretty|very|probably|maybe|more like) )*{_SIZE}[\W_]*$",
    )
)
_COMPLEXITIES = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        rf"\bcomplexity\b{_LABEL}{_HEDGES} ?{_LEVEL}\b",
        rf"\b{_LEVEL}[\s-]+complexity\b",
        r"^[\W_]*(?P<word>low|high)[\W_]*$",
    )
)
_BARE_LEVEL = re.compile(rf"^[\W_]*{_LEVEL}[\W_]*$", _FLAGS)
_ASKS_SIZE = re.compile(r"\bsmall\b.*\bmedium\b.*\blarge\b", _FLAGS | re.DOTALL)
_ASKS_LEVEL = re.compile(r"\blow\b.*\bmedium\b.*\bhigh\b", _FLAGS | re.DOTALL)
_ASKS_TOTAL = re.compile(r"\bhow many files\b", _FLAGS)
_CLAUSE_END = re.compile(r"[,;.!?()\n]|\s[-–—]\s|\band\b|\bbut\b|\bso\b")


def read_scan(said: Iterable[Said], questions: Sequence[str] = ()) -> QuickScan:
    """Alone, "medium" answers the question it stands under: it is a size, or a complexity."""
    said = tuple(said)
    scope = complexity = UNKNOWN
    for piece in said:
        if piece.kind is Kind.QUESTION:
            continue
        asked = _question_of(piece, questions)
        only_level = bool(_ASKS_LEVEL.search(asked)) and not _ASKS_SIZE.search(asked)
        text = " ".join(piece.text[:SIZED_CHARS].split())
        scope = ("" if only_level else scope_in(text)) or scope
        complexity = complexity_in(text, asked_for=only_level) or complexity
    return QuickScan(scope=scope, file_count=count_in(said, questions).files, complexity=complexity)


def count_in(said: Iterable[Said], questions: Sequence[str] = ()) -> Count:
    """Alone, "12" answers the question for the total, under its number or as the first number of all."""
    count = Count()
    asks = any(map(_ASKS_TOTAL.search, questions))
    for piece in said:
        if piece.kind is not Kind.QUESTION:
            first = piece.number is None and asks and not count.files
            asked = first or bool(_ASKS_TOTAL.search(_question_of(piece, questions)))
            count = counted(count, " ".join(piece.text[:SIZED_CHARS].split()), asked=asked)
    return count


def final(said: Sequence[Said], before: QuickScan, questions: Sequence[str]) -> tuple[QuickScan, str]:
    """
    The scan that counts from here on, and a remark on where its scope comes from.

    A size named now wins; else the number of files decides; what nobody mentions stays as it was.
    """
    now = read_scan(said, questions)
    files = now.file_count or before.file_count
    complexity = before.complexity if now.complexity == UNKNOWN else now.complexity
    scope, remark = before.scope, ""
    if now.scope != UNKNOWN:
        scope = now.scope
    elif now.file_count or (files and scope == UNKNOWN):
        scope = scope_of_count(files)
        remark = f"Scope {scope} (from the number of files)."
    if before.scope not in {UNKNOWN, scope}:
        remark = f"{remark} The first estimate was {before.scope}.".strip()
    return QuickScan(scope=scope, file_count=files, complexity=complexity), remark


def scope_in(text: str) -> str:
    if not _ANY_SIZE.search(text):
        return ""
    return next((_SIZES[word] for word in _found(_SCOPES, text)), "")


def complexity_in(text: str, *, asked_for: bool = False) -> str:
    if not _ANY_LEVEL.search(text):
        return ""
    return next(_found((*_COMPLEXITIES, _BARE_LEVEL) if asked_for else _COMPLEXITIES, text), "")


def clauses(text: str) -> list[str]:
    return _CLAUSE_END.split(text)


def _question_of(piece: Said, questions: Sequence[str]) -> str:
    return questions[piece.number - 1] if piece.number and 0 < piece.number <= len(questions) else ""


def _found(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[str]:
    """In the whole text first, then clause by clause; what comes last counts most."""
    for pattern in patterns:
        for one in (text, *reversed(clauses(text))):
            yield from (match["word"].lower() for match in reversed(list(pattern.finditer(one))))
