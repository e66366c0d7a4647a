"""
Removes secrets from files that were kept already, and writes a line that says what was changed.

A line of the transcript stays valid JSON, and only its texts change. The added line names the changed lines by id (or
by number) and the kinds of secrets, and vouches for what each reads now.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from bot.domain.privacy.redaction import Redacted
from bot.domain.transcript.lines import HOST, Line, LinePhase, Source, line_in, safe_row
from bot.domain.transcript.seal import OF_SEALING, SCRUBBED, SEAL, keep_digest, reading_of
from bot.domain.values.json_files import decoded, map_texts, parse_kept, pretty

NO_FACTS: Mapping[str, Any] = {}

Redacting = Callable[[str], Redacted]
Changing = Callable[[Mapping[str, Any]], tuple[tuple[str, ...], Any]]
"""Gives the kinds of what is taken out of the fields of a line, and the fields without it."""


class Changed(NamedTuple):
    """A changed line: its id, or its number if it has none, and the kinds of secrets."""

    message_id: str
    number: int
    kinds: tuple[str, ...]
    reads: str = ""
    """What a line with a seal reads now: the note vouches for it."""

    def as_meta(self) -> Mapping[str, Any]:
        name = {"message_id": self.message_id} if self.message_id else {"line": self.number}
        return {**name, "kinds": sorted(set(self.kinds)), **({"reads": self.reads} if self.reads else {})}


class ScrubbedFile(NamedTuple):
    """A file without secrets. `kinds` has one for each secret. `lines` is used for transcripts only."""

    content: bytes
    kinds: tuple[str, ...] = ()
    lines: tuple[Changed, ...] = ()


def file(content: bytes, redact: Redacting, *, name: str) -> ScrubbedFile:
    """The format follows from *name*. Bytes that are not UTF-8 stay as they are."""
    if name.endswith(".jsonl"):
        return transcript(content, redact)
    if name.endswith(".json"):
        try:
            kinds, value = redacted(parse_kept(content.decode()), redact, by_name=True)
            return ScrubbedFile(pretty(value).encode(), kinds) if kinds else ScrubbedFile(content)
        except ValueError:
            pass  # not JSON, so it is treated as text
    text, kinds = redact(content.decode("utf-8", "surrogateescape"))
    return ScrubbedFile(text.encode("utf-8", "surrogateescape"), kinds) if kinds else ScrubbedFile(content)


def transcript(content: bytes, redact: Redacting, change: Changing | None = None) -> ScrubbedFile:
    """*change* is what happens to the fields of a line; by default all its texts are redacted."""
    rows, changed = [], []
    for number, row in enumerate(content.split(b"\n"), start=1):
        after, kinds, message_id = _row(row, redact, change or (lambda fields: redacted(fields, redact)))
        reads = ""
        if kinds and (before := line_in(row)) and (line := line_in(after)) and SEAL in before.meta:
            line = keep_digest(before, line)
            after, reads = line.as_json().encode(), reading_of(line)
        rows.append(after)
        if kinds:
            changed.append(Changed(message_id, number, kinds, reads))
    kinds = tuple(kind for one in changed for kind in one.kinds)
    return ScrubbedFile(b"\n".join(rows), kinds, tuple(changed)) if changed else ScrubbedFile(content)


def note(
    changed: Iterable[Changed], *, last: Line | None, now: str, facts: Mapping[str, Any] = NO_FACTS
) -> Line:
    """The line that names the changes, with *facts*."""
    lines = [one.as_meta() for one in changed]
    count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
    meta = {**facts, "message_id": f"scrub-{now}", SCRUBBED: lines}
    return line_after(last, f"Secrets were taken out of {count}.", now=now, meta=meta)


def line_after(last: Line | None, content: str, *, now: str, meta: Mapping[str, Any]) -> Line:
    """Of the host, outside of a meeting: it has the round and the phase of the line *last*."""
    return Line(
        ts=now,
        round=last.round if last else 0,
        actor=HOST,
        phase=last.phase if last else LinePhase.DRAFT,
        role="planning",
        source=Source.SYSTEM,
        content=content,
        meta=meta,
    )


def _row(row: bytes, redact: Redacting, change: Changing) -> tuple[bytes, tuple[str, ...], str]:
    fields = decoded(row) if row.strip() else ""
    if not isinstance(fields, dict):
        text, kinds = redact(row.decode("utf-8", "surrogateescape"))
        return (text.encode("utf-8", "surrogateescape") if kinds else row), kinds, ""
    meta = fields["meta"] if isinstance(fields.get("meta"), dict) else {}
    kept = {name: meta[name] for name in OF_SEALING if name in meta}
    rest = {name: fact for name, fact in meta.items() if name not in kept}
    kinds, after = change({**fields, "meta": rest} if kept else fields)
    if not kinds:
        return row, (), ""
    if kept:
        after["meta"] |= kept
    return safe_row(json.dumps(after, ensure_ascii=False)).encode(), kinds, _id(after)


def redacted(value: Any, redact: Redacting, *, by_name: bool = False) -> tuple[tuple[str, ...], Any]:
    """*by_name*: the name of a field counts, too, because a password has no form of its own."""
    kinds: list[str] = []

    def change(name: str, text: str) -> str:
        after, found = _field(name, text, redact) if by_name and name else redact(text)
        kinds.extend(found)
        return after

    after = map_texts(value, change)
    return tuple(kinds), after


def _field(name: str, value: str, redact: Redacting) -> Redacted:
    alone, before = redact(value), f'"{name}": "'
    if alone.kinds:
        return alone
    text, kinds = redact(f'{before}{value}"')
    is_whole = text.startswith(before) and text.endswith('"')
    return Redacted(text[len(before) : -1], kinds) if kinds and is_whole else alone


def _id(fields: Mapping[str, Any]) -> str:
    meta = fields.get("meta")
    found = meta.get("message_id") if isinstance(meta, dict) else None
    return found if isinstance(found, str) else ""
