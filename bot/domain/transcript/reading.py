"""
Whether what was read from a row is a line (seed 004 §2), in one sentence when it is not.

The same as `transcript.Line` asks for, without making one: a record of a million lines is read at the speed of its
JSON.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter, ne
from typing import Any, NamedTuple

from bot.domain.transcript.lines import HIGHEST_ROUND, MOMENT, Part, Source, in_our_notation, no_valid

Fields = Mapping[str, Any]

PARTS = frozenset(part.value for part in Part)
SOURCES = frozenset(source.value for source in Source)
CONTENT_TYPES = frozenset({"markdown", "text", "json"})

_EXAMPLE = "2025-03-01T10:15:30.123Z"
_MOMENTS = re.compile(rf"(?:{MOMENT}\n)*+")
REQUIRED = ("round", "ts", "phase", "source", "actor", "role", "content")
_ASKED = itemgetter(*REQUIRED)
_ALL = itemgetter(*REQUIRED, "meta", "content_type")
_TYPES = (int, str, str, str, str, str, str, dict)
_NOTHING: Fields = {}


class Columns(NamedTuple):
    """Many lines, turned on their side."""

    rounds: Sequence[int]
    stamps: Sequence[str]
    parts: Sequence[str]
    sources: Sequence[str]
    actors: Sequence[str]
    metas: Sequence[Fields]

    @property
    def in_order(self) -> bool:
        """Nothing goes back, and a round has one phase."""
        going_on = sorted(self.rounds) == [*self.rounds] and sorted(self.stamps) == [*self.stamps]
        return going_on and len(set(zip(self.rounds, self.parts, strict=True))) == len(set(self.rounds))


def columns(lines: Sequence[Any]) -> Columns | None:
    """None unless all of them are sound, and there are some. What many lines cost is little more than what a few do."""
    try:
        rounds, stamps, parts, sources, actors, roles, contents, metas, kinds = _fields_of(lines)
        found = (rounds, stamps, parts, sources, actors, roles, contents, metas)
        sound = (
            all(set(map(type, values)) == {kind} for values, kind in zip(found, _TYPES, strict=True))
            and 0 <= min(rounds) <= max(rounds) <= HIGHEST_ROUND
            and PARTS.issuperset(parts)
            and SOURCES.issuperset(sources)
            and CONTENT_TYPES.issuperset(kinds)
            and "" not in {*actors, *roles}
            and _are_moments("\n".join(stamps) + "\n", len(stamps))
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return Columns(rounds, stamps, parts, sources, actors, metas) if sound else None


def _are_moments(stamps: str, count: int) -> bool:
    """So many, and each on a row of its own: one with a line end in it would be two."""
    return len(stamps) == (len(_EXAMPLE) + 1) * count and _MOMENTS.fullmatch(stamps) is not None


def as_line(fields: Fields) -> tuple[Fields, Columns | None]:
    """One line, as we would have written it; with None where it is none."""
    if found := columns([fields]):
        return fields, found
    ours = in_our_notation(fields)
    return ours, None if ours is fields else columns([ours])


def _fields_of(lines: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """One column after the other. Most lines have all fields; those that may be missing are looked for only then."""
    try:
        yield from zip(*map(_ALL, lines), strict=True)
    except KeyError:
        yield from zip(*map(_ASKED, lines), strict=True)
        yield [line.get("meta", _NOTHING) for line in lines]
        yield [line.get("content_type", "markdown") for line in lines]


def changes(values: Sequence[object], before: object) -> list[int]:
    """The places where *values* are not what they were."""
    return [place for place, other in enumerate(map(ne, values, [before, *values])) if other]


def flaw_of(fields: Fields) -> str:
    """In the words that reading a transcript uses for it."""
    number = fields.get("round")
    if type(number) is not int:
        return "has no whole number as round"
    if not isinstance(fields.get("meta", {}), dict):
        return "has a meta that is not an object"
    return no_valid(_invalid(fields))


def _invalid(fields: Fields) -> list[str]:
    """Each field tried alone, among others that are as they should be."""
    sound = {
        "ts": _EXAMPLE, "round": 1, "actor": "User", "phase": "draft", "role": "user",
        "source": "user", "content": "", "content_type": "text", "meta": {},
    }  # fmt: skip
    asked = [name for name in sound if name in fields or name not in {"content_type", "meta"}]
    return sorted(name for name in asked if not columns([{**sound, name: fields.get(name)}]))
