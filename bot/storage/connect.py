"""
Redis clients out of a URL: for one server, for the one that sentinels call master, and for a cluster.

They are all used in the same way. They connect when they are first asked something. A call that gets no answer fails,
and is not repeated, as redis-py would by default, and with it a write whose answer got lost. (A node of a cluster that
sends a call elsewhere has not begun with it.)
"""

from typing import cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError

from bot.errors import ConfigError
from bot.storage.address import CLUSTER, SENTINEL, kind_of, taken_apart
from bot.storage.cluster import Cluster
from bot.storage.sentinel import MasterPool

CALL_SECONDS = 0.5

NO_ANSWER = (RedisError, RedisClusterException, OSError)
"""What a call raises when Redis is away; TimeoutError is an OSError."""


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
