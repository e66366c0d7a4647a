"""
Redis clients out of a URL: for one server, for the one that sentinels call master, and for a cluster.

They are all used in the same way. They connect when they are first asked something. A call that gets no answer fails,
and is not repeated, as redis-py would by default, and with it a write whose answer got lost. (A node of a cluster that
sends a call elsewhere has not begun with it.)
"""

import asyncio
import math
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster, Sentinel
from redis.asyncio.cluster import ClusterNode, ClusterPipeline
from redis.asyncio.connection import SSLConnection, parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError, SentinelConnectionPool, SentinelManagedConnection
from redis.backoff import NoBackoff
from redis.exceptions import ClusterDownError, RedisClusterException, RedisError, ResponseError
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import TimeoutError as NoAnswerInTime

from bot.errors import ConfigError, Unavailable

# What a Redis URL says when it names several hosts: sentinels, or nodes of a cluster.
#
# redis+sentinel://[user:password@]host[:port][,host[:port]...]/SERVICE[/DB][?sentinel_username=…&sentinel_p
# assword=…] redis+cluster://[user:password@]host[:port][,host[:port]...]
#
# `rediss+…` speaks TLS. The forms are docket's, so that one URL serves the state and the work.


SENTINEL, CLUSTER = "sentinel", "cluster"
PORTS = {SENTINEL: 26379, CLUSTER: 6379}
SENTINELS_OWN = ("sentinel_username", "sentinel_password")


@dataclass(frozen=True, slots=True)
class Address:
    """*options* are for connections to servers, *sentinel_options* for those to sentinels."""

    kind: str
    hosts: tuple[tuple[str, int], ...]
    options: Mapping[str, Any]
    sentinel_options: Mapping[str, Any]
    service: str = ""


def kind_of(url: str) -> str:
    """Empty for one server."""
    kind = url.partition("://")[0].partition("+")[2]
    return kind if kind in PORTS else ""


def taken_apart(url: str) -> Address:
    """Raises ValueError with a sentence that tells nothing of the URL."""
    kind = kind_of(url)
    netloc, rest = _netloc(url)
    who, _, hosts = netloc.rpartition("@")
    parts = urlsplit(f"redis://{who}@-{rest}")
    query = dict(parse_qsl(parts.query))
    apart = {name.removeprefix("sentinel_"): query.pop(name) for name in SENTINELS_OWN if name in query}
    options = _options(query)
    tls = {"ssl": True} if url.startswith("rediss") else {}
    secure = tls and {name: value for name, value in options.items() if name.startswith("ssl_")}
    known = {"username": parts.username, "password": parts.password}
    given = {name: unquote(value) for name, value in known.items() if value}
    service, database = _path(kind, parts.path)
    return Address(
        kind=kind,
        hosts=tuple(_host(host, PORTS[kind]) for host in hosts.split(",")),
        options={**options, **given, **tls, "db": database},
        sentinel_options={**secure, **apart, **tls},
        service=service,
    )


def is_open(url: str) -> bool:
    """Whether the URL has nothing that opens the server: no password, no certificate of ours, no unix socket."""
    if url.startswith("unix:"):
        return False
    options = taken_apart(url).options if kind_of(url) else parse_url(url)
    return not (options.get("password") or options.get("ssl_certfile"))


def hosts_of(url: str) -> list[str]:
    """As they are written."""
    return _netloc(url)[0].rpartition("@")[2].split(",")


def only(url: str, hosts: Iterable[str], **options: str) -> str:
    """The same with only those hosts, and with *options* where it does not say otherwise."""
    netloc, rest = _netloc(url)
    who, at, _ = netloc.rpartition("@")
    parts = urlsplit(f"redis://-{rest}")
    query = urlencode(options | dict(parse_qsl(parts.query)), quote_via=quote)
    return f"{url.partition('://')[0]}://{who}{at}{','.join(hosts)}{parts.path}{query and '?'}{query}"


def _netloc(url: str) -> tuple[str, str]:
    """The hosts, and what comes after them; the standard library refuses several hosts with brackets."""
    told = url.partition("://")[2]
    end = min((told.index(sign) for sign in "/?#" if sign in told), default=len(told))
    return told[:end], told[end:]


def _options(query: Mapping[str, str]) -> dict[str, Any]:
    """As redis-py reads them in the URL of one server. Who and where is said elsewhere in a URL."""
    read: dict[str, Any] = dict(parse_url(f"redis://-?{urlencode(query)}"))
    return {name: value for name, value in read.items() if name not in {"host", "port", "db"}}


