"""
The files a step writes, as edits: values that say what becomes of the text of one file, and nothing else.

    SectionEdit   a numbered section of a Markdown file         owned by its step
    InsightEdit   what an elaboration, or an issue that is read again, adds to a Markdown file   additive only
    ItemsEdit     objects of a JSON array                       merged by id
    RowsEdit      rows of a CSV file                            merged by the first column
    FileEdit      a whole file                                  only when there is none
    DerivedEdit   a whole file that follows from the entries    always replaced; removed when it is empty
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from bot.domain.values.json_files import parse_kept, pretty
from bot.domain.values.markdown import (
    LAST_SECTION,
    Heading,
    Outline,
    body,
    has_stray_fence,
    inert,
    is_last,
    line_end,
    lines,
    outline,
)
from bot.domain.values.text import clean, csv_cell
from bot.domain.values.value import Stored

# Edits of Markdown artifacts: a step owns the sections it writes, an elaboration only ever adds.
#
# The rest of a file keeps every byte, line ends included. Applying an edit again changes nothing.


ADDITIONAL = "Additional Insights from Elaboration"
OWNED_LEVEL = 2
SHORTEST_KEYWORD = 3
TOO_COMMON = frozenset({"and", "the", "for", "with", "from"})

_MARKER = re.compile(r" {0,3}<!--\s*Elaboration:.*-->\s*")
_NUMBER = re.compile(r"([0-9]{1,6})\.\s")
_WORD = re.compile(r"\w+")

HeadingText = Annotated[str, Field(pattern=r"^[^\s#][^\r\n]*$")]


DIGEST_CHARS = 16
_FENCE = re.compile(r"\s*(?:`{3}|~{3})")


class Missing(ValueError):
    """There is no file to add to (ERR-ELAB-013)."""


def digest_of(body: str) -> str:
    """
    Of the text of a section, to notice changes by hand. Blank space at line ends does not count, nor does that
    before a fence, which may be indented when it is written.
    """
    rows = [row.strip() if _FENCE.match(row) else row.rstrip() for row in body.strip().splitlines()]
    return hashlib.sha256("\n".join(rows).encode("utf-8", "replace")).hexdigest()[:DIGEST_CHARS]


class SectionEdit(Stored):
    """
    Writes the section `## {heading}`, up to the next heading of its level, as *body* says.

    What elaborations added to the section stays: it begins with their first marker. *title* is the document's,
    for a file that is new. See `changed_by_hand` about *replaces*. A section that is *last* stays the last one, under
    its newest heading. One without a *body* is taken out, and a file that has nothing else is no more.
    """

    kind: Literal["section"] = "section"
    path: str
    heading: HeadingText
    title: str
    body: str
    replaces: str | None = None
    last: bool = False

    @property
    def digest(self) -> str:
        return digest_of(body(self.body))

    @property
    def place(self) -> str:
        """Names the section in its file: the heading of the last one has a number of rows, which changes."""
        return LAST_SECTION if self.last else self.heading

    def found(self, existing: str | None) -> str:
        """What stands in the section, without its heading and without what elaborations added."""
        page = outline(existing or "")
        if (heading := self._place(page)) is None:
            return ""
        return "".join(page.lines[heading.body : self._end(page, heading)]).strip()

    def digest_in(self, existing: str | None) -> str:
        found = self.found(existing)
        return digest_of(found) if found else ""

    def apply(self, existing: str | None) -> str:
        if not self.body.strip():
            return self._without(existing or "")
        if not existing:
            return f"# {inert(' '.join(self.title.split()))}\n\n" + self._section("", "\n", body(self.body))
        page = outline(existing)
        if found := self._place(page):
            return self._rewritten(page, found, line_end(existing))
        return self._inserted(page, line_end(existing))

    def _without(self, existing: str) -> str:
        page = outline(existing)
        if (found := self._place(page)) is None:
            return existing
        end = self._end(page, found)
        is_added_to = end < page.end(found, level=OWNED_LEVEL)
        before = "".join(page.lines[: found.body if is_added_to else found.line])
        if is_added_to:
            return before + line_end(existing) + "".join(page.lines[end:])
        after = "".join(page.lines[end:])
        rest = before + after if after else before.rstrip() + line_end(existing)
        return "" if _is_only_a_title(rest) else rest

    @property
    def _heading(self) -> Heading:
        return outline(self._line).headings[0]

    @property
    def _line(self) -> str:
        return f"## {inert(self.heading)}"

    def _place(self, page: Outline) -> Heading | None:
        heading = self._heading
        return next((one for one in page.headings if _same(one, heading) or self._is_earlier(one)), None)

    def _is_earlier(self, heading: Heading) -> bool:
        """The last section, with another number of rows."""
        return self.last and heading.level == OWNED_LEVEL and is_last(heading.text)

    def _end(self, page: Outline, found: Heading) -> int:
        end = page.end(found, level=OWNED_LEVEL)
        return next((n for n in range(found.body, end) if _is_marker(page, n)), end)

    def _rewritten(self, page: Outline, found: Heading, eol: str) -> str:
        kept = self._end(page, found)
        before, after = page.lines[: found.line], "".join(page.lines[kept:])
        text = body(self.body, fences=not has_stray_fence(before))
        heading = "" if self.last else "".join(page.lines[found.line : found.body])
        section = self._section(heading, eol, text)
        return "".join(before) + section + (eol + after if after else "")

    def _inserted(self, page: Outline, eol: str) -> str:
        place = len(page.lines) if self.last else _place_of(page, self._heading)
        rows = page.lines[:place]
        before, after = _spaced(rows, eol), "".join(page.lines[place:])
        section = self._section("", eol, body(self.body, fences=not has_stray_fence(rows)))
        return before + section + (eol + after if after else "")

    def _section(self, heading: str, eol: str, text: str) -> str:
        """*heading* as it stands in the file, if it does."""
        first = (heading or self._line).rstrip("\r\n") + eol
        return first + (eol + text.replace("\n", eol) + eol if text else "")


SINCE_THEN = "Since then:"


class InsightEdit(Stored):
    """
    Adds *body* below *marker* to the section whose heading shares most words with *keywords*, else at the end
    of the file. A file that has the marker already is left as it is. *title* is that of a new file.
    """

    kind: Literal["insight"] = "insight"
    path: str
    keywords: tuple[str, ...]
    marker: Annotated[str, Field(pattern=r"^<!-- (?:Elaboration|Issue): [^\r\n>]*-->$")]
    body: str
    title: str = ""

    def apply(self, existing: str | None) -> str:
        if existing is None and not self.title:
            raise Missing(self.path)
        if existing is None:
            existing = f"# {inert(' '.join(self.title.split()))}\n\n"
        if any(row.strip() == self.marker for row in lines(existing)):
            return existing
        page, eol = outline(existing), line_end(existing)
        place = _last_row_with_text(page, self._end_of_home(page))
        rows = page.lines[:place]
        after = "".join(page.lines[place:])
        block = (
            f"{self.marker}\n\n{self._new_heading(page)}{body(self.body, fences=not has_stray_fence(rows))}\n"
        )
        gap = eol if after and page.lines[place].strip() else ""
        return _spaced(rows, eol) + block.replace("\n", eol) + gap + after

    def place(self, existing: str) -> str:
        """The heading of the section that the insights go to."""
        home = self._home(outline(existing))
        return home.text if home else ADDITIONAL

    def _home(self, page: Outline) -> Heading | None:
        words = [word.casefold() for keyword in self.keywords for word in _WORD.findall(keyword)]
        telling = {word for word in words if len(word) >= SHORTEST_KEYWORD} - TOO_COMMON
        sections = [one for one in page.headings if one.level == OWNED_LEVEL and not is_last(one.text)]
        best = max(sections, key=lambda section: _overlap(section, telling), default=None)
        return best if best and _overlap(best, telling) else None

    def _end_of_home(self, page: Outline) -> int:
        home = self._home(page) or _additional(page)
        return page.end(home, level=OWNED_LEVEL) if home else _end_of_page(page)

    def _new_heading(self, page: Outline) -> str:
        """Below the marker, so that it stays when the section above it is written again."""
        return "" if self._home(page) or _additional(page) else f"### {ADDITIONAL}\n\n"


class FollowUpEdit(Stored):
    """
    Says below the block of an elaboration, which stays as it is, what became of it since. *rows* replace those that
    were there before. Nothing happens in a file without the marker.
    """

    kind: Literal["follow-up"] = "follow-up"
    path: str
    marker: str
    rows: tuple[str, ...]

    @property
    def digest(self) -> str:
        return digest_of("\n".join(self.rows)) if self.rows else ""

    def apply(self, existing: str | None) -> str:
        page, eol = outline(existing or ""), line_end(existing or "")
        found = [row.strip() for row in page.lines]
        if self.marker not in found:
            return existing or ""
        begin = found.index(self.marker) + 1
        sections = (one.line for one in page.headings if one.level <= OWNED_LEVEL and one.line >= begin)
        end = min([*sections, len(found)])
        end = next((n for n in range(begin, end) if _is_marker(page, n)), end)
        at = found.index(SINCE_THEN, begin, end) if SINCE_THEN in found[begin:end] else 0
        after = at and next((n for n in range(at + 2, end) if not found[n].startswith("- ")), end)
        before = _last_row_with_text(page, at or end)
        rest = "".join(page.lines[after or before :])
        told = eol.join(("", SINCE_THEN, "", *(f"- {row}" for row in self.rows), "")) if self.rows else ""
        kept = "".join(page.lines[:before])
        return (kept if kept.endswith(("\n", "\r")) or not told else kept + eol) + told + rest


def marker(step_id: str, timestamp: str) -> str:
    """Stands above the block of an elaboration."""
    return f"<!-- Elaboration: step {step_id}, {timestamp} -->"


def additive(old: str, new: str) -> bool:
    """Whether every line of *old* is still in *new*, in the same order."""
    rest = iter([row.rstrip("\r\n") for row in lines(new)])
    return all(row.rstrip("\r\n") in rest for row in lines(old))


def _place_of(page: Outline, new: Heading) -> int:
    """Before the first section with a greater number, else after the last numbered one, else at the end."""
    wanted = _numbered(new)
    sections = [one for one in page.headings if one.level == OWNED_LEVEL and _numbered(one) is not None]
    if wanted is None or not sections:
        return _end_of_page(page)
    greater = (one.line for one in sections if (number := _numbered(one)) is not None and number > wanted)
    return next(greater, page.end(sections[-1], level=OWNED_LEVEL))


def _end_of_page(page: Outline) -> int:
    """Where new text goes: before the section that stays the last one."""
    last = (one.line for one in page.headings if one.level == OWNED_LEVEL and is_last(one.text))
    return next(last, len(page.lines))


def _is_only_a_title(text: str) -> bool:
    rows = [row for row in text.splitlines() if row.strip()]
    return not rows or (len(rows) == 1 and rows[0].startswith("# "))


def _numbered(heading: Heading) -> int | None:
    number = _NUMBER.match(heading.text)
    return int(number[1]) if number else None


def _same(one: Heading, other: Heading) -> bool:
    return one.level == other.level and one.text.casefold() == other.text.casefold()


def _overlap(heading: Heading, words: set[str]) -> int:
    text = heading.text.casefold()
    return sum(word in text for word in words)


def _additional(page: Outline) -> Heading | None:
    return next((one for one in page.headings if one.text == ADDITIONAL), None)


def _is_marker(page: Outline, number: int) -> bool:
    return number not in page.hidden and bool(_MARKER.fullmatch(page.lines[number]))


def _last_row_with_text(page: Outline, end: int) -> int:
    """The number of the line after the last line with text before *end*."""
    return next((n for n in range(end, 0, -1) if page.lines[n - 1].strip()), 0)


def _spaced(rows: tuple[str, ...], eol: str) -> str:
    """*rows*, and after them what it takes to begin a new block."""
    text = "".join(rows)
    if not text:
        return ""
    ended = text if rows[-1].endswith(("\n", "\r")) else text + eol
    return ended + eol if rows[-1].strip() else ended


# Edits of artifacts that are data: rows are merged by their key, and unknown rows and fields stay.


MISSING = object()
BYTE_ORDER_MARK = "\ufeff"
BLANK = BYTE_ORDER_MARK + " \t\r\n"
_INDENT = re.compile(r"\n([ \t]{1,8})\S")
_NEEDS_QUOTES = re.compile(r'[",\r\n]|^\s|\s$')

NotEmpty = Annotated[tuple[str, ...], Field(min_length=1)]


class UnreadableArtifact(ValueError):
    """What is in the file is not what its name says (ERR-ART-003)."""


class ItemsEdit(Stored):
    """
    Merges *items* into an array of objects: known keys are updated in the fields given, others added, and those
    that are *gone* removed. *fields* are those that we write; see `changed_by_hand` about *replaces*.
    """

    kind: Literal["items"] = "items"
    path: str
    items: tuple[Mapping[str, Any], ...]
    key: str = "id"
    gone: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    replaces: str | None = None

    @property
    def digest(self) -> str:
        return self._digest(self.items)

    def found(self, existing: str | None) -> str:
        """The whole file, if it has records of ours."""
        return existing or "" if self.digest_in(existing) else ""

    def digest_in(self, existing: str | None) -> str:
        rows = self._parsed(existing) if existing and existing.strip(BLANK) else []
        ours = {*self.gone, *(item[self.key] for item in self.items if self.key in item)}
        return self._digest(
            row
            for row in rows
            if isinstance(row, dict) and isinstance(key := row.get(self.key), str) and key in ours
        )

    def _digest(self, records: Iterable[Mapping[str, Any]]) -> str:
        fields = self.fields or sorted({name for item in self.items for name in item})
        kept = {str(one.get(self.key)): [one.get(name) for name in fields] for one in records}
        return _digest_of_records(kept)

    def apply(self, existing: str | None) -> str:
        if existing is None or not existing.strip(BLANK):
            return pretty(made) if (made := self._merged([])) else ""
        before = self._parsed(existing)
        after = self._merged(before)
        if after == before:
            return existing
        if not after:
            return ""
        found = _INDENT.search(existing)
        text = pretty(after, indent=found[1]) if found else pretty(after)
        return text.replace("\n", "\r\n") if "\r\n" in existing else text

    def _parsed(self, existing: str) -> list[Any]:
        try:
            found = parse_kept(existing)
        except ValueError as error:
            raise UnreadableArtifact(f"{self.path}: {error}") from None
        if not isinstance(found, list):
            raise UnreadableArtifact(f"{self.path}: is not a JSON array")
        return found

    def _merged(self, present: list[Any]) -> list[Any]:
        merged = [row for row in present if not isinstance(row, dict) or row.get(self.key) not in self.gone]
        for item in self.items:
            place = self._find(merged, item)
            if place is None:
                merged.append(dict(item))
            else:
                merged[place] = {**merged[place], **item}
        return merged

    def _find(self, rows: list[Any], item: Mapping[str, Any]) -> int | None:
        """Without a key, an item is only the same as its equal."""
        if self.key not in item:
            return rows.index(item) if item in rows else None
        known = (row.get(self.key, MISSING) if isinstance(row, dict) else MISSING for row in rows)
        return next((place for place, key in enumerate(known) if key == item[self.key]), None)


class _Row:
    """A record of a CSV file: as it stands there, and what it says."""

    def __init__(self, cells: list[str], raw: str = "") -> None:
        self.cells = cells
        self.raw = raw


class RowsEdit(Stored):
    """
    Merges *rows* into a CSV file by their first cell, which *columns* names first.

    Other rows and columns stay as they are. No cell of ours can be a formula (OWASP, CSV injection).
    See `changed_by_hand` about *replaces*.
    """

    kind: Literal["rows"] = "rows"
    path: str
    columns: NotEmpty
    rows: tuple[NotEmpty, ...]
    gone: tuple[str, ...] = ()
    replaces: str | None = None

    @property
    def digest(self) -> str:
        return self._digest(self.rows)

    def found(self, existing: str | None) -> str:
        """The whole file, if it has records of ours."""
        return existing or "" if self.digest_in(existing) else ""

    def digest_in(self, existing: str | None) -> str:
        if existing is None or not existing.strip(BLANK):
            return ""
        header, *records = self._parsed(existing.removeprefix(BYTE_ORDER_MARK))
        names = _names(header)
        places = [names.index(column) if column in names else -1 for column in self.columns]
        ours = {*self.gone, *(_harmless(row[0]) for row in self.rows)}
        return self._digest(
            [_cell(one, at) or "" if at >= 0 else "" for at in places]
            for one in records
            if _cell(one, places[0]) in ours
        )

    def _digest(self, records: Iterable[Sequence[str]]) -> str:
        width = len(self.columns)
        return _digest_of_records(
            {_harmless(one[0]): [*map(_harmless, one), *[""] * width][:width] for one in records}
        )

    def apply(self, existing: str | None) -> str:
        if existing is None or not existing.strip(BLANK):
            return self._merged([_Row(list(self.columns))], "\r\n")
        text = existing.removeprefix(BYTE_ORDER_MARK)
        mark = existing[: len(existing) - len(text)]
        merged = self._merged(self._parsed(text), "\r\n" if "\r\n" in text else "\n")
        return mark + merged if merged else ""

    def _parsed(self, existing: str) -> list[_Row]:
        lines = list(io.StringIO(existing, newline=""))
        reader = csv.reader(lines, strict=True)
        table = []
        done = 0
        try:
            for cells in reader:
                table.append(_Row(cells, "".join(lines[done : reader.line_num])))
                done = reader.line_num
        except csv.Error as error:
            raise UnreadableArtifact(f"{self.path}: {error}") from None
        if self.columns[0] not in _names(table[0]):
            raise UnreadableArtifact(f"{self.path}: has no column {self.columns[0]}")
        return table

    def _merged(self, table: list[_Row], eol: str) -> str:
        header, *records = table
        _widen(header, self.columns, max(len(row.cells) for row in table))
        places = [_names(header).index(column) for column in self.columns]
        records = [one for one in records if _cell(one, places[0]) not in self.gone]
        for row in self.rows:
            given = dict(zip(places, map(_harmless, row), strict=False))
            record = next((one for one in records if _cell(one, places[0]) == given[places[0]]), None)
            if record is None:
                record = _Row([])
                records.append(record)
            _update(record, given, len(header.cells))
        if not records:
            return ""
        return "".join(_text(row, eol) for row in (header, *records))


def _digest_of_records(records: Mapping[str, Any]) -> str:
    """By their keys: the order of records says nothing."""
    return digest_of(json.dumps(records, sort_keys=True)) if records else ""


def _names(header: _Row) -> list[str]:
    return [name.strip() for name in header.cells]


def _widen(header: _Row, columns: tuple[str, ...], width: int) -> None:
    """Records longer than the header keep their cells: what is added comes after them."""
    missing = [column for column in columns if column not in _names(header)]
    if missing:
        header.cells += [""] * (width - len(header.cells)) + missing
        header.raw = ""


def _update(record: _Row, given: Mapping[int, str], width: int) -> None:
    if all(_cell(record, place) == value for place, value in given.items()):
        return
    record.cells += [""] * (width - len(record.cells))
    for place, value in given.items():
        record.cells[place] = value
    record.raw = ""


def _cell(record: _Row, place: int) -> str | None:
    return record.cells[place] if place < len(record.cells) else None


def _harmless(cell: str) -> str:
    return csv_cell(clean(cell))


def _text(row: _Row, eol: str) -> str:
    if row.raw:
        return row.raw if row.raw.endswith(("\n", "\r")) else row.raw + eol
    cells = [
        f'"{cell.replace(chr(34), chr(34) * 2)}"' if _NEEDS_QUOTES.search(cell) else cell
        for cell in row.cells
    ]
    return (",".join(cells) or '""') + eol


class FileEdit(Stored):
    """Makes the file when there is none, and never touches one."""

    kind: Literal["file"] = "file"
    path: str
    text: str

    def apply(self, existing: str | None) -> str:
        return self.text if existing is None else existing


class DerivedEdit(Stored):
    """
    A whole file that follows from the entries, such as those of the plan, whose *digest* is that of all of them. What
    people change in it is not kept. Without a *text* there is no such file.
    """

    kind: Literal["plan"] = "plan"
    path: str
    text: str
    digest: str = ""

    def apply(self, _: str | None) -> str:
        return self.text


Edit = Annotated[
    SectionEdit | InsightEdit | FollowUpEdit | ItemsEdit | RowsEdit | FileEdit | DerivedEdit,
    Field(discriminator="kind"),
]


CheckedEdit = SectionEdit | ItemsEdit | RowsEdit
"""Edits that do not overwrite what people changed by hand."""


def changed_by_hand(edit: Edit, existing: str | None) -> bool:
    """
    Whether there is something else than we wrote where *edit* writes.

    `replaces` is the digest of what we wrote there last, empty when we wrote nothing there yet; edits of older
    states have none, and are not checked. Raises UnreadableArtifact.
    """
    if not isinstance(edit, CheckedEdit) or edit.replaces is None:
        return False
    return edit.digest_in(existing) not in {"", edit.replaces, edit.digest}


def applies_to(path: str) -> bool:
    """Whether insights can be added to the file: a marker is a comment in Markdown, and damage anywhere else."""
    return path.lower().endswith((".md", ".markdown", ".txt"))


_COPY = re.compile(r"\.theirs-[0-9a-f]{7,40}(?=(\.\w+)?$)")


def original(path: str) -> str:
    """The file that *path* is a copy of, which an older version kept beside it; *path* itself if it is none."""
    return _COPY.sub("", path)
