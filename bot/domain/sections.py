"""
Edits of Markdown artifacts: a step owns the sections it writes, an elaboration only ever adds.

What an edit does not own stays byte for byte, whatever ends its lines; applying an edit again changes nothing.
"""

import re
from typing import Annotated, Literal

from pydantic import Field

from bot.domain.markdown import Heading, Outline, body, has_stray_fence, inert, line_end, lines, outline
from bot.domain.value import Stored

ADDITIONAL = "Additional Insights from Elaboration"
OWNED_LEVEL = 2
SHORTEST_KEYWORD = 3
TOO_COMMON = frozenset({"and", "the", "for", "with", "from"})

_MARKER = re.compile(r" {0,3}<!--\s*Elaboration:.*-->\s*")
_NUMBER = re.compile(r"([0-9]{1,6})\.\s")
_WORD = re.compile(r"\w+")

HeadingText = Annotated[str, Field(pattern=r"^[^\s#][^\r\n]*$")]


class Missing(ValueError):
    """There is no file to add to (ERR-ELAB-013)."""


class SectionEdit(Stored):
    """
    Writes the section `## {heading}`, up to the next heading of its level, as *body* says.

    What elaborations added to the section stays: it begins with their first marker. *title* is the document's,
    for a file that is new.
    """

    kind: Literal["section"] = "section"
    path: str
    heading: HeadingText
    title: str
    body: str

    def apply(self, existing: str | None) -> str:
        if not existing:
            return f"# {inert(' '.join(self.title.split()))}\n\n" + self._section("", "\n", body(self.body))
        page = outline(existing)
        if found := next((one for one in page.headings if _same(one, self._heading)), None):
            return self._rewritten(page, found, line_end(existing))
        return self._inserted(page, line_end(existing))

    @property
    def _heading(self) -> Heading:
        return outline(self._line).headings[0]

    @property
    def _line(self) -> str:
        return f"## {inert(self.heading)}"

    def _rewritten(self, page: Outline, found: Heading, eol: str) -> str:
        end = page.end(found, level=OWNED_LEVEL)
        kept = next((n for n in range(found.body, end) if _is_marker(page, n)), end)
        before, after = page.lines[: found.line], "".join(page.lines[kept:])
        text = body(self.body, fences=not has_stray_fence(before))
        section = self._section("".join(page.lines[found.line : found.body]), eol, text)
        return "".join(before) + section + (eol + after if after else "")

    def _inserted(self, page: Outline, eol: str) -> str:
        place = _place_of(page, self._heading)
        rows = page.lines[:place]
        before, after = _spaced(rows, eol), "".join(page.lines[place:])
        section = self._section("", eol, body(self.body, fences=not has_stray_fence(rows)))
        return before + section + (eol + after if after else "")

    def _section(self, heading: str, eol: str, text: str) -> str:
        """*heading* as it stands in the file, if it does."""
        first = (heading or self._line).rstrip("\r\n") + eol
        return first + (eol + text.replace("\n", eol) + eol if text else "")


class InsightEdit(Stored):
    """
    Adds *body* below *marker* to the section whose heading shares most words with *keywords*, else at the end of
    the file. A file that has the marker already is left as it is.
    """

    kind: Literal["insight"] = "insight"
    path: str
    keywords: tuple[str, ...]
    marker: Annotated[str, Field(pattern=r"^<!-- Elaboration: [^\r\n>]*-->$")]
    body: str

    def apply(self, existing: str | None) -> str:
        if existing is None:
            raise Missing(self.path)
        if any(row.strip() == self.marker for row in lines(existing)):
            return existing
        page, eol = outline(existing), line_end(existing)
        place = _last_row_with_text(page, self._end_of_home(page))
        rows = page.lines[:place]
        after = "".join(page.lines[place:])
        block = (
            f"{self.marker}\n\n{self._new_heading(page)}{body(self.body, fences=not has_stray_fence(rows))}\n"
        )
        gap = eol if after and page.lines[place].strip() else ""
        return _spaced(rows, eol) + block.replace("\n", eol) + gap + after

    def place(self, existing: str) -> str:
        """The heading of the section that the insights go to."""
        home = self._home(outline(existing))
        return home.text if home else ADDITIONAL

    def _home(self, page: Outline) -> Heading | None:
        words = [word.casefold() for keyword in self.keywords for word in _WORD.findall(keyword)]
        telling = {word for word in words if len(word) >= SHORTEST_KEYWORD} - TOO_COMMON
        sections = [one for one in page.headings if one.level == OWNED_LEVEL]
        best = max(sections, key=lambda section: _overlap(section, telling), default=None)
        return best if best and _overlap(best, telling) else None

    def _end_of_home(self, page: Outline) -> int:
        home = self._home(page) or _additional(page)
        return page.end(home, level=OWNED_LEVEL) if home else len(page.lines)

    def _new_heading(self, page: Outline) -> str:
        """Below the marker, so that it stays when the section above it is written again."""
        return "" if self._home(page) or _additional(page) else f"### {ADDITIONAL}\n\n"


def additive(old: str, new: str) -> bool:
    """Whether every line of *old* is still in *new*, in the same order."""
    rest = iter([row.rstrip("\r\n") for row in lines(new)])
    return all(row.rstrip("\r\n") in rest for row in lines(old))


def _place_of(page: Outline, new: Heading) -> int:
    """Before the first section with a greater number, else after the last numbered one, else at the end."""
    wanted = _numbered(new)
    sections = [one for one in page.headings if one.level == OWNED_LEVEL and _numbered(one) is not None]
    if wanted is None or not sections:
        return len(page.lines)
    greater = (one.line for one in sections if (number := _numbered(one)) is not None and number > wanted)
    return next(greater, page.end(sections[-1], level=OWNED_LEVEL))


def _numbered(heading: Heading) -> int | None:
    number = _NUMBER.match(heading.text)
    return int(number[1]) if number else None


def _same(one: Heading, other: Heading) -> bool:
    return one.level == other.level and one.text.casefold() == other.text.casefold()


def _overlap(heading: Heading, words: set[str]) -> int:
    text = heading.text.casefold()
    return sum(word in text for word in words)


def _additional(page: Outline) -> Heading | None:
    return next((one for one in page.headings if one.text == ADDITIONAL), None)


def _is_marker(page: Outline, number: int) -> bool:
    return number not in page.hidden and bool(_MARKER.fullmatch(page.lines[number]))


def _last_row_with_text(page: Outline, end: int) -> int:
    """The number of the line after the last line with text before *end*."""
    return next((n for n in range(end, 0, -1) if page.lines[n - 1].strip()), 0)


def _spaced(rows: tuple[str, ...], eol: str) -> str:
    """*rows*, and after them what it takes to begin a new block."""
    text = "".join(rows)
    if not text:
        return ""
    ended = text if rows[-1].endswith(("\n", "\r")) else text + eol
    return ended + eol if rows[-1].strip() else ended
