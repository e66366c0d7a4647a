"""Connections to the server that sentinels call master, whichever that is just now."""

import asyncio
import math
import time
from contextlib import suppress
from typing import Any

from redis.asyncio import BlockingConnectionPool, Sentinel
from redis.asyncio.connection import SSLConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError, SentinelConnectionPool, SentinelManagedConnection
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import RedisError, ResponseError

from bot.storage.address import Address

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
