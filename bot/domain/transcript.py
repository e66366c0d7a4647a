"""
The transcript of an item, `planning/meeting.jsonl`: one line for every utterance (seed 004).

Writing is strict: a `Line` cannot be made without what the schema asks for. Reading is forgiving: a bad line is
reported by its number, and the rest is still read.
"""

import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from bot.domain.value import Stored, Value

TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"
HOST = "PlanningAgent"
PEOPLE = "User"


class Part(StrEnum):
    """The `phase` of a line: what the meeting was doing, in the schema's words."""

    DRAFT = "draft"
    """The item is being taken in."""
    CLARIFYING = "clarifying"
    """A step's questions and people's answers."""
    WORKSHOP = "workshop"
    """An elaboration."""
    FORMALIZING = "formalizing"
    """A synthesis, or a step being written down."""
    REVIEW_READY = "review_ready"
    """The item is analysed."""


class Source(StrEnum):
    USER = "user"
    MODEL = "model"
    SYSTEM = "system"


class Line(Stored):
    """One utterance. `ts` is UTC with milliseconds; `round` counts per item, from 1, and never decreases."""

    ts: Annotated[str, Field(pattern=TIMESTAMP)]
    round: Annotated[int, Field(ge=0)]
    actor: Annotated[str, Field(min_length=1)]
    phase: Part
    role: Annotated[str, Field(min_length=1)]
    source: Source
    content_type: Literal["markdown", "text", "json"] = "markdown"
    content: str
    meta: Mapping[str, Any] = {}

    @property
    def message_id(self) -> str:
        """Unique in the transcript for every line that we wrote; empty for lines of other tools without one."""
        return str(self.meta.get("message_id") or "")

    def as_json(self) -> str:
        """One line, without its line end; no character in it ends a line for any reader."""
        text = json.dumps(self.model_dump(), ensure_ascii=False, separators=(", ", ": "))
        return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


UNSAFE = re.compile("[\x85\u2028\u2029\ud800-\udfff]")
"""Ends a line for some reader, or cannot be encoded."""


class Flaw(Value):
    """Something wrong at line *number* (from 1) of a transcript, in one sentence."""

    number: int
    sentence: str


class Transcript(Value):
    """
    A transcript as read. `torn` says that the last line was cut off in the middle of being written;
    `sound_bytes` is the length up to and including the last whole line.
    """

    lines: tuple[Line, ...] = ()
    flaws: tuple[Flaw, ...] = ()
    torn: bool = False
    sound_bytes: int = 0

    @property
    def last_round(self) -> int:
        return max((line.round for line in self.lines), default=0)

    @property
    def message_ids(self) -> frozenset[str]:
        return frozenset(line.message_id for line in self.lines if line.message_id)


def read(content: bytes) -> Transcript:
    """Everything that can be read from a transcript file, and what is wrong with the rest."""
    whole, _, tail = content.rpartition(b"\n")
    sound_bytes = len(content) - len(tail)
    rows = whole.split(b"\n") if sound_bytes else []

    # A last line that is whole JSON and merely lacks its line end was written by an editor, not cut by a crash.
    last = tail.rstrip(b"\x00 \t\r")
    torn = bool(last) and isinstance(_json(last), str)
    if last and not torn:
        rows.append(last)
        sound_bytes += len(last)

    lines: list[Line] = []
    flaws: list[Flaw] = []
    for number, row in enumerate(rows, start=1):
        if not row.strip():
            continue
        parsed = _parse(row)
        if isinstance(parsed, str):
            flaws.append(Flaw(number=number, sentence=parsed))
            continue
        flaws.extend(Flaw(number=number, sentence=sentence) for sentence in _broken(lines[-1:], parsed))
        lines.append(parsed)
    return Transcript(lines=tuple(lines), flaws=tuple(flaws), torn=torn, sound_bytes=sound_bytes)


def append(content: bytes, lines: Iterable[Line]) -> bytes:
    """
    The file *content* with *lines* added: a torn tail is cut off, and no line is written twice.

    What other tools wrote stays byte for byte. A line of ours whose round or time would go backwards is
    brought up to the last line's, so that the invariants hold for whoever reads the file.
    """
    before = read(content)
    kept = content[: before.sound_bytes]
    if kept and not kept.endswith(b"\n"):
        kept += b"\n"

    known = set(before.message_ids)
    last = before.lines[-1] if before.lines else None
    floor = before.last_round
    written = []
    for line in lines:
        if line.message_id and line.message_id in known:
            continue
        known.add(line.message_id)
        ts = max(line.ts, last.ts) if last else line.ts
        last = line.but(round=max(line.round, floor), ts=ts)
        floor = last.round
        written.append(last.as_json() + "\n")
    return kept + "".join(written).encode()


def _parse(row: bytes) -> Line | str:
    fields = _json(row)
    if isinstance(fields, str):
        return fields
    if isinstance(fields.get("round"), bool) or not isinstance(fields.get("round"), int):
        return "has no whole number as round"
    if not isinstance(fields.get("meta", {}), dict):
        return "has a meta that is not an object"
    try:
        return Line.model_validate(fields)
    except ValidationError as error:
        names = sorted({str(problem["loc"][0]) for problem in error.errors()})
        return f"has no valid {', '.join(names)}"


def _json(row: bytes) -> dict[str, Any] | str:
    try:
        fields = json.loads(row.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "is not UTF-8"
    except (ValueError, RecursionError):
        return "is not JSON"
    return fields if isinstance(fields, dict) else "is not a JSON object"


def _broken(previous: list[Line], line: Line) -> list[str]:
    """The invariants (seed 004 §3) that *line* breaks after *previous*."""
    if not previous:
        return []
    before = previous[0]
    broken = []
    if line.round < before.round:
        broken.append(f"goes back from round {before.round} to {line.round}")
    if line.ts < before.ts:
        broken.append(f"is earlier ({line.ts}) than the line before it ({before.ts})")
    return broken
