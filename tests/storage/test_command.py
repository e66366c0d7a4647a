"""Git's command line, ended before it is done."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from bot.storage.git.command import Git as Command
from tests.patience import wait_until
from tests.storage.checkout import Git

REF = "refs/roundtable/fetched/main"
HOOK = """#!/bin/sh
echo $$ > "{pid}"
{first}
sleep 60
"""


@pytest.fixture
def held_up(git: Git) -> tuple[str, ...]:
    """Words for git, which waits for a hook of ours while it has a reference locked."""
    git.begin()
    git.commit("README.md", "ours\n")
    hooks = git.root.parent / "hooks"
    return ("-c", f"core.hooksPath={hooks}", "update-ref", REF, "HEAD")


def hook(root: Path, *, first: str = "") -> Path:
    """The file that will have the id of the process."""
    pid = root.parent / "pid"
    file = root.parent / "hooks" / "reference-transaction"
    file.parent.mkdir()
    file.write_text(HOOK.format(pid=pid, first=first))
    file.chmod(0o755)
    return pid


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_listened_to(running: asyncio.Task[Any]) -> bool:
    """One that is cancelled while asyncio still starts it is killed by asyncio."""
    coroutine: Any = running.get_coro()
    return getattr(coroutine.cr_await, "__name__", "") == "communicate"


async def test_a_git_that_is_cancelled_leaves_no_lock(git: Git, held_up: tuple[str, ...]) -> None:
    """Else the remote would count as unreachable until the lock is old enough to be removed."""
    lock, pid = git.root / ".git" / f"{REF}.lock", hook(git.root)
    running = asyncio.create_task(Command(git.root)(*held_up, seconds=60))
    await wait_until(lambda: lock.exists() and pid.exists() and pid.read_text() and is_listened_to(running))

    running.cancel()
    await asyncio.wait({running})

    assert running.cancelled()
    assert not lock.exists()
    await wait_until(lambda: not is_running(int(pid.read_text())))


async def test_what_does_not_end_when_it_is_asked_is_killed(git: Git, held_up: tuple[str, ...]) -> None:
    """A program that git started may take no notice."""
    pid = hook(git.root, first="trap '' TERM")

    with pytest.raises(TimeoutError):
        await Command(git.root)(*held_up, seconds=1)

    await wait_until(lambda: not is_running(int(pid.read_text())))
