"""Edits of artifacts that are data: rows are merged by their key, and what we do not know of stays."""

import csv
import io
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from bot.domain.json_file import parse_kept, pretty
from bot.domain.text import clean
from bot.domain.value import Stored

MISSING = object()
BYTE_ORDER_MARK = "\ufeff"
BLANK = BYTE_ORDER_MARK + " \t\r\n"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_INDENT = re.compile(r"\n([ \t]{1,8})\S")
_NEEDS_QUOTES = re.compile(r'[",\r\n]|^\s|\s$')

NotEmpty = Annotated[tuple[str, ...], Field(min_length=1)]


class Unreadable(ValueError):
    """What is in the file is not what its name says (ERR-ART-003)."""


class ItemsEdit(Stored):
    """Merges *items* into an array of objects: known keys are updated in the fields given, others added."""

    kind: Literal["items"] = "items"
    path: str
    items: tuple[Mapping[str, Any], ...]
    key: str = "id"

    def apply(self, existing: str | None) -> str:
        if existing is None or not existing.strip(BLANK):
            return pretty(self._merged([]))
        before = self._parsed(existing)
        after = self._merged(before)
        if after == before:
            return existing
        found = _INDENT.search(existing)
        text = pretty(after, indent=found[1]) if found else pretty(after)
        return text.replace("\n", "\r\n") if "\r\n" in existing else text

    def _parsed(self, existing: str) -> list[Any]:
        try:
            found = parse_kept(existing)
        except ValueError as error:
            raise Unreadable(f"{self.path}: {error}") from None
        if not isinstance(found, list):
            raise Unreadable(f"{self.path}: is not a JSON array")
        return found

    def _merged(self, present: list[Any]) -> list[Any]:
        merged = list(present)
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
    """

    kind: Literal["rows"] = "rows"
    path: str
    columns: NotEmpty
    rows: tuple[NotEmpty, ...]

    def apply(self, existing: str | None) -> str:
        if existing is None or not existing.strip(BLANK):
            return self._merged([_Row(list(self.columns))], "\r\n")
        text = existing.removeprefix(BYTE_ORDER_MARK)
        mark = existing[: len(existing) - len(text)]
        return mark + self._merged(self._parsed(text), "\r\n" if "\r\n" in text else "\n")

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
            raise Unreadable(f"{self.path}: {error}") from None
        if self.columns[0] not in _names(table[0]):
            raise Unreadable(f"{self.path}: has no column {self.columns[0]}")
        return table

    def _merged(self, table: list[_Row], eol: str) -> str:
        header, *records = table
        _widen(header, self.columns, max(len(row.cells) for row in table))
        places = [_names(header).index(column) for column in self.columns]
        for row in self.rows:
            given = dict(zip(places, map(_harmless, row), strict=False))
            record = next((one for one in records if _cell(one, places[0]) == given[places[0]]), None)
            if record is None:
                record = _Row([])
                records.append(record)
            _update(record, given, len(header.cells))
        return "".join(_text(row, eol) for row in (header, *records))


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
    text = clean(cell)
    return f"'{text}" if text.startswith(FORMULA) else text


def _text(row: _Row, eol: str) -> str:
    if row.raw:
        return row.raw if row.raw.endswith(("\n", "\r")) else row.raw + eol
    cells = [
        f'"{cell.replace(chr(34), chr(34) * 2)}"' if _NEEDS_QUOTES.search(cell) else cell
        for cell in row.cells
    ]
    return (",".join(cells) or '""') + eol
