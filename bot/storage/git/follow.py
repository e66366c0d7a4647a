"""
The checkout follows the branch: index and files are moved from one commit to a newer one, after the branch.

Each path is looked at alone, and each file is replaced as a whole, so a kill leaves old or new ones. Where a person
changed the same file, it stays as the person left it, and what was staged stays staged. What a kill left undone is done
by the next one. While another branch is checked out, nothing is moved.
"""

import fcntl
import logging
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Commit

from bot.domain.values.text import one_line
from bot.errors import WorkspaceError
from bot.files import folder
from bot.storage.git.branch import Branch
from bot.storage.git.command import Git, GitResult
from bot.storage.git.tree import PAUSE_SECONDS, checked_out, git_runs_in, line_from

log = logging.getLogger(__name__)

BEGUN, LOCK, NEW_FILES = "following", "lock", "new"
"""In our state: the commit that is shown until the checkout has moved, the lock, and files on their way."""
NO_COMMIT = "-"
VERSIONS_KNOWN = 100
"""Commits back whose version of a file is no edit of a person's."""
SUBMODULE = 0o160000
OTHER = "other"
"""In place of the id of a file: something else is there."""
PATHS_NAMED = 1000


class FileMove(NamedTuple):
    """What becomes of a path. None is no file."""

    path: str
    before: str | None
    after: str | None
    mode: int


