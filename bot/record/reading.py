"""Reads a transcript: its state, its entries, its lines as they are shown, its repeated ids."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from bot.domain.roundtable.state import ATTACHMENTS
from bot.domain.specification.entries import Specification
from bot.domain.specification.snapshot import folded
from bot.domain.transcript import earlier
from bot.domain.transcript.fold import (
    AMOUNTS,
    CALL,
    NAME_CHARS,
    Row,
    amount,
    called,
    fold,
    kind_of,
    message_id,
    named,
    position_in,
)
from bot.domain.transcript.lines import QUOTED, UNWRITTEN, Flaw, Line, Source, parse
from bot.domain.transcript.people import Names, with_names
from bot.domain.transcript.seal import foreign_ids, sealed_place
from bot.domain.transcript.state import CHANGE, State
from bot.domain.values import places
from bot.domain.values.json_files import cut_off
from bot.domain.values.text import clean, one_line
from bot.files import LONGEST_ROW_BYTES

REMARKS = {
    "pass": "passed",
    "unrecorded": "no stance on record",
    "left_out": "synthesis refused",
}
CHANGES = {
    "steps": "step done",
    "phases": "phase done",
    "reopened": "phases opened again",
    "elaborations": "recorded",
    "restart": "restarted",
}
_WEB = re.compile(r"https://[!-~]{1,500}")
MOST_PASSAGES = 20
PASSAGE_CHARS = 700
ID_CHARS = 400
TOO_LONG = "is longer than 16 MiB, and was not read"
TORN = "was cut off in the middle of being written"


class SharedFile(NamedTuple):
    """A file that was shared with a message. *link* is empty unless it is an address of the web."""

    id: str
    name: str
    type: str = ""
    link: str = ""
    by: str = ""
    line: int = 0


class CitedPassage(NamedTuple):
    """What a line cites and no commit has, as it was shown to the speaker, by its *id*."""

    id: str
    text: str

    @property
    def sentence(self) -> str:
        return f"{self.id} said: {self.text}"


class RecordEntry(NamedTuple):
    """
    One line as it is shown. `flaw` says why a row is not a line; then all other fields are empty. `call` is the
    recorded call of a model: empty where a line of a model records none. `who` tells two people with the same name
    apart.
    """

    number: int
    flaw: str = ""
    ts: str = ""
    round: int = 0
    part: str = ""
    phase_key: str = ""
    step_id: str = ""
    actor: str = ""
    who: str = ""
    by: str = ""
    kind: str = ""
    text: str = ""
    turn: str = ""
    position: str = ""
    marks: tuple[str, ...] = ()
    call: Mapping[str, Any] | None = None
    message_id: str = ""
    link: str = ""
    files: tuple[SharedFile, ...] = ()
    passages: tuple[CitedPassage, ...] = ()


@dataclass(frozen=True)
class Transcript:
    """
    A transcript, and what its people are called. *ours* are ids of lines of ours that are not sealed before their
    commit.
    """

    content: bytes
    names: Names = field(default_factory=dict)
    ours: frozenset[str] = frozenset()

    @cached_property
    def rows(self) -> tuple[tuple[int, Row], ...]:
        """With their numbers. Empty rows are counted and left out."""
        return tuple(self._parsed())

    def _parsed(self) -> Iterator[tuple[int, Row]]:
        rows = self.content.split(b"\n")
        for number, whole in enumerate(rows, start=1):
            is_last = number == len(rows)
            row = whole.strip(UNWRITTEN) if is_last else whole
            if len(row) >= LONGEST_ROW_BYTES:
                yield number, TOO_LONG
            elif is_last and row and cut_off(row):
                yield number, TORN
            elif row.strip():
                line = parse(row)
                yield number, with_names(line, self.names) if isinstance(line, Line) else line

    def rows_until(self, number: int | None) -> Iterator[tuple[int, Row]]:
        return (row for row in self.rows if number is None or row[0] <= number)


def replay(record: Transcript, *, until: int | None = None) -> State:
    """The state at the line *until*, or at the end."""
    return fold(record.rows_until(until))


def specification_of(record: Transcript, *, until: int | None = None) -> Specification:
    """The entries as the lines up to *until* give them."""
    rows = in_sealed_order(record.rows)
    found = [(number, _with_id(number, row)) for number, row in rows if isinstance(row, Line)]
    lines = earlier.upcast(row for _, row in found)  # of the whole record, so that ids stay the same
    foreign = foreign_ids(record.content) - record.ours
    known = (line for (number, _), line in zip(found, lines, strict=True) if until is None or number <= until)
    return folded(known, foreign=foreign).specification


def in_sealed_order(rows: Sequence[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """A file that somebody sorted: what has a seal stands in the order of the seals, and the rest where it is."""
    order = {
        at: place
        for at, (_, row) in enumerate(rows)
        if isinstance(row, Line) and (place := sealed_place(row))
    }
    ordered = iter(sorted(order, key=order.__getitem__))
    return [rows[next(ordered)] if at in order else row for at, row in enumerate(rows)]


def _with_id(number: int, line: Line) -> Line:
    """Lines of other tools may have none."""
    return line if line.message_id else line.but(meta={**line.meta, "message_id": message_id(number, line)})


def repeated(rows: Iterable[tuple[int, Row]]) -> Iterator[Flaw]:
    """Lines whose id an earlier line has."""
    first: dict[str, int] = {}
    for number, row in rows:
        id = row.text("message_id") if isinstance(row, Line) else ""
        if id and first.setdefault(id, number) != number:
            yield Flaw(number=number, sentence=f"has the message_id of line {first[id]}")


def entries(record: Transcript, *, until: int | None = None, permalink: str = "") -> Iterator[RecordEntry]:
    """*permalink* is the thread's, if it is known; the links of messages follow from it."""
    phase = step = ""
    thread = places.read_permalink(permalink)
    for number, row in record.rows_until(until):
        if isinstance(row, str):
            yield RecordEntry(number, flaw=row)
            continue
        phase, step = _text(row, "phase_key") or phase, _text(row, "step_id") or step
        yield _entry(number, row)._replace(phase_key=phase, step_id=step, link=_link(thread, row))


