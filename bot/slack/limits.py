"""
Slack's limits, and text cut to fit them: code stays code, and no visible character is torn apart.

https://docs.slack.dev/reference/block-kit
"""

import re
from collections.abc import Iterable, Iterator

from bot.domain.values.text import continues
from bot.slack.markdown import Piece

SECTION_CHARS = 3_000
CONTEXT_ELEMENTS = 10
MESSAGE_BLOCKS = 50
MESSAGE_CHARS = 10_000
"""Of all blocks together. Slack documents no limit; messages of 11,341 characters have been refused."""

POST_TEXT_CHARS = 39_000
"""Slack cuts longer texts at 40,000."""
UPDATE_TEXT_CHARS = 4_000
ACTIONS_ELEMENTS = 25
OVERFLOW_OPTIONS = 5
OPTION_VALUE_CHARS = 150
CONFIRM_TITLE_CHARS = 100
CONFIRM_TEXT_CHARS = 300
CONFIRM_LABEL_CHARS = 30
LIST_LEVELS = 8
LABEL_CHARS = 75
VALUE_CHARS = 2_000
ID_CHARS = 255
URL_CHARS = 3_000


def size(text: str) -> int:
    """Slack counts as JavaScript does, in UTF-16 units; that is never less than Python's count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


_ENDING_CHARS = 800
"""Even if each is two units long, they fit beside a beginning."""
_FENCES = size("```\n\n```")
_ENTITY = re.compile(r"&(?:amp|lt|gt);")
_LONGEST_ENTITY = len("&amp;")
_BREAKS = ("\n\n", "\n", " ")


def sections(pieces: Iterable[Piece], limit: int = SECTION_CHARS) -> list[str]:
    """As few texts of at most *limit* as possible; code is cut only when it is longer than *limit*, between lines."""
    packed: list[str] = []
    for text in _fitting(pieces, limit):
        together = f"{packed[-1]}\n{text}" if packed else text
        if packed and size(together) <= limit:
            packed[-1] = together
        else:
            packed.append(text)
    return packed


def messages(sections: Iterable[str], *, limit: int, most: int) -> list[list[str]]:
    """The sections in groups of at most *most*, and at most *limit* characters."""
    grouped: list[list[str]] = []
    room = 0
    for section in sections:
        room -= size(section)
        if not grouped or room < 0 or len(grouped[-1]) == most:
            grouped.append([])
            room = limit - size(section)
        grouped[-1].append(section)
    return grouped


def shortened(text: str, limit: int) -> str:
    """*text*, or its beginning with "…", cut at a word where there is one."""
    if size(text) <= limit:
        return text
    return text[: _cut_at(text, limit - 1)].rstrip() + "…"


def abridged(text: str, limit: int) -> str:
    """*text* without what is in the middle: at the end are the choices."""
    if size(text) <= limit:
        return text
    end = text[-_ENDING_CHARS:]
    end = end[end.find("\n") + 1 :]
    return f"{shortened(text, limit - size(end) - 1)}\n{end}"


def split(text: str, limit: int) -> Iterator[str]:
    """Pieces of at most *limit*, cut between paragraphs, else lines, else words, else characters."""
    at = 0
    while len(text) - at > limit or size(text[at:]) > limit:
        ahead = text[at : at + limit + _LONGEST_ENTITY]
        cut = _cut_at(ahead, limit)
        yield ahead[:cut].rstrip()
        at += cut
        while text.startswith("\n", at):
            at += 1
    yield text[at:]


def _fitting(pieces: Iterable[Piece], limit: int) -> Iterator[str]:
    for piece in pieces:
        if piece.fenced:
            yield from (str(Piece(code, fenced=True)) for code in split(piece.text, limit - _FENCES))
        else:
            yield from (text for text in split(piece.text, limit) if text.strip())


def _cut_at(text: str, limit: int) -> int:
    """After the last break in the second half, else between two characters."""
    end = _within(text, limit)
    for mark in _BREAKS:
        if (place := text.rfind(mark, end // 2, end)) > 0:
            return place + len(mark)
    return next((place for place in range(end, end // 2, -1) if not _torn(text, place)), end)


def _within(text: str, limit: int) -> int:
    """How many characters of *text* have a size of at most *limit*."""
    end = min(limit, len(text))
    while (over := size(text[:end]) - limit) > 0:
        end -= (over + 1) // 2
    return end


def _torn(text: str, place: int) -> bool:
    """Whether a cut at *place* would split an entity, or what people see as one character."""
    around = _ENTITY.finditer(text, max(0, place - _LONGEST_ENTITY), place + _LONGEST_ENTITY)
    if any(entity.start() < place < entity.end() for entity in around):
        return True
    return place < len(text) and continues(text, place)
