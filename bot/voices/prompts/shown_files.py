"""
Files of an item in a prompt: whole paragraphs of whole sections, and by name what there is no room for.

A section that the bot wrote from entries, and nobody changed, is left away: its entries are in the prompt.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.item.artifacts import digest_of
from bot.domain.values.markdown import outline
from bot.voices.prompts.fencing import fenced
from bot.voices.prompts.own import own_turns
from bot.voices.prompts.seen import row, sanitized

HEADING_CHARS = 80
SECTION = 2
"""The level of the headings of a file's sections."""
NONE = "There are none yet."
ELSEWHERE = "Every section of them is made of the entries above."
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
    for part in _blocks(text, between):
        if sum(map(len, kept)) + len(kept) * len(between) + len(part) > room:
            break
        kept.append(part)
    return between.join(kept)


def _blocks(text: str, between: str) -> Iterable[str]:
    return _PARAGRAPHS.split(text) if between == "\n\n" else text.split("\n")


def _named(section: FileSection, missing: int) -> str:
    heading = f" “{row(section.heading, HEADING_CHARS)}”" if section.heading else ""
    return f"{row(section.path, HEADING_CHARS)}{heading}: {missing} characters"