class Checkout:
    """Only for the thread that writes. Raises OSError and TimeoutError."""

    def __init__(self, branch: Branch) -> None:
        self._branch = branch
        self._repository = branch.repository
        self._root = branch.root
        self._git = Git(branch.root)
        self._named: frozenset[str] = frozenset()

    def advance(self, before: Commit | None, after: Commit, reason: str) -> bool:
        """
        Sets the branch from *before* to *after*, and the checkout follows. False when another program was quicker.
        Raises WorkspaceError, OSError and GitError when the branch cannot be set.
        """
        with self._turn():
            noted = self._noted()
            at = str(before.id) if before else NO_COMMIT
            self._note(noted if self._is_left(noted, before) else at)
            if not self._branch.move(before, after, reason):
                self._note(noted)
                return False
            self._follow()
        return True

    def recover(self) -> None:
        """Does what a killed process has left undone; if another one is at work, it does."""
        with suppress(WorkspaceError, OSError), self._turn():
            self._follow()

    def _follow(self) -> None:
        """The branch is set, whatever becomes of the checkout: the next one tries again."""
        try:
            self._show_tip()
        except (OSError, TimeoutError, pygit2.GitError) as error:
            log.warning("the checkout does not follow the branch now: %s", error)

    def _show_tip(self) -> None:
        noted, newest = self._noted(), self._branch.tip()
        if not noted or newest is None:
            return
        kept: list[str] = []
        is_here = not self._repository.is_bare and checked_out(self._repository) == self._branch.name
        if is_here and self._is_left(noted, newest):
            kept = self._move(self._commit(noted), newest)
        self._note("")
        self._tell(kept)

    def _is_left(self, noted: str, tip: Commit | None) -> bool:
        """Whether the checkout has to move from *noted*. Where a person moved the branch back, their git moved both."""
        shown = self._commit(noted)
        return noted == NO_COMMIT or (shown is not None and not (tip and self._branch.has(shown, tip)))

    def _move(self, before: Commit | None, after: Commit) -> list[str]:
        """Returns the paths that stay as people left them."""
        if not (moves := tuple(self._moves(before, after))):
            return []
        self._restore_index(before)
        staged, present = self._staged(moves), self._present(moves)
        rows, kept = [], list[str]()
        written, gone = list[FileMove](), list[FileMove]()
        for move in moves:
            here = present[move.path]
            if not self._is_ours(move, staged.get(move.path), after):
                kept.append(move.path)
                continue
            rows.append(_index_row(move))
            if here == move.after:
                continue
            if here is not None and not self._is_ours(move, here, after):
                kept.append(move.path)
            else:
                (written if move.after else gone).append(move)
        self._run("update-index", "-z", "--index-info", given="".join(rows))
        self._replace(written, gone)
        return kept

    def _is_ours(self, move: FileMove, id: str | None, tip: Commit) -> bool:
        """Whether a commit has *id* there: then it is no edit that would be lost."""
        if id in {move.before, move.after}:
            return True
        tips = (tip, self._branch.last())
        recent = (commit for newest in tips for commit in line_from(newest, most=VERSIONS_KNOWN))
        entries = (self._branch.at(commit).entry(move.path) for commit in recent)
        return any(entry and str(entry.id) == id for entry in entries)

    def _moves(self, before: Commit | None, after: Commit) -> Iterator[FileMove]:
        diff = before.tree.diff_to_tree(after.tree) if before else after.tree.diff_to_tree(swap=True)
        for delta in diff.deltas:
            old, new = delta.old_file, delta.new_file
            yield FileMove(
                new.path, str(old.id) if old.mode else None, str(new.id) if new.mode else None, int(new.mode)
            )

    def _replace(self, written: Sequence[FileMove], gone: Sequence[FileMove]) -> None:
        """Each file at once. Raises OSError when one cannot be written."""
        for move in gone:
            self._remove(move.path)
        new = self._branch.state / NEW_FILES
        shutil.rmtree(new, ignore_errors=True)
        paths = "".join(f"{move.path}\0" for move in written if move.mode != SUBMODULE)
        made = self._run("checkout-index", f"--prefix={new}/", "-z", "--stdin", given=paths)
        if made.code:
            raise OSError(made.error)
        for move in written:
            place = self._root / move.path
            place.parent.mkdir(parents=True, exist_ok=True)
            if move.mode == SUBMODULE:
                place.mkdir(exist_ok=True)
            else:
                (new / move.path).replace(place)
        shutil.rmtree(new, ignore_errors=True)
        self._run("add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul", given=paths)

    def _staged(self, moves: Sequence[FileMove]) -> dict[str, str]:
        """The ids in the index, by path; of both sides of a merge, something that is no id."""
        found: dict[str, str] = {}
        named = [move.path for move in moves] if len(moves) <= PATHS_NAMED else []
        for row in self._run("ls-files", "--stage", "-z", "--", *named).out.split("\0"):
            about, _, path = row.partition("\t")
            if path:
                _, id, stage = about.split(" ")
                found[path] = id if stage == "0" else OTHER
        return found

    def _present(self, moves: Iterable[FileMove]) -> dict[str, str | None]:
        """The ids of the files in the checkout; None where there is none."""
        found: dict[str, str | None] = {}
        hashed: list[str] = []
        for move in moves:
            found[move.path] = OTHER
            if not self._is_in_plain_folder(move.path):
                continue
            mode = None
            with suppress(FileNotFoundError, NotADirectoryError):
                mode = (self._root / move.path).lstat().st_mode
            if mode is None:
                found[move.path] = None
            elif stat.S_ISLNK(mode):
                found[move.path] = str(pygit2.hash(os.fsencode((self._root / move.path).readlink())))
            elif stat.S_ISREG(mode):
                hashed.append(move.path)
        said = self._run("hash-object", "--stdin-paths", given="".join(map(_quoted, hashed)))
        found.update(zip(hashed, said.out.split(), strict=False))
        return found

    def _is_in_plain_folder(self, path: str) -> bool:
        """Nothing is written through a symbolic link."""
        names = path.split("/")[:-1]
        return not any(
            (self._root / "/".join(names[:count])).is_symlink() for count in range(1, len(names) + 1)
        )

    def _remove(self, path: str) -> None:
        *folders, name = path.split("/")
        with suppress(OSError):
            with folder(self._root, folders) as found:
                found.remove(name)
            for count in range(len(folders), 0, -1):
                (self._root / "/".join(folders[:count])).rmdir()

    def _restore_index(self, before: Commit | None) -> None:
        """In an empty index every file that is committed would count as deleted."""
        if before is not None and not (Path(self._repository.path) / "index").exists():
            self._run("read-tree", str(before.tree_id))
            self._run("update-index", "-q", "--refresh")

    def _run(self, *words: str, given: str = "") -> GitResult:
        """Files are not converted on writing; one that a person's git converted counts as unchanged."""
        config = self._repository.config
        converts = "core.autocrlf" in config and config["core.autocrlf"] == "true"
        return self._git.at_once(*(("-c", "core.autocrlf=input") if converts else ()), *words, given=given)

    # --- our state ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One process at a time. Raises WorkspaceError when another one is at work for too long."""
        self._branch.state.mkdir(exist_ok=True)
        path, until = self._branch.state / LOCK, time.monotonic() + self._branch.lock_seconds
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            while not _is_locked(descriptor):
                if time.monotonic() > until:
                    raise WorkspaceError(
                        "Another roundtable process is writing to the workspace and does not let go of it.",
                        reason="locked",
                        again=True,
                    )
                time.sleep(PAUSE_SECONDS)
            os.set_inheritable(descriptor, True)  # a git that outlives us still moves files
            if self._noted() and not git_runs_in(self._root):
                (Path(self._repository.path) / "index.lock").unlink(missing_ok=True)
            yield
        finally:
            os.close(descriptor)

    def _noted(self) -> str:
        """The commit that the checkout shows, or NO_COMMIT; empty where nothing is left to do."""
        with suppress(OSError, ValueError):
            return (self._branch.state / BEGUN).read_text("ascii").partition(" ")[0]
        return ""

    def _commit(self, noted: str) -> Commit | None:
        with suppress(ValueError):
            found: object = self._repository.get(noted)
            return found if isinstance(found, Commit) else None
        return None

    def _note(self, shown: str) -> None:
        note = self._branch.state / BEGUN
        if not shown:
            note.unlink(missing_ok=True)
            return
        beside = note.with_name(f"{BEGUN}.new")
        beside.write_text(shown, "ascii")
        beside.replace(note)

    def _tell(self, kept: list[str]) -> None:
        """Once: a person may be at work for days."""
        if (found := frozenset(kept)) and found != self._named:
            names = ", ".join(map(one_line, sorted(found)))
            log.warning("people changed these files, so the checkout does not show ours: %s", names)
        self._named = found


def _index_row(move: FileMove) -> str:
    """For `update-index --index-info`; mode 0 removes the path."""
    return f"{move.mode if move.after else 0:06o} {move.after or '0' * 40}\t{move.path}\0"


def _quoted(path: str) -> str:
    """A line for git, which reads quoted names as C does."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"\n'


def _is_locked(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
