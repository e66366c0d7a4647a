"""
A JSON array or a CSV file that was changed on both sides: put together row by row, known by their keys.

A row that both changed is for people; so is a table whose columns both moved.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from bot.domain.json_file import compact, parse_kept, pretty

BYTE_ORDER_MARK = "\ufeff"
KEY = "id"

Rows = Mapping[str, str]
"""By key, each as it is written, in the order of the file."""


class Keyless(ValueError):
    """The rows cannot be told apart: two have one key, or the file is not what its name says."""


def objects(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """An array of objects, by `id`; None when both changed the same one. Raises Keyless."""
    base, kept, mine = (_objects(content) for content in (before, theirs, ours))
    merged = _merged(base, kept, mine)
    if merged is None or merged == kept:
        return None if merged is None else theirs
    text = pretty([parse_kept(row) for row in merged.values()])
    return (text.replace("\n", "\r\n") if b"\r\n" in theirs else text).encode()


def table(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """A CSV file, by its first column; None when both changed the same row, or the columns. Raises Keyless."""
    sides = [_table(content) for content in (before, theirs, ours)]
    header = _header([columns for columns, _ in sides])
    merged = _merged(*(rows for _, rows in sides))
    if header is None or merged is None:
        return None
    if (header, merged) == sides[1]:
        return theirs
    mark = BYTE_ORDER_MARK if theirs.startswith(BYTE_ORDER_MARK.encode()) else ""
    eol = "\r\n" if b"\r\n" in theirs else "\n"
    return (mark + "".join(row + eol for row in (header, *merged.values()))).encode()


def is_json(content: bytes) -> bool:
    try:
        parse_kept(content.decode())
    except ValueError:
        return False
    return True


def _merged(before: Rows, theirs: Rows, ours: Rows) -> Rows | None:
    """Theirs, with what only we added, changed or took away; None when both changed the same row."""
    touched = {key for key in before.keys() | ours.keys() if ours.get(key) != before.get(key)}
    if any(theirs.get(key) not in (before.get(key), ours.get(key)) for key in touched):
        return None
    kept = [key for key in theirs if key in ours or key not in touched]
    both = {**theirs, **{key: ours[key] for key in touched & ours.keys()}}
    return {key: both[key] for key in _woven(kept, [key for key in ours if key in both])}


def _woven(theirs: list[str], ours: list[str]) -> Iterator[str]:
    """What only we have stands behind what it stood behind, and what they put there too comes first."""
    shared = set(theirs)
    following: dict[str | None, list[str]] = {}
    last = None
    for key in ours:
        if key in shared:
            last = key
        else:
            following.setdefault(last, []).append(key)
    known, waiting = set(ours), following.get(None, [])
    for key in theirs:
        if key in known:
            yield from waiting
            waiting = following.get(key, [])
        yield key
    yield from waiting


# --- JSON ---------------------------------------------------------------------------------------------------------


def _objects(content: bytes | None) -> Rows:
    try:
        found = parse_kept((content or b"[]").decode())
    except ValueError as error:
        raise Keyless(str(error)) from None
    if not isinstance(found, list):
        raise Keyless("is not an array")
    return _unique((_key(row), compact(row)) for row in found)


def _key(row: Any) -> str:
    """An object without an id is only the same as its equal."""
    named = row[KEY] if isinstance(row, dict) and KEY in row else {"": row}
    return json.dumps(named, sort_keys=True)


def _unique(rows: Iterator[tuple[str, str]]) -> Rows:
    found: dict[str, str] = {}
    for key, row in rows:
        if key in found:
            raise Keyless(f"{key} is there twice")
        found[key] = row
    return found


# --- CSV ----------------------------------------------------------------------------------------------------------


def _table(content: bytes | None) -> tuple[str, Rows]:
    """The header, empty where there is no file, and the rows; empty ones are not kept."""
    if content is None:
        return "", {}
    try:
        found = list(_records(content.decode().removeprefix(BYTE_ORDER_MARK)))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Keyless(str(error)) from None
    if not found:
        raise Keyless("has no columns")
    return found[0][1], _unique(iter(found[1:]))


def _records(text: str) -> Iterator[tuple[str, str]]:
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(lines, strict=True)
    done = 0
    for cells in reader:
        if any(cells):
            yield cells[0], "".join(lines[done : reader.line_num]).rstrip("\r\n")
        done = reader.line_num


def _header(sides: list[str]) -> str | None:
    """The one with more columns, if those of the others stand where they stood."""
    before, theirs, ours = sides
    chosen = ours if theirs == before else theirs
    if ours not in (before, theirs) and theirs not in (before, ours):
        return None
    wide, *cells = (next(csv.reader([side]), []) for side in (chosen, *sides))
    return chosen if all(wide[: len(side)] == side for side in cells) else None
