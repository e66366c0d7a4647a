"""The lines of a record as they are shown: in order, whoever wrote them, bad ones with what is wrong with them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bot.domain.roundtable import permalinks
from bot.domain.transcript.lines import HOST
from bot.domain.transcript.points import DECISION, OBJECTION, QUESTION, SYNTHESIS, position, who
from bot.domain.transcript.reading import Fields, as_line, flaw_of
from bot.domain.transcript.state import CALL, NAME_CHARS, called, named, total
from bot.domain.values.text import clean, one_line
from bot.files import File
from bot.record.reading import rows

REMARKS = {
    "pass": "passed",
    "unrecorded": "no stance on record",
    "flips": "moved without anything new",
    "repeats": "the same point again",
    "left_out": "synthesis refused",
}
AMOUNTS = ("tokens_in", "tokens_out", "cost", "seconds")


class Entry(NamedTuple):
    """
    One line. `flaw` is why it could not be read; then the rest says nothing. `call` is what is recorded of the
    model's call, empty where the line is a model's and nothing is; `marks` are what it means to the discussion.
    `who` tells two people of one name apart.
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


def entries(record: File, *, until: int | None = None, permalink: str = "") -> Iterator[Entry]:
    """*permalink* is the thread's, as far as it is known: a message's own follows from it. Raises OSError."""
    phase = step = ""
    thread = permalinks.thread(permalink)
    with record.opened() as file:
        for number, row in rows(file):
            if until is not None and number > until:
                return
            if isinstance(row, str):
                yield Entry(number, flaw=row)
                continue
            fields, is_line = as_line(row)
            if not is_line:
                yield Entry(number, flaw=flaw_of(fields))
                continue
            meta = fields.get("meta", {})
            phase, step = _text(meta, "phase_key") or phase, _text(meta, "step_id") or step
            yield _entry(number, fields, meta)._replace(
                phase_key=phase, step_id=step, link=_link(thread, meta) if thread else ""
            )


def link_of(permalink: str, meta: Fields) -> str:
    """Where in Slack a line's message stands; empty unless *permalink* is that of its thread."""
    thread = permalinks.thread(permalink)
    return _link(thread, meta) if thread else ""


def _entry(number: int, fields: Fields, meta: Fields) -> Entry:
    kinds = {"user": "person", "model": "persona"}
    return Entry(
        number,
        ts=fields["ts"],
        round=fields["round"],
        part=fields["phase"],
        actor=clean(fields["actor"]),
        who=one_line(named(fields["source"], fields["actor"], meta)[1], NAME_CHARS),
        by=who(fields),
        kind=kinds.get(fields["source"], "host" if fields["actor"] == HOST else "persona"),
        text=clean(fields["content"]),
        turn=_text(meta, "turn_id"),
        position=position(meta),
        marks=tuple(_marks(fields, meta)),
        call=_call(meta) if fields["source"] == "model" or not CALL.isdisjoint(meta) else None,
        message_id=_text(meta, "message_id"),
    )


def _marks(fields: Fields, meta: Fields) -> Iterator[str]:
    if fields["source"] != "user" and fields["content"].startswith(SYNTHESIS):
        yield "synthesis"
    yield from (kind for kind in (DECISION, QUESTION, OBJECTION) if kind in meta)
    yield from (said for name, said in REMARKS.items() if meta.get(name))
    change = meta.get("change")
    if isinstance(change, dict):
        names = {
            "steps": "step done",
            "phases": "phase done",
            "elaborations": "recorded",
            "restart": "restarted",
        }
        yield from (said for name, said in names.items() if change.get(name))


def _call(meta: Fields) -> dict[str, Any]:
    """Empty for a line of a model that says nothing of it."""
    if CALL.isdisjoint(meta):
        return {}
    return {"provider": clean(called(meta))} | {name: total([meta[name]]) for name in AMOUNTS if name in meta}


def _link(thread: re.Match[str], meta: Fields) -> str:
    """Where in Slack the message stands."""
    return permalinks.of_message(thread, _text(meta, "channel_id"), _text(meta, "message_ts"))


def _text(meta: Fields, name: str) -> str:
    found = meta.get(name)
    return clean(found) if isinstance(found, str) else ""
