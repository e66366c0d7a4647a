"""The sections that elaborations added to an artifact, held against the syntheses in the record, byte for byte."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bot.domain.markdown import body
from bot.domain.sections import ADDITIONAL

_MARKER = re.compile(
    r"^(?P<marker><!-- Elaboration: step (?P<step>[^\s,<>]{1,80}), (?P<at>[^\s<>]{1,80}) -->)(?P<eol>\r\n|\n|\r|\Z)",
    re.MULTILINE,
)

Syntheses = Mapping[str, str]
"""By the marker above their sections."""


class Wrong(NamedTuple):
    """Something about line *line* of a text, from 1."""

    line: int
    sentence: str


def marker(step_id: str, timestamp: str) -> str:
    return f"<!-- Elaboration: step {step_id}, {timestamp} -->"


def markers(text: str) -> list[str]:
    return [found["marker"] for found in _MARKER.finditer(text)]


def compared(text: str, syntheses: Syntheses, *, strangers: bool) -> Iterator[Wrong]:
    """What of *text* is not as the record has it. With *strangers*, sections of other records are none of ours."""
    seen: set[str] = set()
    for found in _MARKER.finditer(text):
        name, line = found["marker"], text.count("\n", 0, found.start()) + 1
        if name in seen:
            yield Wrong(line, f"{name} stands here for the second time")
        seen.add(name)
        if name in syntheses:
            section = Section(name, syntheses[name], found["eol"] or "\n")
            yield from _differing(text[found.start() :], section, line=line)
        elif not strangers:
            yield Wrong(line, f"{name} names an elaboration that the record does not know")


class Section(NamedTuple):
    marker: str
    synthesis: str
    eol: str

    @property
    def forms(self) -> Iterator[str]:
        """It may have a heading of its own or not, and stand below an open fence or not."""
        for heading in ("", f"### {ADDITIONAL}\n\n"):
            for fences in (True, False):
                block = f"{self.marker}\n\n{heading}{body(self.synthesis, fences=fences)}\n"
                yield block.replace("\n", self.eol)


def _differing(text: str, section: Section, *, line: int) -> Iterator[Wrong]:
    """The section that *text* begins with may end the file, and then lack its last line end."""
    forms = list(section.forms)
    if not any(text.startswith(form) or text == form.removesuffix(section.eol) for form in forms):
        away = max(_same_rows(text, form) for form in forms)
        yield Wrong(line + away, "is not what the synthesis in the record says")


def _same_rows(text: str, form: str) -> int:
    rows = enumerate(zip(text.split("\n"), form.split("\n"), strict=False))
    return next((number for number, (one, other) in rows if one != other), 0)