def _path(kind: str, path: str) -> tuple[str, int]:
    service, _, database = path.strip("/").partition("/")
    if kind == CLUSTER:
        if service not in {"", "0"} or database:
            raise ValueError("a cluster has no databases")
        return "", 0
    if not service:
        raise ValueError("the name of the master is missing, as in redis+sentinel://host:26379/mymaster")
    if database and not database.isdecimal():
        raise ValueError("the database is not a number")
    return unquote(service), int(database or 0)


def _host(text: str, port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text.strip()}")
        host, told = parts.hostname, parts.port
    except ValueError:
        host, told = None, None
    if not host:
        raise ValueError("a host or its port cannot be read")
    return host, told or port


# Connections to the server that sentinels call master, whichever that is just now.


ASK_AGAIN_SECONDS = 0.5
LOOK_SECONDS = 0.1


class MasterConnection(SentinelManagedConnection):
    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        """
        A master that has become a replica is left at once, so that the next call asks for the new one.

        redis-py does that too, but does not recognise it when it is a script that could not write, before Redis 7.
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
    def __init__(self, address: Address, *, seconds: float) -> None:
        options = {
            "socket_timeout": seconds,
            "socket_connect_timeout": seconds,
            "decode_responses": True,
            "retry": Retry(NoBackoff(), 0),
            **address.sentinel_options,
        }
        super().__init__(address.hosts, sentinel_kwargs=options)  # type: ignore[no-untyped-call]

    async def discover_master(self, service_name: str) -> Any:
        """All are asked at once: one that is lost must not use up the time there is."""
        asked = [
            asyncio.ensure_future(one.sentinel_get_master_addr_by_name(service_name))
            for one in self.sentinels
        ]
        reason = "the sentinels do not know it"
        try:
            for answer in asyncio.as_completed(asked):
                try:
                    if address := await answer:
                        return address
                except (RedisError, OSError) as error:
                    reason = str(error)
        finally:
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        raise MasterNotFoundError(f"nobody says which server is the master of {service_name!r}: {reason}")


async def answering(address: Address, *, seconds: float) -> tuple[bool, ...]:
    """Which of the sentinels do."""
    asked = Sentinels(address, seconds=seconds).sentinels
    answers = await asyncio.gather(*(one.ping() for one in asked), return_exceptions=True)
    await asyncio.gather(*(one.aclose() for one in asked), return_exceptions=True)
    return tuple(answer is True for answer in answers)


class MasterPool(SentinelConnectionPool, BlockingConnectionPool):
    """Who finds no connection free waits for one. It is asked often whether the master is still the same."""

    def __init__(self, address: Address, *, seconds: float, connections: int) -> None:
        bounds = {"timeout": seconds, "socket_timeout": seconds, "socket_connect_timeout": seconds}
        options = {**bounds, **address.options}
        connection = SecureMasterConnection if options.pop("ssl", False) else MasterConnection
        super().__init__(  # type: ignore[no-untyped-call]
            address.service,
            Sentinels(address, seconds=seconds),
            connection_class=connection,
            max_connections=connections,
            retry=Retry(NoBackoff(), 0),
            **options,
        )
        self._asked = -math.inf

    async def ensure_connection(self, connection: Any) -> None:
        """A master that is replaced while it is well takes writes for ten seconds more, which are then lost."""
        if connection.is_connected and time.monotonic() - self._asked > ASK_AGAIN_SECONDS:
            self._asked = time.monotonic()
            with suppress(RedisError, OSError):  # who is connected can do without the sentinels
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._look(connection)
        await super().ensure_connection(connection)

    async def _look(self, connection: Any) -> None:
        master = await self.get_master_address()  # type: ignore[no-untyped-call]
        if master != (connection.host, connection.port):
            await self.update_active_connections_for_reconnect()  # type: ignore[no-untyped-call]
            await connection.disconnect()

    async def aclose(self) -> None:
        await super().aclose()
        for sentinel in self.sentinel_manager.sentinels:
            with suppress(RedisError, OSError):
                await sentinel.aclose()


# A client for a cluster that is used like one for a single server.
#
# redis-py's own connects at once, tries again by itself, minds when a replica is away, and keeps no order
# among nodes.


NODE_SECONDS = 0.3
"""Less than a call may take, so that it is noticed which node is silent, and another can be asked instead."""
CONNECTIONS_TO_A_NODE = 1_000
"""redis-py cannot wait here until one is free, so there must be enough of them."""
TOPOLOGY_SECONDS = 1.0
"""So long the end waits for whoever still finds out which nodes there are."""
SCRIPTS = {"EVAL", "EVALSHA"}


class Cluster(RedisCluster):
    """Use it as a context manager. It connects when it is first asked something."""

    def __init__(self, address: Address) -> None:
        super().__init__(
            startup_nodes=[ClusterNode(host, port) for host, port in address.hosts],
            **{
                "max_connections": CONNECTIONS_TO_A_NODE,
                "socket_timeout": NODE_SECONDS,
                "socket_connect_timeout": NODE_SECONDS,
                **address.options,
            },
            retry=Retry(NoBackoff(), 0),
            reinitialize_steps=0,  # else it closes every connection, also those in use, at the fifth slot that moved
        )
        self._doubtful = False
        self._silent: str | None = None
        self._looking: set[asyncio.Task[object]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._looking:
            await asyncio.wait(self._looking, timeout=TOPOLOGY_SECONDS)
        await self.aclose()
        for nodes in ("nodes_cache", "startup_nodes"):  # also while it is being found out anew which they are
            await self.nodes_manager.aclose(nodes)

    async def initialize(
        self,
        additional_startup_nodes_info: list[tuple[str, int]] | None = None,
        last_failed_node_name: str | None = None,
    ) -> Self:
        """Asks the node last that was silent just now."""
        if self._initialize:
            silent = last_failed_node_name or self._silent
            await self._to_the_end(super().initialize(additional_startup_nodes_info, silent))
        return self

    async def _to_the_end(self, look: Coroutine[Any, Any, object]) -> None:
        """Also when whoever wanted it waits no more: what redis-py has connected to by then, it would leave open."""
        looking = asyncio.create_task(look)
        self._looking.add(looking)
        looking.add_done_callback(self._looked)
        await asyncio.shield(looking)

    def _looked(self, look: asyncio.Task[object]) -> None:
        """Who still waits for it is told what went wrong; when nobody does, nobody has to be."""
        self._looking.discard(look)
        if not look.cancelled():
            look.exception()

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        async with self.asked():
            return await super().execute_command(*args, **kwargs)

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[None]:
        """Who got no answer leaves a doubt whether that is still the right node; the next one asks about it first."""
        await self.initialize()
        if self._doubtful:
            self._doubtful = False
            await self._to_the_end(self.nodes_manager.initialize(last_failed_node_name=self._silent))
        try:
            yield
        except (ConnectionLost, NoAnswerInTime, ClusterDownError, asyncio.CancelledError) as error:
            self._doubtful = True
            self._silent = getattr(error, "last_failed_node_name", None)
            raise

    async def ping(self, **kwargs: Any) -> Any:
        """Of the masters: a replica that is away keeps nobody from working."""
        return await super().ping(**{"target_nodes": self.PRIMARIES, **kwargs})

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> "Pipeline":
        assert not any((transaction, shard_hint)), "several nodes share no transaction"
        return Pipeline(self)  # type: ignore[abstract]  # only for redis-py's annotations

    def side_by_side(self) -> ClusterPipeline:
        return super().pipeline()


class Pipeline(ClusterPipeline):
    """
    What stands before a script is done before it; the rest is sent to all nodes at once.

    On one server that is so by itself.
    """

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._cluster = cluster
        self._calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._calls)

    def execute_command(self, *args: Any, **kwargs: Any) -> Self:
        self._calls.append((args, kwargs))
        return self

    def evalsha(self, sha: str, numkeys: int, *keys_and_args: Any) -> Self:
        """redis-py refuses it, since a node may not know the script: then the caller has to say it in full."""
        return self.execute_command("EVALSHA", sha, numkeys, *keys_and_args)

    async def execute(self, raise_on_error: bool = True, allow_redirections: bool = True) -> list[Any]:  # noqa: FBT001, FBT002 -- redis-py's
        calls, self._calls = self._calls, []
        answers: list[Any] = []
        for _, some in groupby(calls, key=lambda call: call[0][0] in SCRIPTS):
            together = self._cluster.side_by_side()
            for args, kwargs in some:
                together.execute_command(*args, **kwargs)
            async with self._cluster.asked():
                answers += await together.execute(raise_on_error, allow_redirections)
        return answers


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
