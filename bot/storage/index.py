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

from bot.errors import WorkspaceError
from bot.storage.trees import Entry

Files = Mapping[str, Entry]


class HeldIndex:
    """What is put in counts once the index is let go."""

    def __init__(self, copy: Path) -> None:
        """Libgit2 writes an index only in its own place; a copy has a place of its own."""
        self._copy = Index(str(copy))

    def put(self, files: Files) -> None:
        for path, (oid, mode) in files.items():
            self._copy.add(IndexEntry(path, oid, mode))

    def mend(self, files: Files, before: Mapping[str, Oid]) -> None:
        """Like `put`, where the index has what was there *before*: what a person staged since then stays."""
        self.put({path: found for path, found in files.items() if self._oid(path) == before.get(path)})

    def write(self) -> None:
        self._copy.write()

    def _oid(self, path: str) -> Oid | None:
        return self._copy[path].id if path in self._copy else None


@contextmanager
def held(git_dir: Path, *, scratch: Path) -> Iterator[HeldIndex]:
    """Left with an exception, the index stays as it was. Raises WorkspaceError when somebody holds it."""
    with replaced(git_dir, scratch=scratch):
        holding = HeldIndex(scratch)
        yield holding
        holding.write()


@contextmanager
def replaced(git_dir: Path, *, scratch: Path) -> Iterator[None]:
    """Like `held`, for whoever changes the copy at *scratch* by other means."""
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
            scratch.write_bytes(index.read_bytes()) if index.exists() else scratch.unlink(missing_ok=True)
            yield
            file.write(scratch.read_bytes())
            file.flush()
            os.fsync(opened)
        lock.replace(index)
        undoing.pop_all()
