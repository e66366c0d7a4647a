"""The two things asked of a Markdown body: its sections, and what stands under a heading."""

import re
from collections.abc import Collection

from bot.domain.steps import in_code

HEADING = re.compile(r"##\s+(.*)")
DECORATION = " #*_:："


def sections(body: str, known: Collection[str] | None = None) -> dict[str, str]:
    """
    Text by second-level heading, in lower case. Of a repeated heading the first counts.

    How a heading is set in type is its author's taste: `## **Deep Mode**:` is `## Deep mode`.

    Where only some headings are *known*, the others belong to the section they stand in. Fenced code holds no
    heading; a fence that nobody closed hides nothing. Indentation means nothing, neither here nor there.
    """
    rows = body.split("\n")
    code = in_code(rows)
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for number, line in enumerate(rows):
        heading = None if number in code else HEADING.fullmatch(line.strip())
        name = _name(heading[1]) if heading else ""
        if name and (known is None or name in known):
            lines = []
            found.setdefault(name, lines)
        else:
            lines.append(line)
    return {name: text for name, lines in found.items() if (text := "\n".join(lines).strip())}


def _name(heading: str) -> str:
    return " ".join(heading.split()).strip(DECORATION).casefold()
