"""What stands in an item's Markdown files, point by point: bullets with their author, and rows of tables."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bot.domain.discussion.synthesis import NONE, REFS
from bot.domain.values.markdown import Outline, outline
from bot.voices.offline.pages import SECTION, is_placeholder, unescaped

_BULLET = re.compile(r"\s{0,5}(?:[-*+]|\d{1,3}[.)])\s+(?P<text>\S.*)")
_BOLD = re.compile(r"\*\*(?P<text>[^*]+)\*\*:?")
_BY = re.compile(r" — (?P<by>[^—]{1,80})$")
_SPOKEN = re.compile(r"\[(?P<by>[^\]]{1,80})\]\s+(?=\S)")
"""As insights begin, with the names of those who had them."""
_CELL_END = re.compile(r"(?<!\\)\|")


ELABORATION = "Elaboration"
"""The section of what a discussion added, wherever it stands."""
SORTED_OUT = {"open questions", "decisions", "decisions made", "action items", "key insights", "objections"}
SOURCES = "sources"
"""Where the lines of the transcript are named that a discussion rests on: nothing that was said."""


class Point(NamedTuple):
    """A bullet; `section` is its numbered section, `under` the bold words or the smaller heading it stands below."""

    text: str
    by: str = ""
    section: str = ""
    under: str = ""

    @property
    def answers_the_section(self) -> bool:
        """Not a decision or a question, which stand in lists of their own in every section."""
        return self.under.casefold() not in SORTED_OUT

    def is_in(self, words: str) -> bool:
        return words in self.section.casefold() and self.answers_the_section


def points(text: str) -> tuple[Point, ...]:
    """Those of every section in which something was said; what a skipped step would have asked is no point."""
    page = outline(text)
    return tuple(
        point
        for one in page.headings
        if one.level == SECTION
        for point in _points(page, one.text, (one.body, page.end(one, level=SECTION)))
    )


def tables(text: str) -> tuple[Mapping[str, str], ...]:
    """The rows of all tables, as words by the heading of their column, in lower case."""
    found: list[Mapping[str, str]] = []
    columns: list[str] = []
    for line in text.splitlines():
        cells = _cells(line)
        if not cells:
            columns = []
        elif not columns:
            columns = [cell.casefold() for cell in cells]
        elif not all(set(cell) <= set("-: ") for cell in cells):
            found.append(dict(zip(columns, cells, strict=False)))
    return tuple(found)


def section_like(text: str, words: str) -> str:
    """The body of the first section whose heading has *words*, a pattern; empty if nothing was said in it."""
    page = outline(text)
    for one in page.headings:
        if one.level == SECTION and re.search(words, one.text, re.IGNORECASE):
            body = "".join(page.lines[one.body : page.end(one, level=SECTION)]).strip()
            return "" if is_placeholder(body) else body
    return ""


def _points(page: Outline, section: str, span: tuple[int, int]) -> Iterator[Point]:
    if is_placeholder("".join(page.lines[slice(*span)]).strip()):
        return
    smaller = {one.line: one.text for one in page.headings}
    under = ""
    for number in range(*span):
        line = page.lines[number].rstrip()
        if number in page.hidden:
            continue
        if line.lstrip().startswith("<!-- Elaboration:"):
            section, under = ELABORATION, ""
        elif number in smaller:
            under = unescaped(smaller[number])
        elif bold := _BOLD.fullmatch(line):
            under = unescaped(bold["text"])
        elif under.casefold() == SOURCES and section == ELABORATION:
            continue
        elif (bullet := _BULLET.match(line)) and bullet["text"] != NONE:
            yield _point(bullet["text"], section, under)


def _point(text: str, section: str, under: str) -> Point:
    text = REFS.sub("", text) if section == ELABORATION else text
    if spoken := _SPOKEN.match(text):
        return Point(_words(text[spoken.end() :]), spoken["by"], section, under)
    by = _BY.search(text)
    return Point(_words(text[: by.start()] if by else text), by["by"] if by else "", section, under)


def _words(text: str) -> str:
    return unescaped(" ".join(text.split()))


def _cells(line: str) -> list[str]:
    line = line.strip()
    if not line.startswith("|"):
        return []
    inside = line.removeprefix("|").removesuffix("|")
    return [unescaped(cell.strip()) for cell in _CELL_END.split(inside)]
