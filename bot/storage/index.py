"""
The index of the checkout: our files in it, everything else as it was.

It is held until the branch has moved, as `git commit` holds it. Otherwise somebody who commits just then would either
commit our files as theirs, or take them back. A kill in between leaves the index a commit behind: `mend` sees that.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pygit2 import Index, IndexEntry, Oid
from pygit2.enums import FileMode

from bot.errors import WorkspaceError

Blobs = Mapping[str, tuple[Oid, FileMode]]


class HeldIndex:
    """What is put in counts once the index is let go."""

    def __init__(self, index: Path, scratch: Path) -> None:
        """Libgit2 writes an index only in its own place; a copy has a place of its own."""
        self._scratch = scratch
        scratch.write_bytes(index.read_bytes()) if index.exists() else scratch.unlink(missing_ok=True)
        self._copy = Index(str(scratch))

    def put(self, blobs: Blobs) -> None:
        for path, (oid, mode) in blobs.items():
            self._copy.add(IndexEntry(path, oid, mode))

    def mend(self, blobs: Blobs, before: Mapping[str, Oid]) -> None:
        """Like `put`, where the index has what was there *before*: what a person staged since then stays."""
        self.put({path: found for path, found in blobs.items() if self._oid(path) == before.get(path)})

    def content(self) -> bytes:
        self._copy.write()
        return self._scratch.read_bytes()

    def _oid(self, path: str) -> Oid | None:
        return self._copy[path].id if path in self._copy else None


@contextmanager
def held(git_dir: Path, *, scratch: Path) -> Iterator[HeldIndex]:
    """Left with an exception, the index stays as it was. Raises WorkspaceError when somebody holds it."""
    index, lock = git_dir / "index", git_dir / "index.lock"
    mode = index.stat().st_mode & 0o777 if index.exists() else 0o666
    try:
        opened = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise WorkspaceError(
            "Another program is writing to the workspace.", reason="locked", again=True
        ) from None
    with ExitStack() as undoing:
        undoing.callback(lock.unlink)
        with os.fdopen(opened, "wb") as file:
            holding = HeldIndex(index, scratch)
            yield holding
            file.write(holding.content())
            file.flush()
            os.fsync(opened)
        lock.replace(index)
        undoing.pop_all()
