"""
Redis clients for one server or a cluster, and advice about them: `docs/redis.md` says why.

A client connects at its first call and reconnects after an outage. No call is repeated: redis-py would by default, and
would then repeat a write whose answer was lost.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import Any, NamedTuple, Self

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

from bot.domain.values.text import counted
from bot.errors import ConfigError, Unavailable
from bot.storage.team import prefix

CALL_SECONDS = 0.5
NO_ANSWER = (RedisError, RedisClusterException, OSError)
"""What a call raises when Redis is unreachable; TimeoutError is an OSError."""


REFUSED_WRITES: Mapping[type[Exception], str] = {OutOfMemoryError: "OOM", ReadOnlyError: "READONLY"}
"""redis-py takes the code of these out of the text; of others it is there."""
_REFUSED = re.compile(r"\b(NOREPLICAS|MISCONF)\b")


class Connected:
    """An async context manager around one client; all its keys begin with the *prefix* of one *team*, if it has one."""

    def __init__(self, url: str, *, connections: int, team: str = "") -> None:
        self._redis: Any = client(url, connections=connections)
        self._prefix = prefix(team) if team else ""
        self._connecting = asyncio.Lock()
        self._free = asyncio.Semaphore(connections)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._redis.aclose()

    async def _probe(self, key: str) -> None:
        """Writes, reads and removes *key*: a replica, and a Redis that is full, answer a PING."""
        async with self._bounded(), self._redis.pipeline(transaction=True) as probing:
            probing.set(key, token := token_hex(8))
            probing.get(key)
            probing.delete(key)
            _, found, _ = await probing.execute()
        if found != token:
            raise Unavailable("Redis did not keep what was written")

    @asynccontextmanager
    async def _bounded(self, seconds: float | None = None) -> AsyncIterator[None]:
        """As `bounded`, and corrects redis-py 8.1: in a cluster, calls while it connects, and too many calls, fail."""
        async with bounded(seconds), self._free:
            async with self._connecting:
                await self._redis.initialize()
            yield


@asynccontextmanager
async def bounded(seconds: float | None = None) -> AsyncIterator[None]:
    """Raises Unavailable when the calls inside fail or together take longer than *seconds* (default CALL_SECONDS)."""
    try:
        async with asyncio.timeout(CALL_SECONDS if seconds is None else seconds):
            yield
    except NO_ANSWER as error:
        if refusal := _refusal_of(error):
            raise Unavailable(f"Redis refuses writes ({refusal})") from error
        # For an unknown command Redis quotes the arguments, which are a password if that command is AUTH.
        reason = str(error).partition(", with args")[0] or "no answer in time"
        raise Unavailable(f"Redis did not answer: {reason}") from error


def _refusal_of(error: Exception) -> str:
    """The word by which Redis answers, and takes no writes: full, a replica, too few replicas, or its disk fails."""
    found = _REFUSED.search(str(error)) if isinstance(error, ResponseError) else None
    return REFUSED_WRITES.get(type(error), found[0] if found else "")


def client(url: str, *, connections: int) -> Redis | RedisCluster:
    """
    Raises ConfigError for a URL that cannot be used. The sentence quotes no secret.

    A caller that finds all connections in use waits for one. There is no `socket_timeout`: callers limit the time of a
    whole call, and redis-py's limit for each read and write would add a quarter to its cost.
    """
    options: dict[str, Any] = {
        "decode_responses": True,
        "encoding_errors": "replace",
        "max_connections": connections,
        "socket_timeout": None,
        "socket_connect_timeout": CALL_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }
    node = url.replace("+cluster://", "://", 1)
    try:
        pool = BlockingConnectionPool.from_url(node, timeout=CALL_SECONDS, **options)
        pool.make_connection()  # type: ignore[no-untyped-call]  # connects nothing, but shows an unknown option
        return RedisCluster.from_url(node, **options) if is_cluster(url) else Redis.from_pool(pool)
    except (ValueError, RedisClusterException) as error:
        raise ConfigError(f"REDIS_URL cannot be used: {error}") from None
    except TypeError:
        raise ConfigError("REDIS_URL cannot be used: it has an option that does not exist") from None


def is_cluster(url: str) -> bool:
    return url.startswith(("redis+cluster:", "rediss+cluster:"))


def is_open(url: str) -> bool:
    """Whether the server would accept the URL's client without a password, a client certificate or file permissions."""
    if url.startswith("unix:"):
        return False
    options = parse_url(url.replace("+cluster://", "://", 1))
    return not (options.get("password") or options.get("ssl_certfile"))


