"""A kill at any moment between fetch, replay and push: the next round finishes it, and nothing is lost."""

import asyncio
import os
import random
import shutil
import signal
import sys
from pathlib import Path

import pytest

from bot.storage.git import GitWorkspace
from bot.storage.remote import Result, Sync
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit, a_section

ITEM = f"docs/requirements/{SLUG}"
SPEC = f"{ITEM}/requirements-spec.md"
FEWEST_MOMENTS = 25
RANDOM_KILLS = 12
LARGE = 12
AT_ONCE = 4


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
    person("add", ".")
    person("commit", "--quiet", "-m", "code")
    person("push", "--quiet", str(remote.root), "main")
    sync = Sync(folder / "workspace", remote=str(remote.root))
    async with GitWorkspace(folder / "workspace") as workspace:
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
    return folder


async def assert_finished(folder: Path, about: object) -> None:
    git, remote = Git(folder / "workspace"), Git(folder / "remote.git")
    told = []

    async def tell(slug: str, paths: tuple[str, ...]) -> None:
        told.append((slug, paths))

    async with GitWorkspace(git.root) as successor:
        assert git.status == [" M notes.txt"], about
        await successor.commit(SLUG, a_commit(4, edits=()), now=NOW)
        result = await Sync(git.root, remote=str(remote.root)).once(on_conflict=tell)
        assert result == Result.PUSHED, about
        state = (await successor.read(SLUG, now=NOW)).state

    assert (folder / "told").exists() or told == [(SLUG, (f"{SPEC}.roundtable-conflict",))], about
    assert git.status == [" M notes.txt"], about
    assert git("diff", "--", "notes.txt").splitlines()[-2:] == ["-one", "+mine"], about
    assert git("rev-parse", "HEAD") == remote("rev-parse", "main"), about
    assert git.subjects[:3] == [a_commit(number).subject for number in (4, 3, 2)], about
    assert len(git.subjects) == len(set(git("log", "--format=%H").split())) == 8, about
    assert git.shown(SPEC).endswith("by hand\n"), about
    assert "step 2" in git.shown(f"{SPEC}.roundtable-conflict"), about
    assert state, about
    assert state.meta.steps_completed == ("01-01", "01-02", "01-03", "01-04"), about
    remote("fsck", "--strict", "--no-dangling")
    git("fsck", "--strict", "--no-dangling")


async def test_a_round_killed_anywhere_is_finished_by_the_next(met: Path, tmp_path: Path) -> None:
    """The checkout is sound as soon as the bot is there again; somebody's change in it was never touched."""
    copies = tmp_path / "copies"
    killing = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.killed_sync", met, copies
    )
    assert await killing.wait() == 0
    moments = len(list(copies.iterdir()))
    assert moments > FEWEST_MOMENTS

    free = asyncio.Semaphore(AT_ONCE)

    async def look(moment: int) -> None:
        async with free:
            await assert_finished(copies / str(moment), moment)

    await asyncio.gather(*map(look, range(1, moments)))


async def test_git_killed_while_it_moves_files_is_finished_by_the_next(met: Path, tmp_path: Path) -> None:
    """At random moments, with or without the git that it runs: files half written, locks left behind."""
    for number in range(RANDOM_KILLS):
        copy = tmp_path / f"random-{number}"
        shutil.copytree(met, copy, symlinks=True)
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.storage.killed_sync", copy),
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert running.stdout
        await running.stdout.read(1)
        try:
            async with asyncio.timeout(random.uniform(0.05, 0.5)):
                await running.wait()
        except TimeoutError:
            kill = os.killpg if number % 2 else os.kill
            kill(running.pid, signal.SIGKILL)
            await running.wait()
        await assert_finished(copy, number)
