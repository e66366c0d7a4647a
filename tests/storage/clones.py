"""A remote, a person with a clone, and bots with theirs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bot.storage.git.sync import Sync, SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit

ITEM = f"docs/requirements/{SLUG}"
SPEC = f"{ITEM}/requirements-spec.md"
TRANSCRIPT = f"{ITEM}/planning/meeting.jsonl"
_FOLDER = TemporaryDirectory()


class Replica(NamedTuple):
    """One bot with its own clone."""

    workspace: GitWorkspace
    sync: Sync
    git: Git

    async def commit(self, number: int = 1, slug: str = SLUG, **fields: object) -> None:
        await self.workspace.commit(slug, a_commit(number, id=f"{slug}.i1.{number}", **fields), now=NOW)


Opening = Callable[[str], AbstractAsyncContextManager[Replica]]


@asynccontextmanager
async def at_work(root: Path, remote: str) -> AsyncIterator[Replica]:
    """As the bot runs where others have clones of their own: abreast of the remote, and in the background."""
    sync = Sync(root, remote=remote, every_seconds=600, seal=SEAL)
    async with GitWorkspace(
        root,
        lock_seconds=20,
        seal=SEAL,
        abreast=sync.abreast,
        in_step=sync.abreast,
        after_commit=sync.wake,
    ) as workspace:
        running = asyncio.create_task(sync.run())
        await sync.abreast()
        try:
            yield Replica(workspace, sync, Git(root))
        finally:
            running.cancel()
            await asyncio.wait({running})


@asynccontextmanager
async def when_asked(root: Path, remote: str) -> AsyncIterator[Replica]:
    """A bot that talks to its remote only when a test says so."""
    async with GitWorkspace(root, lock_seconds=20, seal=SEAL, after_commit=lambda: None) as workspace:
        yield Replica(workspace, Sync(root, remote=remote, seal=SEAL), Git(root))


@cache
def begun() -> Path:
    """`remote.git` with a first commit, the clone of the `person` who pushed it, and `one` of a bot that has it."""
    folder = Path(_FOLDER.name)
    remote, person = a_remote(folder / "remote.git"), Git(folder / "person")
    person.begin()
    person("remote", "add", "origin", "../remote.git")  # of whichever copy it is
    person.commit("src/app.py", "print()\n")
    person("push", "--quiet", "--set-upstream", "origin", "main")

    async def follow() -> None:
        async with when_asked(folder / "one", str(remote.root)) as bot:
            assert await bot.sync.once() == SyncResult.NOTHING
            assert bot.git.subjects == person.subjects

    with ThreadPoolExecutor(1) as thread:  # a test may have a loop of its own
        thread.submit(asyncio.run, follow()).result()
    return folder


def a_remote(root: Path) -> Git:
    """A bare repository in which nothing was committed yet."""
    bare = Git(root)
    bare.root.mkdir(parents=True)
    bare("init", "--bare", "--initial-branch=main")
    return bare


def pushed_by_hand(person: Git, files: dict[str, str]) -> None:
    """On top of what is at the remote."""
    person("pull", "--quiet", "--rebase")
    for path, content in files.items():
        person.commit(path, content)
    person("push", "--quiet")


def assert_at_one(remote: Git, *clones: Git) -> None:
    """The same commits everywhere, in one line, sound, and no clone has anything to say."""
    for clone in clones:
        assert clone("rev-parse", "HEAD") == remote("rev-parse", "main")
        assert clone.status == []
        assert clone("diff", "--cached") == ""
        clone("fsck", "--strict")
    remote("fsck", "--strict")
    assert remote("log", "--merges", "--format=%H", "main") == ""


def subjects(remote: Git) -> Sequence[str]:
    """Of the commits at the remote, the oldest first."""
    return remote("log", "--reverse", "--format=%s", "main").splitlines()
