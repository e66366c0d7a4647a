"""A kill at any moment between fetch, replay and push: the next round finishes it, and nothing is lost."""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

import pygit2
import pytest

from bot.storage.git.sync import Sync, SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git, unlike_each_other
from tests.storage.clones import SPEC
from tests.storage.samples import NOW, SLUG, a_commit, a_section

FEWEST_MOMENTS = 25
RANDOM_KILLS = 12
AT_ONCE = 4
LARGE = 12


@pytest.fixture
async def met(tmp_path: Path) -> Path:
    """A workspace and a remote that both went on, also with the same file, and a person's change in the workspace."""
    folder = tmp_path / "met"
    person, remote = Git(tmp_path / "person"), Git(folder / "remote.git")
    remote.root.mkdir(parents=True)
    remote("init", "--bare", "--initial-branch=main")
    person.begin()
    for number in range(LARGE):
        person.write(f"src/{number}.py", f"print({number})\n")
    person.commit("notes.txt", "one\n")
    person.commit_all("code")
    person("push", "--quiet", str(remote.root), "main")
    sync = Sync(folder / "workspace", remote=str(remote.root), seal=SEAL)
    async with GitWorkspace(folder / "workspace", after_commit=sync.wake, seal=SEAL) as workspace:
        await sync.once()
        await workspace.commit(SLUG, a_commit(1), now=NOW)
        await sync.once()
        person("pull", "--quiet", str(remote.root), "main")
        for number in range(LARGE):
            person.write(f"src/{number}.py", f"print({number} + 1)\n" * 100)
        person("rm", "--quiet", "--force", "src/7.py")
        person.write("src/new.py", "new\n")
        person("add", ".")
        person.commit(SPEC, "# Requirements\n\n## 1. Scope\n\nby hand\n")
        person("commit", "--quiet", "-m", "more code")
        person("push", "--quiet", str(remote.root), "main")
        await workspace.commit(SLUG, a_commit(2), now=NOW)
        await workspace.commit(SLUG, a_commit(3, edits=(a_section("x", path="other.md"),)), now=NOW)
    Git(folder / "workspace").write("notes.txt", "mine\n")
    remote("config", "receive.fsckObjects", "true")
    for git in (remote, Git(folder / "workspace")):
        git("repack", "-adq")  # it is copied often
    return folder


async def assert_finished(folder: Path) -> None:
    """The remote itself has looked at everything that was pushed to it."""
    git, remote = Git(folder / "workspace"), pygit2.Repository(str(folder / "remote.git"))
    async with GitWorkspace(git.root, after_commit=lambda: None, seal=SEAL) as successor:
        assert git.status == [" M notes.txt"]
        await successor.commit(SLUG, a_commit(4, edits=()), now=NOW)
        assert await Sync(git.root, remote=remote.path, seal=SEAL).once() == SyncResult.PUSHED
        state = (await successor.read(SLUG, now=NOW)).state

    assert git.status == [" M notes.txt"]
    assert (git.root / "notes.txt").read_text() == "mine\n"
    assert state
    assert state.meta.steps_completed == ("01-01", "01-02", "01-03", "01-04")
    assert_history(pygit2.Repository(str(git.root)), remote)
    git("fsck", "--strict", "--no-dangling")


async def finish(copies: Iterable[Path]) -> None:
    """Several at once: most of it is waiting for a disk."""
    free = asyncio.Semaphore(AT_ONCE)

    async def look(copy: Path) -> None:
        async with free:
            await assert_finished(copy)

    async with asyncio.TaskGroup() as looking:
        for copy in copies:
            looking.create_task(look(copy), name=copy.name)


def assert_history(ours: pygit2.Repository, remote: pygit2.Repository) -> None:
    newest = ours.head.peel(pygit2.Commit)
    assert newest.id == remote.head.target
    line = list(ours.walk(newest.id))
    subjects = [commit.message.splitlines()[0] for commit in line]
    assert subjects[:3] == [a_commit(number).subject for number in (4, 3, 2)]
    assert len(line) == 8
    assert all(len(commit.parent_ids) <= 1 for commit in line)
    assert shown(newest, "notes.txt") == "one\n"
    assert "step 2" in shown(newest, SPEC)


def shown(commit: pygit2.Commit, path: str) -> str:
    found = commit.tree[path]
    assert isinstance(found, pygit2.Blob)
    return found.data.decode()


async def kill(met: Path, copies: Path, *words: str) -> list[Path]:
    """The copies, in the order in which they were killed."""
    program = (sys.executable, "-m", "tests.storage.killed_sync")
    killing = await asyncio.create_subprocess_exec(*program, met, copies, *words)
    assert await killing.wait() == 0
    return in_order(copies)


def in_order(copies: Path) -> list[Path]:
    return sorted(copies.iterdir(), key=lambda copy: int(copy.name))


async def test_a_round_killed_anywhere_is_finished_by_the_next(met: Path, tmp_path: Path) -> None:
    """The checkout is sound as soon as the bot is there again; somebody's change in it was never touched."""
    *copies, _ = await kill(met, tmp_path / "copies")

    assert len(copies) >= FEWEST_MOMENTS
    await finish(unlike_each_other(copies))


async def test_git_killed_while_it_moves_files_is_finished_by_the_next(met: Path, tmp_path: Path) -> None:
    """At random moments, with or without the git that it runs: files half written, locks left behind."""
    await finish(await kill(met, tmp_path / "copies", str(RANDOM_KILLS)))
