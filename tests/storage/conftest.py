import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from shutil import copytree

import pytest

from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import Opening, Replica, a_remote, begun, when_asked


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
    copytree(begun() / "remote.git", remote.root, dirs_exist_ok=True)
    return Git(copytree(begun() / "person", tmp_path / "person"))


@pytest.fixture
def open_replica(remote: Git, tmp_path: Path) -> Opening:
    def opened(name: str) -> AbstractAsyncContextManager[Replica]:
        return when_asked(tmp_path / name, str(remote.root))

    return opened


@pytest.fixture
async def replica(person: Git, open_replica: Opening) -> AsyncIterator[Replica]:
    """It stands on what the person has pushed."""
    copytree(begun() / "one", person.root.with_name("one"))
    async with open_replica("one") as opened:
        yield opened
