from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from bot.engine.ports import Store
from bot.storage.embedded import EmbeddedStore
from bot.storage.git import GitWorkspace
from bot.storage.redis import RedisStore
from bot.storage.seal import Seal

Opening = Callable[[], AbstractAsyncContextManager[Store]]
SHARED = ["redis", pytest.param("cluster", marks=pytest.mark.thorough)]
"""By way of a sentinel it is the same server; what is different about that is in `tests/storage/test_sentinel`."""


@pytest.fixture(autouse=True)
def in_no_hurry(patient: None) -> None:
    """How long is waited for a Redis that hangs is in `tests/storage`."""


@pytest.fixture(params=["embedded", *SHARED])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    """Opens the same store again and again, as a process does that is started again."""
    if request.param == "embedded":
        return lambda: EmbeddedStore(tmp_path / ".roundtable")
    url = request.getfixturevalue(f"{request.param}_url")
    return lambda: RedisStore(url)


@pytest.fixture
async def store(open_store: Opening) -> AsyncIterator[Store]:
    async with open_store() as opened:
        yield opened


@pytest.fixture(params=["memory", "redis"])
def wake_url(request: pytest.FixtureRequest) -> str:
    """
    Where the work waits; memory is named anew for each test, since it is shared in the process. How docket works on a
    cluster and behind a sentinel is in `tests/storage`.
    """
    if request.param == "memory":
        return f"memory://{request.node.originalname}"
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[GitWorkspace]:
    async with GitWorkspace(tmp_path / "workspace", seal=Seal([b"of the contract"])) as opened:
        yield opened
