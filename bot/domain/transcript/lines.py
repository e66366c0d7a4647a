"""
The transcript of an item, `planning/meeting.jsonl`: one line for every utterance (seed 004).

Writing is strict: a `Line` that breaks the schema cannot be made. Reading is tolerant: a bad line is reported by its
number, and the other lines are still read.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from bot.domain.values.json_files import cut_off, decoded
from bot.domain.values.timestamps import slack_time
from bot.domain.values.value import Stored, Value

_UTC = ("+00:00", "-00:00")
"""Other tools write these for `Z`; a line with one is accepted."""
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


def no_valid(names: Sequence[str]) -> str:
    """What is wrong with a line whose fields *names* are missing or have wrong values."""
    form = f" ({_FORMS[names[0]]})" if len(names) == 1 else ""
    return f"has no valid {', '.join(names)}{form}"


_DAY = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
MOMENT = rf"{_DAY}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)\.[0-9]{{3}}Z"
TIMESTAMP = f"^{MOMENT}$"
HIGHEST_ROUND = 2**53
"""Readers of JSON do not agree on larger whole numbers."""
HOST = "PlanningAgent"
PEOPLE = "User"
PERSON, USER_NAME, USER_ID = "person", "user_name", "user_id"
"""In a line's `meta`. A file has only the first; `people.py` puts the name back. Earlier versions wrote the others."""


class LinePhase(StrEnum):
    """The `phase` of a line, in the schema's words."""

    DRAFT = "draft"
    """The item is being created."""
    CLARIFYING = "clarifying"
    """The questions of a step, and the answers."""
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
    phase: LinePhase
    role: Annotated[str, Field(min_length=1)]
    source: Source
    content_type: Literal["markdown", "text", "json"] = "markdown"
    content: str
    meta: Mapping[str, Any] = {}

    @property
    def message_id(self) -> str:
        """Unique for every line of ours. Lines of other tools may have none; then it is empty."""
        return str(self.meta.get("message_id") or "")

    @property
    def person(self) -> str:
        """The id of who said it or pressed; empty where that was no person. Earlier versions wrote Slack's id."""
        return self.text(PERSON) or self.text(USER_ID)

    @property
    def person_name(self) -> str:
        """Empty where it is not known."""
        return self.text(USER_NAME)

    @property
    def patches(self) -> tuple[Mapping[str, Any], ...]:
        """The changes of the specification that it asks for, unchecked."""
        found = self.meta.get(ENTRIES)
        given = found if isinstance(found, list | tuple) else ()
        return tuple(one for one in given if isinstance(one, Mapping))

    @property
    def is_note(self) -> bool:
        """Whether it is a note of the host, which may change the phase of a round."""
        return self.source is Source.SYSTEM and self.actor == HOST

    @property
    def said_at(self) -> tuple[int, int] | None:
        """When a person said it, by Slack's clock. None for every other line."""
        return slack_time(self.heard)

    @property
    def heard(self) -> str:
        """
        The Slack timestamp, if a person said it in Slack. These texts sort by time. Empty for edits of an earlier
        message.
        """
        is_message = self.source is Source.USER and "amends" not in self.meta
        return self.text("message_ts") if is_message else ""

    def text(self, name: str) -> str:
        """The text *name* in `meta`; empty where there is none."""
        found = self.meta.get(name)
        return found if isinstance(found, str) else ""

    def as_json(self) -> str:
        """One row without a line end. It contains no character that any reader takes for a line end."""
        return safe_row(json.dumps(self.model_dump(), ensure_ascii=False, separators=(", ", ": ")))


_UNSAFE = re.compile("[\x85\u2028\u2029\ud800-\udfff]")


