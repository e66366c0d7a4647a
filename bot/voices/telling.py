"""User stories as a mind wrote them: an array of objects, or whatever of it can be read."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.domain.json_file import parse
from bot.domain.planning.objects import objects_in
from bot.voices.numbering import known_requirements
from bot.voices.phrases import key
from bot.voices.prompts.seen import row
from bot.voices.settling import numbers_for

MOST_STORIES = 200
MOST_CRITERIA = 20
LONGEST = 500

_ID = re.compile(r"US-0*(\d{1,4})", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```\w*\s*\n|\n\s*```\s*$")

Record = dict[str, Any]


def stories(text: str, existing: str, spec: str) -> tuple[Record, ...]:
    """
    Those in *text*, under the ids that the *existing* file has for them; they trace to what *spec* has, and to nothing
    else. Empty where none can be read.
    """
    found = [story for one in _objects(text) if (story := _story(one))][:MOST_STORIES]
    before = {number: one for one in reversed(tuple(_objects(existing))) if (number := _number(one))}
    known = {number: _words(one) for number, one in before.items()}
    given = [(_number(one) or len(known) + place, _words(one)) for place, one in enumerate(found, start=1)]
    requirements = {one.id for one in known_requirements(spec)}
    return tuple(
        {
            **one,
            "id": before[number]["id"] if number in before else f"US-{number:03}",
            "traces": [trace for trace in one["traces"] if trace in requirements],
        }
        for number, one in zip(numbers_for(known, given), found, strict=True)
    )


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Of an array; of an object that holds one; or those that stand whole in a text that is neither."""
    try:
        found = parse(_FENCE.sub("", text)) if text.strip() else []
    except ValueError:
        yield from (one for one in objects_in(text) if "want" in one)
        return
    if isinstance(found, dict):
        found = next((one for one in found.values() if isinstance(one, list)), [found])
    yield from (one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def _story(given: Mapping[str, Any]) -> Record | None:
    said = {name: _line(given.get(name)) for name in ("role", "want", "so_that")}
    if not said["want"]:
        return None
    return {
        "id": _line(given.get("id")),
        **said,
        "acceptance_criteria": _lines(given.get("acceptance_criteria")),
        "traces": _lines(given.get("traces")),
        "by": _line(given.get("by")),
    }


def _number(record: Mapping[str, Any]) -> int:
    found = _ID.fullmatch(str(record.get("id") or ""))
    return int(found[1]) if found else 0


def _words(record: Mapping[str, Any]) -> str:
    return key(f"{record.get('role') or ''} {record.get('want') or ''}")


def _line(given: Any) -> str:
    return row(given, LONGEST) if isinstance(given, str) else ""


def _lines(given: Any) -> list[str]:
    found = given if isinstance(given, list) else [given]
    return [line for one in found[:MOST_CRITERIA] if (line := _line(one))]
