"""
One bot at a time writes to a workspace, and locks that a killed bot left do not stop the next one.

Between bots a lock of the operating system decides; a kill releases it. Git's own lock files outlive their process, and
then git refuses every commit. While this bot has the turn, no other bot is using them. So a lock file that is older
than this bot, or that a bot left when it died in its turn, is removed, unless a person's git is running here.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from bot.errors import WorkspaceError

LOCK_SECONDS = 3.0
FIRST_PAUSE_SECONDS = 0.01
LONGEST_PAUSE_SECONDS = 0.25


class WorkspaceLock:
    """*state* is the folder of our own state; *seconds* is the longest wait for other programs."""

    def __init__(self, state: Path, *, seconds: float = LOCK_SECONDS) -> None:
        state.mkdir(exist_ok=True)
        self._root = state.parent.resolve()
        self._lock = state / "lock"
        self._note = state / "turn"
        self._seconds = seconds
        self._began = time.time()

    @contextmanager
    def taken(self, what: str, *, locks: Iterable[Path], apart: Iterable[Path] = ()) -> Iterator[str]:
        """
        Keep other bots from writing, and wait until none of git's *locks* is held. Yields *what* of the turn before,
        if its bot died in it. Raises WorkspaceError when a lock is held for too long.

        *apart* are locks that a commit does not need: those that a kill left are removed, others are not waited for.
        """
        until = time.monotonic() + self._seconds
        with self._lock.open("w") as file:
            _wait(partial(_locked, file.fileno()), until, "Another roundtable process")
            # A git that we started and that outlives us still moves files: it inherits the lock and keeps it.
            os.set_inheritable(file.fileno(), True)
            left, died = self._left_behind()
            for lock in locks:
                _wait(partial(self._free, lock, died), until, f"Another program ({lock.name})")
            for lock in apart:
                self._free(lock, died)
            self._note.write_text(what, encoding="utf-8")
            try:
                yield left
            finally:
                self._note.unlink(missing_ok=True)

    def _left_behind(self) -> tuple[str, float]:
        with suppress(FileNotFoundError):
            return self._note.read_text(encoding="utf-8"), self._note.stat().st_mtime
        return "", float("inf")

    def _free(self, lock: Path, died: float) -> bool:
        try:
            made = lock.stat().st_mtime
        except FileNotFoundError:
            return True
        if (made < self._began or made >= died) and not _git_runs_in(self._root):
            lock.unlink(missing_ok=True)
            return True
        return False


def _wait(free: Callable[[], bool], until: float, who: str) -> None:
    pause = FIRST_PAUSE_SECONDS
    while not free():
        if time.monotonic() >= until:
            raise WorkspaceError(
                f"{who} is writing to the workspace and does not let go of it.", reason="locked", again=True
            )
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _git_runs_in(root: Path) -> bool:
    """Only Linux can tell; elsewhere False."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name = (process / "comm").read_text().strip()
            if name.startswith("git") and (process / "cwd").readlink().is_relative_to(root):
                return True
    return False
