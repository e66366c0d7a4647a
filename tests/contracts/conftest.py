from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import redis

from bot.engine.ports import Wake
from bot.storage.git.seal import Seal
from bot.storage.git.workspace import GitWorkspace
from bot.storage.local_wake import LocalWake
from bot.storage.ownership import Ownership
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore
from tests import stored

Rewrite = Callable[[str, dict[str, Any]], dict[str, Any]]
AnyStore = SqliteStore | RedisStore
Opening = Callable[[], AbstractAsyncContextManager[AnyStore]]
OpenWake = Callable[[], AbstractAsyncContextManager[Wake]]


@pytest.fixture(autouse=True)
def in_no_hurry(patient: None) -> None:
    """How long is waited for a Redis that hangs is in `tests/storage`."""


def url_of(kind: str, request: pytest.FixtureRequest) -> str:
    """Of the empty Redis that is meant: "redis" is one server, "cluster" three nodes."""
    return str(
        request.getfixturevalue("redis_cluster").url
        if kind == "cluster"
        else request.getfixturevalue("redis_url")
    )


@pytest.fixture(params=["redis", "cluster"])
def shared_url(request: pytest.FixtureRequest) -> str:
    """Of a Redis that processes and teams share."""
    return url_of(request.param, request)


@contextmanager
def connected(kind: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A person's client beside the store."""
    if kind == "cluster":
        with request.getfixturevalue("redis_cluster").client() as client:
            yield client
    else:
        with redis.Redis.from_url(request.getfixturevalue("redis_url")) as client:
            yield client


@pytest.fixture(params=["sqlite", "redis", "cluster"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    """Opens the same store again and again, as a process does that is started again."""
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / ".roundtable")
    url = url_of(request.param, request)
    return lambda: RedisStore(url, team="T1")


@pytest.fixture
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], bytes]:
    """Every byte that is stored."""
    kind = request.node.callspec.params["open_store"]

    def everything() -> bytes:
        if kind == "sqlite":
            return b"".join(one.read_bytes() for one in (tmp_path / ".roundtable").iterdir())
        with connected(kind, request) as client:
            return b"".join(stored.whole(client, key) for key in client.scan_iter())

    return everything


@pytest.fixture
def rewrite(request: pytest.FixtureRequest, tmp_path: Path) -> Rewrite:
    """As a newer version would do it: puts fields into what is stored of a roundtable, and returns all of it."""
    kind = request.node.callspec.params["open_store"]

    def in_file(slug: str, changes: dict[str, Any]) -> dict[str, Any]:
        whole = {**stored.in_file(tmp_path, slug), **changes}
        stored.rewrite_file(tmp_path, slug, whole)
        return whole

    def in_redis(slug: str, changes: dict[str, Any]) -> dict[str, Any]:
        with connected(kind, request) as client:
            whole = {**stored.in_redis(client, slug, team="T1"), **changes}
            stored.rewrite_redis(client, slug, whole, team="T1")
        return whole

    return in_file if kind == "sqlite" else in_redis


@pytest.fixture
async def store(open_store: Opening) -> AsyncIterator[AnyStore]:
    async with open_store() as opened:
        yield opened


@pytest.fixture(params=["local", "redis", "cluster"])
def open_wake(request: pytest.FixtureRequest) -> OpenWake:
    """Opens the same work again and again, as processes do. Without Redis there is one process, and all share one."""
    if request.param == "local":
        wake = LocalWake()
        return lambda: nullcontext(wake)
    url = url_of(request.param, request)
    return lambda: Ownership(url, team="T1")


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[GitWorkspace]:
    async with GitWorkspace(tmp_path / "workspace", seal=Seal([b"of the contract"])) as opened:
        yield opened
