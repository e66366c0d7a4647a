"""A workspace that is opened while another program writes to it, or after one was killed there."""

import asyncio
import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bot.storage.git.workspace import GitWorkspace
from tests.patience import wait_until
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit

LONG_AGO = 1_000_000_000
HOUSEKEEPING = ("packed-refs.lock", "config.lock")


def turn_is_taken(git: Git) -> bool:
    with (git.root / ".roundtable/lock").open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextmanager
def a_person_moving_a_branch(git: Git, branch: str) -> Iterator[None]:
    """`git update-ref` holds a branch from "prepare" until it is told to commit."""
    running = subprocess.Popen(
        ["git", "update-ref", "--stdin"],
        cwd=git.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdin
    assert running.stdout
    running.stdin.write(f"start\nupdate {branch} {git('rev-parse', branch)}prepare\n")
    running.stdin.flush()
    assert running.stdout.readline() + running.stdout.readline() == "start: ok\nprepare: ok\n"
    try:
        yield
    finally:
        running.communicate("abort\n")


async def half_moved(git: Git) -> None:
    """As a kill leaves it, in the middle of a move to what was fetched; then a person went to another branch."""
    async with GitWorkspace(git.root) as workspace:
        await workspace.commit(SLUG, a_commit(), now=NOW)
    before, tree = git("rev-parse", "HEAD").strip(), git("rev-parse", "HEAD^{tree}").strip()
    person = ("-c", "user.name=Ada", "-c", "user.email=a@b")
    after = git(*person, "commit-tree", "-p", before, "-m", "fetched", tree).strip()
    note = {"branch": "refs/heads/main", "before": before, "after": after, "clashes": []}
    git.write(".roundtable/remote/adopting", json.dumps(note))
    git("checkout", "--quiet", "-b", "aside")


async def test_a_held_lock_does_not_keep_a_bot_from_starting(
    git: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """What an earlier bot left behind is tidied up with the next commit, if it cannot be now."""
    await half_moved(git)

    with a_person_moving_a_branch(git, "refs/heads/main"):
        async with GitWorkspace(git.root, lock_seconds=0.2) as workspace:
            assert "is looked at later: Another program is writing to the workspace" in caplog.text
            await workspace.ping()
    async with GitWorkspace(git.root) as workspace:
        await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert not (git.root / ".roundtable/remote/adopting").exists()
    assert git.status == []


async def test_a_commit_that_waits_for_a_lock_says_nothing_about_the_disk(git: Git) -> None:
    """Readiness is asked meanwhile, and must not come and go with every lock that a person holds."""
    async with GitWorkspace(git.root, lock_seconds=20) as workspace:
        lock = git.write(".git/index.lock", "")
        committing = asyncio.create_task(workspace.commit(SLUG, a_commit(), now=NOW))
        await wait_until(lambda: turn_is_taken(git))

        await workspace.ping()
        assert not committing.done()

        lock.unlink()
        await committing


@pytest.mark.parametrize("name", HOUSEKEEPING)
async def test_locks_of_a_killed_housekeeping_are_removed(git: Git, name: str) -> None:
    """Otherwise the repository would never be packed again."""
    async with GitWorkspace(git.root) as workspace:
        await workspace.commit(SLUG, a_commit(), now=NOW)
    lock = git.write(f".git/{name}", "")
    os.utime(lock, (LONG_AGO, LONG_AGO))

    async with GitWorkspace(git.root):
        git("pack-refs", "--all")
        git("config", "gc.auto", "0")

    assert not lock.exists()


@pytest.mark.parametrize("name", HOUSEKEEPING)
async def test_a_commit_waits_for_no_housekeeping(git: Git, name: str) -> None:
    """It needs neither of these locks, and the program that holds them may be at work."""
    async with GitWorkspace(git.root, lock_seconds=0.2) as workspace:
        lock = git.write(f".git/{name}", "")
        await workspace.commit(SLUG, a_commit(), now=NOW)

    assert lock.exists()
