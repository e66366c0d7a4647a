"""
Markdown, as far as our files need it: which lines are headings, and how foreign text is put in without acting.

Fenced code hides its lines, but a fence that nobody closed hides nothing: text that is lost on a mistake of
somebody's is worse than a heading too many.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bot.domain.values.text import clean

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_ATX = re.compile(r"\ufeff? {0,3}(#{1,6})((?:[ \t].*)?)")
_UNDERLINE = re.compile(r" {0,3}(-{2,}|={2,})[ \t]*")
_PARAGRAPH = re.compile(r"(?!#{1,6}(?:\s|$)|>|[-*+](?:\s|$)|[0-9]{1,9}[.)](?:\s|$)|[-*_=]{2,}\s*$)\S")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_ITEM_OR_BLOCK = re.compile(r"(?:#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|`{3}|~{3})")

TOP_OF_A_BODY = 3
LOWEST = 6


class Heading(NamedTuple):
    """A heading on the lines from `line` up to, not including, `body`."""

    line: int
    body: int
    level: int
    text: str


class Outline(NamedTuple):
    """
    The lines of a text (with their ends), its headings, and the lines hidden in code.

    `stray` is the first fence that is never closed.
    """

    lines: tuple[str, ...]
    headings: tuple[Heading, ...]
    hidden: frozenset[int]
    stray: str

    def end(self, heading: Heading, *, level: int) -> int:
        """The line of the next heading of *level* or above, or the number of lines."""
        after = (one.line for one in self.headings if one.line > heading.line and one.level <= level)
        return next(after, len(self.lines))


def lines(text: str) -> tuple[str, ...]:
    """With their ends, as Markdown sees lines: fewer characters end one than for `str.splitlines`."""
    return tuple(_LINES.findall(text))


def line_end(text: str) -> str:
    """How the lines of *text* end, going by the first."""
    first = re.search(r"\r\n|\r|\n", text)
    return first[0] if first else "\n"


def outline(text: str) -> Outline:
    kept = lines(text)
    bare = [line.rstrip("\r\n") for line in kept]
    hidden, stray = _fenced(bare)
    return Outline(kept, tuple(_headings(bare, hidden)), hidden, stray)


def has_stray_fence(rows: Iterable[str]) -> bool:
    return bool(_fenced([row.rstrip("\r\n") for row in rows])[1])


def body(text: str, *, fences: bool = True) -> str:
    """
    *text* as part of a section: its headings are below the section's, its code is closed, its comments are
    text. Without *fences* its code is indented: where a fence stands open above, ours would close it.
    """
    text = clean(text)
    if not fences:
        text = "\n".join(f"    {row}" if _FENCE.fullmatch(row) else row for row in text.split("\n"))
    page = outline(re.sub(r"\A(?:[ \t]*\n)+", "", text.rstrip()))
    if page.stray:
        page = outline("".join(page.lines) + "\n" + page.stray)
    return "".join(_lowered(page)).rstrip()


def inert(text: str) -> str:
    """*text* with no comment in it, and so no marker."""
    return text.replace("<!--", "&lt;!--")


def bullet(text: str) -> str:
    """*text* as one line that can follow "- " without being a heading, a quote or a list of its own."""
    line = inert(" ".join(clean(text).split()))
    return f"\\{line}" if _ITEM_OR_BLOCK.match(line) else line


def escaped(text: str) -> str:
    """*text* as nothing but text."""
    return re.sub(r"([\\`*_\[\]<>#~|!])", r"\\\1", text)


def quoted(text: str) -> str:
    """A block quote: nothing in it is a heading or a marker of the page."""
    return "\n".join(f"> {row}".rstrip() for row in inert(clean(text)).strip("\n").split("\n"))


def _fenced(bare: list[str]) -> tuple[frozenset[int], str]:
    """The lines hidden in code, fences included, and the first fence that stays open."""
    hidden: set[int] = set()
    stray = ""
    shortest_stray: dict[str, int] = {}
    number = 0
    while number < len(bare):
        opening = _FENCE.fullmatch(bare[number])
        number += 1
        if not opening:
            continue
        mark = opening["mark"]
        if len(mark) >= shortest_stray.get(mark[0], len(mark) + 1):
            continue  # a shorter one found no end, so this one has none either
        end = _closing(bare, number, mark)
        if end is None:
            stray = stray or mark
            shortest_stray[mark[0]] = len(mark)
            continue
        hidden.update(range(number - 1, end + 1))
        number = end + 1
    return frozenset(hidden), stray


def _closing(bare: list[str], start: int, mark: str) -> int | None:
    closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*")
    return next((number for number in range(start, len(bare)) if closing.fullmatch(bare[number])), None)


def _headings(bare: list[str], hidden: frozenset[int]) -> Iterator[Heading]:
    """A line of dashes makes a heading of the line above it, if that is a paragraph of its own."""
    title: int | None = None
    begins = True
    for number, row in enumerate(bare):
        underline = _UNDERLINE.fullmatch(row)
        if number in hidden:
            title, begins = None, True
        elif atx := _ATX.fullmatch(row):
            yield Heading(number, number + 1, len(atx[1]), _unclosed(atx[2]))
            title, begins = None, True
        elif underline and title is not None:
            level = 1 if underline[1].startswith("=") else 2
            yield Heading(title, number + 1, level, " ".join(bare[title].split()))
            title, begins = None, True
        else:
            title = number if begins and _PARAGRAPH.match(row) else None
            begins = not row.strip()


def _unclosed(text: str) -> str:
    """The words of a heading, without the #s that may follow them."""
    words = " ".join(text.split())
    without = words.rstrip("#")
    return without.rstrip() if without != words and (not without or without.endswith(" ")) else words


def _lowered(page: Outline) -> Iterator[str]:
    """The lines of *page* with every heading below those of a section."""
    shift = max((TOP_OF_A_BODY - heading.level for heading in page.headings), default=0)
    lowered = {heading.line: heading for heading in page.headings} if shift > 0 else {}
    number = 0
    while number < len(page.lines):
        if heading := lowered.get(number):
            level = min(heading.level + shift, LOWEST)
            yield inert(f"{'#' * level} {heading.text}".rstrip()) + "\n"
            number = heading.body
            continue
        line = page.lines[number]
        yield line if number in page.hidden else inert(line)
        number += 1