def safe_row(text: str) -> str:
    """JSON without characters that end a line for some reader, or that UTF-8 cannot encode."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


UNWRITTEN = b"\x00 \t\r"
"""Padding after the last line. A file system leaves zeros after an unfinished write."""
ABOUT = ("phase_key", "step_id", "plan_version", "plan_round")
"""In a line's `meta`: its place in the analysis or in the planning."""
SPENT = "spent"
"""In a line's `meta`: what the models had used for the item at the commit."""
QUOTED = "quoted"
"""In a line's `meta`: passages that it cites and that are in no commit, by their ids."""
UNCHECKED = "unchecked"
"""In a line's `meta`: the sentences of a persona that have the mark, and why."""
RAW, RAW_CHARS = "raw", 8_000
"""In a line's `meta`: the answer of a model, or the part of it, that was not used."""
LEFT_OUT = "left_out"
"""In a line's `meta`: how many entries and values of a draft were not taken, by the reason."""
UNSEEN = "unseen"
"""In a line's `meta`: the ids of entries for which a prompt had no room."""
ENTRIES = "entries"
"""In a line's `meta`: its patches of the specification."""
CHANGING_ENTRIES = frozenset({ENTRIES, "amends", "retracts"})
"""In a line's `meta`: what makes it one for the specification."""
TO, BOT = "to", "bot"
"""In the `meta` of a person's line that is a question to the bot, and answers none."""
HEARD_AFTER = "heard_after"
"""In the `meta` of a message that was moved: the line that changed the specification before it did."""
VOICE, RULE = "voice", "rule"
BY_RULE: Mapping[str, str] = {VOICE: RULE}
"""In the `meta` of a persona's line that a fixed rule wrote: no model was asked."""
OUT_OF_ORDER = 100
"""Two messages in the wrong order are at most this many lines apart."""


class Flaw(Value):
    """Something wrong at line *number* (from 1) of a transcript, in one sentence."""

    number: int
    sentence: str


class TranscriptTail(Value):
    """
    The last readable line, the sorted Slack timestamps of people's newest messages, the step in which the newest was
    said, and what the models used.
    """

    last: Line | None = None
    heard: tuple[str, ...] = ()
    about: str = ""
    spent: Mapping[str, Any] = {}


def read(content: bytes) -> tuple[Line, ...]:
    """Every readable line of a transcript file; `fold` says what is wrong with the others."""
    rows = (parse(row) for row in whole_rows(content).split(b"\n") if row.strip())
    return tuple(row for row in rows if isinstance(row, Line))


def out_of_order(before: Line | None, line: Line) -> Iterator[str]:
    """How *line* breaks the order of seed 004 §3 after the line *before*."""
    if before and line.round < before.round:
        yield f"goes back from round {before.round} to {line.round}"
    if before and line.ts < before.ts:
        yield f"is earlier ({line.ts}) than the line before it ({before.ts})"


def ending(rows: Iterable[bytes]) -> TranscriptTail:
    """*rows* come last first. No more of them are read than necessary, because a resume waits for this."""
    last, more, spent, about = None, OUT_OF_ORDER, None, ""
    heard: set[str] = set()
    for row in rows:
        newest = spent is None and b'"spent"' in row
        wanted = last is None or newest or (b'"message_ts"' in row and b'"user"' in row)
        if wanted and (line := line_in(row)):
            last = last or line
            is_first = bool(line.heard) and not heard and line.phase is not LinePhase.WORKSHOP
            about = str(line.meta.get("step_id") or "") if is_first else about
            heard |= {line.heard} - {""}
            told = line.meta.get(SPENT)
            spent = told if newest and isinstance(told, dict) else spent
        more -= bool(heard)
        if not more:
            break
    return TranscriptTail(last=last, heard=tuple(sorted(heard)), about=about, spent=spent or {})


def in_thread_order(lines: Iterable[Line]) -> tuple[Line, ...]:
    """
    *lines*, with people's messages in the order of the thread, also when Slack delivered one late (ADR 27).

    A late message moves up to the first message that was written after it, and takes that line's time, round and
    place. No other line moves, so every message still stands before the answer to it.
    """
    ordered: list[Line] = []
    newest: tuple[tuple[int, int], str] | None = None
    changed_last = ""
    for line in lines:
        said = _key(line)
        if said is None or newest is None or newest <= said:
            ordered.append(line)
            newest = said or newest
        else:
            place = next(at for at, one in enumerate(ordered) if (key := _key(one)) and key > said)
            ordered.insert(place, _moved(line, ordered[place], changed_last))
        changed_last = changed_last if CHANGING_ENTRIES.isdisjoint(line.meta) else line.message_id
    return tuple(ordered)


