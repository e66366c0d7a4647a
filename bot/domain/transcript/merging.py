"""Two versions of an item's record as one: the lines of both transcripts, and meta.json field by field."""

from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from bot.domain.item import meta
from bot.domain.planning.record import VERSION
from bot.domain.transcript.lines import HOST, Line, Source, raised, read
from bot.domain.transcript.seal import Sealer, read_chain
from bot.domain.transcript.witness import SHORT, Witness
from bot.domain.values.json_files import parse_kept

MERGED = "merged"
"""In the `meta` of the line that tells of a merge: the ends of both chains of seals, theirs first."""
ABSENT = object()


def transcripts(
    before: bytes, theirs: bytes, ours: bytes, *, ends: tuple[Witness, Witness], sealer: Sealer
) -> bytes:
    """
    The lines of both, each once, in the order of time. A line is known by its `message_id`, or else by its bytes.
    Lines of ours that *sealer* sealed come after theirs, and are sealed anew as a continuation of their chain.

    What theirs deleted since *before* stays deleted. Rounds never decrease: a line that now comes after a later round
    is raised to it. A line of its own tells of the merge and names *ends*, once for the same two ends.
    """
    was = {row.id: row.raw for row in _rows(before)}
    our_rows = tuple(_rows(ours))
    mine = {row.id: row for row in our_rows}
    kept = []
    for row in _rows(theirs):
        # Where only we changed a line, such as by scrubbing, our version counts.
        ours_alone = row.id in mine and row.raw == was.get(row.id)
        kept.append(mine[row.id]._replace(moment=row.moment) if ours_alone else row)
    known = {row.id for row in kept}
    added = [row for row in our_rows if row.id not in known and row.id not in was]
    sealed = frozenset(line.message_id for line in read_chain(ours, sealer.trusted).sealed_lines)
    anew = [row.line for row in added if row.line and row.id in sealed] if sealer.trusted else []
    added = [row for row in added if row.line not in anew] if anew else added
    merged: list[bytes] = []
    last: Line | None = None
    for raw, line, _ in sorted((*kept, *added), key=attrgetter("moment")):
        floor = last.round if last else 0
        merged.append(raised(raw, floor) if line and line.round < floor else raw)
        last = line.but(round=max(line.round, floor)) if line else last
    content = b"".join(raw + b"\n" for raw in merged)
    last = anew[-1] if anew else last
    if not (anew or added) or last is None:
        return content
    note = _note(last, moment=max(row.moment for row in (*kept, *added, *our_rows)), ends=ends)
    return sealer.append(content, [*anew, note])


def metas(before: bytes | None, theirs: bytes, ours: bytes) -> bytes | None:
    """
    Each field as the side that changed it has it; lists with what either side added. None when *theirs* is unreadable.

    Where both changed a field, theirs counts. Where both made the file, the earlier one knows how the item began.
    """
    base, *sides = (_object(content) for content in (before or b"", theirs, ours))
    if sides[0] is None or sides[1] is None:
        return theirs if sides[0] is not None else None
    if base is None:
        sides.sort(key=lambda side: str((side or {}).get("created_at")))
    return meta.write(_merged(base or {}, *sides)).encode("utf-8", "replace")


class _Row(NamedTuple):
    """A line as it is in the file. *moment* is its time, or that of the line before if it has none."""

    raw: bytes
    line: Line | None
    moment: str

    @property
    def id(self) -> str | bytes:
        return (self.line and self.line.message_id) or self.raw


def _rows(content: bytes) -> Iterator[_Row]:
    """Without a last line that was cut off while it was written."""
    moment = ""
    for raw in content[: read(content).sound_bytes].split(b"\n"):
        if raw.strip():
            line = next(iter(read(raw).lines), None)
            moment = max(moment, line.ts if line else "")
            yield _Row(raw, line, moment)


def _note(last: Line, *, moment: str, ends: tuple[Witness, Witness]) -> Line:
    goes_on = {VERSION: last.meta[VERSION]} if VERSION in last.meta else {}
    name = "-".join(end.digest[:SHORT] for end in ends)
    return Line(
        ts=moment,
        round=last.round,
        actor=HOST,
        phase=last.phase,
        role="planning",
        source=Source.SYSTEM,
        content="Two copies of this transcript were merged.",
        meta={
            **goes_on,
            "message_id": f"merge-{name}",
            MERGED: [f"{end.n} {end.digest}" for end in ends],
        },
    )


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        found = parse_kept(content.decode())
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
    """Steps and phases begin with their number; elaborations have a time."""
    return one if isinstance(one, str) else str(one.get("timestamp", "")) if isinstance(one, dict) else ""
