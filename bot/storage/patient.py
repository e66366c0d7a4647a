"""
Docket on a cluster or behind sentinels, which it only gets along with as long as they all answer.

Docket 0.27 takes one node of a cluster, asks it at once, raises what its worker does not take for an outage, and never
works again when the node is lost on which it listens for cancellations. Of sentinels it asks one after the other, and a
lost one for a minute. It waits without end for the answer of a server that hangs. Here it is given what answers just
now, an outage is one, and after it docket begins anew. Only what docket makes public is used for that.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self

from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import RedisClusterException, RedisError

from bot.errors import ConfigError
from bot.storage.address import CLUSTER, hosts_of, kind_of, only, taken_apart
from bot.storage.connect import cancellable
from bot.storage.sentinel import answering
from bot.storage.tasks import TaskDocket

FIRST_SECONDS = 1.0
"""So long the start waits; usually it takes a moment."""
SENTINEL_SECONDS = 0.3
OPENING_SECONDS = 2.0
AGAIN_SECONDS = 0.5
HUNG_SECONDS = "4"
"""Longer than docket ever waits for work."""
AWAY = (RedisError, RedisClusterException)


def docket_at(url: str, name: str, **options: Any) -> TaskDocket:
    """Raises ConfigError for a URL that cannot be used."""
    if not kind_of(url):
        return TaskDocket(name, url, **options)
    try:
        taken_apart(url)
    except ValueError as error:
        raise ConfigError(f"REDIS_URL cannot be used: {error}") from None
    return PatientDocket(url, name, options)


class PatientDocket(TaskDocket):
    """Until there is an answer, whoever needs one waits, as when a single server is away."""

    def __init__(self, url: str, name: str, options: Mapping[str, Any]) -> None:
        super().__init__(name, only(url, hosts_of(url)[:1]), **options)
        self._given = url
        self._options = options
        self._users = 0
        self._doubtful = False

    async def __aenter__(self) -> Self:
        self._opening = asyncio.create_task(self._opened(), name="first answer of Redis")
        await asyncio.wait({self._opening}, timeout=FIRST_SECONDS)
        if self._opening.done():
            self._opening.result()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opening.cancel()
        await asyncio.wait({self._opening})
        if not self._opening.cancelled() and not self._opening.exception():
            await self._closed()

    @asynccontextmanager
    async def redis(self) -> AsyncGenerator[Any, None]:
        """The worker is in here all the time, unless something went wrong; so then is the time to begin anew."""
        if self._doubtful and not self._users:
            self._doubtful = False
            self._opening = asyncio.create_task(self._reopened(), name="next answer of Redis")
        while not self._opening.done():
            await asyncio.wait({self._opening})
        self._users += 1
        try:
            async with super().redis() as client:
                with cancellable():
                    yield client
        except (*AWAY, BaseExceptionGroup) as error:
            if not _is_away(error):
                raise
            self._doubtful = True
            raise ConnectionLost(f"Redis did not answer: {error}") from error
        finally:
            self._users -= 1

    async def _reopened(self) -> None:
        with suppress(TimeoutError):  # what cannot be closed is left behind
            async with asyncio.timeout(OPENING_SECONDS):
                await self._closed()
        await self._opened()

    async def _closed(self) -> None:
        """redis-py leaves connections to a cluster open when it is about to ask who has which slots."""
        async with super().redis() as client:
            nodes = getattr(client, "nodes_manager", None)
        await super().__aexit__(None, None, None)
        if nodes:
            await nodes.aclose("nodes_cache")
            await nodes.aclose("startup_nodes")

    async def _opened(self) -> None:
        while True:
            for url in await self._worth_trying():
                try:
                    async with asyncio.timeout(OPENING_SECONDS):
                        await self._enter(url)
                except (*AWAY, OSError):
                    continue
                return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _worth_trying(self) -> list[str]:
        """Each node of a cluster, which knows the others; and all sentinels that answer."""
        hosts = hosts_of(self._given)
        if kind_of(self._given) == CLUSTER:
            return [only(self._given, [host], socket_timeout=HUNG_SECONDS) for host in hosts]
        answer = await answering(taken_apart(self._given), seconds=SENTINEL_SECONDS)
        heard = [host for host, answers in zip(hosts, answer, strict=True) if answers]
        return [only(self._given, heard, socket_timeout=HUNG_SECONDS)] if heard else []

    async def _enter(self, url: str) -> None:
        tasks = self.tasks
        super().__init__(self.name, url, **self._options)
        self.tasks = tasks
        async with AsyncExitStack() as undo:
            undo.push_async_callback(super().__aexit__, None, None, None)
            await super().__aenter__()
            async with super().redis() as client:
                await client.exists(self.stream_key)
            undo.pop_all()


def _is_away(error: BaseException) -> bool:
    """A task group tells of several errors at once."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(AWAY)[1] is None
    return isinstance(error, AWAY)
