"""
The transcript of an item, `planning/meeting.jsonl`: one line for every utterance (seed 004).

Writing is strict: a `Line` cannot be made without what the schema asks for. Reading is forgiving: a bad line is
reported by its number, and the rest is still read.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import takewhile
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from bot.domain.values.json_files import cut_off, decoded
from bot.domain.values.timestamps import slack_time
from bot.domain.values.value import Stored, Value

# Lines of other tools that say what seed 004 §2 asks for in another notation, and what is wrong with those
# that do not.
#
# UTC may be written `+00:00`, as Python has it. What has another type is another thing: `"3"`, `3.0` and
# null.


UTC = ("+00:00", "-00:00")
_FORMS = {
    "ts": "UTC with milliseconds, such as 2025-03-01T10:15:30.123Z",
    "round": "a whole number from 0 to 2^53",
    "actor": "a name",
    "phase": "draft, clarifying, workshop, formalizing or review_ready",
    "role": "a name, such as planning or assistant",
    "source": "user, model or system",
    "content_type": "markdown, text or json",
    "content": "a text",
}


def in_our_notation(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The very same object, where its time is not written in another way."""
    ts = fields.get("ts")
    if isinstance(ts, str) and ts.endswith(UTC):
        return {**fields, "ts": f"{ts[:-6]}Z"}
    return fields


def no_valid(names: Sequence[str]) -> str:
    """What is wrong with a line whose fields *names* are not as they should be."""
    form = f" ({_FORMS[names[0]]})" if len(names) == 1 else ""
    return f"has no valid {', '.join(names)}{form}"


_DAY = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
MOMENT = rf"{_DAY}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)\.[0-9]{{3}}Z"
TIMESTAMP = f"^{MOMENT}$"
HIGHEST_ROUND = 2**53
"""Above it, readers of JSON disagree on what a number is."""
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
    round: Annotated[int, Field(ge=0, le=HIGHEST_ROUND, strict=True)]
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

    @property
    def said_at(self) -> tuple[int, int] | None:
        """When a person said it, by Slack's clock; None for every other line."""
        return slack_time(self.heard)

    @property
    def heard(self) -> str:
        """
        Slack's time of it, if a person said it in Slack; such texts sort as the times do. Empty for what was only
        changed then.
        """
        is_message = self.source is Source.USER and "amends" not in self.meta
        ts = self.meta.get("message_ts") if is_message else None
        return ts if isinstance(ts, str) else ""

    def as_json(self) -> str:
        """One line, without its line end; no character in it ends a line for any reader."""
        return _one_row(json.dumps(self.model_dump(), ensure_ascii=False, separators=(", ", ": ")))


UNSAFE = re.compile("[\x85\u2028\u2029\ud800-\udfff]")
"""Ends a line for some reader, or cannot be encoded."""


# Where something stands in a row, without decoding it. Inside of a text, the quotes would have a backslash before them.
ID = re.compile(rb'"message_id"\s*:\s*"?([^",}\s\\]*)')
ROUND = re.compile(rb'"round"\s*:\s*(\d{1,4000})')
PLAIN = re.compile(r"[\w.:-]*", re.ASCII)
"""An id that is written in one way only."""
UNWRITTEN = b"\x00 \t\r"
"""What may stand behind the last line; zeros are what a file system leaves of a write that it never finished."""
ABOUT = ("phase_key", "step_id", "plan_version", "plan_round")
"""In a line's `meta`: where in the analysis or in the planning it belongs."""
SPENT = "spent"
"""In a line's `meta`: what models had taken for the item when it was committed."""
OUT_OF_ORDER = 100
"""So many lines apart, two messages may have come in the wrong order."""


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


class Ending(Value):
    """The last line that can be read, Slack's times of the newest that people said, in order, and what was spent."""

    last: Line | None = None
    heard: tuple[str, ...] = ()
    spent: Mapping[str, Any] = {}


def read(content: bytes) -> Transcript:
    """Everything that can be read from a transcript file, and what is wrong with the rest."""
    sound_bytes, torn = _sound(content)
    lines: list[Line] = []
    flaws: list[Flaw] = []
    for number, row in enumerate(content[:sound_bytes].split(b"\n"), start=1):
        if not row.strip():
            continue
        parsed = _parse(row)
        if isinstance(parsed, str):
            flaws.append(Flaw(number=number, sentence=parsed))
            continue
        flaws.extend(Flaw(number=number, sentence=sentence) for sentence in _broken(lines[-1:], parsed))
        lines.append(parsed)
    return Transcript(lines=tuple(lines), flaws=tuple(flaws), torn=torn, sound_bytes=sound_bytes)


def ending(rows: Iterable[bytes]) -> Ending:
    """Of a transcript whose *rows* come last first; no more of them are looked at than it takes."""
    last, more, spent = None, OUT_OF_ORDER, None
    heard: set[str] = set()
    for row in rows:
        newest = spent is None and b'"spent"' in row
        wanted = last is None or newest or (b'"message_ts"' in row and b'"user"' in row)
        if wanted and (line := line_in(row)):
            last = last or line
            heard |= {line.heard} - {""}
            told = line.meta.get(SPENT)
            spent = told if newest and isinstance(told, dict) else spent
        more -= bool(heard)
        if not more:
            break
    return Ending(last=last, heard=tuple(sorted(heard)), spent=spent or {})


