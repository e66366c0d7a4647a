"""
One bot at a time writes to a workspace, and what one that was killed left behind does not stop the next.

Between bots a lock of the operating system decides, which a kill releases. Git's own lock files outlive the process
that made them, and then every commit after is refused. While the turn is ours, none of them is another bot's at
work: one that is older than this bot, or was left by a bot that died in its turn, is removed, unless a person's git
is running here.
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


class Turn:
    """*state* is our own folder at the top of the workspace; *seconds* is how long others are waited for."""

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
        Nobody but us writes meanwhile, and none of git's *locks* is held. Yields *what* the turn before was about,
        if its bot died in it. Raises WorkspaceError when somebody keeps a lock for too long.

        Locks *apart* are not in our way: one that was left behind is removed as well, and no other is waited for.
        """
        until = time.monotonic() + self._seconds
        with self._lock.open("w") as file:
            _wait(partial(_locked, file.fileno()), until, "Another roundtable process")
            # A git that outlives the bot that started it still moves files: the lock is let go of when it has ended.
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
    """As far as this system tells: only Linux does."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name = (process / "comm").read_text().strip()
            if name.startswith("git") and (process / "cwd").readlink().is_relative_to(root):
                return True
    return False
