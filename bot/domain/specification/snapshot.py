"""
`specification.json`: the specification as it was at a commit, so that a transcript need not be folded again.

It is a copy, never an authority: it counts when its hash stands in the newest line of the transcript that has
one. Otherwise the lines are folded.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from bot.domain.specification.entries import Claim, Entry, Specification, matters
from bot.domain.specification.fold import is_heard
from bot.domain.transcript import earlier
from bot.domain.transcript.lines import CHANGING_ENTRIES, Line, Source, as_heard
from bot.domain.transcript.people import NO_NAMES, Names, with_names
from bot.domain.transcript.seal import (
    TAKES_OVER,
    SealedRow,
    TrustedKeys,
    damage_in,
    foreign_ids,
    last_sealed,
    read_chain,
    restore_lines,
)
from bot.domain.values.json_files import encodable, parse
from bot.domain.values.value import Stored

HASH = "specification"
"""In the `meta` of the last line of a commit: the SHA-256 of the file."""
SCHEMA = "schema"
"""Beside it: the fingerprint of the entries.yaml that the files were made with."""
SECTIONS = "sections"
"""Beside it: the digests of the sections that the commit writes, by key."""
VERSION = 1
URN = f"urn:roundtable:schema:specification:{VERSION}"
_FOLDED = (
    *(f'"{name}"'.encode() for name in (*CHANGING_ENTRIES, *earlier.FACTS, HASH, SECTIONS)),
    earlier.SYNTHESIS.encode(),
)
_HEARD = f'"{Source.USER.value}"'.encode()


class SpecificationFile(Stored):
    """`specification.json`. Files of earlier versions have no `version`; `$schema` is never read."""

    urn: str = Field(URN, alias="$schema")
    version: Annotated[int, Field(ge=1)] = VERSION
    through: str = ""
    count: int
    sections: Mapping[str, str] = {}
    entries: tuple[Entry, ...]
    refused: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()


class NewerFormat(ValueError):
    """The file has a version that only a later Roundtable reads."""


class Snapshot(NamedTuple):
    """`written`: the digests of the sections that we wrote, by key."""

    specification: Specification
    written: Mapping[str, str]


def text_of(specification: Specification, written: Mapping[str, str]) -> str:
    entries = (specification.entries[id] for id in sorted(specification.entries))
    return laid_out(
        {
            "$schema": URN,
            "version": VERSION,
            "through": specification.through,
            "count": specification.count,
            "sections": dict(sorted(written.items())),
            "entries": [one.model_dump(mode="json", exclude_defaults=True) for one in entries],
            **{
                name: list(sentences)
                for name in ("refused", "damage")
                if (sentences := getattr(specification, name))
            },
        }
    )


def laid_out(fields: Any) -> str:
    """JSON with one section, and one claim, on a line."""
    if not isinstance(fields, dict):
        return _json(fields) + "\n"
    parts = (f"  {_json(name)}: {_part(value)}" for name, value in fields.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def hash_of(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def read(text: str) -> Snapshot:
    """Raises ValueError."""
    raw = parse(text)
    fields = raw if isinstance(raw, dict) else {}
    if "count" not in fields:
        raise ValueError("it was written by an earlier version")
    if isinstance(version := fields.get("version"), int) and version > VERSION:
        raise NewerFormat(
            f"specification.json is of version {version}; this Roundtable reads {VERSION}. Update it."
        )
    try:
        file = SpecificationFile.model_validate(fields)
    except ValidationError as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    return _snapshot_of(file)


def _snapshot_of(file: SpecificationFile) -> Snapshot:
    specification = Specification(
        entries={one.id: one for one in file.entries},
        through=file.through,
        refused=file.refused,
        damage=file.damage,
        count=file.count,
    )
    return Snapshot(specification, file.sections)


def read_known(content: bytes | None) -> Snapshot | None:
    """None where there is no file, or none that can be read."""
    try:
        return read(content.decode()) if content is not None else None
    except ValueError:
        return None


def restored(
    text: bytes | None,
    committed: bytes,
    now: bytes,
    *,
    trusted: TrustedKeys | None,
    names: Names = NO_NAMES,
) -> Snapshot:
    """
    The specification of an item at its transcript *now*. *text* is the file, and *committed* the transcript, as
    we committed them last: if they fit, and no line was taken away since, only later lines are folded. Lines that
    the *trusted* keys did not seal can only propose.
    """
    rows, foreign = _rows(now, trusted, names), foreign_ids(now, trusted)
    damage = damage_in(restore_lines(now, committed, trusted), trusted)
    ours = (row.line for row in reversed(rows) if row.line.message_id not in foreign)
    told = next((line for line in ours if HASH in line.meta or TAKES_OVER in line.meta), None)
    is_last = text is not None and told and hash_of(text) == told.meta.get(HASH)
    if is_last and not _is_cut(committed, now) and (known := read_known(text)):
        before = frozenset(committed.split(b"\n"))
        heard = (row.line for row in rows if row.raw in before and is_heard(row.line))
        later = (row.line for row in rows if row.raw not in before and _is_folded(row.raw, _HEARD))
        specification = known.specification.naming(names).but(damage=damage)
        specification = specification.hearing(as_heard(heard), foreign=foreign)
        return Snapshot(specification.folding(as_heard(later), foreign=foreign), known.written)
    return folded((row.line for row in rows), foreign=foreign, damage=damage)


def vouched(text: bytes | None, content: bytes, trusted: TrustedKeys | None = None) -> Specification | None:
    """
    What the file *text* has, if the sealed last line of *content* says that it is ours: then no line has to be folded.
    Without the words of people, which stand in the lines. Raises NewerFormat.
    """
    last = last_sealed(content, trusted) if text is not None else None
    if text is None or last is None or last.meta.get(HASH) != hash_of(text):
        return None
    try:  # what we sealed needs no closer look, which takes as long again
        file = SpecificationFile.model_validate_json(text)
    except ValidationError:
        file = None
    try:
        known = _snapshot_of(file) if file and file.version <= VERSION else read(text.decode())
    except NewerFormat:
        raise
    except ValueError:
        return None
    return known.specification


def folded_content(content: bytes, trusted: TrustedKeys | None = None, names: Names = NO_NAMES) -> Snapshot:
    """Out of all lines of the transcript *content*."""
    rows = _rows(content, trusted, names)
    foreign, damage = foreign_ids(content, trusted), damage_in(content, trusted)
    return folded((row.line for row in rows), foreign=foreign, damage=damage)


def _rows(content: bytes, trusted: TrustedKeys | None, names: Names) -> tuple[SealedRow, ...]:
    rows = read_chain(content, trusted).rows
    return tuple(row._replace(line=with_names(row.line, names)) for row in rows)


def folded(lines: Iterable[Line], *, foreign: Collection[str] = (), damage: tuple[str, ...] = ()) -> Snapshot:
    """Out of all *lines* of a transcript. A line that stands there twice counts once."""
    written: dict[str, str] = {}
    changing: dict[str, Line] = {}
    for number, line in enumerate(earlier.upcast(lines)):
        if line.message_id not in foreign:
            written |= _texts(line.meta.get(SECTIONS))
        if matters(line):
            changing.setdefault(line.message_id or f"#{number}", line)
    specification = Specification(damage=damage)
    return Snapshot(specification.folding(as_heard(changing.values()), foreign=foreign), written)


def first_difference(found: Specification, lines: Specification) -> tuple[str, str]:
    """
    The id of the first entry of *found* that is not what the *lines* give, and what is different; empty if all are.
    What people are called is not compared: a name may be learned after a line was written.
    """
    for id in sorted({*found.entries, *lines.entries}):
        one, other = found.entries.get(id), lines.entries.get(id)
        if one is None or other is None:
            return id, "is missing" if one is None else "is in no line of the transcript"
        for name in ("kind", "step", "state", "part_of", "replaced_by"):
            if getattr(one, name) != getattr(other, name):
                return id, f"has {name} {_told(one, name)}, and the lines say {_told(other, name)}"
        for field in sorted({*one.claims, *other.claims}):
            if _bare(one.claims.get(field, ())) != _bare(other.claims.get(field, ())):
                here, there = _json(one[field]), _json(other[field])
                if here != there:
                    return id, f"has {field} {here}, and the lines say {there}"
                return id, f"has other claims about {field} than the lines"
    return "", ""


def _is_cut(committed: bytes, now: bytes) -> bool:
    """Whether a line that matters here is no longer as it was committed."""
    if now.startswith(committed):
        return False
    left = frozenset(now.split(b"\n"))
    return any(row not in left for row in committed.split(b"\n") if _is_folded(row))


def _is_folded(row: bytes, *more: bytes) -> bool:
    return any(name in row for name in (*_FOLDED, *more))


def _part(value: Any) -> str:
    if isinstance(value, dict) and value:
        rows = (f"    {_json(name)}: {_json(one)}" for name, one in value.items())
        return "{\n" + ",\n".join(rows) + "\n  }"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"    {_entry(one)}" for one in value) + "\n  ]"
    return _json(value)


def _entry(value: Any) -> str:
    claims = value.get("claims") if isinstance(value, dict) else None
    if (
        not isinstance(claims, dict)
        or not claims
        or not all(isinstance(one, list) for one in claims.values())
    ):
        return _json(value)
    head = "".join(f"{_json(name)}: {_json(one)}, " for name, one in value.items() if name != "claims")
    fields = []
    for field, told in claims.items():
        rows = ",\n".join(f"        {_json(one)}" for one in told)
        fields.append(f"      {_json(field)}: [\n{rows}\n      ]" if told else f"      {_json(field)}: []")
    return "{" + head + '"claims": {\n' + ",\n".join(fields) + "\n    }}"


def _json(value: Any) -> str:
    return encodable(json.dumps(value, ensure_ascii=False))


def _texts(value: Any) -> dict[str, str]:
    fields = value.items() if isinstance(value, dict) else ()
    return {name: one for name, one in fields if isinstance(one, str)}


def _bare(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    nameless = {name: {"name"} for name in ("said", "proposed", "accepted", "stale")}
    return [one.model_dump(mode="json", exclude=nameless) for one in claims]


def _told(entry: Entry, name: str) -> str:
    return _json(getattr(entry, name))
