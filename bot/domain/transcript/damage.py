"""
Repairs lines of a transcript that a crash or a bad disk damaged, from the committed version.

A row is damaged if it is not a JSON object and git has a similar whole line in its place. Edits by hand are no damage:
readable lines, notes and deleted lines stay as they are.
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from bot.domain.transcript.lines import ID, UNWRITTEN
from bot.domain.values.json_files import decoded

ALIKE_BYTES = 12
"""A damaged row has at least this much in common with its line, at both ends together."""
OPENINGS = 100
"""Places in a damaged row that are tried as the beginning of another line."""
_OPENING = re.compile(rb'\{"')

Sign = tuple[bytes, bytes]
"""A beginning and an end."""


class RepairedTranscript(NamedTuple):
    """`lines` were restored. `lossless`: only parts of these lines were replaced."""

    content: bytes
    lines: int
    lossless: bool


def repaired(content: bytes, committed: bytes) -> RepairedTranscript:
    """*content*, with damaged lines replaced by the *committed* ones."""
    if content.startswith(committed):
        return RepairedTranscript(content, 0, lossless=True)
    if not content.strip(UNWRITTEN):
        return RepairedTranscript(
            committed, sum(1 for row in committed.split(b"\n") if row.strip()), lossless=True
        )
    mending = _Mending(committed)
    return mending.run(content.split(b"\n"))


class _Mending:
    def __init__(self, committed: bytes) -> None:
        self._kept = [row for row in committed.split(b"\n") if row.strip()]
        self._place = {_same(row): place for place, row in enumerate(self._kept)}
        self._place_of_id = {id_: place for place, row in enumerate(self._kept) if (id_ := _id(row))}
        self._next = 0
        """The place in *committed* after the last row that was found there."""
        self._lines = 0
        self._back: set[Sign] = set()
        """Signs of the restored lines, in a set so that a lookup does not depend on their number."""
        self._lossless = True

    def run(self, rows: list[bytes]) -> RepairedTranscript:
        places = [self._find(row) for row in rows]
        later = list(_next_places(places, end=len(self._kept)))
        out: list[bytes] = []
        for row, place, following in zip(rows, places, later, strict=True):
            if place is None:
                out += self._mended(row, following)
            else:
                self._next = max(self._next, place + 1)
                out.append(row)
        return RepairedTranscript(b"\n".join(out), self._lines, self._lossless)

    def _find(self, row: bytes) -> int | None:
        """The place of this row in *committed*, or of the line that was edited by hand."""
        found = self._place.get(_same(row))
        if found is None and (id_ := _id(row)) and isinstance(decoded(_same(row)), dict):
            found = self._place_of_id.get(id_)
        return found

    def _mended(self, row: bytes, following: int) -> Iterator[bytes]:
        """What replaces a *row* that *committed* does not have."""
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
    """For each row, the place of the next row that was found."""
    found = []
    for place in reversed(places):
        found.append(end)
        end = end if place is None else place
    return reversed(found)


def _written_after(left: bytes, line: bytes) -> bytes:
    """A whole line directly after the rest of *line*, whose line end was lost."""
    for opening in islice(_OPENING.finditer(left, 1, len(line) + 2), OPENINGS):
        if isinstance(decoded(left[opening.start() :]), dict):
            return left[opening.start() :]
    return b""


def _is_left_of(left: bytes, signs: AbstractSet[Sign]) -> bool:
    """Whether *left* is the rest of a line: its beginning, its ends, or bytes that no person types."""
    if b"\0" in left:
        return True
    beginning = {(left, b"")} if len(left) < ALIKE_BYTES else set()
    return not signs.isdisjoint(beginning | _ends(left))


def _signs_of(line: bytes) -> AbstractSet[Sign]:
    """Any rest of *line* has one of them."""
    return {(line[:size], b"") for size in range(ALIKE_BYTES)} | _ends(line)


def _ends(row: bytes) -> set[Sign]:
    """Pairs of a beginning and an end of *row* that are together `ALIKE_BYTES` long."""
    sizes = ((size, ALIKE_BYTES - size) for size in range(ALIKE_BYTES + 1))
    return {(row[:one], row[len(row) - other :]) for one, other in sizes if max(one, other) <= len(row)}


def _same(row: bytes) -> bytes:
    """Git may check out files with Windows line ends."""
    return row.rstrip(UNWRITTEN)


def _id(row: bytes) -> bytes:
    found = ID.search(row)
    return found[1] if found else b""
