"""
What people said about what the item lets people do, sorted: capabilities, their criteria, what is out of scope.

A capability is a line of its own: in a list, after an `FR-001:`, or a plain sentence where nobody made a list.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from bot.domain.roundtable.state import Answer, Roundtable
from bot.voices.offline.phrases import key, sentences
from bot.voices.offline.reading import Kind, Row, Said, pieces, rows

_FR = r"FR[-\s]?0*(?P<number>\d{1,4})"
_LABELLED = re.compile(
    rf"[*_`#\s]*{_FR}[*_`]*\s*(?:[:：.)]|[-–—](?=\s))\s*[*_`]*\s*(?P<text>\S.*)", re.IGNORECASE
)
_MENTIONED = re.compile(rf"\b{_FR}\b", re.IGNORECASE)
_CRITERION = re.compile(
    r"""\s*(?:[-*+•]\s+)?[*_`]*(?:
        AC(?:[-\s]?0*(?P<owner>\d{1,4})-\d{1,3}|[-\s]?\d{1,3})?\s*[:：]
      | (?:acceptance\s+)?criteri(?:on|a)\s*[:：]
      | accepted\s+(?:when|if)\b\s*[:,]?
      | (?=given\b.*\bthen\b)
    )[*_`]*\s*(?P<text>\S.*)""",
    re.IGNORECASE | re.VERBOSE,
)
_OUT = re.compile(
    r"\s*(?:[-*+•]\s+)?[*_`]*(?:out[\s-]of[\s-]scope|not\s+in\s+scope|non-goals?)[*_`]*\s*[:：]\s*[*_`]*(?P<text>.*)",
    re.IGNORECASE,
)
_IS_OUT = re.compile(
    r"\b(?:is|are|stays?|remains?)\s+out(?:\s+of\s+scope|\s+for\s+now|\s+this\s+time)\b", re.IGNORECASE
)
_HEADER = re.compile(r"[^.?!]{1,60}[:：][*_]*$")
_REMARK = re.compile(
    r"""(?:i|i['’]\w+|we|we['’]\w+|maybe|perhaps|not\s+sure|agree|looks?|sounds?|that|this|those|these|it|it['’]s|note
      | btw|fyi|as\s+for|about|sorry|thanks|yes|no|ok(?:ay)?|hm+|what|why|how|who|but|so)\b""",
    re.IGNORECASE | re.VERBOSE,
)


class Remark(NamedTuple):
    text: str
    by: str


@dataclass
class Capability:
    """As people gave it; `number` only when they did. The author comes first, who said the same after."""

    text: str
    by: list[str]
    number: int | None = None
    criteria: list[Remark] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)


@dataclass
class Wishes:
    capabilities: list[Capability] = field(default_factory=list)
    out_of_scope: list[Remark] = field(default_factory=list)
    rest: list[Said] = field(default_factory=list)
    notes: list[tuple[int, Remark]] = field(default_factory=list)
    """What is said about a requirement by its number; it may stand in the file only."""
    criteria: list[tuple[int, Remark]] = field(default_factory=list)


def fr_id(number: int) -> str:
    return f"FR-{number:03}"


def mentioned(text: str) -> tuple[int, ...]:
    """The numbers of requirements in *text*, in order: `FR1`, `fr-001` and `FR 001` are the same."""
    return tuple(dict.fromkeys(int(found["number"]) for found in _MENTIONED.finditer(text)))


def is_criterion(line: str) -> bool:
    return _CRITERION.match(line) is not None


def criterion(line: str) -> str:
    """What an `AC: …` line says; empty for other lines."""
    found = _CRITERION.match(line)
    return found["text"] if found else ""


def is_out_of_scope(line: str) -> bool:
    return _OUT.match(line) is not None or _IS_OUT.search(line) is not None


def wishes(rt: Roundtable, answers: Iterable[Answer]) -> Wishes:
    sorter = _Sorter()
    for answer in answers:
        sorter.take(answer, rt.name_of(answer.person))
    return sorter.wishes


class _Sorter:
    """Goes through the lines in order, since a criterion belongs to the capability above it."""

    def __init__(self) -> None:
        self.wishes = Wishes()
        self._by = ""
        self._current: Capability | None = None
        self._ruling_out = False
        self._prose_counts = True

    def take(self, answer: Answer, by: str) -> None:
        found = tuple(rows(answer.text))
        self._by, self._current, self._ruling_out = by, None, False
        self._prose_counts = not answer.feedback and not any(
            row.listed or _LABELLED.match(row.text) for row in found
        )
        for row in found:
            self._sort(row)

    def _sort(self, row: Row) -> None:
        text = row.text
        if row.code:
            self.wishes.rest.append(Said(self._by, text, Kind.CODE))
        elif out := _OUT.match(text):
            self._ruling_out = not out["text"]
            self._rule_out(out["text"])
        elif found := _CRITERION.match(text):
            self._accept_when(found)
        elif labelled := _LABELLED.match(text):
            self._add(labelled["text"], int(labelled["number"]))
        elif _HEADER.fullmatch(text):
            self._ruling_out = False
        elif self._ruling_out:
            self._rule_out(text)
        elif row.listed and row.indented and self._current:
            self._current.notes.append(Remark(text, self._by))
        else:
            self._sort_pieces(row)

    def _sort_pieces(self, row: Row) -> None:
        for piece in pieces(row.text, by=self._by):
            if piece.kind is not Kind.STATEMENT:
                self.wishes.rest.append(piece)
                continue
            for sentence in (piece.text,) if row.listed else sentences(piece.text):
                self._sort_statement(sentence, piece, listed=row.listed)

    def _sort_statement(self, sentence: str, piece: Said, *, listed: bool) -> None:
        if numbers := mentioned(sentence):
            self.wishes.notes.extend((number, Remark(sentence, self._by)) for number in numbers)
        elif _IS_OUT.search(sentence):
            self._rule_out(sentence)
        elif listed or (self._prose_counts and not _REMARK.match(sentence)):
            self._add(sentence)
        else:
            self.wishes.rest.append(piece._replace(text=sentence))

    def _rule_out(self, text: str) -> None:
        if text.strip():
            self.wishes.out_of_scope.append(Remark(text.strip(), self._by))

    def _accept_when(self, found: re.Match[str]) -> None:
        remark = Remark(found["text"], self._by)
        if found["owner"]:
            self.wishes.criteria.append((int(found["owner"]), remark))
        elif self._current or self.wishes.capabilities:
            (self._current or self.wishes.capabilities[-1]).criteria.append(remark)
        else:
            self.wishes.rest.append(Said(self._by, found["text"]))

    def _add(self, text: str, number: int | None = None) -> None:
        text = text.strip().rstrip(".。")
        same = (
            one
            for one in self.wishes.capabilities
            if key(one.text) == key(text) and number in {None, one.number}
        )
        self._current = next(same, None)
        if self._current is None:
            self._current = Capability(text, [self._by], number)
            self.wishes.capabilities.append(self._current)
        elif self._by not in self._current.by:
            self._current.by.append(self._by)
