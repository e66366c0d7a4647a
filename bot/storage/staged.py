"""
What git's index says, as the bytes that it is written in: our files put in, and everything else as it was.

Libgit2 decodes and writes all of it anew for each commit, three entries for every item of the workspace, with the
interpreter's lock in its hands. Here only our entries are made; the others are copied as they stand.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from hashlib import sha1
from struct import Struct
from typing import NamedTuple

from pygit2 import Oid

from bot.storage.cachetree import CacheTree
from bot.storage.trees import Entry

MAGIC = b"DIRC"
VERSIONS = (2, 3)
HEADER = Struct(">4sII")
EXTENSION = Struct(">4sI")
NUMBERS = Struct(">24xI12x20sH")
"""Mode, object and flags. The rest says how the file was when git last looked at it: zeros make it look again."""
EXTENDED = 0x4000
STAGE = 0x3000
NAME_BYTES = 0x0FFF
"""Of a name that is longer, this counts as its length."""
LONG_OR_EXTENDED = 0x0F
"""Below it, the first byte of the flags belongs to the length of the name; what stands above is told in detail."""
DIGEST_BYTES = 20
UNDIGESTED = bytes(DIGEST_BYTES)
TREE = b"TREE"
RESOLVED = b"REUC"
"""What a merge was resolved from. Apart from these two, extensions only save git some work, and it makes them anew."""


class Unfamiliar(ValueError):
    """Not a form of the index that is written here."""


class Edit(NamedTuple):
    """*new* in the place of the entries from *first* to before *last*."""

    first: int
    last: int
    new: bytes


class Staged:
    def __init__(self, content: bytes) -> None:
        """Raises Unfamiliar."""
        self.content = content or _digested(HEADER.pack(MAGIC, VERSIONS[0], 0))
        try:
            self._starts = array("L", _starts(self.content))
            extensions = dict(_extensions(self.content, self._starts[-1]))
        except (LookupError, ValueError) as error:
            raise Unfamiliar(str(error)) from None
        self._tree = _tree(extensions.get(TREE, b""))
        self._resolved = extensions.get(RESOLVED, b"")

    def oid(self, path: str) -> Oid | None:
        """What is staged at *path*; None where nothing is, or two sides of a merge are."""
        found = self._entry(self._index(path.encode()), path.encode())
        return None if found is None or found[2] & STAGE else Oid(raw=found[1])

    def put(self, files: Mapping[str, Entry | None]) -> None:
        """Where a merge left two sides, they stay for the person who merges. None takes away what is there."""
        named = sorted((path.encode(), path, entry) for path, entry in files.items())
        edits = {edit: path for name, path, entry in named for edit in self._edits(name, entry)}
        if not edits:
            return
        if self._tree and any(not edit.new for edit in edits):
            self._tree = None
        if self._tree:
            self._tree.forget(edits.values())
        self._apply(sorted(edits, key=lambda edit: edit[:2]))

    def _edits(self, name: bytes, entry: Entry | None) -> Iterator[Edit]:
        """The new entry, in the place of whatever cannot be beside it: a file cannot be a folder as well."""
        index = self._index(name)
        found = self._entry(index, name)
        if entry is None:
            if found and not found[2] & STAGE:
                yield Edit(index, index + 1, b"")
            return
        if found == (entry.mode, entry.id.raw, min(len(name), NAME_BYTES)) or (found and found[2] & STAGE):
            return
        yield Edit(index, index + bool(found), _written(name, entry))
        below = self._index(name + b"/"), self._index(name + b"0")
        if below[0] < below[1]:
            yield Edit(*below, b"")
        folders = name.split(b"/")
        for depth in range(1, len(folders)):
            above = b"/".join(folders[:depth])
            first = last = self._index(above)
            while self._entry(last, above):
                last += 1
            if first < last:
                yield Edit(first, last, b"")

    def _apply(self, edits: list[Edit]) -> None:
        before, starts, pieces = self._starts, array("L"), []
        kept, moved = 0, 0
        for first, last, new in edits:
            pieces += [self.content[before[kept] : before[first]], new]
            starts.extend(_moved(before[kept:first], moved))
            if new:
                starts.append(before[first] + moved)
            moved += len(new) - (before[last] - before[first])
            kept = last
        pieces.append(self.content[before[kept] : before[-1]])
        starts.extend(_moved(before[kept:], moved))
        self._starts = starts
        version = HEADER.unpack_from(self.content)[1]
        extensions = ((TREE, bytes(self._tree.content) if self._tree else b""), (RESOLVED, self._resolved))
        added = (
            piece for name, said in extensions if said for piece in (EXTENSION.pack(name, len(said)), said)
        )
        self.content = _digested(HEADER.pack(MAGIC, version, len(starts) - 1), *pieces, *added)

    def _index(self, name: bytes) -> int:
        """Of the first entry that is not before *name*."""
        return bisect_left(self._starts, name, hi=len(self._starts) - 1, key=self._name)

    def _entry(self, index: int, name: bytes) -> tuple[int, bytes, int] | None:
        """Mode, object and flags of the entry at *index*, if it is one of *name*."""
        if index == len(self._starts) - 1 or self._name(self._starts[index]) != name:
            return None
        return NUMBERS.unpack_from(self.content, self._starts[index])

    def _name(self, start: int) -> bytes:
        begin, end = _name_at(self.content, start)
        return self.content[begin:end]


def _starts(content: bytes) -> Iterator[int]:
    """Where the entries begin, and behind the last of them."""
    magic, version, number = HEADER.unpack_from(content) if len(content) > HEADER.size else (b"", 0, 0)
    digest = content[-DIGEST_BYTES:]
    if magic != MAGIC or version not in VERSIONS:
        raise Unfamiliar("an index of another version")
    if digest != UNDIGESTED and content != _digested(content[:-DIGEST_BYTES]):
        raise Unfamiliar("an index that is broken")
    start = HEADER.size
    for _ in range(number):
        yield start
        high, low = content[start + NUMBERS.size - 2], content[start + NUMBERS.size - 1]
        plain = high < LONG_OR_EXTENDED
        end = start + NUMBERS.size + (high << 8 | low) if plain else _name_at(content, start)[1]
        start += (end - start + 8) & ~7
    yield start


def _name_at(content: bytes, start: int) -> tuple[int, int]:
    high, low = content[start + NUMBERS.size - 2], content[start + NUMBERS.size - 1]
    begin = start + NUMBERS.size + (2 if high & (EXTENDED >> 8) else 0)
    length = (high << 8 | low) & NAME_BYTES
    return begin, begin + length if length < NAME_BYTES else content.index(b"\0", begin)


def _extensions(content: bytes, start: int) -> Iterator[tuple[bytes, bytes]]:
    end = len(content) - DIGEST_BYTES
    while start < end:
        name, size = EXTENSION.unpack_from(content, start)
        if not name[:1].isupper():
            raise Unfamiliar("an index in parts")
        start += EXTENSION.size + size
        yield name, content[start - size : start]
    if start > end:
        raise Unfamiliar("an index that is broken")


def _tree(content: bytes) -> CacheTree | None:
    try:
        return CacheTree(content)
    except ValueError:
        return None


def _written(name: bytes, entry: Entry) -> bytes:
    numbers = NUMBERS.pack(entry.mode, entry.id.raw, min(len(name), NAME_BYTES))
    return (numbers + name).ljust((NUMBERS.size + len(name) + 8) & ~7, b"\0")


def _moved(starts: "array[int]", by: int) -> "array[int]":
    return array("L", (start + by for start in starts)) if by else starts


def _digested(*pieces: bytes) -> bytes:
    digest = sha1(usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return b"".join((*pieces, digest.digest()))
