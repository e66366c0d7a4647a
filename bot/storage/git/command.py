"""
Git's command line, for what libgit2 does not do: the network, with ssh and credential helpers, and the working tree,
with its filters.

It never prompts, runs no hook and no `ext::` transport, starts nothing in the background, and flushes what it writes to
the disk. It gets none of our own settings and tokens.
"""

import asyncio
import errno
import os
import signal
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pygit2

from bot.errors import WorkspaceError
from bot.files import FileRefused
from bot.keys import Keys

OPTIONS = (
    "--no-pager",
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.fsync=committed"),
    *("-c", "core.quotePath=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "submodule.recurse=false"),
)
QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "",
}
ELSEWHERE = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""Variables that would make git use another repository."""
PRIVATE = ("ROUNDTABLE_", "SLACK_", "REDIS_", "OTEL_")
KEYS = frozenset(
    {name.upper() for name in Keys.model_fields if not name.startswith("aws_")} | {"AWS_BEARER_TOKEN_BEDROCK"}
)
"""Secrets of ours. The other variables of AWS stay: git may have a remote there."""
LOCAL_SECONDS = 120.0
END_SECONDS = 1.0
LOWEST_PRIORITY = 19


class GitResult(NamedTuple):
    code: int
    out: str
    error: str


class Git:
    """In the checkout at *root*. Raises TimeoutError, and OSError where there is no git."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def __call__(
        self, *words: str, seconds: float = LOCAL_SECONDS, last: bool = False, most: int | None = None
    ) -> GitResult:
        """
        After *seconds*, after *most* bytes, or when cancelled, git and all that it started are ended. *last*: at lowest
        priority.
        """
        running = await asyncio.create_subprocess_exec(
            "git",
            *OPTIONS,
            *words,
            cwd=self._root,
            env=_environment(),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        if last:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, running.pid, LOWEST_PRIORITY)
        try:
            async with asyncio.timeout(seconds):
                out, error = await (running.communicate() if most is None else _beginning(running, most))
        finally:
            if running.returncode is None:
                await _end(running)
        return GitResult(running.returncode or 0, _text(out), _text(error))

    def at_once(self, *words: str, given: str = "") -> GitResult:
        """Blocks: for a thread, and for what needs no network. Git inherits the lock of the checkout (follow.py)."""
        try:
            ran = subprocess.run(
                ["git", "--literal-pathspecs", *OPTIONS, *words],
                cwd=self._root,
                env=_environment(),
                input=given.encode("utf-8", "surrogateescape"),
                capture_output=True,
                check=False,
                close_fds=False,
                timeout=LOCAL_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(str(error)) from None
        return GitResult(ran.returncode, _text(ran.stdout), _text(ran.stderr))


async def _beginning(running: asyncio.subprocess.Process, most: int) -> tuple[bytes, bytes]:
    printed = bytearray()
    while running.stdout and len(printed) < most and (more := await running.stdout.read(most - len(printed))):
        printed += more
    return bytes(printed), b""


async def _end(running: asyncio.subprocess.Process) -> None:
    """Git removes its lock files at SIGTERM. What still runs after END_SECONDS, or when git has ended, is killed."""
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            await running.wait()
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    await running.wait()


def _environment() -> dict[str, str]:
    """Without our own settings and keys."""
    left_out = KEYS | ELSEWHERE
    theirs = {
        name: value
        for name, value in os.environ.items()
        if name not in left_out and not name.startswith(PRIVATE)
    }
    return theirs | QUIET


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "surrogateescape")


def printable(text: str) -> str:
    """What is not UTF-8 can be in no message and no file of ours."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# Errors of the disk and of libgit2 as a sentence for people, and whether trying again can help.


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except (OSError, pygit2.GitError) as error:
        raise _explanation(error) from error


def _explanation(error: Exception) -> WorkspaceError:
    if isinstance(error, FileRefused):
        return WorkspaceError(f"{error.strerror}.", reason="refused")
    said = str(error)
    if "lock" in said and "No such file" not in said and not _means(error, *FULL, *REFUSED):
        return WorkspaceError("Another program is writing to the workspace.", reason="locked", again=True)
    if _means(error, *FULL):
        return WorkspaceError("The disk of the workspace is full.", reason="disk_full", again=True)
    if _means(error, *REFUSED):
        return WorkspaceError("The workspace cannot be written to.", reason="read_only")
    return WorkspaceError("The workspace could not be read or written.", reason="io", again=True)


def _means(error: Exception, *codes: int) -> bool:
    """Libgit2 gives no error number, only the system's message."""
    number = error.errno if isinstance(error, OSError) else None
    return number in codes or (number is None and any(os.strerror(code) in str(error) for code in codes))
