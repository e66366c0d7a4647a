"""
A file that was changed here and at the remote: what both sides wanted, where that can be said.

A transcript keeps every line of both, a meta.json every field, a Markdown file every section that only one side
touched. Where both touched the same, theirs stands. (`rows.py` does arrays and tables.)
"""

import heapq
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from bot.domain import meta, transcript
from bot.domain.json_file import parse_kept
from bot.domain.markdown import outline

ABSENT = object()
SECTION = 2
NUMBERED = re.compile(r"## ([0-9]{1,6})\.")


def transcripts(theirs: bytes, ours: bytes) -> bytes:
    """Every line of both, once, in the order of time; rounds do not go back where two meetings meet."""
    kept = tuple(_rows(theirs))
    known = {row.identity for row in kept}
    added = [row for row in _rows(ours) if row.identity not in known]
    merged, floor = [], 0
    for row in heapq.merge(kept, added, key=attrgetter("moment", "round")):
        merged.append(row.from_round(floor))
        floor = max(floor, row.round)
    return b"".join(raw + b"\n" for raw in merged)


def progress(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """
    None when *theirs* cannot be read; unknown fields are merged like the others.

    Where both made the file, the earlier one knows how the item began: the other was made by a clone that had not
    heard of it yet.
    """
    base, *sides = (_object(content) for content in (before, theirs, ours))
    if sides[0] is None:
        return None
    if sides[1] is None:
        return theirs
    if base is None:
        sides.sort(key=lambda side: str((side or {}).get("created_at")))
    return meta.write(_merged(base or {}, *sides)).encode("utf-8", "replace")


def sections(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """A Markdown file, section by section; None when both sides changed the same one."""
    try:
        base, kept, mine = (_sections((content or b"").decode()) for content in (before, theirs, ours))
    except UnicodeDecodeError:
        return None
    if base is None or kept is None or mine is None:
        return None
    merged, after = dict(kept), ""
    for heading in (*mine, *(base.keys() - mine.keys())):
        was, now, wanted = (_bare(parts.get(heading)) for parts in (base, kept, mine))
        if wanted not in {was, now} and now != was:
            return None
        if wanted is None and now == was:
            merged.pop(heading, None)
        elif wanted not in {was, now}:
            merged = _put(merged, heading, mine[heading], after=after)
        after = heading if heading in merged else after
    return _joined(merged.values()).encode()


# --- transcripts --------------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """A line as it stands in the file; *moment* is its time, or that of the line before when it says none."""

    raw: bytes
    line: transcript.Line | None
    moment: str

    @property
    def identity(self) -> str | bytes:
        return (self.line and self.line.message_id) or self.raw

    @property
    def round(self) -> int:
        return self.line.round if self.line else 0

    def from_round(self, floor: int) -> bytes:
        if self.line is None or self.line.round >= floor:
            return self.raw
        return transcript.raised(self.raw, floor)


def _rows(content: bytes) -> Iterator[_Row]:
    """A tail that was cut off in the middle of being written is no line."""
    moment = ""
    for raw in content[: transcript.read(content).sound_bytes].split(b"\n"):
        if raw.strip():
            line = next(iter(transcript.read(raw).lines), None)
            moment = max(moment, line.ts if line else "")
            yield _Row(raw, line, moment)


# --- meta.json ----------------------------------------------------------------------------------------------------


def _object(content: bytes | None) -> dict[str, Any] | None:
    try:
        found = parse_kept((content or b"").decode())
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _merged(before: Any, theirs: Any, ours: Any) -> Any:
    if ours in (before, theirs):
        return theirs
    if theirs == before:
        return ours
    if isinstance(theirs, dict) and isinstance(ours, dict):
        base = before if isinstance(before, dict) else {}
        fields = {
            name: _merged(base.get(name, ABSENT), theirs.get(name, ABSENT), ours.get(name, ABSENT))
            for name in dict.fromkeys((*theirs, *ours))
        }
        return {name: value for name, value in fields.items() if value is not ABSENT}
    if isinstance(theirs, list) and isinstance(ours, list):
        known = before if isinstance(before, list) else []
        kept = [one for one in theirs if one in ours or one not in known]
        added = [one for one in ours if one not in known and one not in theirs]
        return sorted(kept + added, key=_rank) if _in_order(theirs) and _in_order(ours) else kept + added
    return theirs


def _in_order(found: list[Any]) -> bool:
    return all(_rank(one) <= _rank(other) for one, other in pairwise(found))


def _rank(one: Any) -> str:
    """Steps and phases begin with their number, and elaborations have a time."""
    return one if isinstance(one, str) else str(one.get("timestamp", "")) if isinstance(one, dict) else ""


# --- Markdown -----------------------------------------------------------------------------------------------------


def _sections(text: str) -> dict[str, str] | None:
    """By heading, what comes before the first one under none; None when two are called the same."""
    page = outline(text)
    starts = [heading.line for heading in page.headings if heading.level == SECTION]
    parts = {"": "".join(page.lines[: starts[0] if starts else None])}
    for start, end in pairwise([*starts, len(page.lines)]):
        name = page.lines[start].strip()
        if name in parts:
            return None
        parts[name] = "".join(page.lines[start:end])
    return parts


def _bare(part: str | None) -> str | None:
    """How many empty lines follow a section depends on what follows it."""
    return None if part is None else part.rstrip()


def _put(parts: dict[str, str], heading: str, text: str, *, after: str) -> dict[str, str]:
    """A new section stands where its number says, or behind the one it stood behind."""
    if heading in parts:
        return {**parts, heading: text}
    names = list(parts)
    place = names.index(after) + 1
    while place < len(names) and _number(names[place]) < _number(heading):
        place += 1
    names.insert(place, heading)
    return {name: parts.get(name, text) for name in names}


def _number(heading: str) -> int:
    found = NUMBERED.match(heading)
    return int(found[1]) if found else 0


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for part in parts:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        text += gap + part
    return text