# --- what an operator should know about a Redis before the bot runs on it --------------------------------------------

NEEDED = (6, 2)
ALL_SECONDS = 3.0
CLUSTER = "REDIS_URL names a node of a cluster: write {scheme}+cluster:// instead of {scheme}://."
OPEN = (
    "Redis asks for no password: anybody who reaches it can change every live roundtable. "
    "Set a password (`requirepass`) or an ACL user there, and put it into REDIS_URL."
)


class Advice(NamedTuple):
    """*stops* says that the bot cannot work like that."""

    text: str
    stops: bool = False


class Inspection(NamedTuple):
    found: str
    advice: tuple[Advice, ...]


async def refuse_node(url: str) -> None:
    """Raises ConfigError when *url* takes a node of a cluster for one server. No answer now is no reason to refuse."""
    if is_cluster(url):
        return
    with suppress(Unavailable):
        async with client(url, connections=1) as redis, bounded():
            told = await redis.info("cluster")
            if told.get("cluster_enabled"):
                raise ConfigError(CLUSTER.format(scheme=url.partition(":")[0]))


async def inspected(url: str) -> Inspection:
    """Raises Unavailable. A server that keeps its version and settings to itself is only worth an advice."""
    try:
        async with asyncio.timeout(ALL_SECONDS), client(url, connections=1) as redis:
            primaries = (
                len((await redis.initialize()).get_primaries()) if isinstance(redis, RedisCluster) else 0
            )
            facts = await _facts(redis)
    except NO_ANSWER as error:
        raise Unavailable(f"Redis did not answer: {str(error) or 'no answer in time'}") from error
    found = f"Redis {facts.get('redis_version', '')}".rstrip()
    if primaries:
        found = f"Redis Cluster, {counted(primaries, 'primary', 'primaries')}"
    advice = tuple(_advice(facts))
    return Inspection(found, (Advice(OPEN), *advice) if is_open(url) else advice)


async def _facts(redis: Any) -> dict[str, Any]:
    """Managed servers often answer INFO and refuse CONFIG."""
    facts: dict[str, Any] = {}
    try:
        facts |= await redis.info()
        facts |= await redis.config_get("save")
    except ResponseError as error:
        facts["refused"] = str(error)
    return facts


def _advice(facts: Mapping[str, Any]) -> Iterator[Advice]:
    if "redis_version" not in facts:
        yield Advice(f"Redis does not tell its version and settings: {facts['refused']}.")
        return
    version = str(facts["redis_version"])
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < NEEDED:
        yield Advice(f"Redis {version} is too old: 6.2 is needed, or a later one.", stops=True)
    if not int(facts.get("aof_enabled", 0)):
        yield Advice(_lost(facts))
    policy = facts.get("maxmemory_policy", "noeviction")
    if policy != "noeviction" and int(facts.get("maxmemory", 0)):
        yield Advice(f"`maxmemory-policy` is {policy}: when memory is full, Redis throws roundtables away.")


def _lost(facts: Mapping[str, Any]) -> str:
    if facts.get("save") == "":
        return "`appendonly` is off, and there are no snapshots: a restart of Redis loses what is not committed yet."
    return "`appendonly` is off: a restart of Redis loses what is not committed yet and not in its last snapshot."
