"""
Files of an item in a prompt: whole paragraphs of whole sections, and by name what there is no room for.

A section that the bot wrote from entries, and nobody changed, is left away: its entries are in the prompt.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from bot.domain.item.artifacts import digest_of
from bot.domain.item.item_paths import shared
from bot.domain.values.markdown import Outline, outline
from bot.voices.prompts.fencing import fenced, row, sanitized

HEADING_CHARS = 80
SECTION = 2
"""The level of the headings of a file's sections."""
NONE = "There are none yet."
ELSEWHERE = "Every section of them is made of the entries above."
OF_AN_ITEM = 2
"""The level of a heading that ends with an item's name in brackets."""
_PARAGRAPHS = re.compile(r"\n{2,}")


class FileSection(NamedTuple):
    """*text* begins with the heading, *body* below it."""

    path: str
    heading: str
    text: str
    body: str


def shown(
    files: Mapping[str, str],
    *,
    slug: str,
    room: int,
    first: Collection[str] = (),
    written: Collection[str] = (),
) -> str:
    """
    As much of the *files* of the item *slug* as fits, those named in *first* before the others. *written* are the
    digests of sections that show entries.
    """
    paths = sorted(files, key=lambda path: (path.rpartition("/")[2] not in first, path))
    parts: list[str] = []
    left: list[str] = []
    is_any = False
    for path in paths:
        text = sanitized(own_turns(path, files[path], slug=slug))
        is_any = is_any or bool(text)
        told: list[str] = []
        for section in _sections(path, text):
            if digest_of(section.body) in written or not section.text.strip():
                continue
            fits = _fitting(section, room)
            room -= len(fits)
            told += [fits] if fits else []
            if missing := len(section.text.strip()) - len(fits):
                left.append(_named(section, missing))
        if told:
            parts.append(fenced(f"file {path}", "\n\n".join(told)))
    if left:
        parts.append(
            fenced("left out", "\n".join(left)) + "\n\nOf these parts there was no room for the rest."
        )
    return "\n\n".join(parts) or (ELSEWHERE if is_any else NONE)


def _sections(path: str, text: str) -> Iterator[FileSection]:
    """What stands before the first section is one, too."""
    page = outline(text)
    heads = [one for one in page.headings if one.level <= SECTION] if path.lower().endswith(".md") else []
    starts = [one.line for one in heads]
    before = "".join(page.lines[: starts[0] if starts else len(page.lines)])
    yield FileSection(path, "", before, before)
    for place, head in enumerate(heads):
        end = starts[place + 1] if place + 1 < len(starts) else len(page.lines)
        whole = "".join(page.lines[head.line : end])
        body = "".join(page.lines[head.body : end])
        yield FileSection(path, head.text, whole if body.strip() else "", body)


def _fitting(section: FileSection, room: int) -> str:
    """All of it; or the first of its paragraphs, or of its lines where it has none."""
    text = section.text.strip()
    if len(text) <= room:
        return text
    between = "\n\n" if _PARAGRAPHS.search(text) else "\n"
    kept: list[str] = []
    for part in _PARAGRAPHS.split(text) if between == "\n\n" else text.split("\n"):
        if sum(map(len, kept)) + len(kept) * len(between) + len(part) > room:
            break
        kept.append(part)
    return between.join(kept)


def _named(section: FileSection, missing: int) -> str:
    heading = f" “{row(section.heading, HEADING_CHARS)}”" if section.heading else ""
    return f"{row(section.path, HEADING_CHARS)}{heading}: {missing} characters"


def own_turns(path: str, text: str, *, slug: str) -> str:
    """
    Of the file that all items share, only the part of its item: other items may be discussed in private channels, and
    a model cannot repeat there what it has not read.
    """
    if not shared(path):
        return text
    page = outline(text)
    return "".join("".join(page.lines[begin:end]) for begin, end in _parts(page, slug))


def _parts(page: Outline, slug: str) -> Iterator[tuple[int, int]]:
    """What stands before the first item, and the parts of this one."""
    items = [one for one in page.headings if one.level <= OF_AN_ITEM and one.text.endswith(")")]
    yield 0, items[0].line if items else len(page.lines)
    for one in items:
        if one.text.endswith(f"({slug})"):
            yield one.line, page.end(one, level=OF_AN_ITEM)
