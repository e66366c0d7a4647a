"""
Exported files read back: what people and agents changed in them, as proposals.

A block whose digest does not fit its mark was changed. A block without a mark is new, if it stands in a section that we
know. A block that is missing means nothing: it may have been moved.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from bot.domain.catalog.schema import CANONICAL_ID
from bot.domain.specification.exported import ROW_CHARS, ExportEdit, found_mark, is_page_mark
from bot.integrations.exports import (
    ENSURES,
    EXERCISED,
    HOLDS,
    MODAL,
    NO_CRITERIA,
    OPEN_POINT,
    digest,
    unplain,
)

_HEADINGS = {
    "problem": ("why", "introduction"), "requirement": ("functional requirements",), "story": ("user stories",),
    "exclusion": ("out of scope", "non-goals"), "decision": ("decisions",), "assumption": ("assumptions",),
    "constraint": ("constraints",), "metric": ("goals", "measurable outcomes", "success criteria"),
    "risk": ("risks", "risks / trade-offs"), "question": ("open questions", "clarifications", "edge cases"),
    "criterion": ("acceptance criteria", "acceptance scenarios"),
}  # fmt: skip
SECTIONS: Mapping[str, str] = {heading: kind for kind, told in _HEADINGS.items() for heading in told}
"""The kind of a new bullet, by the heading that it stands under."""
BLOCK_ROWS = 20
"""No person writes longer ones."""
_ID = CANONICAL_ID.pattern
_REQUIREMENT = re.compile(
    r"### (?:Requirement(?: \d{1,4}:?|:)|User (?P<story>Story) \d{1,4} [-–—])(?: |$)"
    rf"(?P<id>{_ID})?[: ]*(?P<text>.*)"
)
_SCENARIO = re.compile(rf"#### Scenario: ?(?P<id>{_ID})?[: ]*(?P<text>.*)")
_STEP = re.compile(
    r"(?:(?:[-*] )?\*\*(?P<word>(?i:given|when|then|and)):?\*\*:?|[-*] (?P<plain>GIVEN|WHEN|THEN|AND)) (?P<text>.*)"
)
_BULLET = re.compile(
    rf"(?P<indent> {{0,8}})(?:[-*+]|\d{{1,3}}\.) (?:\[[ xX]\] )?(?:\*\*(?P<id>{_ID})\*\*:? )?(?P<text>.*)"
)
_BOLD = re.compile(r"\*\*([^*]{1,60}?):?\*\*:?")
_STORY = "**User Story:** "
_TOLD = re.compile(r"As an? [^,]{1,200}, I want ")
_PRIORITY = re.compile(r" ?\(Priority: P\d\)\s*$")
_NOT_ADDED = ("## removed requirements", "## renamed requirements")
_FENCE = re.compile(r"`{3,}(?!.*`)|~{3,}")
_BEGINS = re.compile(r"\s*(?:[#<|>]|\*\*|`{3}|~{3})")
_TASK = re.compile(r" {0,8}[-*] \[ \]\*? (?:T?\d{1,4}(?:\.\d{1,3}){0,3}\.? )?(?P<text>.*)")
_OWNER = re.compile(r" \(owner: [^()]*\)$")
_WHY_OPEN = re.compile(r": (?:people disagree|to be confirmed again|proposed, not accepted)$")
_INLINE_STEP = re.compile(r"\*\*(Given|When|Then)\*\*")
_EARS = re.compile(rf"(?:WHEN (?P<when>.*) THEN )?{ENSURES}(?P<then>.*)")


def read_back(
    text: str, known: Mapping[str, str] | None = None, headings: Mapping[str, str] = SECTIONS
) -> tuple[ExportEdit, ...]:
    """
    *known* are the words of entries by their ids. Without them, of two rows that may be changed the first counts.
    *headings* name the kind of what stands below them.
    """
    page = _Page(text, known or {}, headings)
    return tuple(sorted((*page.changed(), *page.new()), key=lambda one: one.line))


def read_tasks(text: str) -> Iterator[ExportEdit]:
    """Those that nobody has ticked."""
    for at, row in _Page(text, {}).rows_read():
        if (found := _TASK.fullmatch(row)) and (words := unplain(found["text"])):
            yield ExportEdit(line=at + 1, text=words, kind="work")


def other_rows(text: str, headings: Mapping[str, str], *written: str) -> frozenset[str]:
    """Those of *text* that are in no entry of it, and in no text that we have *written*."""
    return frozenset(_Page(text, {}, headings).others()).difference(*map(rows_of, written))


def rows_of(text: str) -> frozenset[str]:
    """Without marks: those of the same words differ when other people say them."""
    return frozenset(map(_bare, text.split("\n")))


class _MarkedRow(NamedTuple):
    """`body`: the row without its mark."""

    id: str
    digest: str
    body: str


class _Page:
    def __init__(self, text: str, known: Mapping[str, str], headings: Mapping[str, str] = SECTIONS) -> None:
        self._known = known
        self._headings = headings
        self._rows = [row.rstrip("\r")[:ROW_CHARS] for row in text.split("\n")]
        self._marks = {at: mark for at, row in enumerate(self._rows) if (mark := _mark_in(row))}
        self._ours: set[int] = set()
        self._blocks = dict(self._found_blocks())

    def _found_blocks(self) -> Iterator[tuple[int, tuple[Sequence[str], bool]]]:
        """By the row of the mark: the rows of its block, and whether they are as we wrote them."""
        for at, mark in self._marks.items():
            first = self._as_written(at, mark)
            is_changed = first is None
            start = self._start(at) if first is None else first
            self._ours.update(range(start, at + 1))
            yield at, ((*self._rows[start:at], mark.body), is_changed)

    def _as_written(self, at: int, mark: _MarkedRow) -> int | None:
        rows = [mark.body]
        for first in range(at, max(at - BLOCK_ROWS, -1), -1):
            if first < at and (first in self._marks or not self._rows[first].strip()):
                return None
            rows = rows if first == at else [self._rows[first], *rows]
            if digest(rows) == mark.digest:
                return first
        return None

    def _start(self, at: int) -> int:
        """Of a changed block: its heading or its bullet, else the row of the mark."""
        body = self._marks[at].body
        is_whole = _BULLET.fullmatch(body) and not _step(body)
        for first in range(at - 1, max(at - BLOCK_ROWS, -1), -1):
            row = self._rows[first]
            if is_whole or first in self._marks or not row.strip():
                break
            if row.startswith("#") or (_BULLET.fullmatch(row) and not _step(row)):
                return first
        return at

    def others(self) -> Iterator[str]:
        """
        Those of no entry, and what says nothing of a changed one. Below a new entry, the rows up to the next blank one
        are its own.
        """
        new = {one.line - 1 for one in self.new()}
        is_new = False
        for at, row in enumerate(map(str.strip, self._rows)):
            is_new = bool(row) and (is_new or at in new)
            if row and not (is_new or at in self._ours or is_page_mark(row)):
                yield row
        for at, (rows, is_changed) in self._blocks.items():
            if is_changed:
                has_steps = any(map(_step, rows))
                for row in self._rows[at + 1 - len(rows) : at + 1]:
                    if _is_detail(row) or (has_steps and not (_step(row) or _SCENARIO.fullmatch(row))):
                        yield _bare(row)

    def changed(self) -> Iterator[ExportEdit]:
        for at, (rows, is_changed) in self._blocks.items():
            mark = self._marks[at]
            if is_changed and (words := self._words(rows, mark.id)):
                yield ExportEdit(line=at + 1, text=words, id=mark.id)

    def _words(self, rows: Sequence[str], id: str) -> str:
        """A scenario's steps; else of a heading and its sentence the one that says something new."""
        known = self._known.get(id, "")
        steps = [found for row in rows if (found := _step(row))]
        rest = (_said(row, id, known) for row in rows if not _is_detail(row))
        said = [_criterion(steps)] if steps else list(filter(None, rest))
        return (
            next((one for one in said if _folded(one) != _folded(known)), "") if known else "".join(said[:1])
        )

    # --- new blocks -----------------------------------------------------------------------------------------------

    def new(self) -> Iterator[ExportEdit]:
        under = owner = ""
        is_added = is_titled = True
        is_told = False
        for at, row in self.rows_read():
            if row.startswith("## "):
                is_added = not row.casefold().startswith(_NOT_ADDED)
            if not is_added:
                continue
            if heading := _REQUIREMENT.fullmatch(row):
                is_written = at in self._ours or (bool(heading["id"]) and self._is_by_us(at))
                under, owner = "", (heading["id"] or "") if is_written else ""
                is_titled, is_told = bool(heading["text"].strip()), bool(heading["story"])
                is_ours = is_written or (bool(heading["story"]) and self._is_by_us(at))
                words, last = self._requirement(at, heading)
                if words and not is_ours:
                    yield _new(at, last, words, "requirement", named=heading["id"] or "")
            elif _SCENARIO.fullmatch(row):
                under = ""
                words, last = self._scenario(at)
                if words and at not in self._ours:
                    yield _new(at, last, words, "criterion", part_of=owner)
            elif title := _title(row):
                under = self._headings.get(title, "")
            elif mark := self._marks.get(at):
                owner = mark.id if mark.id.startswith("FR-") else owner
            elif (
                under
                and at not in self._ours
                and (found := _BULLET.fullmatch(row))
                and NO_CRITERIA not in row
            ):
                is_part = under == "criterion" or (under == "requirement" and bool(found["indent"]))
                named = found["id"] or ""
                text, last = self._wrapped(at)
                if words := _said(text, named):
                    part = _new(at, last, words, "criterion", part_of=owner)
                    yield part if is_part else _new(at, last, words, under, named=named)
            elif (
                is_titled
                and at not in self._ours
                and (row.startswith(_STORY) or (is_told and _TOLD.match(row)))
            ):
                text, last = self._wrapped(at)
                yield _new(at, last, _said(text), "story")

    def rows_read(self) -> Iterator[tuple[int, str]]:
        """Without code, and without comments of several rows."""
        fence, is_comment = "", False
        for at, row in enumerate(self._rows):
            bare = row.strip()
            if fence:
                is_end = len(bare) >= len(fence) and not bare.strip(fence[0])
                fence = "" if is_end else fence
            elif is_comment:
                is_comment = "-->" not in row
            elif found := _FENCE.match(bare):
                fence = found[0]
            else:
                begun = row.rfind("<!--")
                is_comment = begun >= 0 and "-->" not in row[begun:]
                yield at, row

    def _is_by_us(self, at: int) -> bool:
        """Whether the block below a heading has a mark."""
        return not self._marks.keys().isdisjoint(range(at + 1, at + 5))

    def _wrapped(self, at: int) -> tuple[str, int]:
        """The row with those that go on with it, and the last of them."""
        rows = [self._rows[at].rstrip()]
        for number, row in enumerate(self._rows[at + 1 : at + BLOCK_ROWS], at + 1):
            if not row.strip() or number in self._marks or _BEGINS.match(row) or _BULLET.fullmatch(row):
                break
            rows.append(row.strip())
        return " ".join(rows), at + len(rows) - 1

    def _requirement(self, at: int, heading: re.Match[str]) -> tuple[str, int]:
        """The heading, and its sentence with a must or shall; of a heading that is only a number, the sentence."""
        title = unplain(_PRIORITY.sub("", heading["text"]))
        below = range(at + 1, min(at + BLOCK_ROWS, len(self._rows)))
        first = next((number for number in below if self._rows[number].strip()), at)
        if heading["story"] or first == at or self._rows[first].startswith("#"):
            return title, at
        text, last = self._wrapped(first)
        if title and (_BULLET.fullmatch(self._rows[first]) or not MODAL.search(text)):
            return title, at
        return ": ".join(filter(None, (title, _said(text)))), last

    def _scenario(self, at: int) -> tuple[str, int]:
        steps: list[re.Match[str]] = []
        last = at
        for number, row in enumerate(self._rows[at + 1 : at + BLOCK_ROWS], at + 1):
            if row.startswith("#") or NO_CRITERIA in row:
                break
            if _step(row):
                text, last = self._wrapped(number)
                steps += filter(None, (_step(text),))
        return _criterion(steps), last


