"""
The index of the checkout: our files in it, everything else as it was.

It is held until the branch has moved, as `git commit` holds it. Otherwise somebody who commits just then would either
commit our files as theirs, or take them back. A kill in between leaves the index a commit behind: `mend` sees that.
"""

import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha1
from pathlib import Path
from struct import Struct
from typing import BinaryIO, NamedTuple, Protocol

import pygit2
from pygit2 import IndexEntry, Oid, Tree

from bot.errors import WorkspaceError
from bot.storage.git.objects import Entry

# The index's own note of which folder is which tree (its extension TREE). A person's `git commit` among
# many folders is quick with it, so it is kept, and only what changed is taken out of it.


NODE = re.compile(rb"[^\0]*\0(?:-1 (\d+)\n|\d+ (\d+)\n.{20})", re.DOTALL)
"""Name, number of files, number of folders, and the tree unless the number of files is unknown."""


class CacheTree:
    """
    The folders follow each other from the outside in. Raises ValueError for *content* that is none.

    What is forgotten keeps its length, by zeros before a number: so every place stays where it is.
    """

    def __init__(self, content: bytes) -> None:
        self.content = bytearray(content)
        self._starts = array("L")
        self._depths = bytearray()
        missing, end = [1], 0
        for node in NODE.finditer(content):
            while missing and not missing[-1]:
                missing.pop()
            if not missing or node.start() != end:
                raise ValueError("no extension TREE")
            end = node.end()
            missing[-1] -= 1
            self._starts.append(node.start())
            self._depths.append(len(missing) - 1)
            missing.append(int(node[1] or node[2]))
        self._starts.append(end)
        if any(missing) or end != len(content):
            raise ValueError("no extension TREE")

    def forget(self, paths: Iterable[str]) -> None:
        """What the folders are in which the files *paths* are."""
        for folder in dict.fromkeys(path.rpartition("/")[0] for path in paths):
            node: int | None = 0
            for name in (*folder.split("/"), "") if folder else ("",):
                if node is None:
                    break
                self._forget(node)
                node = self._below(node, name.encode()) if name else None

    def _forget(self, node: int) -> None:
        start, end = self._starts[node], self._starts[node + 1]
        number = self.content.index(b"\0", start) + 1
        if not self.content.startswith(b"-", number):
            folders = self.content[self.content.index(b" ", number) + 1 : self.content.index(b"\n", number)]
            self.content[number:end] = b"-1 " + folders.zfill(end - number - 4) + b"\n"

    def _below(self, node: int, name: bytes) -> int | None:
        """The folder *name* in the folder *node*."""
        depth, last = self._depths[node], self._last(node)
        found = self._starts[node]
        while (found := self.content.find(name + b"\0", found + 1, self._starts[last])) != -1:
            child = bisect_left(self._starts, found)
            if node < child < last and self._starts[child] == found and self._depths[child] == depth + 1:
                return child
        return None

    def _last(self, node: int) -> int:
        """Behind the folder *node* and everything below it."""
        shallower = (self._depths.find(depth, node + 1) for depth in range(self._depths[node] + 1))
        return min((place for place in shallower if place != -1), default=len(self._depths))


# What git's index says, as the bytes that it is written in: our files put in, and everything else as it
# was.
#
# Libgit2 decodes and writes all of it anew for each commit, three entries for every item of the workspace,
# with the interpreter's lock in its hands. Here only our entries are made; the others are copied as they
# stand.


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


Files = Mapping[str, Entry | None]
"""By path; None takes away what is there."""
Head = Callable[[], Tree | None]
"""The tree of the newest commit; None while there is none."""
Stamp = tuple[int, ...]


class Entries(Protocol):
    """What an index says; `content` is what is to be written."""

    @property
    def content(self) -> bytes: ...

    def oid(self, path: str) -> Oid | None: ...

    def put(self, files: Files) -> None: ...


