"""
Git's own command line, for what libgit2 does not do: the network, with ssh and credential helpers, and the working
tree, with its filters.

It asks nobody, runs no hook and no `ext::` transport, starts nothing in the background, and what a flush costs is
paid: a commit that was told of is on the disk. It is told nothing of our own settings and tokens.
"""

import asyncio
import errno
import os
import signal
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pygit2

from bot.errors import WorkspaceError
from bot.files import Refused
from bot.keys import Keys

OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
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
    "LC_ALL": "C",
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
"""Names that would send git to another repository."""
PRIVATE = ("ROUNDTABLE_", "SLACK_", "REDIS_", "OTEL_")
KEYS = frozenset(
    {name.upper() for name in Keys.model_fields if not name.startswith("aws_")} | {"AWS_BEARER_TOKEN_BEDROCK"}
)
"""All others of AWS are for git, too: it may have a remote there."""
LOCAL_SECONDS = 120.0
LOWEST = 19
"""The priority of what may wait."""


class Said(NamedTuple):
    code: int
    out: str
    error: str


class Git:
    """In the checkout at *root*. Raises TimeoutError, and OSError where there is no git."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def __call__(self, *words: str, seconds: float, last: bool = False) -> Said:
        """
        What takes longer than *seconds*, or is no longer waited for, is killed with all that it started. With *last*,
        everybody else goes first.
        """
        running = await asyncio.create_subprocess_exec(
            "git",
            *OPTIONS,
            *words,
            cwd=self._root,
            env=_environment({}),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        if last:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, running.pid, LOWEST)
        try:
            async with asyncio.timeout(seconds):
                out, error = await running.communicate()
        finally:
            if running.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
                await running.wait()
        return Said(running.returncode or 0, _text(out), _text(error))

    def at_once(self, *words: str, given: str = "", env: Mapping[str, str] | None = None) -> Said:
        """For a thread of ours, and for what needs no network. It has part in our turn (see turn.py)."""
        ran = subprocess.run(
            ["git", *OPTIONS, *words],
            cwd=self._root,
            env=_environment(env or {}),
            input=given.encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=False,
            close_fds=False,
            timeout=LOCAL_SECONDS,
        )
        return Said(ran.returncode, _text(ran.stdout), _text(ran.stderr))


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    theirs = {name: value for name, value in without_ours(os.environ) if name not in ELSEWHERE}
    return {**theirs, **QUIET, **more}


def without_ours(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """No program that we start is told our own settings and keys."""
    for name, value in environment.items():
        if name not in KEYS and not name.startswith(PRIVATE):
            yield name, value


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "surrogateescape")


# What the disk and libgit2 say, translated once: a sentence for people, and whether waiting can help.


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except (OSError, pygit2.GitError) as error:
        raise _explanation(error) from error


def _explanation(error: Exception) -> WorkspaceError:
    if isinstance(error, Refused):
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
    """Libgit2 gives no number, but the system's words for it."""
    number = error.errno if isinstance(error, OSError) else None
    return number in codes or (number is None and any(os.strerror(code) in str(error) for code in codes))
