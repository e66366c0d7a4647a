"""A git that outlives the bot that started it: what it still does, its successor is not harmed by."""

import asyncio
import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bot.storage.git.sync import Sync, SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.patience import wait_until
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import SPEC, assert_at_one, begun, pushed_by_hand
from tests.storage.samples import NOW, SLUG, a_commit

HELD = """#!/bin/sh
if mkdir {folder}/held 2>/dev/null; then cat {folder}/let-go; fi
"""


class Scene:
    """A workspace, a remote and a person; somebody's git is held in the middle of talking to the remote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(begun(), folder, dirs_exist_ok=True)
        self.git, self.remote, self.person = (Git(folder / name) for name in ("one", "remote.git", "person"))
        os.mkfifo(folder / "let-go")

    async def begin(self) -> None:
        self.git("remote", "add", "hub", str(self.remote.root))
        async with GitWorkspace(self.git.root, after_commit=lambda: None, seal=SEAL) as workspace:
            await workspace.commit(SLUG, a_commit(1), now=NOW)
            assert await self.sync().once() == SyncResult.PUSHED
            pushed_by_hand(self.person, {SPEC: "# Requirements\n\n## 9. Notes\n\nby hand\n"})
            await workspace.commit(SLUG, a_commit(2), now=NOW)

    def sync(self) -> Sync:
        """By its address, at which no fetch is held."""
        return Sync(self.git.root, remote=str(self.remote.root), seal=SEAL)

    def hold_fetches(self) -> None:
        """After the remote said what it has, before it gives it."""
        hook = self._script("hook", HELD.format(folder=self.folder) + 'exec "$@"\n')
        words = f'exec git -c uploadpack.packObjectsHook={hook} upload-pack "$@"\n'
        program = self._script("upload-pack", f"#!/bin/sh\n{words}")
        self.git("config", "remote.hub.uploadpack", str(program))

    def hold_pushes(self) -> None:
        """After the remote has what is pushed, before its branch moves."""
        self._script("remote.git/hooks/pre-receive", HELD.format(folder=self.folder))

    async def kill_a_bot(self) -> None:
        """Only the bot: its git goes on."""
        bot = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.storage.one_round", self.git.root, "hub"
        )
        await wait_until((self.folder / "held").exists)
        os.kill(bot.pid, signal.SIGKILL)
        await bot.wait()
        assert self.orphans()

    async def let_go(self) -> None:
        """And wait for the end of it."""
        (self.folder / "let-go").write_text("")
        await wait_until(lambda: not self.orphans())

    def orphans(self) -> list[str]:
        """What still runs in the workspace or the remote."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(self.folder):
                    found.append((process / "comm").read_text())
        return found

    def _script(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path


@pytest.fixture
async def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    await made.begin()
    return made


async def assert_all_is_there(scene: Scene, *, commits: int) -> None:
    async with GitWorkspace(scene.git.root, after_commit=lambda: None, seal=SEAL) as workspace:
        await workspace.commit(SLUG, a_commit(9), now=NOW)
        assert await scene.sync().once() == SyncResult.PUSHED
        assert await scene.sync().once() == SyncResult.NOTHING
    assert_at_one(scene.remote, scene.git)
    assert len(scene.git.subjects) == commits
    assert scene.git.subjects.count(a_commit(2).subject) == 1
    assert "by hand" in (scene.git.root / SPEC).read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what runs")
@pytest.mark.parametrize("held", ["fetches", "pushes"])
async def test_what_a_dead_bots_git_does_late_does_no_harm(scene: Scene, held: str) -> None:
    """Its successor was through with a round, and a person has pushed, when it comes to its end."""
    getattr(scene, f"hold_{held}")()
    await scene.kill_a_bot()

    pushed_by_hand(scene.person, {"src/app.py": "print(2)\n"})
    assert await scene.sync().once() == SyncResult.PUSHED
    await scene.let_go()

    await assert_all_is_there(scene, commits=6)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what runs")
@pytest.mark.parametrize("held", ["fetches", "pushes"])
async def test_what_a_dead_bots_git_still_brings_home_counts(scene: Scene, held: str) -> None:
    """It ends before its successor looks: what it pushed is known as ours."""
    getattr(scene, f"hold_{held}")()
    await scene.kill_a_bot()

    await scene.let_go()

    await assert_all_is_there(scene, commits=5)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what runs")
async def test_a_history_written_anew_behind_the_back_of_a_dead_bots_fetch(scene: Scene) -> None:
    """It brings what the remote had before: nobody takes that for news, or pushes it again."""
    scene.hold_fetches()
    await scene.kill_a_bot()

    scene.person.commit("src/app.py", "print(3)\n", message="anew")
    scene.person("reset", "--quiet", "--soft", "HEAD~2")
    scene.person("commit", "--quiet", "-m", "as one")
    scene.person("push", "--quiet", "--force")
    assert await scene.sync().once() == SyncResult.PUSHED
    await scene.let_go()

    await assert_all_is_there(scene, commits=5)
    assert scene.remote("log", "--format=%s", "main").splitlines()[2:4] == ["as one", a_commit(1).subject]