def link_of(permalink: str, line: Line) -> str:
    """The address of a line's message in Slack; empty unless *permalink* is that of its thread."""
    return _link(places.read_permalink(permalink), line)


def _entry(number: int, line: Line) -> RecordEntry:
    (key, name), has_call = named(line), not CALL.isdisjoint(line.meta)
    return RecordEntry(
        number,
        ts=line.ts,
        round=line.round,
        part=line.phase.value,
        actor=clean(line.actor),
        who=one_line(key, NAME_CHARS),
        by=one_line(name),
        kind=kind_of(line),
        text=clean(line.content),
        turn=_text(line, "turn_id"),
        position=position_in(line),
        marks=tuple(_marks(line)),
        call=_call(line.meta) if has_call else {} if line.source is Source.MODEL else None,
        message_id=_text(line, "message_id"),
        files=tuple(_files(number, line)),
        passages=tuple(_passages(line)),
    )


def _passages(line: Line) -> Iterator[CitedPassage]:
    found = line.meta.get(QUOTED)
    told = found.items() if isinstance(found, dict) else ()
    for id, text in islice(told, MOST_PASSAGES):
        if isinstance(text, str):
            yield CitedPassage(one_line(clean(id), ID_CHARS), one_line(clean(text), PASSAGE_CHARS))


def _files(number: int, line: Line) -> Iterator[SharedFile]:
    found = line.meta.get(ATTACHMENTS)
    for one in found if isinstance(found, list) else ():
        fields = one if isinstance(one, dict) else {}
        told = {name: clean(text) for name, text in fields.items() if isinstance(text, str)}
        if name := told.get("name") or told.get("id"):
            address = told.get("permalink", "")
            link = address if _WEB.fullmatch(address) else ""
            yield SharedFile(
                told.get("id", ""), name, told.get("type", ""), link, one_line(named(line)[1]), number
            )


def _marks(line: Line) -> Iterator[str]:
    if earlier.is_synthesis(line):
        yield "synthesis"
    made = [one.get("kind") for one in line.patches]
    for kind in (earlier.DECISION, earlier.QUESTION, earlier.OBJECTION):
        if kind in made or kind in line.meta:
            yield kind
    yield from (said for name, said in REMARKS.items() if line.meta.get(name))
    change = line.meta.get(CHANGE)
    if isinstance(change, dict):
        yield from (said for name, said in CHANGES.items() if change.get(name))


def _call(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {"provider": clean(called(meta))} | {name: amount(meta[name]) for name in AMOUNTS if name in meta}


def _link(thread: re.Match[str] | None, line: Line) -> str:
    return places.link_of_message(thread, _text(line, "channel_id"), _text(line, "message_ts"))


def _text(line: Line, name: str) -> str:
    return clean(line.text(name))
