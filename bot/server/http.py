"""
The two HTTP addresses: one for Slack's requests and other programs' reviews, one for health and metrics.

Whoever connects may be anybody. A connection has a deadline for its headers and one for its body, there are no more
than `MOST_CONNECTIONS` of them, and of a body no more is read than its route takes.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from aiohttp import web
from aiohttp.http import HttpProcessingError

from bot.errors import BotError, ConfigError
from bot.server.metrics import CONTENT_TYPE, Facts, Metrics
from bot.server.review_webhook import LARGEST_BYTES, TOO_LONG, Postbox

READY_SECONDS = 2.0
SHUTDOWN_SECONDS = 2.0

MOST_CONNECTIONS = 100
"""At one address. Slack's busiest hour is eight events a second, and each is answered in milliseconds."""
HEADER_SECONDS = 10.0
BODY_SECONDS = 10.0
IDLE_SECONDS = 75.0
"""Between two requests: longer than proxies wait (60), so that none sends into a connection that we are closing."""
LINGERING_SECONDS = 5.0
"""So long the rest of a refused body is thrown away, so that its sender gets to read the refusal."""
FAIR_BYTES = 64 * 1024
MOST_HELD_BYTES = 32 * 1024 * 1024
"""Of all bodies that are being read at one address; those up to `FAIR_BYTES` are read all the same."""

BAD, TOO_LATE, TOO_LARGE, BUSY = 400, 408, 413, 503

Probe = Callable[[], Awaitable[Facts | None]]
"""Raises a BotError when the part cannot be used; may tell a number or two about it."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Census = Callable[[], Awaitable[Mapping[str, int]]]
"""How many roundtables there are in each stage."""
NOTHING: Mapping[str, Handler] = MappingProxyType({})


class Route(Protocol):
    """Requests with a body, of senders who have to prove who they are."""

    @property
    def most_bytes(self) -> int: ...

    def refusal(self, request: web.Request) -> web.Response | None:
        """What is answered at once, by the headers alone, and without reading the body."""
        ...

    def unread(self, status: int, why: str) -> web.Response:
        """What is answered when the body cannot be read, or is too much."""
        ...

    async def take(self, request: web.Request, body: bytes) -> web.Response: ...


class Found(NamedTuple):
    """`problem` is empty when the part can be used."""

    problem: str
    facts: Facts = MappingProxyType({})

    def as_json(self) -> dict[str, Any]:
        about = {"reason": self.problem} if self.problem else {}
        return {
            "ok": not self.problem,
            **about,
            **{name: round(fact, 3) for name, fact in self.facts.items()},
        }


class Entrance:
    """
    Slack's requests: refused, so that Slack sends them again, before there is somebody to take them and after.

    A handler that was begun is never cancelled here: what it saves is saved, and its answer goes out.
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

    def open(self, handler: Handler) -> None:
        self._handler = handler

    async def close(self, *, seconds: float) -> None:
        """What is inside gets *seconds* to be answered."""
        self._handler = None
        if self._inside:
            await asyncio.wait(self._inside, timeout=seconds)


def received(route: Route) -> Handler:
    """Headers first; then the body, within its limits; then *route* has both."""

    async def handler(request: web.Request) -> web.StreamResponse:
        if refused := route.refusal(request):
            return refused
        try:
            body = await _body(request, most_bytes=route.most_bytes)
        except _Unread as error:
            return route.unread(error.status, str(error))
        return await route.take(request, body)

    return handler


class Posted(Route):
    """Reviews; every answer is JSON."""

    most_bytes = LARGEST_BYTES

    def __init__(self, postbox: Postbox) -> None:
        self._postbox = postbox

    def refusal(self, request: web.Request) -> web.Response | None:
        if doubt := self._postbox.doubt(request.headers):
            return web.json_response(doubt.said, status=doubt.status)
        return None

    def unread(self, status: int, why: str) -> web.Response:
        return web.json_response({"error": TOO_LONG if status == TOO_LARGE else why}, status=status)

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        status, said = await self._postbox.take(request.match_info["slug"], request.headers, body)
        return web.json_response(said, status=status)


def health(
    probes: Mapping[str, Probe], *, metrics: Metrics | None = None, census: Census | None = None
) -> Mapping[str, Handler]:
    """*probes* are asked whenever somebody wants to know, also those that are added later."""
    counted = metrics or Metrics()
    return {
        "/healthz": _alive,
        "/readyz": _readiness(probes, counted),
        "/metrics": _exposition(probes, counted, census),
    }


