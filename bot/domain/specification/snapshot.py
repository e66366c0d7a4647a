"""
`specification.json`: the specification as it was at a commit, so that who only reads need not fold the transcript.

It is a copy, never an authority: it counts when its hash stands in the sealed last line of the transcript.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from bot.domain.specification.claims import Claim, Entry
from bot.domain.specification.entries import Specification, matters
from bot.domain.transcript import earlier
from bot.domain.transcript.lines import Line, as_heard
from bot.domain.transcript.people import NO_NAMES, Names, with_names
from bot.domain.transcript.seal import (
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
    entries = {one.id: one for one in file.entries}
    specification = Specification(
        entries=entries, through=file.through, refused=file.refused, damage=file.damage, count=file.count
    )
    return Snapshot(specification, file.sections)


def read_known(content: bytes | None) -> Snapshot | None:
    """None where there is no file, or none that can be read."""
    try:
        return read(content.decode()) if content is not None else None
    except ValueError:
        return None


def vouched(text: bytes | None, content: bytes, trusted: TrustedKeys | None = None) -> Specification | None:
    """
    What the file *text* has, if the sealed last line of *content* says that it is ours: then no line has to be folded.
    Without the words of people, which stand in the lines. Raises NewerFormat.
    """
    last = last_sealed(content, trusted) if text is not None else None
    if text is None or last is None or last.meta.get(HASH) != hash_of(text):
        return None
    try:
        return read(text.decode()).specification
    except NewerFormat:
        raise
    except ValueError:
        return None


def folded_content(
    content: bytes, trusted: TrustedKeys | None = None, names: Names = NO_NAMES, *, committed: bytes = b""
) -> Snapshot:
    """
    Out of all lines of the transcript *content*. Lines that the *trusted* keys did not seal can only propose. Those of
    our last commit, *committed*, that are gone are no damage: the next one puts them back.
    """
    rows = read_chain(content, trusted).rows
    damage = damage_in(restore_lines(content, committed, trusted), trusted)
    lines = (with_names(row.line, names) for row in rows)
    return folded(lines, foreign=foreign_ids(content, trusted), damage=damage)


def folded(lines: Iterable[Line], *, foreign: Collection[str] = (), damage: tuple[str, ...] = ()) -> Snapshot:
    """Out of all *lines* of a transcript. A line that stands there twice counts once."""
    written: dict[str, str] = {}
    changing: dict[str, Line] = {}
    for number, line in enumerate(earlier.upcast(lines)):
        if line.message_id not in foreign:
            given = line.meta.get(SECTIONS)
            digests = given.items() if isinstance(given, dict) else ()
            written |= {name: one for name, one in digests if isinstance(one, str)}
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
            here, there = (_json(getattr(each, name)) for each in (one, other))
            if here != there:
                return id, f"has {name} {here}, and the lines say {there}"
        for field in sorted({*one.claims, *other.claims}):
            if _bare(one.claims.get(field, ())) != _bare(other.claims.get(field, ())):
                here, there = _json(one[field]), _json(other[field])
                if here != there:
                    return id, f"has {field} {here}, and the lines say {there}"
                return id, f"has other claims about {field} than the lines"
    return "", ""


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


def _bare(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    nameless = {name: {"name"} for name in ("said", "proposed", "accepted", "stale")}
    return [one.model_dump(mode="json", exclude=nameless) for one in claims]
