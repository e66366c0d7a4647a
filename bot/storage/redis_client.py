"""
Redis clients for one server.

A client connects at its first call and reconnects after an outage. No call is repeated: redis-py would by default, and
would then repeat a write whose answer was lost.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from bot.errors import ConfigError, Unavailable
from bot.storage.team import prefix

CALL_SECONDS = 0.5
NO_ANSWER = (RedisError, OSError)
"""What a call raises when Redis is unreachable; TimeoutError is an OSError."""


class Connected:
    """An async context manager around one client; all its keys begin with the *prefix* of one team."""

    def __init__(self, url: str, *, team: str, connections: int) -> None:
        self._redis = client(url, connections=connections)
        self._prefix = prefix(team)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._redis.aclose()


@asynccontextmanager
async def bounded(seconds: float | None = None) -> AsyncIterator[None]:
    """Raises Unavailable when the calls inside fail or together take longer than *seconds* (default CALL_SECONDS)."""
    try:
        async with asyncio.timeout(CALL_SECONDS if seconds is None else seconds):
            yield
    except NO_ANSWER as error:
        # For an unknown command Redis quotes the arguments, which are a password if that command is AUTH.
        reason = str(error).partition(", with args")[0] or "no answer in time"
        raise Unavailable(f"Redis did not answer: {reason}") from error


def client(url: str, *, connections: int) -> Redis:
    """
    Raises ConfigError for a URL that cannot be used. The sentence quotes no secret.

    A caller that finds all connections in use waits for one. There is no `socket_timeout`: callers limit the time of a
    whole call, and redis-py's limit for each read and write would add a quarter to its cost.
    """
    options: dict[str, Any] = {
        "max_connections": connections,
        "timeout": CALL_SECONDS,
        "socket_timeout": None,
        "socket_connect_timeout": CALL_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }
    try:
        pool = BlockingConnectionPool.from_url(url, **options)
        pool.make_connection()  # type: ignore[no-untyped-call]  # connects nothing, but shows an unknown option
    except ValueError as error:
        raise ConfigError(f"REDIS_URL cannot be used: {error}") from None
    except TypeError:
        raise ConfigError("REDIS_URL cannot be used: it has an option that does not exist") from None
    return Redis.from_pool(pool)


def is_open(url: str) -> bool:
    """Whether the server would accept the URL's client without a password, a client certificate or file permissions."""
    if url.startswith("unix:"):
        return False
    options = parse_url(url)
    return not (options.get("password") or options.get("ssl_certfile"))
