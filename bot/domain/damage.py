"""
Lines of a transcript that git has and that the file has no longer whole: a crash or a bad disk damaged them.

A row that is no JSON object is damaged when git has a whole line in its place that it looks like. An edit that
somebody made by hand is no damage: a line that can be read stands, and so does a note, and a line that is simply gone.
"""

from collections.abc import Iterator
from typing import NamedTuple

from bot.domain.json_row import decoded
from bot.domain.transcript import ID, UNWRITTEN

ALIKE_BYTES = 12
"""So much has a damaged row in common with its line, at both ends taken together."""


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
        self._back: list[bytes] = []
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
        return Mended(b"\n".join(out), len(self._back), self._lossless)

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
        missing = self._kept[self._next : following]
        if missing and _is_left_of(left, missing[0]):
            self._next = following
            self._back += missing
            yield from missing
            after = _written_after(left, missing[0])
            if after and self._find(after) is None:
                yield after
            self._lossless &= missing[0].startswith(left.removesuffix(after))
        elif not any(_is_left_of(left, line) for line in self._back):
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
    start = left.find(b'{"', 1)
    while 0 < start <= len(line):
        if isinstance(decoded(left[start:]), dict):
            return left[start:]
        start = left.find(b'{"', start + 1)
    return b""


def _is_left_of(left: bytes, line: bytes) -> bool:
    """Whether *left* is what is left of *line*: its beginning, its ends, or nothing that anybody could have typed."""
    if b"\0" in left or line.startswith(left):
        return True
    return _alike(left, line) + _alike(left[::-1], line[::-1]) >= ALIKE_BYTES


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _same(row: bytes) -> bytes:
    """Git may check files out with the line ends of Windows."""
    return row.rstrip(UNWRITTEN)


def _id(row: bytes) -> bytes:
    found = ID.search(row)
    return found[1] if found else b""
