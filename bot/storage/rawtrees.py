"""
Trees of git as they are stored, changed entry by entry without decoding the rest: the folder of all items may have
20,000 entries, of which a commit changes one.
"""

from array import array
from bisect import bisect_left
from typing import NamedTuple

import pygit2
from pygit2 import Oid
from pygit2.enums import FileMode

from bot.storage.objects import Objects
from bot.storage.trees import Entries, Entry

OID_BYTES = 20
FOLDER = b"40000"


class RawTree(NamedTuple):
    """*starts* are the places in *content* at which its entries begin, in git's order."""

    content: bytes
    starts: "array[int]"

    @classmethod
    def of(cls, content: bytes) -> "RawTree":
        starts, start = array("L"), 0
        while start < len(content):
            starts.append(start)
            start = content.index(b"\0", start) + 1 + OID_BYTES
        return cls(content, starts)

    def get(self, name: bytes) -> Entry | None:
        found = self._place(name)
        if found is None:
            return None
        mode = self.content[found.start : self.content.index(b" ", found.start)]
        return Entry(Oid(raw=self.content[found.stop - OID_BYTES : found.stop]), FileMode(int(mode, 8)))

    def put(self, name: bytes, entry: Entry) -> "RawTree":
        new = b"%o %b\0%b" % (entry.mode, name, entry.id.raw)
        place = self._place(name)
        if place and self.content[place.start : place.start + len(new) - OID_BYTES] == new[:-OID_BYTES]:
            return RawTree(self.content[: place.start] + new + self.content[place.stop :], self.starts)
        if place:
            return self.without(name).put(name, entry)
        index = self._index(name + b"/" * (entry.mode == FileMode.TREE))
        at = self._begin(index)
        after = (start + len(new) for start in self.starts[index:])
        starts = array("L", (*self.starts[:index], at, *after))
        return RawTree(self.content[:at] + new + self.content[at:], starts)

    def without(self, name: bytes) -> "RawTree":
        place = self._place(name)
        return RawTree.of(self.content[: place.start] + self.content[place.stop :]) if place else self

    def _place(self, name: bytes) -> slice | None:
        """As a file or as a folder, which are sorted differently."""
        for sorted_as in (name, name + b"/"):
            index = self._index(sorted_as)
            if index < len(self.starts) and self._sorted_as(self.starts[index]) == sorted_as:
                return slice(self.starts[index], self._begin(index + 1))
        return None

    def _index(self, sorted_as: bytes) -> int:
        return bisect_left(self.starts, sorted_as, key=self._sorted_as)

    def _begin(self, index: int) -> int:
        return self.starts[index] if index < len(self.starts) else len(self.content)

    def _sorted_as(self, start: int) -> bytes:
        mode, _, name = self.content[start : self.content.index(b"\0", start)].partition(b" ")
        return name + b"/" if mode == FOLDER else name


EMPTY = RawTree(b"", array("L"))


class RawTrees:
    """Of one repository. What was used for the last commits is remembered: the next ones need most of it again."""

    def __init__(self, repository: pygit2.Repository, objects: Objects) -> None:
        self._repository = repository
        self._objects = objects
        self._used: dict[Oid, RawTree] = {}
        self._before: dict[Oid, RawTree] = {}

    def at(self, tree: Oid | None, path: str) -> Entry | None:
        """What stands at *path*, a folder too."""
        folders, _, name = path.rpartition("/")
        found = self._read(tree) if tree else EMPTY
        for folder in folders.split("/") if folders else ():
            below = found.get(folder.encode())
            if below is None or below.mode != FileMode.TREE:
                return None
            found = self._read(below.id)
        return found.get(name.encode())

    def graft(self, tree: Oid | None, entries: Entries) -> Oid:
        """*tree* with *entries* put in; only the trees on their paths are written, and none is left empty."""
        self._before, self._used = self._used, {}
        return self._graft(tree, entries)

    def _graft(self, tree: Oid | None, entries: Entries) -> Oid:
        found = self._read(tree) if tree else EMPTY
        below: dict[str, dict[str, Entry | None]] = {}
        for path, entry in entries.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = entry
            elif entry:
                found = found.put(name.encode(), entry)
            else:
                found = found.without(name.encode())
        for name, inner in below.items():
            present = found.get(name.encode())
            beneath = present.id if present and present.mode == FileMode.TREE else None
            grafted = self._graft(beneath, inner)
            if self._used[grafted].content:
                found = found.put(name.encode(), Entry(grafted, FileMode.TREE))
            elif beneath:
                found = found.without(name.encode())
        made = self._objects.write("tree", found.content)
        self._used[made] = found
        return made

    def _read(self, tree: Oid) -> RawTree:
        found = self._used.get(tree) or self._before.get(tree) or RawTree.of(self._content(tree))
        self._used[tree] = found
        return found

    def _content(self, tree: Oid) -> bytes:
        _, content = self._repository.read(tree)
        return bytes(content)
