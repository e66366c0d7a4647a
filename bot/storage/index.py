"""
The index of the checkout: our files in it, everything else as it was.

It is held until the branch has moved, as `git commit` holds it. Otherwise somebody who commits just then would either
commit our files as theirs, or take them back. A kill in between leaves the index a commit behind: `mend` sees that.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import pygit2
from pygit2 import IndexEntry, Oid, Tree

from bot.errors import WorkspaceError
from bot.storage.staged import Staged, Unfamiliar
from bot.storage.trees import Entry

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
