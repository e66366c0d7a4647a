"""A way to Redis on which answers get lost: what was asked for is done, and nobody hears of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

READ_BYTES = 65536


class Proxy:
    def __init__(self, url: str) -> None:
        self._there = urlsplit(url)
        self._lost_is = 0
        self.lost = 0
        self.url = ""

    def lose_answer(self, nth: int = 1) -> None:
        """Of those to come, the *nth* is dropped, and its connection with it."""
        self._lost_is = nth

    async def passes(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, on = await asyncio.open_connection(self._there.hostname, self._there.port)
        asking = asyncio.create_task(_pumped(reader, on))
        try:
            while answer := await back.read(READ_BYTES):
                self._lost_is -= 1
                if self._lost_is == 0:
                    self.lost += 1
                    break
                writer.write(answer)
                await writer.drain()
        except ConnectionError:
            pass  # whoever asked has gone
        finally:
            asking.cancel()
            await asyncio.wait({asking})
            for one in (writer, on):
                one.close()
                with suppress(ConnectionError):
                    await one.wait_closed()


@asynccontextmanager
async def lossy(url: str) -> AsyncIterator[Proxy]:
    proxy = Proxy(url)
    server = await asyncio.start_server(proxy.passes, "127.0.0.1", 0)
    proxy.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}{urlsplit(url).path}"
    try:
        yield proxy
    finally:
        server.close()
        await server.wait_closed()


async def _pumped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while asked := await reader.read(READ_BYTES):
            writer.write(asked)
            await writer.drain()
