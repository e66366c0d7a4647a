import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.storage.git.sync import Sync, SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import Opening, Replica, a_remote


@pytest.fixture
async def silent_redis_url() -> AsyncIterator[str]:
    """Something that accepts connections, listens, and never says a word."""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            pass
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        yield f"redis://{host}:{port}/0"


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """A person's git in the workspace."""
    return Git(tmp_path / "workspace")


@pytest.fixture
async def workspace(git: Git) -> AsyncIterator[GitWorkspace]:
    async with GitWorkspace(git.root, lock_seconds=0.2, seal=SEAL) as opened:
        yield opened


@pytest.fixture
def remote(tmp_path: Path) -> Git:
    """A bare repository in which nothing was committed yet."""
    return a_remote(tmp_path / "remote.git")


@pytest.fixture
def person(remote: Git, tmp_path: Path) -> Git:
    """Somebody with a clone of their own, who has pushed the first commit."""
    clone = Git(tmp_path / "person")
    clone.begin()
    clone("remote", "add", "origin", str(remote.root))
    clone.commit("src/app.py", "print()\n")
    clone("push", "--quiet", "--set-upstream", "origin", "main")
    return clone


@pytest.fixture
def open_replica(remote: Git, tmp_path: Path) -> Opening:
    @asynccontextmanager
    async def opened(name: str, url: str = str(remote.root)) -> AsyncIterator[Replica]:
        root = tmp_path / name
        async with GitWorkspace(root, lock_seconds=20, seal=SEAL, after_commit=lambda: None) as workspace:
            yield Replica(workspace, Sync(root, remote=url, seal=SEAL), Git(root))

    return opened


@pytest.fixture
async def replica(person: Git, open_replica: Opening) -> AsyncIterator[Replica]:
    """It stands on what the person has pushed."""
    async with open_replica("one") as opened:
        assert await opened.sync.once() == SyncResult.NOTHING
        assert opened.git.subjects == person.subjects
        yield opened