class HeldIndex:
    """What is put in counts once the index is let go."""

    def __init__(self, entries: Entries, lock: BinaryIO) -> None:
        self._entries = entries
        self._lock = lock

    def put(self, files: Files) -> None:
        """All of it is on the disk then: once the branch has moved, hardly anything is left that can fail."""
        before = self._entries.content
        self._entries.put(files)
        if (after := self._entries.content) is not before:
            self._lock.truncate(0)
            self._lock.seek(0)
            self._lock.write(after)
            self._lock.flush()
            os.fsync(self._lock.fileno())

    def mend(self, files: Files, before: Mapping[str, Oid]) -> None:
        """Like `put`, where the index has what was there *before*: what a person staged since then stays."""
        self.put(
            {path: entry for path, entry in files.items() if self._entries.oid(path) == before.get(path)}
        )


class IndexFile:
    """
    The one in *git_dir*; *scratch* is a place for a copy. What was read or written is known while the file stays.

    Where there is none, it is what *head* says: an empty one would look like the deletion of every other file.
    """

    def __init__(self, git_dir: Path, *, scratch: Path, head: Head) -> None:
        self._path = git_dir / "index"
        self._scratch = scratch
        self._head = head
        self._known: tuple[Stamp, Entries] | None = None

    @contextmanager
    def held(self) -> Iterator[HeldIndex]:
        """Left with an exception, the index stays as it was. Raises WorkspaceError when somebody holds it."""
        with _locked(self._path) as lock:
            with _becoming(self._path, lock):
                stamp, entries = self._read()
                yield HeldIndex(entries, lock)
            self._known = _stamp(os.fstat(lock.fileno())) if lock.tell() else stamp, entries

    def _read(self) -> tuple[Stamp, Entries]:
        """What is changed from here on is forgotten if it does not become the index."""
        known, self._known = self._known, None
        if not self._path.exists():
            return (), Staged(_as_in(self._head(), self._scratch))
        stamp = _stamp(self._path.stat())
        if known and known[0] == stamp:
            return known
        content = self._path.read_bytes()
        try:
            return stamp, Staged(content)
        except Unfamiliar:
            self._scratch.write_bytes(content)
            return stamp, _Decoded(self._scratch)


class _Decoded:
    """By libgit2, which knows more forms, and says what is wrong with the others; it only writes in its own place."""

    def __init__(self, copy: Path) -> None:
        self._path = copy
        self._copy = pygit2.Index(str(copy))

    @property
    def content(self) -> bytes:
        self._copy.write()
        return self._path.read_bytes()

    def oid(self, path: str) -> Oid | None:
        return self._copy[path].id if path in self._copy else None

    def put(self, files: Files) -> None:
        for path, entry in files.items():
            if entry:
                self._copy.add(IndexEntry(path, *entry))
            elif path in self._copy:
                self._copy.remove(path)


@contextmanager
def replaced(git_dir: Path, *, scratch: Path, head: Head) -> Iterator[None]:
    """What the copy at *scratch* is afterwards, however it was changed, is the index then."""
    index = git_dir / "index"
    with _locked(index) as file, _becoming(index, file):
        if index.exists():
            scratch.write_bytes(index.read_bytes())
        else:
            _as_in(head(), scratch)
        yield
        file.write(scratch.read_bytes())
        file.flush()
        os.fsync(file.fileno())


def _as_in(tree: Tree | None, scratch: Path) -> bytes:
    """The index of a checkout in which nothing is staged; nothing where there is no commit. It is in *scratch*, too."""
    scratch.unlink(missing_ok=True)
    if tree is None:
        return b""
    made = pygit2.Index(str(scratch))
    made.read_tree(tree)
    made.write()
    return scratch.read_bytes()


@contextmanager
def _locked(index: Path) -> Iterator[BinaryIO]:
    """Yields the lock, to be written to."""
    mode = index.stat().st_mode & 0o777 if index.exists() else 0o666
    try:
        opened = os.open(_lock_of(index), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise WorkspaceError(
            "Another program is writing to the workspace.", reason="locked", again=True
        ) from None
    with os.fdopen(opened, "wb") as lock:
        yield lock


@contextmanager
def _becoming(index: Path, lock: BinaryIO) -> Iterator[None]:
    """What was written to *lock* is the *index* then; after an exception, or if nothing was, it stays as it was."""
    with ExitStack() as undoing:
        undoing.callback(_lock_of(index).unlink)
        yield
        if lock.tell():
            _lock_of(index).replace(index)
            undoing.pop_all()


def _lock_of(index: Path) -> Path:
    return index.with_name("index.lock")


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev
