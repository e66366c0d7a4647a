"""Numbers of files, read out of people's words: in total, by kind, and how sure they are."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bot.voices.offline.lexicon import NUMBERS
from bot.voices.offline.pages import table

NOT_SAID = "not said"
MOST_FILES = 10**6 - 1

_WORDS = {
    "New": r"new|added|created",
    "Modified": r"modified|changed?|changing|existing|edited|updated",
    "Test": r"tests?",
    "Configuration": r"config(?:uration)?s?|settings?",
    "Documents": r"docs?|documents?|documentation",
    "Migrations": r"migrations?",
}
_VERBS = {"New": r"add|create", "Modified": r"change|modify|edit|update"}
ALWAYS_SHOWN = ("New", "Modified", "Test")

_NUMBER = rf"(?:\d{{1,6}}|{'|'.join(NUMBERS)})"
_ANY_NUMBER = re.compile(rf"\b{_NUMBER}", re.IGNORECASE)
_COUNT = rf"~?(?P<count>{_NUMBER})(?:\s?(?:-|–|—|to|or|\.\.)\s?~?(?P<upto>{_NUMBER}))?"
_ROUGHLY = r"(?:(?:about|around|approx\.?|roughly)\s)?"
_FLAGS = re.IGNORECASE

_TOTALS = (
    re.compile(
        rf"\b(?:files?|file count|total)\b(?: in total| estimate| is)?[\s*_]*[:=]?[\s*_]*{_ROUGHLY}{_COUNT}\b",
        _FLAGS,
    ),
    re.compile(rf"\b{_COUNT}\s(?:source |code )?files?\s(?:in\s(?:all|total)|altogether|overall)\b", _FLAGS),
    re.compile(rf"\b{_COUNT}\s(?:source |code )?files?\b", _FLAGS),
)
"""The plainest first: "Files: 12", then "12 files in all", then "12 files"."""
_BARE = re.compile(rf"\W*{_ROUGHLY}(?:a\s)?{_COUNT}\W*(?:ish|or so)?\W*", _FLAGS)
_KINDS = {
    kind: (
        re.compile(
            rf"\b{_COUNT}\s(?:(?:of them|more|are|will be|for|files?) )*(?:{word})\b(?:\sfiles?\b)?", _FLAGS
        ),
        re.compile(rf"\b(?:{word})(?: files?)?[\s*_]*[:=][\s*_]*{_ROUGHLY}{_COUNT}\b", _FLAGS),
    )
    for kind, word in _WORDS.items()
}
_ORDERED = {
    kind: re.compile(rf"\b(?:{verb})\s{_ROUGHLY}{_COUNT}\s(?:(?:existing|other|more) )?files?\b", _FLAGS)
    for kind, verb in _VERBS.items()
}
_OF_THEM = re.compile(r"\bof (?:them|those|these|which)\b", _FLAGS)
_CONFIDENCE = (
    re.compile(r"\bconfidence\b[\s*_]*(?:[:=]|\bis\b)\s*(?:a\s)?(?P<how>guess|fair|sure)\b", _FLAGS),
    re.compile(
        r"(?:^|[,;.(]\s?)(?:(?:just|only|still)\s)?(?:a\s)?(?P<how>guess|fair|sure)\s?(?:$|[,;.)!])", _FLAGS
    ),
)


class Count(NamedTuple):
    """`total` is 0 when nobody named one."""

    total: int = 0
    kinds: Mapping[str, int] = {}
    confidence: str = ""

    @property
    def files(self) -> int:
        """The total that was named, else what the kinds add up to."""
        return min(self.total or sum(self.kinds.values()), MOST_FILES)

    def markdown(self) -> str:
        shown = [kind for kind in _WORDS if kind in ALWAYS_SHOWN or kind in self.kinds]
        rows = [(kind, str(self.kinds.get(kind, NOT_SAID))) for kind in shown]
        total = f"**File Count**: {self.files or NOT_SAID}\n**Confidence**: {self.confidence or NOT_SAID}"
        return f"{table(('Kind', 'Files'), rows)}\n\n{total}"


def counted(before: Count, text: str, *, asked: bool = False) -> Count:
    """
    *before* with what *text* says: later words replace earlier ones. A number that counts a kind counts no total.

    With *asked*, a number all by itself answers the question for the total.
    """
    sure = next((found["how"].lower() for pattern in _CONFIDENCE if (found := pattern.search(text))), "")
    if not _ANY_NUMBER.search(text):
        return before._replace(confidence=sure or before.confidence)
    kinds = dict(before.kinds)
    rest = text
    for kind, patterns in _KINDS.items():
        for pattern in (*patterns, *_orders(kind, text)):
            said = [_bound(found) for found in pattern.finditer(text)]
            kinds |= {kind: said[-1]} if said else {}
            rest = pattern.sub(_blank, rest)
    return Count(_total(rest, asked=asked) or before.total, kinds, sure or before.confidence)


def _total(text: str, *, asked: bool) -> int:
    if asked and (bare := _BARE.fullmatch(text)):
        return _bound(bare)
    found = ([_bound(one) for one in pattern.finditer(text)] for pattern in _TOTALS)
    return next((totals[-1] for totals in found if totals), 0)


def _orders(kind: str, text: str) -> Iterator[re.Pattern[str]]:
    """For "add 4 files and change 6"; with "4 of them new", what is changed is all there is."""
    if kind in _ORDERED and not _OF_THEM.search(text):
        yield _ORDERED[kind]


def _blank(found: re.Match[str]) -> str:
    return "," * len(found[0])


def _bound(found: re.Match[str]) -> int:
    """Of a range the higher number: work grows."""
    return max(_value(found["count"]), _value(found["upto"] or "0"))


def _value(word: str) -> int:
    return int(word) if word.isdecimal() else NUMBERS[word.lower()]
