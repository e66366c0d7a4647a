"""
One bot at a time writes to a workspace, and locks that a killed bot left do not stop the next one.

Between bots a lock of the operating system decides; a kill releases it. They wait for it in the system's own queue.

Git's own lock files outlive their process, and then git refuses every commit. While this bot has the turn, no other bot
is using them. So a lock file that is older than this bot, or that a bot left when it died in its turn, is removed,
unless a person's git is running here.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Condition, Thread

from bot.errors import WorkspaceError

LOCK_SECONDS = 3.0
FIRST_PAUSE_SECONDS = 0.01
LONGEST_PAUSE_SECONDS = 0.25


class WorkspaceLock:
    """*state* is the folder of our own state; *seconds* is the longest wait for other programs."""

    def __init__(self, state: Path, *, seconds: float = LOCK_SECONDS) -> None:
        state.mkdir(exist_ok=True)
        self._root = state.parent.resolve()
        self._queue = _Queue(state / "lock", gate=state / "lock.next")
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
        with self._queue.taken(until) as descriptor:
            # A git that we started and that outlives us still moves files: it inherits the lock and keeps it.
            os.set_inheritable(descriptor, True)
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


class _Queue:
    """
    An exclusive lock of the operating system for one thread at a time, and a fair queue before it.

    A lock that is let go could be taken again at once by the process that had it, before the one that waits has woken
    up. So a process takes the *gate* first, keeps it while it waits for the lock, and opens it when it has the lock:
    those who come later wait at the gate, also the process that has just let go. See ADR 38.

    The system has no time limit for this wait. It is done in a thread, which lets go at once of what comes too late.
    A thread that waits already is used again, so that there is never more than one, and it keeps its place.
    """

    def __init__(self, lock: Path, *, gate: Path) -> None:
        self._lock = lock
        self._gate = gate
        self._changed = Condition()
        self._is_wanted = False
        self._is_waiting = False
        self._got: int | OSError | None = None

    @contextmanager
    def taken(self, until: float) -> Iterator[int]:
        """The descriptor of the lock. Raises WorkspaceError when it is not ours in time."""
        got = self._at_once()
        if got is None:
            got = self._waited(until)
        try:
            yield got
        finally:
            os.close(got)

    def _at_once(self) -> int | None:
        """Usually nobody else is there."""
        with suppress(BlockingIOError):
            return self._asked(fcntl.LOCK_NB)
        return None

    def _waited(self, until: float) -> int:
        with self._changed:
            self._is_wanted = True
            if not self._is_waiting:
                self._is_waiting = True
                Thread(target=self._wait, name="workspace lock", daemon=True).start()
            try:
                self._changed.wait_for(lambda: self._got is not None, max(0.0, until - time.monotonic()))
            finally:
                self._is_wanted = False
            got, self._got = self._got, None
        if got is None:
            raise _held("Another roundtable process")
        if isinstance(got, OSError):
            raise got
        return got

    def _wait(self) -> None:
        got: int | OSError
        try:
            got = self._asked()
        except OSError as error:
            got = error
        with self._changed:
            self._is_waiting = False
            if self._is_wanted:
                self._got = got
                self._changed.notify()
            elif not isinstance(got, OSError):
                os.close(got)

    def _asked(self, more: int = 0) -> int:
        gate = _locked(self._gate, more)
        try:
            return _locked(self._lock, more)
        finally:
            os.close(gate)


def _locked(path: Path, more: int) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | more)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _held(who: str) -> WorkspaceError:
    return WorkspaceError(
        f"{who} is writing to the workspace and does not let go of it.", reason="locked", again=True
    )


def _wait(free: Callable[[], bool], until: float, who: str) -> None:
    """Git's locks are files that exist: there is no queue for them."""
    pause = FIRST_PAUSE_SECONDS
    while not free():
        if time.monotonic() >= until:
            raise _held(who)
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


def _git_runs_in(root: Path) -> bool:
    """Only Linux can tell; elsewhere False."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name = (process / "comm").read_text().strip()
            if name.startswith("git") and (process / "cwd").readlink().is_relative_to(root):
                return True
    return False
