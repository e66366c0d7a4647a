"""
Redis clients for one server, and for the master that sentinels name.

A client connects at its first call and reconnects after an outage. No call is repeated: redis-py would by default, and
would then repeat a write whose answer was lost.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis, Sentinel
from redis.asyncio.connection import SSLConnection, parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError, SentinelConnectionPool, SentinelManagedConnection
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import RedisError, ResponseError

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
    """Raises ConfigError for a URL that cannot be used. The sentence quotes no secret."""
    return Redis.from_pool(connection_pool(url, connections=connections))


def connection_pool(url: str, *, connections: int, **options: Any) -> BlockingConnectionPool:
    """
    *options* are redis-py's for a connection.

    There is no `socket_timeout` by default: callers limit the time of a whole call, and redis-py's limit for each read
    and write would add a quarter to its cost.
    """
    try:
        if is_sentinel(url):
            pool: BlockingConnectionPool = MasterPool(
                sentinel_address(url), connections=connections, **options
            )
        else:
            pool = BlockingConnectionPool.from_url(url, **{**_pool_options(connections), **options})
        pool.make_connection()  # type: ignore[no-untyped-call]  # connects nothing, but shows an unknown option
    except ValueError as error:
        raise ConfigError(f"REDIS_URL cannot be used: {error}") from None
    except TypeError:
        raise ConfigError("REDIS_URL cannot be used: it has an option that does not exist") from None
    return pool


def is_open(url: str) -> bool:
    """Whether the server would accept the URL's client without a password, a client certificate or file permissions."""
    if url.startswith("unix:"):
        return False
    options = sentinel_address(url).options if is_sentinel(url) else parse_url(url)
    return not (options.get("password") or options.get("ssl_certfile"))


def is_sentinel(url: str) -> bool:
    return url.startswith(("redis+sentinel:", "rediss+sentinel:"))


def _pool_options(connections: int) -> dict[str, Any]:
    """A caller that finds all connections in use waits for one."""
    return {
        "max_connections": connections,
        "timeout": CALL_SECONDS,
        "socket_timeout": None,
        "socket_connect_timeout": CALL_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }


# --- Sentinel ---------------------------------------------------------------------------------------------------------

SENTINEL_PORT = 26379
SENTINEL_CREDENTIALS = ("sentinel_username", "sentinel_password")
MASTER_CHECK_SECONDS = 0.5
MASTER_CHECK_TIMEOUT_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class SentinelAddress:
    """*options* are for connections to the master, *sentinel_options* for connections to the sentinels."""

    hosts: tuple[tuple[str, int], ...]
    options: Mapping[str, Any]
    sentinel_options: Mapping[str, Any]
    service: str


def sentinel_address(url: str) -> SentinelAddress:
    """
    Parses `redis+sentinel://[user:password@]host[:port][,host[:port]...]/SERVICE[/DB]`; docket uses the same form.

    Raises ValueError with a sentence that quotes nothing of the URL.
    """
    rest = url.partition("://")[2]
    # urlsplit refuses several hosts when one of them is in brackets, so the hosts are cut out first.
    end = min((rest.index(sign) for sign in "/?#" if sign in rest), default=len(rest))
    user, _, hosts = rest[:end].rpartition("@")
    parts = urlsplit(f"redis://-{rest[end:]}")
    query = dict(parse_qsl(parts.query))
    credentials = {
        name.removeprefix("sentinel_"): query.pop(name) for name in SENTINEL_CREDENTIALS if name in query
    }
    options: dict[str, Any] = {**parse_url(f"redis://{user}@-?{urlencode(query)}")}
    del options["host"]
    tls: dict[str, Any] = {}
    if url.startswith("rediss"):
        tls = {"ssl": True, **{name: value for name, value in options.items() if name.startswith("ssl_")}}
    service, database = _path(parts.path)
    return SentinelAddress(
        hosts=tuple(map(_host, hosts.split(","))),
        options={**options, **tls, "db": database},
        sentinel_options={**credentials, **tls},
        service=service,
    )


def _path(path: str) -> tuple[str, int]:
    service, _, database = path.strip("/").partition("/")
    if not service:
        raise ValueError("the name of the master is missing, as in redis+sentinel://host:26379/mymaster")
    if database and not database.isdecimal():
        raise ValueError("the database is not a number")
    return unquote(service), int(database or 0)


def _host(text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text.strip()}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise ValueError("a host or its port cannot be read")
    return host, port or SENTINEL_PORT


class MasterConnection(SentinelManagedConnection):
    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        """
        Disconnects from a master that has become a replica, so that the next call asks for the new master.

        redis-py does that too, except when a script is refused the write by a Redis older than 7.
        """
        try:
            return await super().read_response(*args, **kwargs)
        except ResponseError as error:
            if "READONLY" not in str(error):
                raise
            await self.disconnect()
            raise ConnectionLost("the master has become a replica") from None


class SecureMasterConnection(MasterConnection, SSLConnection):
    pass


class Sentinels(Sentinel):
    def __init__(self, address: SentinelAddress) -> None:
        options = {
            "socket_timeout": CALL_SECONDS,
            "socket_connect_timeout": CALL_SECONDS,
            "decode_responses": True,
            "retry": Retry(NoBackoff(), 0),
            **address.sentinel_options,
        }
        super().__init__(address.hosts, sentinel_kwargs=options)  # type: ignore[no-untyped-call]

    async def discover_master(self, service_name: str) -> Any:
        """Asks all sentinels at once: redis-py asks one after another, and would wait for each that is down."""
        calls = [
            asyncio.ensure_future(one.sentinel_get_master_addr_by_name(service_name))
            for one in self.sentinels
        ]
        reason = "the sentinels do not know it"
        try:
            for answer in asyncio.as_completed(calls):
                try:
                    if address := await answer:
                        return address
                except NO_ANSWER as error:
                    reason = str(error)
        finally:
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        raise MasterNotFoundError(f"no sentinel names the master of {service_name!r}: {reason}")


class MasterPool(SentinelConnectionPool, BlockingConnectionPool):
    def __init__(self, address: SentinelAddress, *, connections: int, **options: Any) -> None:
        options = {**_pool_options(connections), **options, **address.options}
        secure = options.pop("ssl", False)
        super().__init__(  # type: ignore[no-untyped-call]
            address.service,
            Sentinels(address),
            connection_class=SecureMasterConnection if secure else MasterConnection,
            **options,
        )
        self._checked = -math.inf

    async def ensure_connection(self, connection: Any) -> None:
        """
        Asks twice a second whether the master is still the same.

        A healthy master that an operator replaces goes on accepting writes for ten seconds, and they are lost.
        """
        if connection.is_connected and time.monotonic() - self._checked > MASTER_CHECK_SECONDS:
            self._checked = time.monotonic()
            with suppress(*NO_ANSWER):  # an open connection works without the sentinels
                async with asyncio.timeout(MASTER_CHECK_TIMEOUT_SECONDS):
                    await self._check_master(connection)
        await super().ensure_connection(connection)

    async def _check_master(self, connection: Any) -> None:
        master = await self.get_master_address()  # type: ignore[no-untyped-call]
        if master != (connection.host, connection.port):
            await self.update_active_connections_for_reconnect()  # type: ignore[no-untyped-call]
            await connection.disconnect()

    async def aclose(self) -> None:
        await super().aclose()
        for sentinel in self.sentinel_manager.sentinels:
            with suppress(*NO_ANSWER):
                await sentinel.aclose()
