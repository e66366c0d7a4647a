"""
Compares files with the record: the fields of meta.json that follow from the lines, and the sections that elaborations
added to artifacts. Other fields and other text are not compared.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bot.domain.item.artifacts import ADDITIONAL
from bot.domain.transcript.state import REPRODUCED, Progress
from bot.domain.values.json_files import parse_kept
from bot.domain.values.markdown import body

_MARKER = re.compile(
    r"^(?P<marker><!-- Elaboration: step (?P<step>[^\s,<>]{1,80}), (?P<at>[^\s<>]{1,80}) -->)(?P<eol>\r\n|\n|\r|\Z)",
    re.MULTILINE,
)

Syntheses = Mapping[str, str]
"""By the marker above the section."""


class Wrong(NamedTuple):
    """A difference in line *line* of a text, from 1."""

    line: int
    sentence: str


def markers(text: str) -> list[str]:
    return [found["marker"] for found in _MARKER.finditer(text)]


def sections_compared(text: str, syntheses: Syntheses, *, foreign: bool) -> Iterator[Wrong]:
    """The sections of *text* that differ from the record. *foreign*: it may have sections of other records."""
    seen: set[str] = set()
    line, counted = 1, 0
    for found in _MARKER.finditer(text):
        line, counted = line + text.count("\n", counted, found.start()), found.start()
        name = found["marker"]
        if name in seen:
            yield Wrong(line, f"{name} stands here for the second time")
        elif name in syntheses:
            section = SectionCheck(name, syntheses[name], found["eol"] or "\n")
            yield from _differing(text[found.start() :], section, line=line)
        elif not foreign:
            yield Wrong(line, f"{name} names an elaboration that the record does not know")
        seen.add(name)


class SectionCheck(NamedTuple):
    marker: str
    synthesis: str
    eol: str

    @property
    def forms(self) -> Iterator[str]:
        """All forms that a section may have: with its own heading or not, below an open fence or not."""
        for heading in ("", f"### {ADDITIONAL}\n\n"):
            for fences in (True, False):
                block = f"{self.marker}\n\n{heading}{body(self.synthesis, fences=fences)}\n"
                yield block.replace("\n", self.eol)


def _differing(text: str, section: SectionCheck, *, line: int) -> Iterator[Wrong]:
    """*text* begins with the section. At the end of a file the last line end may be missing."""
    forms = list(section.forms)
    if not any(text.startswith(form) or text == form.removesuffix(section.eol) for form in forms):
        away = max(_same_rows(text, form) for form in forms)
        yield Wrong(line + away, "is not what the synthesis in the record says")


def _same_rows(text: str, form: str) -> int:
    rows = enumerate(zip(text.split("\n"), form.split("\n"), strict=False))
    return next((number for number, (one, other) in rows if one != other), 0)


_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


class Field(NamedTuple):
    """Offsets of a field in a text: of its name, of its value, and of its end."""

    start: int
    value: int
    end: int


def meta_compared(content: bytes, progress: Progress) -> Iterator[Wrong]:
    """The fields of *content* that differ from *progress*."""
    text = _text(content)
    if isinstance(text, Wrong):
        yield text
        return
    try:
        found = parse_kept(text)
    except ValueError as error:
        yield Wrong(getattr(error, "lineno", 1), f"is not JSON that can be kept: {error}")
        return
    if not isinstance(found, dict):
        yield Wrong(1, "is not a JSON object")
        return
    places = fields(text)
    for name in REPRODUCED:
        if name in found:
            yield from _value(text, places[name], name, found=found[name], progress=progress)
        elif progress.whole:
            yield Wrong(1, f"has no {name}")


def rewritten(content: bytes, committed: bytes) -> Iterator[Wrong]:
    """The fields whose text differs from the *committed* one, even by a space."""
    before, after = _written(committed), _written(content)
    for name, (text, _) in before.items():
        if name in after and after[name][0] != text:
            yield Wrong(after[name][1], f"{name} is not written as it was committed")
        elif name not in after:
            yield Wrong(1, f"has no {name}, which was committed")


def fields(text: str) -> dict[str, Field]:
    """The fields of the JSON object *text*. Raises ValueError if it is not an object."""
    found: dict[str, Field] = {}
    at = _skip_space(text, text.index("{") + 1)
    while text[at] != "}":
        name, end = _DECODER.raw_decode(text, at)
        value = _skip_space(text, _skip_space(text, end) + 1)
        _, end = _DECODER.raw_decode(text, value)
        found[name] = Field(at, value, end)
        at = _skip_space(text, end)
        at = _skip_space(text, at + 1) if text[at] == "," else at
    return found


def _text(content: bytes) -> str | Wrong:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Wrong(content.count(b"\n", 0, error.start) + 1, "is not UTF-8")


def _written(content: bytes) -> dict[str, tuple[str, int]]:
    text = _text(content)
    if isinstance(text, Wrong):
        return {}
    try:
        places = fields(text)
    except (ValueError, IndexError, RecursionError):
        return {}
    return {
        name: (text[place.start : place.end], _line(text, place.start))
        for name, place in places.items()
        if name in REPRODUCED
    }


def _value(text: str, place: Field, name: str, *, found: Any, progress: Progress) -> Iterator[Wrong]:
    wanted = progress.model_dump(mode="json").get(name, progress.analysis_status)
    if _same(_by_time(found), _by_time(wanted)) or (not progress.whole and _contains(found, wanted)):
        return
    if isinstance(found, list) and isinstance(wanted, list):
        same = next(
            (at for at, pair in enumerate(zip(found, wanted, strict=False)) if not _same(*pair)), None
        )
        at = min(len(found), len(wanted)) if same is None else same
        line = _line(text, _element(text, place, at))
        one, other = _differing_parts(found[at : at + 1], wanted[at : at + 1])
        yield Wrong(line, f"{name} has {one}, where the lines say {other}")
        return
    yield Wrong(
        _line(text, place.value), f"{name} is {json.dumps(found)}, where the lines say {json.dumps(wanted)}"
    )


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


def _element(text: str, place: Field, number: int) -> int:
    """The offset of element *number* of a list, or of the end of a shorter list."""
    at = _skip_space(text, place.value + 1)
    for _ in range(number):
        if text[at] == "]":
            break
        _, end = _DECODER.raw_decode(text, at)
        at = _skip_space(text, end)
        at = _skip_space(text, at + 1) if text[at] == "," else at
    return at


def _differing_parts(one: list[Any], other: list[Any]) -> tuple[str, str]:
    """Two elements as text, without the fields that are equal in both."""
    if one and other and isinstance(one[0], dict) and isinstance(other[0], dict):
        mine, wanted = one[0], other[0]
        names = [name for name in {**mine, **wanted} if not _same(mine.get(name, one), wanted.get(name, one))]
        one, other = ([{name: side[name] for name in names if name in side}] for side in (mine, wanted))
    shown = (json.dumps(side[0], ensure_ascii=False) if side else "nothing more" for side in (one, other))
    return next(shown), next(shown)


def _skip_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
