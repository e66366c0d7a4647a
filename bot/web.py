"""Health, readiness and metrics over HTTP, and Slack's requests when Socket Mode is not used."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

from aiohttp import web

from bot.errors import BotError, ConfigError
from bot.metrics import CONTENT_TYPE, Facts, Metrics
from bot.slack.endpoint import LARGEST_BYTES

READY_SECONDS = 2.0
SHUTDOWN_SECONDS = 2.0

Probe = Callable[[], Awaitable[Facts | None]]
"""Raises a BotError when the part cannot be used; may tell a number or two about it."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Take = Callable[[str, Mapping[str, str], bytes], Awaitable[tuple[int, Mapping[str, Any]]]]
Census = Callable[[], Awaitable[Mapping[str, int]]]
"""How many roundtables there are in each stage."""


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


def posted(take: Take, *, most_bytes: int) -> Handler:
    """A handler that gives *take* the slug, headers and body, and answers its JSON. Of too much, no more is read."""

    async def handler(request: web.Request) -> web.Response:
        body = b""
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > most_bytes:
                break
        status, said = await take(request.match_info["slug"], request.headers, body)
        return web.json_response(said, status=status)

    return handler


@asynccontextmanager
async def serving(
    host: str,
    port: int,
    *,
    probes: Mapping[str, Probe],
    slack: Mapping[str, Handler],
    metrics: Metrics | None = None,
    census: Census | None = None,
) -> AsyncIterator[None]:
    """*probes* are asked whenever somebody wants to know, also those that are added later; *slack* is by path."""
    counted = metrics or Metrics()
    site = web.Application(client_max_size=LARGEST_BYTES)
    site.add_routes([
        web.get("/healthz", _alive),
        web.get("/readyz", _readiness(probes, counted)),
        web.get("/metrics", _exposition(probes, counted, census)),
        *(web.post(path, handler) for path, handler in slack.items()),
    ])  # fmt: skip
    runner = web.AppRunner(site, shutdown_timeout=SHUTDOWN_SECONDS, access_log=None)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise ConfigError(
                f"{host}:{port} cannot be listened on ({error.strerror}). Set ROUNDTABLE_PORT to a free port."
            ) from error
        yield
    finally:
        await runner.cleanup()


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
