import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.storage.git import GitWorkspace
from tests.storage.checkout import Git


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
    async with GitWorkspace(git.root, lock_seconds=0.2) as opened:
        yield opened