def as_heard(lines: Iterable[Line]) -> Iterator[Line]:
    """*lines* of a transcript in the order in which they changed the specification."""
    in_file = tuple(lines)
    late: dict[str, list[Line]] = {}
    for line in in_file:
        if after := line.meta.get(HEARD_AFTER):
            late.setdefault(str(after), []).append(line)
    for line in in_file:
        if HEARD_AFTER not in line.meta:
            todo = [line]
            while todo:
                yield (now := todo.pop())
                todo += late.pop(now.message_id, [])[::-1]
    for rest in late.values():
        yield from rest


def _key(line: Line) -> tuple[tuple[int, int], str] | None:
    return (line.said_at, line.message_id) if line.said_at else None


def _moved(line: Line, place: Line, changed_last: str) -> Line:
    """A turn of a discussion keeps its place in the discussion, and an entry the step that it was read in."""
    heard = {HEARD_AFTER: changed_last} if changed_last and ENTRIES in line.meta else {}
    if "turn_id" in line.meta:
        return line.but(ts=place.ts, round=place.round, meta={**line.meta, **heard})
    if ENTRIES in line.meta:
        return line.but(ts=place.ts, round=place.round, phase=place.phase, meta={**line.meta, **heard})
    kept = {name: fact for name, fact in line.meta.items() if name not in ABOUT}
    where = {name: place.meta[name] for name in ABOUT if name in place.meta}
    return line.but(ts=place.ts, round=place.round, phase=place.phase, meta={**kept, **where})


def append(
    content: bytes,
    lines: Iterable[Line],
    *,
    known: Iterable[str] | None = None,
    finish: Callable[[Line], Line] = lambda line: line,
) -> bytes:
    """
    The file *content* with *lines* added. A torn tail is cut off, and no line is written twice.

    What other tools wrote stays byte for byte. Where the round or the time of a line of ours would go backwards, it
    is raised to that of the line before it, and to the next round where that one has another phase. *known*: the ids
    that count as written; without it, all that are there. *finish* makes the line that is written.
    """
    kept = whole_rows(content)
    existing = read(kept)
    known = set((line.message_id for line in existing) if known is None else known)
    last_ts = existing[-1].ts if existing else ""
    last_round = max((line.round for line in existing), default=0)
    before = next((line for line in reversed(existing) if line.source is not Source.USER), None)
    written = []
    for line in lines:
        if line.message_id and line.message_id in known:
            continue
        known.add(line.message_id)
        if before and line.source is not Source.USER and not line.is_note:
            last_round += line.round <= last_round == before.round and line.phase != before.phase
        last_ts, last_round = max(line.ts, last_ts), max(line.round, last_round)
        added = line.but(round=last_round, ts=last_ts)
        before = before if line.source is Source.USER else added
        written.append(finish(added).as_json() + "\n")
    return kept + "".join(written).encode()


def whole_rows(content: bytes) -> bytes:
    """*content* without a torn tail, and with a line end after its last row."""
    end = content.rfind(b"\n") + 1
    last = content[end:].rstrip(UNWRITTEN)
    return content[:end] + last + b"\n" if last and not cut_off(last) else content[:end]


def line_in(row: bytes) -> Line | None:
    """None when *row* is not a valid line."""
    found = parse(row.rstrip(UNWRITTEN))
    return found if isinstance(found, Line) else None


def parse(row: bytes) -> Line | str:
    """The line that *row* says, or a sentence about what is wrong with it."""
    try:
        return Line.model_validate_json(row)
    except ValidationError:
        return _parse_closely(row)  # slower; accepts other notations and says what is wrong


def _parse_closely(row: bytes) -> Line | str:
    fields = decoded(row)
    if isinstance(fields, str):
        return fields
    ts = fields.get("ts")
    if isinstance(ts, str) and ts.endswith(_UTC):
        fields["ts"] = f"{ts[:-6]}Z"
    if isinstance(fields.get("round"), bool) or not isinstance(fields.get("round"), int):
        return "has no whole number as round"
    if not isinstance(fields.get("meta", {}), dict):
        return "has a meta that is not an object"
    try:
        return Line.model_validate(fields)
    except ValidationError as error:
        return no_valid(sorted({str(problem["loc"][0]) for problem in error.errors()}))
