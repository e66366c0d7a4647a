"""Locks that a kill left behind, and locks that another program holds."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bot.errors import WorkspaceError
from bot.storage.git.workspace import GitWorkspace
from tests.patience import wait_until
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit

LOCKS = ("index.lock", "HEAD.lock", "refs/heads/main.lock")
LONG_AGO = 1_000_000_000


def locked(git: Git, name: str) -> Path:
    return git.write(f".git/{name}", "")


@pytest.mark.parametrize("name", LOCKS)
async def test_a_lock_from_before_the_bot_is_removed(git: Git, name: str) -> None:
    """A kill left it there, and it would refuse every commit for ever."""
    async with GitWorkspace(git.root) as workspace:
        await workspace.commit(SLUG, a_commit(), now=NOW)
    lock = locked(git, name)
    os.utime(lock, (LONG_AGO, LONG_AGO))

    async with GitWorkspace(git.root) as workspace:
        await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert not lock.exists()
    assert git.status == []


@pytest.mark.parametrize("name", LOCKS)
async def test_a_lock_that_is_held_is_respected(workspace: GitWorkspace, git: Git, name: str) -> None:
    """A person's git is at work: nothing is changed, and it is worth trying again."""
    lock = locked(git, name)

    with pytest.raises(WorkspaceError, match="does not let go") as refused:
        await workspace.commit(SLUG, a_commit(), now=NOW)

    assert (refused.value.reason, refused.value.again) == ("locked", True)
    assert lock.exists()
    assert not (git.root / "docs").exists()

    lock.unlink()
    await workspace.commit(SLUG, a_commit(), now=NOW)
    assert git.status == []


async def test_a_lock_that_is_let_go_is_waited_for(git: Git) -> None:
    """Most are held for a few milliseconds."""
    async with GitWorkspace(git.root, lock_seconds=20) as workspace:
        lock = locked(git, "index.lock")
        committing = asyncio.create_task(workspace.commit(SLUG, a_commit(), now=NOW))
        await wait_until((git.root / ".roundtable/lock").exists)
        assert not committing.done()

        lock.unlink()
        await committing


async def test_reading_waits_for_no_lock(git: Git) -> None:
    """A list is shown while a commit waits for a lock."""
    async with GitWorkspace(git.root, lock_seconds=20) as workspace:
        await workspace.commit(SLUG, a_commit(), now=NOW)
        lock = locked(git, "index.lock")
        committing = asyncio.create_task(workspace.commit(SLUG, a_commit(2), now=NOW))

        assert len(await workspace.items()) == 1
        assert (await workspace.read(SLUG, now=NOW)).state
        assert not committing.done()

        lock.unlink()
        await committing


@contextmanager
def a_person_editing_a_commit_message(git: Git) -> Iterator[None]:
    """`git commit` of a path holds the index until the editor is closed."""
    editor = "python3 -c 'import sys; sys.stdin.read()'"
    running = subprocess.Popen(
        ["git", "-c", f"core.editor={editor}", "-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-a"],
        cwd=git.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        running.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells us which programs work in a folder")
async def test_an_old_lock_of_a_living_git_is_respected(git: Git) -> None:
    """A person opened an editor before the bot was started, and has not finished the commit message."""
    async with GitWorkspace(git.root) as workspace:
        await workspace.commit(SLUG, a_commit(), now=NOW)
    git.write(f"docs/requirements/{SLUG}/requirements-spec.md", "by hand\n")
    lock = git.root / ".git/index.lock"

    with a_person_editing_a_commit_message(git):
        await wait_until(lock.exists)
        os.utime(lock, (LONG_AGO, LONG_AGO))
        async with GitWorkspace(git.root, lock_seconds=0.2) as workspace:
            with pytest.raises(WorkspaceError, match="does not let go"):
                await workspace.commit(SLUG, a_commit(2), now=NOW)
        assert lock.exists()


async def test_bots_take_turns(git: Git) -> None:
    """Two processes may share a checkout: every commit of both is there, in one line."""
    async with GitWorkspace(git.root) as one, GitWorkspace(git.root) as other:
        await asyncio.gather(
            *(
                (one, other)[number % 2].commit(f"item-{number}", a_commit(number), now=NOW)
                for number in range(20)
            )
        )

    assert len(git.subjects) == 20
    assert git("log", "--merges", "--format=%H") == ""
    assert git.status == []


async def test_the_index_of_a_killed_bot_is_repaired_by_the_other(workspace: GitWorkspace, git: Git) -> None:
    """The kill came after the branch had moved: the next commit of the bot that lives repairs the index first."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    index = git.root / ".git/index"
    before = index.read_bytes()
    async with GitWorkspace(git.root) as killed:
        await killed.commit(SLUG, a_commit(2), now=NOW)
    index.write_bytes(before)
    git.write(".roundtable/turn", SLUG)
    assert git.status != []

    await workspace.commit("other-item", a_commit(id="other.1"), now=NOW)

    assert git.status == []


async def test_people_and_bots_lose_nothing_to_each_other(git: Git) -> None:
    """Both commit as fast as they can, and try again when they are refused."""
    async with GitWorkspace(git.root, lock_seconds=20) as workspace:
        await workspace.commit(SLUG, a_commit(), now=NOW)
        person = asyncio.create_task(asyncio.to_thread(commit_by_hand, git, 20))
        bot = 1
        while not person.done():
            bot += 1
            await eventually_committed(workspace, bot)
        await person

    assert sorted(git.subjects) == sorted(
        [*(a_commit(number).subject for number in range(1, bot + 1)), *(f"by hand {n}" for n in range(20))]
    )
    assert git.status == []


def commit_by_hand(git: Git, times: int) -> None:
    for number in range(times):
        while True:
            try:
                git("commit", "--quiet", "--allow-empty", "-m", f"by hand {number}")
            except AssertionError:
                continue
            break


async def eventually_committed(workspace: GitWorkspace, number: int) -> None:
    committed = False
    while not committed:
        with suppress(WorkspaceError):
            committed = bool(await workspace.commit(SLUG, a_commit(number), now=NOW))
