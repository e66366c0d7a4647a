import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
import redis

from bot.engine.ports import Store
from bot.storage.embedded import EmbeddedStore
from bot.storage.git.seal import Seal
from bot.storage.git.workspace import GitWorkspace
from bot.storage.redis import RedisStore
from bot.storage.redis_client import hosts_of, only

Rewrite = Callable[[str, dict[str, Any]], dict[str, Any]]
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
def rewrite(request: pytest.FixtureRequest, tmp_path: Path) -> Rewrite:
    """As a newer version would do it: puts fields into what is stored of a roundtable, and returns all of it."""
    kind = request.node.callspec.params["open_store"]

    def in_file(slug: str, changes: dict[str, Any]) -> dict[str, Any]:
        file = tmp_path / ".roundtable" / "roundtables" / f"{slug}.json"
        whole = json.loads(file.read_bytes()) | changes
        file.write_text(json.dumps(whole), "utf-8")
        return dict(whole)

    def in_redis(slug: str, changes: dict[str, Any]) -> dict[str, Any]:
        url = request.getfixturevalue(f"{kind}_url")
        cluster = kind == "cluster"
        kinds: Any = redis.RedisCluster if cluster else redis.Redis
        if cluster:
            url = only(url, hosts_of(url)[-1:]).replace("+cluster", "")
        with kinds.from_url(url) as client:
            key = f"roundtable:{{{slug}}}"
            whole = json.loads(client.hget(key, "state")) | changes
            client.hset(key, "state", json.dumps(whole))
            client.hset(key, "shape", whole["shape"])
        return dict(whole)

    return in_file if kind == "embedded" else in_redis


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