def _new(first: int, last: int, text: str, kind: str, **other: str) -> ExportEdit:
    """Of the rows *first* to *last*, counted from 0."""
    return ExportEdit(line=first + 1, last=last + 1, text=text, kind=kind, **other)


def _mark_in(row: str) -> _MarkedRow | None:
    if found := found_mark(row):
        return _MarkedRow(
            found["id"], found["digest"], f"{row[: found.start()]}{row[found.end() :]}".rstrip()
        )
    return None


def _criterion(steps: Sequence[re.Match[str]]) -> str:
    told = [
        ((one["word"] or one["plain"]).lower(), one["text"])
        for one in steps
        if not one["text"].endswith(EXERCISED)
    ]
    if not told:
        return ""
    if len(told) == 1 and told[0][0] == "then":
        return unplain(told[0][1])
    return unplain(", ".join(f"{word} {text}" for word, text in told))


def _bare(row: str) -> str:
    mark = _mark_in(row)
    return (mark.body if mark else row).strip()


def _step(row: str) -> re.Match[str] | None:
    return _STEP.fullmatch(row.strip())


def _title(row: str) -> str:
    """Of a heading, or of bold words that stand for one."""
    bold = _BOLD.fullmatch(row.strip())
    found = row.lstrip("#") if row.startswith("#") else bold[1] if bold else ""
    return found.partition("*(")[0].strip().casefold()


