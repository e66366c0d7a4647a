"""
Compares files with the record: the fields of meta.json that follow from the lines, and the sections that elaborations
added to artifacts. Other fields and other text are not compared.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import zip_longest
from typing import Any, NamedTuple

from bot.domain.item.artifacts import ADDITIONAL
from bot.domain.item.item_paths import META
from bot.domain.transcript.state import REPRODUCED, Progress
from bot.domain.values.json_files import parse_kept, pretty
from bot.domain.values.markdown import body

_MARKER = re.compile(
    r"^(?P<marker><!-- Elaboration: step (?P<step>[^\s,<>]{1,80}), (?P<at>[^\s<>]{1,80}) -->)(?P<eol>\r\n|\n|\r)?",
    re.MULTILINE,
)

ROWS_SHOWN = 200
"""Of a diff."""
Syntheses = Mapping[str, str]
"""By the marker above the section."""


class Difference(NamedTuple):
    """
    Something in a file of the item that differs from the record; lines count from 1. `diff` are the rows of a unified
    diff, if there is one.
    """

    file: str
    line: int
    sentence: str
    diff: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join((f"{self.file}:{self.line}: {self.sentence}", *self.diff))


def sections_compared(name: str, text: str, syntheses: Syntheses, *, foreign: bool) -> Iterator[Difference]:
    """
    The sections of *text*, the file *name*, that differ from the record. *foreign*: it may have sections of other
    records.
    """
    seen: set[str] = set()
    line, counted = 1, 0
    for found in _MARKER.finditer(text):
        line, counted = line + text.count("\n", counted, found.start()), found.start()
        marker = found["marker"]
        if marker in seen:
            yield Difference(name, line, f"{marker} stands here for the second time")
        elif marker in syntheses:
            forms = tuple(section_forms(marker, syntheses[marker], eol := found["eol"] or "\n"))
            if (away := _differs_after(text[found.start() :], forms, eol)) is not None:
                yield Difference(name, line + away, "is not what the synthesis in the record says")
        elif not foreign:
            yield Difference(name, line, f"{marker} names an elaboration that the record does not know")
        seen.add(marker)


def section_forms(marker: str, synthesis: str, eol: str) -> Iterator[str]:
    """All forms that a section may have: with its own heading or not, below an open fence or not."""
    for heading in ("", f"### {ADDITIONAL}\n\n"):
        for fences in (True, False):
            yield f"{marker}\n\n{heading}{body(synthesis, fences=fences)}\n".replace("\n", eol)


def _differs_after(text: str, forms: Sequence[str], eol: str) -> int | None:
    """
    So many rows of *text*, which begins with the section, are as they have to be; None if all are. At the end of a file
    the last line end may be missing.
    """
    if any(text.startswith(form) or text == form.removesuffix(eol) for form in forms):
        return None
    pairs = (enumerate(zip(text.split("\n"), form.split("\n"), strict=False)) for form in forms)
    return max(next((at for at, (one, other) in rows if one != other), 0) for rows in pairs)


def meta_compared(content: bytes, progress: Progress) -> Iterator[Difference]:
    """The fields of *content* that differ from *progress*."""
    try:
        text = content.decode("utf-8-sig")
        found = parse_kept(text)
    except UnicodeDecodeError as error:
        yield Difference(META, content.count(b"\n", 0, error.start) + 1, "is not UTF-8")
        return
    except ValueError as error:
        yield Difference(META, getattr(error, "lineno", 1), f"is not JSON that can be kept: {error}")
        return
    if not isinstance(found, dict):
        yield Difference(META, 1, "is not a JSON object")
        return
    lines = progress.model_dump(mode="json")
    for name in REPRODUCED:
        wanted = _by_time(lines.get(name, progress.derived_status))
        value = _by_time(found.get(name))
        if name not in found and progress.whole:
            yield Difference(META, 1, f"has no {name}")
        elif name in found and not _same(value, wanted) and (progress.whole or not _contains(value, wanted)):
            diff = difference(pretty(wanted), pretty(value), name)
            line = text.count("\n", 0, text.index(json.dumps(name))) + 1
            sentence = f"{name} is not what the lines say"
            yield Difference(META, line, sentence, diff=diff.diff if diff else ())


def difference(wanted: str, found: str, name: str) -> Difference | None:
    """At the first row where *found* is not *wanted*."""
    if wanted == found:
        return None
    one, other = wanted.splitlines(), found.splitlines()
    pairs = enumerate(zip_longest(one, other), start=1)
    first = next((at for at, (mine, theirs) in pairs if mine != theirs), 1)
    rows = list(unified_diff(one, other, f"record/{name}", f"file/{name}", n=1, lineterm=""))
    return Difference(name, first, "is not what the lines say", diff=tuple(rows[:ROWS_SHOWN]))


def _same(one: Any, other: Any) -> bool:
    """In Python 1 == True; in JSON they differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _by_time(value: Any) -> Any:
    """A meta.json that was lost and written again has its elaborations in another order."""
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return sorted(value, key=lambda one: str(one.get("timestamp")))
    return value


def _contains(found: Any, wanted: Any) -> bool:
    """
    For a record that began before lines carried changes: the lines have a part of the progress, so the field has to
    contain that part.
    """
    if isinstance(found, list) and isinstance(wanted, list):
        rest = iter(found)
        return all(any(_same(one, other) for other in rest) for one in wanted)
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(name in found and _same(found[name], value) for name, value in wanted.items())
    return not wanted or (isinstance(wanted, str) and isinstance(found, str | None))
