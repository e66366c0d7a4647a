"""
Git's objects: written one file each, as git writes them, and read.

Libgit2 keeps the interpreter's lock while it packs and flushes, so that for the folder of many items, or for a long
transcript, everybody would wait. Here the long parts are done by calls that let go of it.
"""

import os
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Oid, Tree
from pygit2.enums import FileMode

from bot.errors import WorkspaceError

FAST = 1
"""How hard is packed; `git gc` does it better, later."""
PART_BYTES = 1024 * 1024
"""What is larger is packed in such parts: a long transcript is most of what a commit has to do."""
READ_ONLY = 0o444

_HEADER = b"\x78\x01"
_END = b"\x03\x00"
"""Of zlib's format: what it begins with, packed fast, and an empty last block."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Objects:
    """*folder* is the one that git calls `objects`. Raises OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._unflushed: set[str] = set()

    def flush(self) -> None:
        """What was written is found on the disk afterwards. The folders come last: one takes the others along."""
        for folder in tuple(self._unflushed):
            with self._opened(folder) as opened:
                os.fsync(opened)
            self._unflushed.remove(folder)

    def write(self, kind: str, content: bytes) -> Oid:
        """Counts as new for whoever clears away what nobody needs, even if it was there."""
        framed = b"%b %d\0%b" % (kind.encode(), len(content), content)
        digest = sha1(framed, usedforsecurity=False)
        name = digest.hexdigest()
        folder = f"{self._folder}/{name[:2]}"
        try:
            os.utime(f"{folder}/{name[2:]}")
        except FileNotFoundError:
            try:
                self._add(folder, name[2:], framed)
            except FileNotFoundError:  # a `git gc` cleared the empty folder away just then
                self._add(folder, name[2:], framed)
        self._unflushed.add(folder)
        return Oid(raw=digest.digest())

    def _add(self, folder: str, name: str, content: bytes) -> None:
        packed = _packed(content)
        with self._opened(folder) as within:
            temporary = f"tmp_obj_{os.urandom(8).hex()}"  # git clears away what is called so
            opened = os.open(temporary, _NEW, READ_ONLY, dir_fd=within)
            try:
                with os.fdopen(opened, "wb") as file:
                    file.write(packed)
                    file.flush()
                    os.fsync(opened)
                os.replace(temporary, name, src_dir_fd=within, dst_dir_fd=within)
            except OSError:
                os.unlink(temporary, dir_fd=within)
                raise

    @contextmanager
    def _opened(self, folder: str) -> Iterator[int]:
        if not os.access(folder, os.F_OK):
            Path(folder).mkdir(exist_ok=True)
            self._unflushed.add(self._folder)
        opened = os.open(folder, _DIRECTORY)
        try:
            yield opened
        finally:
            os.close(opened)


def _packed(content: bytes) -> bytes:
    """In the format of `zlib.compress`; the parts of something large side by side, on as many cores as there are."""
    if len(content) <= PART_BYTES:
        return zlib.compress(content, FAST)
    whole = memoryview(content)
    parts = (whole[start : start + PART_BYTES] for start in range(0, len(content), PART_BYTES))
    with ThreadPoolExecutor(os.cpu_count()) as packing:
        packed = packing.map(_packed_part, parts)
        return b"".join((_HEADER, *packed, _END, zlib.adler32(content).to_bytes(4, "big")))


def _packed_part(part: memoryview) -> bytes:
    """It refers to nothing before it, and ends where a byte does."""
    packing = zlib.compressobj(FAST, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packing.compress(part) + packing.flush(zlib.Z_FULL_FLUSH)


# Trees of git, compared path by path: what is the same on both sides is never opened. `rawtrees` changes
# them.


DEEPEST = 100
"""Folders below each other in a commit that we take over. No code has so many, and each takes a place on the stack."""


class Entry(NamedTuple):
    """What stands at a path: mostly a blob, sometimes a link or somebody's submodule."""

    id: Oid
    mode: FileMode


Entries = Mapping[str, Entry | None]
"""By path; None takes away what is there."""


class Change(NamedTuple):
    path: str
    before: Entry | None
    after: Entry | None


class InTheWay(ValueError):
    """A file stands where a folder is needed, or the other way round; the path says where."""


def at(tree: Tree | None, path: str) -> Entry | None:
    """Raises InTheWay for a folder, and when a folder of *path* is a file."""
    name, _, rest = path.partition("/")
    if tree is None or name not in tree:
        return None
    found = tree[name]
    if isinstance(found, Tree) != bool(rest):
        raise InTheWay(path)
    return at(found, rest) if isinstance(found, Tree) else _entry(found)


def changes(before: Tree | None, after: Tree | None, *, depth: int = DEEPEST) -> Iterator[Change]:
    """Every path at which the two differ, in the order of git. Raises WorkspaceError."""
    if not depth:
        raise WorkspaceError(f"there are more than {DEEPEST} folders below each other")
    if before is not None and after is not None and before.id == after.id:
        return
    old, new = _entries(before), _entries(after)
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        if was and now and _entry(was) == _entry(now):
            continue
        inner = changes(_tree(was), _tree(now), depth=depth - 1)
        yield from (change._replace(path=f"{name}/{change.path}") for change in inner)
        files = _file(was), _file(now)
        if any(files):
            yield Change(name, *files)


def _entries(tree: Tree | None) -> dict[str, pygit2.Object]:
    return {str(entry.name): entry for entry in tree} if tree is not None else {}


def _entry(found: pygit2.Object) -> Entry:
    return Entry(found.id, FileMode(found.filemode))


def _tree(found: pygit2.Object | None) -> Tree | None:
    return found if isinstance(found, Tree) else None


def _file(found: pygit2.Object | None) -> Entry | None:
    return _entry(found) if found is not None and not isinstance(found, Tree) else None


# Trees of git as they are stored, changed entry by entry without decoding the rest: the folder of all items
# may have 20,000 entries, of which a commit changes one.


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
