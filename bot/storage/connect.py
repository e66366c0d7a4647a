"""
Redis clients out of a URL: for one server, for the one that sentinels call master, and for a cluster.

They are all used in the same way. They connect when they are first asked something. A call that gets no answer fails,
and is not repeated, as redis-py would by default, and with it a write whose answer got lost. (A node of a cluster that
sends a call elsewhere has not begun with it.)
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from types import TracebackType
from typing import Self, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError

from bot.errors import ConfigError, Unavailable
from bot.storage.address import CLUSTER, SENTINEL, kind_of, taken_apart
from bot.storage.cluster import Cluster
from bot.storage.sentinel import MasterPool

CALL_SECONDS = 0.5

NO_ANSWER = (RedisError, RedisClusterException, OSError)
"""What a call raises when Redis is away; TimeoutError is an OSError."""


class Connected:
    """Use it as a context manager. It connects when it is first asked something, and again when it has to."""

    def __init__(self, url: str, *, connections: int) -> None:
        self._redis = client(url, connections=connections)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._redis)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()


@asynccontextmanager
async def bounded(seconds: float | None = None) -> AsyncIterator[None]:
    """
    Raises Unavailable for what is not answered within *seconds*, or the time that a call may take.

    What Redis says about a command that it does not know quotes its arguments: a password, where that is AUTH.
    """
    try:
        with cancellable():
            async with asyncio.timeout(CALL_SECONDS if seconds is None else seconds):
                yield
    except NO_ANSWER as error:
        said = str(error).partition(", with args")[0] or "no answer in time"
        raise Unavailable(f"Redis did not answer: {said}") from error


@contextmanager
def cancellable() -> Iterator[None]:
    """
    Who is cancelled in here is cancelled at the latest on the way out.

    redis-py sends with `asyncio.wait_for`, where a server is one of several; that of Python 3.11 forgets a cancellation
    in the moment in which it ends.
    """
    ours = asyncio.current_task()
    assert ours
    before = ours.cancelling()
    try:
        yield
    finally:
        if ours.cancelling() > before and not isinstance(sys.exception(), asyncio.CancelledError):
            raise asyncio.CancelledError


def client(url: str, *, connections: int) -> Redis:
    """Use it as a context manager. Raises ConfigError for a URL that cannot be used, and tells no secret."""
    try:
        if kind_of(url) == CLUSTER:
            return cast(Redis, Cluster(taken_apart(url)))
        return Redis.from_pool(_pool(url, connections))
    except (ValueError, RedisClusterException) as error:
        raise ConfigError(f"REDIS_URL cannot be used: {error}") from None
    except TypeError:
        raise ConfigError("REDIS_URL cannot be used: it has an option that does not exist") from None


def _pool(url: str, connections: int) -> BlockingConnectionPool:
    """
    Makes one connection without connecting it: only that shows an option that does not exist.

    Every call is made within a time limit of its whole; redis-py's own, for each read and write, cost a quarter of it.
    """
    if kind_of(url) == SENTINEL:
        pool: BlockingConnectionPool = MasterPool(
            taken_apart(url), seconds=CALL_SECONDS, connections=connections
        )
    else:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=connections,
            timeout=CALL_SECONDS,
            socket_timeout=None,
            socket_connect_timeout=CALL_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
    pool.make_connection()  # type: ignore[no-untyped-call]
    return pool