@asynccontextmanager
async def serving(
    host: str,
    port: int,
    *,
    get: Mapping[str, Handler] = NOTHING,
    post: Mapping[str, Handler] = NOTHING,
    setting: str = "ROUNDTABLE_PORT",
) -> AsyncIterator[None]:
    """Handlers by method and path. *setting* is the name of the one that chooses another port."""
    connections = Connections()
    site = web.Application(middlewares=[connections.watch])
    site.add_routes([web.get(path, handler) for path, handler in get.items()])
    site.add_routes([web.post(path, handler) for path, handler in post.items()])
    runner = web.AppRunner(
        site,
        shutdown_timeout=SHUTDOWN_SECONDS,
        keepalive_timeout=IDLE_SECONDS,
        lingering_time=LINGERING_SECONDS,
        auto_decompress=False,  # signatures are of what was sent, and nothing may grow once it is here
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
    Those to one address, the one that was of use longest ago first.

    When there is no room for another, the first one that still waits for its client is closed: a client with a
    request to make sends it at once, and is never the one that has waited longest.
    """

    def __init__(self) -> None:
        self._all: dict[asyncio.BaseTransport | None, _Connection] = {}
        self._held = 0

    def add(self, transport: asyncio.Transport, connection: "_Connection") -> bool:
        """False when there is no room, because all of them are being answered."""
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
        """The middleware."""
        connection = self._all.get(request.transport)
        if connection is None:
            raise ConnectionResetError  # closed meanwhile
        request[CONNECTIONS], request[CONNECTION] = self, connection
        connection.has_headers(and_body=request.can_read_body)
        try:
            return await handler(request)
        finally:
            connection.rests()
            if self._all.pop(request.transport, None):
                self._all[request.transport] = connection

    def hold(self, size: int) -> bool:
        """Whether there is room for so many bytes more of bodies that are being read."""
        self._held += size
        return self._held <= MOST_HELD_BYTES


CONNECTIONS = web.RequestKey("connections", Connections)


class _Connection(asyncio.Protocol):
    """aiohttp's protocol, which waits for a client as long as that likes, with a deadline."""

    def __init__(self, http: asyncio.Protocol, others: Connections) -> None:
        self._http = http
        self._others = others
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._is_resting = False
        self.is_busy = False

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
        self._settle()
        if self._transport:
            self._others.remove(self._transport)
            self._http.connection_lost(exc)

    def has_headers(self, *, and_body: bool) -> None:
        """Whoever reads the body has a deadline for that."""
        self._settle()
        self._is_resting = False
        self.is_busy = not and_body

    def rests(self) -> None:
        self.is_busy, self._is_resting = False, True
        self._expect_more(within=IDLE_SECONDS)

    def _expect_more(self, *, within: float) -> None:
        self._settle()
        if self._transport and not self._transport.is_closing():
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(within, self._transport.abort)

    def _settle(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None


CONNECTION = web.RequestKey("connection", _Connection)


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
    """aiohttp logs what is no HTTP with a traceback that quotes it. It is refused, and that is all."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


_http_log = logging.getLogger(f"{__name__}.http")
_http_log.addFilter(_WithoutExcerpts())


async def _alive(_request: web.Request) -> web.Response:
    """The loop goes round: nothing else may make an orchestrator restart us, least of all a store that is away."""
    return web.Response(text="ok\n")


def _readiness(probes: Mapping[str, Probe], metrics: Metrics) -> Handler:
    async def ready(_request: web.Request) -> web.Response:
        found = await _look(probes, metrics)
        is_ready = not any(part.problem for part in found.values())
        answer = {"ready": is_ready, "parts": {name: part.as_json() for name, part in found.items()}}
        return web.json_response(answer, status=200 if is_ready else 503)

    return ready


def _exposition(probes: Mapping[str, Probe], metrics: Metrics, census: Census | None) -> Handler:
    async def exposition(_request: web.Request) -> web.Response:
        await _look(probes, metrics)
        if census:
            metrics.counted(await _stages(census))
        return web.Response(body=metrics.exposed(), headers={"Content-Type": CONTENT_TYPE})

    return exposition


async def _look(probes: Mapping[str, Probe], metrics: Metrics) -> dict[str, Found]:
    """Every part at once; one that does not answer in time cannot be used."""
    asked = dict(probes)
    answers = await asyncio.gather(*(_found(probe) for probe in asked.values()))
    found = dict(zip(asked, answers, strict=True))
    for name, part in found.items():
        metrics.seen(name, usable=not part.problem, facts=part.facts)
    return found


async def _stages(census: Census) -> Mapping[str, int] | None:
    try:
        async with asyncio.timeout(READY_SECONDS):
            return await census()
    except (TimeoutError, BotError):
        return None


async def _found(probe: Probe) -> Found:
    try:
        async with asyncio.timeout(READY_SECONDS):
            return Found("", await probe() or {})
    except TimeoutError:
        return Found("no answer in time")
    except Unfit as error:
        return Found(str(error), error.facts)
    except BotError as error:
        return Found(str(error))


class Unfit(BotError):
    """Why a part cannot be used, with the numbers that say so."""

    def __init__(self, sentence: str, facts: Facts) -> None:
        super().__init__(sentence)
        self.facts = facts
