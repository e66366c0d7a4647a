"""A workspace that is opened while another program writes to it, or after one was killed there."""

import asyncio
import fcntl

import pytest

from bot.storage.git.workspace import GitWorkspace
from tests.patience import wait_until
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit

HOUSEKEEPING = ("packed-refs.lock", "config.lock")


def turn_is_taken(git: Git) -> bool:
    with (git.root / ".roundtable/lock").open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


async def test_a_commit_that_waits_for_a_lock_says_nothing_about_the_disk(git: Git) -> None:
    """Readiness is asked meanwhile, and must not come and go with every lock that a person holds."""
    async with GitWorkspace(git.root, lock_seconds=20, seal=SEAL) as workspace:
        lock = git.write(".git/refs/heads/main.lock", "")
        committing = asyncio.create_task(workspace.commit(SLUG, a_commit(), now=NOW))
        await wait_until(lambda: turn_is_taken(git))

        await workspace.ping()
        assert not committing.done()

        lock.unlink()
        await committing


@pytest.mark.parametrize("name", HOUSEKEEPING)
async def test_a_commit_waits_for_no_housekeeping(git: Git, name: str) -> None:
    """It needs neither of these locks, and the program that holds them may be at work."""
    async with GitWorkspace(git.root, lock_seconds=0.2, seal=SEAL) as workspace:
        lock = git.write(f".git/{name}", "")
        await workspace.commit(SLUG, a_commit(), now=NOW)

    assert lock.exists()
