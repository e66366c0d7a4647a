"""
People in a hurry: so many requests at once, each sent when the one before it was answered.

The clients are bare, so that what is measured is the app and not who asks it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from time import perf_counter

from bench.canned import HOST, CannedSlack
from bench.payloads import Payload

Send = Callable[[Payload], Awaitable[float]]
"""Delivers, and returns the seconds until it was acknowledged."""
DELIVERIES = 4


async def closed_loop(send: Sequence[Send], payloads: Sequence[Payload]) -> list[float]:
    """One of *send* for each who asks at the same time; they share *payloads*."""
    left = iter(payloads)

    async def person(deliver: Send) -> list[float]:
        return [await deliver(payload) for payload in left]

    each = await asyncio.gather(*(person(deliver) for deliver in send))
    return [seconds for waited in each for seconds in waited]


@asynccontextmanager
async def over_http(port: int, concurrent: int) -> AsyncIterator[list[Send]]:
    """Each with a connection of its own that stays open, as Slack's do."""
    async with AsyncExitStack() as stack:
        connections = [_Connection(port) for _ in range(concurrent)]
        for connection in connections:
            await connection.open()
            stack.push_async_callback(connection.close)
        yield [connection.send for connection in connections]


def over_sockets(slack: CannedSlack, app: str, concurrent: int) -> list[Send]:
    async def send(payload: Payload) -> float:
        envelope_id, envelope = payload.envelope()
        began = perf_counter()
        await slack.delivered(app, envelope_id, envelope)
        return perf_counter() - began

    return [send] * concurrent


class _Connection:
    def __init__(self, port: int) -> None:
        self._port = port

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(HOST, self._port)

    async def close(self) -> None:
        self._writer.close()

    async def send(self, payload: Payload) -> float:
        """What is not acknowledged is sent again, as Slack does, and all of it counts."""
        request = payload.request(f"{HOST}:{self._port}")
        began = perf_counter()
        for _ in range(DELIVERIES):
            if await self._status(request) == "200":
                return perf_counter() - began
        raise AssertionError(f"{payload.kind} was never acknowledged")

    async def _status(self, request: bytes) -> str:
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        await self._reader.readexactly(_length(head))
        return head.split(b" ", 2)[1].decode()


def _length(head: bytes) -> int:
    _, _, rest = head.lower().partition(b"content-length:")
    return int(rest.split(b"\r\n", 1)[0] or 0)
