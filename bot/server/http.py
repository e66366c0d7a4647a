"""
HTTP for clients that are not trusted: one address for Slack and for reviews of other programs, one for health.

A connection has a deadline for its headers and one for its body, there are at most `MOST_CONNECTIONS`, and of a body
at most as much is read as its route accepts.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, Protocol

from aiohttp import web
from aiohttp.http import HttpProcessingError

from bot.errors import ConfigError
from bot.telemetry import continued

SHUTDOWN_SECONDS = 2.0

MOST_CONNECTIONS = 100
"""At one address. Slack sends at most about eight events a second, and each is answered in milliseconds."""
HEADER_SECONDS = 10.0
BODY_SECONDS = 10.0
IDLE_SECONDS = 75.0
"""Between two requests: longer than proxies keep connections (60), so none sends on one that we close."""
LINGERING_SECONDS = 5.0
"""How long the rest of a refused body is discarded, so that its sender can read the refusal."""
FAIR_BYTES = 64 * 1024
MOST_HELD_BYTES = 32 * 1024 * 1024
"""Of all bodies that are being read at one address; bodies up to `FAIR_BYTES` are always read."""

BAD, TOO_LATE, TOO_LARGE, BUSY = 400, 408, 413, 503

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
NOTHING: Mapping[str, Handler] = MappingProxyType({})


class Guard(Protocol):
    """What is read of requests with a body, whose senders have to authenticate."""

    @property
    def most_bytes(self) -> int: ...

    def refusal(self, request: web.Request) -> web.Response | None:
        """An answer by the headers alone, before the body is read."""
        ...


class Gate(Guard, Protocol):
    """A guard that needs nothing open behind it."""

    def forged(self, request: web.Request, body: bytes) -> web.Response | None:
        """An answer to who may not send this."""
        ...


class Route(Guard, Protocol):
    async def take(self, request: web.Request, body: bytes) -> web.Response: ...


class SlackRoute:
    """
    Refuses requests before it is opened and after it is closed; Slack sends them again.

    A running handler is never cancelled here, so its answer is sent.
    """

    def __init__(self) -> None:
        self._handler: Handler | None = None
        self._inside: set[asyncio.Task[Any]] = set()

    async def enter(self, request: web.Request) -> web.StreamResponse:
        task = asyncio.current_task()
        if self._handler is None or task is None:
            return web.Response(status=503, headers={"Retry-After": "1"}, text="not now\n")
        self._inside.add(task)
        try:
            return await self._handler(request)
        finally:
            self._inside.discard(task)

    @asynccontextmanager
    async def opened(self, handler: Handler, *, seconds: float) -> AsyncIterator[None]:
        """At the end, no more are accepted, and running requests have *seconds* to be answered."""
        self._handler = handler
        try:
            yield
        finally:
            self._handler = None
            if self._inside:
                await asyncio.wait(self._inside, timeout=seconds)


def refuse(status: int, why: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """For programs."""
    return web.json_response({"error": why}, status=status, headers=headers)


def received(route: Route) -> Handler:
    """Gives what `read_body` takes to *route*."""

    async def handler(request: web.Request) -> web.StreamResponse:
        body = await read_body(request, route)
        if not isinstance(body, bytes):
            return body
        with continued(request.headers):
            return await route.take(request, body)

    return handler


async def read_body(request: web.Request, guard: Guard) -> bytes | web.Response:
    """Within the limits, after the headers; a refusal is answered. Who reads it again gets the same."""
    if refused := guard.refusal(request):
        return refused
    try:
        if BODY not in request:
            request[BODY] = await _body(request, most_bytes=guard.most_bytes)
        return request[BODY]
    except _Unread as error:
        return refuse(error.status, str(error))


BODY = web.RequestKey("body", bytes)


@asynccontextmanager
async def serving(
    host: str,
    port: int,
    *,
    get: Mapping[str, Handler] = NOTHING,
    post: Mapping[str, Handler] = NOTHING,
    setting: str = "ROUNDTABLE_PORT",
) -> AsyncIterator[None]:
    """Handlers by method and path. *setting* is the setting that an error about the port names."""
    connections = Connections()
    site = web.Application(middlewares=[connections.watch])
    site.add_routes([web.get(path, handler) for path, handler in get.items()])
    site.add_routes([web.post(path, handler) for path, handler in post.items()])
    runner = web.AppRunner(
        site,
        shutdown_timeout=SHUTDOWN_SECONDS,
        keepalive_timeout=IDLE_SECONDS,
        lingering_time=LINGERING_SECONDS,
        auto_decompress=False,  # signatures cover the bytes as sent, and a body may not grow
        access_log=None,
        logger=_http_log,
    )
    await runner.setup()
    assert runner.server
    http = runner.server
    try:
        try:
            listening = await asyncio.get_running_loop().create_server(
                lambda: _Connection(http(), connections), host, port
            )
        except OSError as error:
            raise ConfigError(
                f"{host}:{port} cannot be listened on ({error.strerror}). Set {setting} to a free port."
            ) from error
        try:
            yield
        finally:
            listening.close()
    finally:
        await runner.cleanup()


class Connections:
    """
    The connections to one address, the least recently used first.

    When there are too many, the first that waits for its client is closed. A client with a request sends it at once, so
    it is never the one that has waited longest.
    """

    def __init__(self) -> None:
        self._all: dict[asyncio.BaseTransport | None, _Connection] = {}
        self._held = 0

    def add(self, transport: asyncio.Transport, connection: "_Connection") -> bool:
        """False when there is no room, because all connections have a running request."""
        if len(self._all) >= MOST_CONNECTIONS:
            waiting = next((other for other, one in self._all.items() if not one.is_busy), None)
            if not isinstance(waiting, asyncio.Transport):
                return False
            del self._all[waiting]
            waiting.abort()
        self._all[transport] = connection
        return True

    def remove(self, transport: asyncio.BaseTransport | None) -> None:
        self._all.pop(transport, None)

    @web.middleware
    async def watch(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        connection = self._all.get(request.transport)
        if connection is None:
            raise ConnectionResetError  # closed in the meantime
        request[CONNECTIONS], request[CONNECTION] = self, connection
        connection.has_headers(and_body=request.can_read_body)
        try:
            return await handler(request)
        finally:
            connection.rests()
            if self._all.pop(request.transport, None):
                self._all[request.transport] = connection

    def hold(self, size: int) -> bool:
        """Whether *size* more bytes of bodies fit in memory."""
        self._held += size
        return self._held <= MOST_HELD_BYTES


CONNECTIONS = web.RequestKey("connections", Connections)


class _Connection(asyncio.Protocol):
    """aiohttp's protocol, which has no deadline for slow clients, with one."""

    def __init__(self, http: asyncio.Protocol, others: Connections) -> None:
        self._http = http
        self._others = others
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._is_resting = False
        self.is_busy = False
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        if not self._others.add(transport, self):
            transport.abort()
            return
        self._transport = transport
        self._expect_more(within=HEADER_SECONDS)
        self._http.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._transport is None:
            return
        if self._is_resting:
            self._is_resting = False
            self._expect_more(within=HEADER_SECONDS)
        self._http.data_received(data)

    def eof_received(self) -> bool | None:
        return self._http.eof_received() if self._transport else None

    def pause_writing(self) -> None:
        self._http.pause_writing()

    def resume_writing(self) -> None:
        self._http.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()
        self._cancel_deadline()
        if self._transport:
            self._others.remove(self._transport)
            self._http.connection_lost(exc)

    def has_headers(self, *, and_body: bool) -> None:
        # Reading the body has a deadline of its own.
        self._cancel_deadline()
        self._is_resting = False
        self.is_busy = not and_body

    def rests(self) -> None:
        self.is_busy, self._is_resting = False, True
        self._expect_more(within=IDLE_SECONDS)

    def _expect_more(self, *, within: float) -> None:
        self._cancel_deadline()
        if self._transport and not self._transport.is_closing():
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(within, self._transport.abort)

    def _cancel_deadline(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None


CONNECTION = web.RequestKey("connection", _Connection)


async def while_waited_for(request: web.Request, work: Coroutine[Any, Any, None], *, seconds: float) -> bool:
    """Whether *work* ended. It is cancelled after *seconds*, and when the client hangs up."""
    working = asyncio.create_task(work)
    hanging_up = asyncio.create_task(request[CONNECTION].lost.wait())
    both = {working, hanging_up}
    try:
        await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        is_over = working.done()
        for one in both:
            one.cancel()
        await asyncio.wait(both)
    if is_over:
        working.result()
    return is_over


async def _body(request: web.Request, *, most_bytes: int) -> bytes:
    connections, parts, size = request[CONNECTIONS], [], 0
    if (request.content_length or 0) > most_bytes:
        raise _Unread(TOO_LARGE, f"At most {most_bytes} bytes are taken.")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.content.iter_any():
                size += len(part)
                has_room = connections.hold(len(part))
                if size > most_bytes:
                    raise _Unread(TOO_LARGE, f"At most {most_bytes} bytes are taken.")
                if size > FAIR_BYTES and not has_room:
                    raise _Unread(BUSY, "Too much is sent at once. Send it again in a moment.")
                parts.append(part)
    except TimeoutError:
        raise _Unread(TOO_LATE, f"The body did not come within {BODY_SECONDS:.0f} s.") from None
    except (web.RequestPayloadError, HttpProcessingError):
        raise _Unread(BAD, "The body is not what the headers say.") from None
    finally:
        connections.hold(-size)
    request[CONNECTION].is_busy = True
    return b"".join(parts)


class _Unread(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class _WithoutExcerpts(logging.Filter):
    """Drops aiohttp's log lines about invalid HTTP: their traceback quotes what the client sent."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


_http_log = logging.getLogger(f"{__name__}.http")
_http_log.addFilter(_WithoutExcerpts())
