"""MoSCoW: which requirement people put into which list, and why."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from bot.voices.offline.numbering import UNSET, Requirement
from bot.voices.offline.pages import author, table
from bot.voices.offline.phrases import key
from bot.voices.offline.reading import Kind, Said, because
from bot.voices.offline.requirements import mentioned

LISTS = ("Must", "Should", "Could", "Won't")

_NAMES = {
    "must": "Must",
    "should": "Should",
    "could": "Could",
    "won't": "Won't",
    "wont": "Won't",
    "would": "Won't",
    "won’t": "Won't",
}
_LIST = r"(?P<list>must|should|could|won['’]?t|would)(?:[-\s]haves?)?"
_LABELLED = re.compile(
    rf"[*_`\s-]*{_LIST}[*_`]*\s*(?:[:：=]|[-–—]\s)[*_`]*\s*(?P<what>.+)", re.IGNORECASE | re.DOTALL
)
_SAYS = re.compile(rf"\b{_LIST}\b", re.IGNORECASE)
_RANGE = re.compile(r"FR[-\s]?0*(\d{1,4})\s*(?:-|–|—|to|through|\.\.+)\s*FR[-\s]?0*(\d{1,4})", re.IGNORECASE)
_ALL = re.compile(r"\b(?:all|everything)\b", re.IGNORECASE)
_DENIES = re.compile(r"\bnot\b|\b(?!won)\w+n['’]t\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless)\b", re.IGNORECASE)
_LIST_BEGINS = re.compile(rf"(?<!\w){_LIST}[*_`]*\s*[:：=]", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[;\n]|(?<=\w)[.]\s")
_LONGEST_RANGE = 200


class Ranked(NamedTuple):
    priority: str
    reason: str
    by: str


def ranked(said: Iterable[Said], requirements: Sequence[Requirement]) -> dict[str, Ranked]:
    """By id of the requirement; what was said last counts."""
    found: dict[str, Ranked] = {}
    for piece in said:
        if piece.kind is Kind.QUESTION:
            continue
        for clause in _clauses(piece.text):
            for number, priority in _ranks(clause, requirements):
                reason = because(clause)[1] or piece.because
                found[f"FR-{number:03}"] = Ranked(priority, reason, piece.by)
    return found


def moscow(requirements: Sequence[Requirement], ranks: Mapping[str, Ranked]) -> str:
    """The table, Must first; a requirement that nobody ranked comes last, and says so."""
    rows = [_row(one, ranks.get(one.id)) for one in requirements]
    order = {name: place for place, name in enumerate((*LISTS, UNSET))}
    return table(
        ("FR", "Title", "Priority", "Reason"),
        sorted(rows, key=lambda row: (order.get(row[2], len(order)), row[0])),
    )


def priority_of(requirement: Requirement, ranks: Mapping[str, Ranked]) -> str:
    rank = ranks.get(requirement.id)
    return rank.priority if rank else requirement.priority


def read_moscow(section: str) -> dict[str, Ranked]:
    """The table as it stands in the file: what nobody mentions now stays as it was."""
    rows = (
        line.strip().strip("|").split(" | ")
        for line in section.splitlines()
        if line.strip().startswith("| FR-")
    )
    cells = ([cell.strip() for cell in row] for row in rows)
    return {row[0]: Ranked(row[2], row[3], "") for row in cells if len(row) == 4 and row[2] in LISTS}


def _row(one: Requirement, rank: Ranked | None) -> tuple[str, str, str, str]:
    if rank is None:
        return one.id, one.title, one.priority, ""
    reason = f"{rank.reason} — {author(rank.by)}".strip() if rank.by else rank.reason
    return one.id, one.title, rank.priority, reason


def _clauses(text: str) -> Iterator[str]:
    """Of "Must: FR-001, Should: FR-002" each list by itself."""
    starts = [found.start() for found in _LIST_BEGINS.finditer(text)]
    for start, end in pairwise((0, *starts, len(text))):
        yield from (clause.strip(" ,") for clause in _CLAUSE_END.split(text[start:end]))


def _ranks(clause: str, requirements: Sequence[Requirement]) -> Iterator[tuple[int, str]]:
    labelled = _LABELLED.match(clause)
    names = {_NAMES[found["list"].lower()] for found in _SAYS.finditer(because(clause)[0])}
    if not labelled and (len(names) != 1 or _DENIES.search(clause)):
        return
    if not labelled and names != {"Could"} and _CONDITION.search(clause):
        return  # "could, if time" is what could means
    priority = _NAMES[labelled["list"].lower()] if labelled else names.pop()
    what = because(labelled["what"] if labelled else clause)[0]
    numbers = _numbers(what)
    if not numbers and (labelled or _ALL.search(what)):
        numbers = _by_title(what, requirements)
    yield from ((number, priority) for number in numbers)


def _numbers(text: str) -> tuple[int, ...]:
    ranges = (
        range(int(first), min(int(last), int(first) + _LONGEST_RANGE) + 1)
        for first, last in _RANGE.findall(text)
    )
    return tuple(dict.fromkeys((*mentioned(text), *(number for one in ranges for number in one))))


def _by_title(text: str, requirements: Sequence[Requirement]) -> tuple[int, ...]:
    if _ALL.search(text):
        return tuple(one.number for one in requirements)
    parts = [key(part) for part in re.split(r"[,;]|\band\b", text)]
    return tuple(
        one.number
        for one in requirements
        if any(part and f" {part} " in f" {key(one.title)} " for part in parts)
    )
