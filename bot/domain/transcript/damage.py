"""
Lines of a transcript that git has and that the file has no longer whole: a crash or a bad disk damaged them.

A row that is no JSON object is damaged when git has a whole line in its place that it looks like. An edit that
somebody made by hand is no damage: a line that can be read stands, and so does a note, and a line that is simply gone.
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from bot.domain.transcript.lines import ID, UNWRITTEN
from bot.domain.values.json_files import decoded

ALIKE_BYTES = 12
"""So much has a damaged row in common with its line, at both ends taken together."""
OPENINGS = 100
"""Places in a damaged row at which another line may begin."""
_OPENING = re.compile(rb'\{"')

Sign = tuple[bytes, bytes]
"""A beginning and an end."""


class Mended(NamedTuple):
    """*lines* came back from git; it is *lossless* when nothing but parts of them stood in their places."""

    content: bytes
    lines: int
    lossless: bool


def mended(content: bytes, committed: bytes) -> Mended:
    """*content* with the damaged lines as *committed* has them."""
    if content.startswith(committed):
        return Mended(content, 0, lossless=True)
    if not content.strip(UNWRITTEN):
        return Mended(committed, sum(1 for row in committed.split(b"\n") if row.strip()), lossless=True)
    mending = _Mending(committed)
    return mending.run(content.split(b"\n"))


class _Mending:
    def __init__(self, committed: bytes) -> None:
        self._kept = [row for row in committed.split(b"\n") if row.strip()]
        self._place = {_same(row): place for place, row in enumerate(self._kept)}
        self._place_of_id = {id_: place for place, row in enumerate(self._kept) if (id_ := _id(row))}
        self._next = 0
        """The place in *committed* behind the last row that was found there."""
        self._lines = 0
        self._back: set[Sign] = set()
        """Of the lines that came back: one of them is found among all in the time of one."""
        self._lossless = True

    def run(self, rows: list[bytes]) -> Mended:
        places = [self._find(row) for row in rows]
        later = list(_next_places(places, end=len(self._kept)))
        out: list[bytes] = []
        for row, place, following in zip(rows, places, later, strict=True):
            if place is None:
                out += self._mended(row, following)
            else:
                self._next = max(self._next, place + 1)
                out.append(row)
        return Mended(b"\n".join(out), self._lines, self._lossless)

    def _find(self, row: bytes) -> int | None:
        """Where *committed* has this row, or the line that somebody edited here."""
        found = self._place.get(_same(row))
        if found is None and (id_ := _id(row)) and isinstance(decoded(_same(row)), dict):
            found = self._place_of_id.get(id_)
        return found

    def _mended(self, row: bytes, following: int) -> Iterator[bytes]:
        """What stands in the place of a *row* that *committed* does not have."""
        left = row.strip(UNWRITTEN)
        if not row.strip() or isinstance(decoded(left), dict):
            yield row
            return
        if self._next < following and _is_left_of(left, _signs_of(self._kept[self._next])):
            missing = self._kept[self._next : following]
            self._next = following
            self._back |= set().union(*map(_signs_of, missing))
            self._lines += len(missing)
            yield from missing
            after = _written_after(left, missing[0])
            if after and self._find(after) is None:
                yield after
            self._lossless &= missing[0].startswith(left.removesuffix(after))
        elif not (self._back and _is_left_of(left, self._back)):
            yield row


def _next_places(places: list[int | None], *, end: int) -> Iterator[int]:
    """For each row, where the next one is that was found."""
    found = []
    for place in reversed(places):
        found.append(end)
        end = end if place is None else place
    return reversed(found)


def _written_after(left: bytes, line: bytes) -> bytes:
    """A whole line right behind what is left of *line*: its line end is gone, too."""
    for opening in islice(_OPENING.finditer(left, 1, len(line) + 2), OPENINGS):
        if isinstance(decoded(left[opening.start() :]), dict):
            return left[opening.start() :]
    return b""


def _is_left_of(left: bytes, signs: AbstractSet[Sign]) -> bool:
    """Whether *left* is what is left of a line: its beginning, its ends, or nothing that anybody could have typed."""
    if b"\0" in left:
        return True
    beginning = {(left, b"")} if len(left) < ALIKE_BYTES else set()
    return not signs.isdisjoint(beginning | _ends(left))


def _signs_of(line: bytes) -> AbstractSet[Sign]:
    """What is left of *line* has one of them."""
    return {(line[:size], b"") for size in range(ALIKE_BYTES)} | _ends(line)


def _ends(row: bytes) -> set[Sign]:
    """The beginnings and ends of *row* that are together as long as what a line and its rest have in common."""
    sizes = ((size, ALIKE_BYTES - size) for size in range(ALIKE_BYTES + 1))
    return {(row[:one], row[len(row) - other :]) for one, other in sizes if max(one, other) <= len(row)}


def _same(row: bytes) -> bytes:
    """Git may check files out with the line ends of Windows."""
    return row.rstrip(UNWRITTEN)


def _id(row: bytes) -> bytes:
    found = ID.search(row)
    return found[1] if found else b""