def in_thread_order(lines: Iterable[Line]) -> tuple[Line, ...]:
    """
    *lines* with what people said in the order of the thread, however late it was delivered (ADR 27).

    A message that came too late moves up to the first one of a person that was written after it, and takes that line's
    time, round and place. No other line moves, so that what a persona answered still stands before its answer.
    """
    ordered: list[Line] = []
    newest: tuple[tuple[int, int], str] | None = None
    for line in lines:
        said = _key(line)
        if said is None or newest is None or newest <= said:
            ordered.append(line)
            newest = said or newest
            continue
        place = next(at for at, one in enumerate(ordered) if (key := _key(one)) and key > said)
        ordered.insert(place, _moved(line, ordered[place]))
    return tuple(ordered)


def _key(line: Line) -> tuple[tuple[int, int], str] | None:
    return (line.said_at, line.message_id) if line.said_at else None


def _moved(line: Line, place: Line) -> Line:
    """A turn of a discussion stays one."""
    if "turn_id" in line.meta:
        return line.but(ts=place.ts, round=place.round)
    kept = {name: fact for name, fact in line.meta.items() if name not in ABOUT}
    where = {name: place.meta[name] for name in ABOUT if name in place.meta}
    return line.but(ts=place.ts, round=place.round, phase=place.phase, meta={**kept, **where})


def raised(row: bytes, floor: int) -> bytes:
    """The line of *row* in the round *floor*, with everything that only its writer understands."""
    fields = decoded(row)
    assert isinstance(fields, dict), "only lines have a round"
    return _one_row(json.dumps({**fields, "round": floor}, ensure_ascii=False)).encode()


def append(content: bytes, lines: Iterable[Line]) -> bytes:
    """
    The file *content* with *lines* added: a torn tail is cut off, and no line is written twice.

    What other tools wrote stays byte for byte. A line of ours whose round or time would go backwards is
    brought up to the last line's, so that the invariants hold for whoever reads the file.
    """
    lines = tuple(lines)
    kept = content[: _sound(content)[0]]
    if kept and not kept.endswith(b"\n"):
        kept += b"\n"

    known = _known(kept, {line.message_id for line in lines if line.message_id})
    last = _last(kept)
    floor = _last_round(kept, last)
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


def _sound(content: bytes) -> tuple[int, bool]:
    """How much of *content* is whole lines, and whether what follows was cut off."""
    end = content.rfind(b"\n") + 1
    last = content[end:].rstrip(UNWRITTEN)
    torn = cut_off(last)
    return end if torn else end + len(last), torn


def _known(content: bytes, ids: set[str]) -> set[str]:
    """Those of *ids* that a line of *content* has: mostly none, which shows without decoding it."""
    if all(map(PLAIN.fullmatch, ids)):
        wanted = {one.encode() for one in ids}
        if _beginning(wanted) not in content or wanted.isdisjoint(ID.findall(content)):
            return set()
    return ids & read(content).message_ids


def _beginning(ids: set[bytes]) -> bytes:
    """What all of *ids* begin with: much, after a store was lost, and then it is in no line; else maybe nothing."""
    first, last = min(ids, default=b""), max(ids, default=b"")
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return bytes(one for one, _ in same)


def _last(content: bytes) -> Line | None:
    end = len(content)
    while end:
        start = content.rfind(b"\n", 0, end - 1) + 1
        line = _parse(content[start:end])
        if isinstance(line, Line):
            return line
        end = start
    return None


def _last_round(content: bytes, last: Line | None) -> int:
    """The highest there is: mostly the last line's, which shows without decoding the others."""
    highest = max(map(int, set(ROUND.findall(content))), default=0)
    return last.round if last and highest <= last.round else read(content).last_round


def line_in(row: bytes) -> Line | None:
    """None when it cannot be read."""
    found = _parse(row.rstrip(UNWRITTEN))
    return found if isinstance(found, Line) else None


def _parse(row: bytes) -> Line | str:
    """Pydantic reads what is as it should be, in half the time; what it refuses is looked at more closely."""
    try:
        return Line.model_validate_json(row)
    except ValidationError:
        return _parse_closely(row)


def _parse_closely(row: bytes) -> Line | str:
    found = decoded(row)
    if isinstance(found, str):
        return found
    fields = in_our_notation(found)
    if isinstance(fields.get("round"), bool) or not isinstance(fields.get("round"), int):
        return "has no whole number as round"
    if not isinstance(fields.get("meta", {}), dict):
        return "has a meta that is not an object"
    try:
        return Line.model_validate(fields)
    except ValidationError as error:
        names = sorted({str(problem["loc"][0]) for problem in error.errors()})
        return no_valid(names)


def _one_row(text: str) -> str:
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
