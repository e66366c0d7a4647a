"""Markdown that people's words are put into: bullets with their author, tables, code. Nothing in them can act."""

import re
from collections.abc import Iterable, Sequence

from bot.domain.values import markdown
from bot.domain.values.text import clean, one_line
from bot.voices.offline.reading import Kind, Said

_TAG = re.compile(r"(?<!\\)(\\*+)(<)(?=[A-Za-z/!?])")
_BLOCK = re.compile(r"(?:[#>|=~`]|[-+*](?=\s|$)|[-*_]{3}|\d{1,9}[.)](?=\s|$)|\[[^\]]*\]:)")
_PIPE = re.compile(r"(?<!\\)(\\*+)(\|)")
_ESCAPE = re.compile(r"\\([^\w\s])")
_TICKS = re.compile(r"`+")
_ELABORATION = "<!-- Elaboration:"

NOTHING_SAID = "_Nothing was said on this step._"
SKIPPED = "_Draft: this step was skipped, nothing below was discussed._"
SECTION = 2
CODE_INDENT = "    "


def plain(text: str) -> str:
    """*text* in one line that is no heading, list, quote, table or HTML wherever a line may begin."""
    line = inline(text)
    begins = _BLOCK.match(line)
    if begins and line[0].isdigit():
        return f"{line[: begins.end() - 1]}\\{line[begins.end() - 1 :]}"
    return f"\\{line}" if begins else line


def inline(text: str) -> str:
    """*text* in one line without HTML, to stand after other words."""
    return _TAG.sub(_escaped, markdown.inert(" ".join(clean(text).split())))


def bullet(text: str, by: str = "") -> str:
    return f"- {plain(text)} — {author(by)}" if by else f"- {plain(text)}"


def unescaped(text: str) -> str:
    """Markdown as the words it stands for, for files that are not Markdown."""
    return _ESCAPE.sub(r"\1", text).replace("&lt;!--", "<!--")


def author(name: str) -> str:
    return plain(one_line(name)) or "somebody"


def code(text: str, by: str) -> str:
    """A block in a list item, four columns in: no line of it can be taken for a heading or a marker."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    inside = "\n".join(f"{CODE_INDENT}{markdown.inert(row)}".rstrip() for row in clean(text).split("\n"))
    return f"-   {author(by)}:\n\n{CODE_INDENT}{fence}\n{inside}\n{CODE_INDENT}{fence}"


def spoken(pieces: Iterable[Said]) -> str:
    """One bullet for each piece."""
    return "\n".join(
        code(one.text, one.by) if one.kind is Kind.CODE else bullet(one.whole, one.by) for one in pieces
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def part(heading: str, text: str) -> str:
    """A group under bold words; nothing where there is nothing."""
    return f"**{heading}**\n\n{text}" if text else ""


def joined(*parts: str) -> str:
    return "\n\n".join(one for one in parts if one)


def section_of(text: str, heading: str) -> str:
    """What stands below the heading in the page *text*, up to what elaborations added; empty if it is not there."""
    page = markdown.outline(text)
    found = next(
        (one for one in page.headings if one.level == SECTION and one.text.casefold() == heading.casefold()),
        None,
    )
    if found is None:
        return ""
    body = page.lines[found.body : page.end(found, level=SECTION)]
    added = next(
        (place for place, line in enumerate(body) if line.lstrip().startswith(_ELABORATION)), len(body)
    )
    return "".join(body[:added]).strip()


def is_placeholder(text: str) -> bool:
    """Whether a section says only that there is nothing in it yet."""
    return text.startswith((NOTHING_SAID, SKIPPED))


def _cell(text: str) -> str:
    return _PIPE.sub(_escaped, inline(text))


def _escaped(found: re.Match[str]) -> str:
    """With a backslash, unless it has one: what was escaped already is not escaped again."""
    backslashes, mark = found.groups()
    return f"{backslashes}{'' if len(backslashes) % 2 else chr(92)}{mark}"