def _is_detail(row: str) -> bool:
    return row.startswith("  ") and not _BULLET.fullmatch(row)


def _said(row: str, id: str = "", known: str | None = None) -> str:
    """The words of a row without what we put around them, which is less where nothing was *known*."""
    heading, bullet = _REQUIREMENT.fullmatch(row), _BULLET.fullmatch(row)
    text = heading["text"] if heading else bullet["text"] if bullet else row.removeprefix(_STORY)
    if text.startswith(OPEN_POINT):
        inner = text.removeprefix(OPEN_POINT).removeprefix(f"**{id}** ").rstrip().removesuffix("]")
        text = _OWNER.sub("", _WHY_OPEN.sub("", inner))
    text = _INLINE_STEP.sub(lambda found: found[1].lower(), text)
    if ears := _EARS.fullmatch(text.removesuffix(f" ({id})")):
        text = f"when {ears['when']}, then {ears['then']}" if ears["when"] else ears["then"]
    if not heading:
        text = text.removeprefix(HOLDS).removeprefix(HOLDS.replace("SHALL", "MUST"))
        if known is not None and (not MODAL.search(known) or re.search(r"\b(?:must|shall)\b", known)):
            text = re.sub(r"\b(?:MUST|SHALL)\b", lambda found: found[0].lower(), text, count=1)
    return unplain(text)


def _folded(text: str) -> str:
    return " ".join(text.replace(", ", " ").split()).casefold().replace("must", "shall")
