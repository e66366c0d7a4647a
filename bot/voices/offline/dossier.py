"""An item as a reviewer finds it: its files as they stand, and which of its steps are finished."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bot.domain.catalog.agenda import Agenda
from bot.domain.catalog.steps import SHARED
from bot.domain.item import artifacts
from bot.domain.reviews.text import Finding, FindingSeverity
from bot.domain.values.markdown import LOWEST, Outline, outline
from bot.voices.offline.pages import SECTION, is_placeholder
from bot.voices.offline.qualities import UNSET

DRAFT = "draft.md"
MARKDOWN = (".md", ".markdown", ".txt")
LONGEST_CHARS = 1_000_000
"""Of a file: what is longer was not written in a meeting, and nobody reads it there."""

_CELL_END = re.compile(r"(?<!\\)\|")
_RULER = frozenset("|:- \t")
_NOTHING_SAID = frozenset({"", "n/a", "none", "tbd", "todo", "open", UNSET})
_ELABORATION = "<!-- Elaboration:"


class Row(NamedTuple):
    """Of a table: the cells by the names of their columns, in lower case."""

    file: str
    line: int
    cells: Mapping[str, str]


class Part(NamedTuple):
    """A heading on a page, and the numbers of the lines below it, up to the next of its level. Lines count from 0."""

    file: str
    heading: str
    level: int
    line: int
    lines: range


@dataclass(frozen=True, eq=False)
class Dossier:
    """*files* are by their path in the item's folder, the shared one by its name or its whole path."""

    slug: str
    title: str
    files: Mapping[str, str]
    agenda: Agenda
    steps_completed: Collection[str] = ()

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """What can be looked at, by the names that steps use."""
        named = {path.removeprefix("docs/common/"): text for path, text in self.files.items()}
        return {
            path: text for path, text in sorted(named.items()) if path != DRAFT and len(text) <= LONGEST_CHARS
        }

    @property
    def too_long(self) -> tuple[str, ...]:
        return tuple(sorted(path for path, text in self.files.items() if len(text) > LONGEST_CHARS))

    @cached_property
    def pages(self) -> Mapping[str, Outline]:
        """The Markdown among them."""
        return {path: outline(text) for path, text in self.texts.items() if path.lower().endswith(MARKDOWN)}

    @cached_property
    def parts(self) -> Mapping[str, tuple[Part, ...]]:
        """By page, each heading with what stands below it, in the order of the page."""
        return {path: tuple(_parts(path, page)) for path, page in self.pages.items()}

    @cached_property
    def own(self) -> Mapping[str, range]:
        """By page, the lines that are the item's: of the file that all items share, its section only."""
        return {path: self._own_lines(path) for path in self.pages}

    def sections(self, path: str) -> tuple[Part, ...]:
        """What steps write and own."""
        own = self.own[path]
        return tuple(one for one in self.parts[path] if one.level == SECTION and one.line in own)

    def lines(self, path: str, within: range | None = None) -> Iterator[tuple[int, str]]:
        """The item's lines of a page as people count them, from 1, without code."""
        page = self.pages[path]
        places = self.own[path] if within is None else within
        return ((n + 1, page.lines[n].strip()) for n in places if n not in page.hidden)

    def text(self, part: Part) -> str:
        return "".join(self.pages[part.file].lines[part.lines.start : part.lines.stop]).strip()

    def said(self, part: Part) -> range:
        """Its lines, or if they only say that nothing was said, those that a discussion added below."""
        if not is_placeholder(self.text(part)):
            return part.lines
        rows = self.pages[part.file].lines
        added = (n for n in part.lines if rows[n].lstrip().startswith(_ELABORATION))
        return range(next(added, part.lines.stop), part.lines.stop)

    def rows(self) -> Iterator[Row]:
        """Of all tables, the item's own."""
        for path in self.pages:
            yield from rows_in(path, self.lines(path))

    def _own_lines(self, path: str) -> range:
        if not artifacts.shared(path):
            return range(len(self.pages[path].lines))
        mine = (one for one in self.parts[path] if one.heading.endswith(f"({self.slug})"))
        return next((range(one.line, one.lines.stop) for one in mine), range(0))


def rows_in(path: str, lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
    """A table is a line of names, a ruler, and what follows it in lines with a bar."""
    names: tuple[str, ...] = ()
    before = ""
    for number, line in lines:
        if "|" not in line:
            names = ()
        elif not names and "|" in before and _RULER.issuperset(line) and "-" in line:
            names = tuple(cell.casefold() for cell in cells_of(before))
        elif names:
            yield Row(path, number, dict(zip(names, cells_of(line), strict=False)))
        before = line


def noted(severity: FindingSeverity, file: str, line: int, *, text: str) -> Finding:
    return Finding(severity=severity, file=SHARED.get(file, file), line=line, text=text)


def without_author(text: str) -> str:
    """What was said, without the name that stands behind it."""
    return text.rpartition(" — ")[0] or text


def is_unset(cell: str) -> bool:
    """Whether a cell of a table says nothing yet."""
    return cell.strip(" \t_*`–—-.?").casefold() in _NOTHING_SAID


def cells_of(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in _CELL_END.split(line.strip().removeprefix("|").removesuffix("|")))


def _parts(path: str, page: Outline) -> Iterator[Part]:
    """In one pass from the end, however many there are."""
    ends = [len(page.lines)] * (LOWEST + 1)
    found = []
    for one in reversed(page.headings):
        found.append(Part(path, one.text, one.level, one.line, range(one.body, ends[one.level])))
        ends[one.level :] = [one.line] * (LOWEST + 1 - one.level)
    return reversed(found)
