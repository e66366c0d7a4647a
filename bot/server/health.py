"""Health, readiness and metrics: what `/healthz`, `/readyz` and `/metrics` answer, and the parts that they look at."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from aiohttp import web

from bot.engine.ports import Pay, Sweep, Wake
from bot.errors import BotError
from bot.server.http import Handler
from bot.server.metrics import CONTENT_TYPE, Facts, Metrics

log = logging.getLogger(__name__)

READY_SECONDS = 2.0
PROBE_SECONDS = 3.0

Probe = Callable[[], Awaitable[Facts | None]]
"""Raises a BotError when the part cannot be used; may return numbers about it."""
Census = Callable[[], Awaitable[Mapping[str, int]]]
"""The number of roundtables in each stage."""


class Unfit(BotError):
    """Why a part cannot be used, with the numbers that show it."""

    def __init__(self, sentence: str, facts: Facts) -> None:
        super().__init__(sentence)
        self.facts = facts


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


class Team(Protocol):
    """One of several that a process serves."""

    async def looked(self) -> Metrics: ...

    async def look_at_part(self, part: str) -> Found: ...


def health(
    probes: Mapping[str, Probe],
    *,
    metrics: Metrics,
    census: Census,
    teams: Callable[[], Sequence[Team]] = tuple,
) -> Mapping[str, Handler]:
    """All *probes* run at every request, also those that are added later; those of *teams* for the metrics only."""
    return {
        "/healthz": _alive,
        "/readyz": _readiness(probes, metrics),
        "/metrics": _exposition(probes, metrics, census, teams),
    }


async def _alive(_request: web.Request) -> web.Response:
    """Only that the event loop runs: a store that is away is no reason to restart the bot."""
    return web.Response(text="ok\n")


def _readiness(probes: Mapping[str, Probe], metrics: Metrics) -> Handler:
    async def ready(_request: web.Request) -> web.Response:
        parts = await _look(probes, metrics)
        is_ready = not any(part.problem for part in parts.values())
        answer = {"ready": is_ready, "parts": {name: part.as_json() for name, part in parts.items()}}
        return web.json_response(answer, status=200 if is_ready else 503)

    return ready


def _exposition(
    probes: Mapping[str, Probe], metrics: Metrics, census: Census, teams: Callable[[], Sequence[Team]]
) -> Handler:
    async def exposition(_request: web.Request) -> web.Response:
        asked = (measured(probes, metrics, census), *(team.looked() for team in teams()))
        ours, *others = await asyncio.gather(*asked)
        return web.Response(body=ours.exposed(others), headers={"Content-Type": CONTENT_TYPE})

    return exposition


async def measured(probes: Mapping[str, Probe], metrics: Metrics, census: Census) -> Metrics:
    await _look(probes, metrics)
    metrics.counted(await _stages(census))
    return metrics


async def _look(probes: Mapping[str, Probe], metrics: Metrics) -> dict[str, Found]:
    """All parts at once; a part that does not answer in time cannot be used."""
    asked = dict(probes)
    answers = await asyncio.gather(*(run_probe(name, probe) for name, probe in asked.items()))
    parts = dict(zip(asked, answers, strict=True))
    for name, part in parts.items():
        metrics.seen(name, usable=not part.problem, facts=part.facts)
    return parts


async def run_probe(name: str, probe: Probe) -> Found:
    try:
        async with asyncio.timeout(READY_SECONDS):
            return Found("", await probe() or {})
    except TimeoutError:
        return Found("no answer in time")
    except Unfit as error:
        return Found(str(error), error.facts)
    except BotError as error:
        if error.__cause__:
            # The cause may name paths and addresses, so it is only in the log.
            log.warning("%s cannot be used: %s (%r)", name, error, error.__cause__)
        return Found(str(error))


def every_team(part: str, teams: Callable[[], Sequence[Team]], without: Probe) -> Probe:
    """
    Unfit when it is so in every team: one alone must not keep deliveries from its neighbours. *without* any, what they
    need is looked at.
    """

    async def probe() -> Facts:
        problems = [
            one.problem for one in await asyncio.gather(*(team.look_at_part(part) for team in teams()))
        ]
        if not problems:
            await without()
        facts = {"unusable_teams": sum(map(bool, problems))}
        if problems and all(problems):
            raise Unfit(problems[0], facts)
        return facts

    return probe


def sometimes(probe: Callable[[], Awaitable[None]], *, clock: Callable[[], float] = time.monotonic) -> Probe:
    """*probe* writes, so what worked a moment ago is not asked again. What did not is."""
    worked_at = -PROBE_SECONDS

    async def probed() -> None:
        nonlocal worked_at
        if clock() - worked_at >= PROBE_SECONDS:
            await probe()
            worked_at = clock()

    return probed


async def _stages(census: Census) -> Mapping[str, int] | None:
    try:
        async with asyncio.timeout(READY_SECONDS):
            return await census()
    except (TimeoutError, BotError):
        return None


# --- the event loop -------------------------------------------------------------------------------------------------

BEAT_SECONDS = 1.0
BEATS = 60


class LoopLag:
    """Measures once a second how late the event loop is, and keeps the worst of the last minute."""

    def __init__(self) -> None:
        self._late: deque[float] = deque([0.0], maxlen=BEATS)

    @property
    def seconds(self) -> float:
        return max(self._late)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            due = time.monotonic() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)
            self._late.append(max(0.0, time.monotonic() - due))


# --- the worker that performs effects -------------------------------------------------------------------------------

OVERDUE_SECONDS = 300.0
"""Longer than Slack's usual troubles and all retries, except those of a post."""
STEADY_SECONDS = 5.0
"""A worker that stops right after every start does nothing, although it often runs."""


class WatchedWorker(Wake):
    """
    *wake*, and whether it works here. *alone*: no other process could do the work.

    An old effect alone is not a problem of this process: another one may have it, and Slack may refuse it. What can be
    seen here is whether the worker runs and, when it is alone, whether it begins anything.
    """

    def __init__(self, wake: Wake, *, alone: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._wake = wake
        self._alone = alone
        self._clock = clock
        self._is_running = False
        self._stopped_at = -STEADY_SECONDS
        self._active_at = clock()
        self._in_hand = 0

    async def wake(self, slug: str) -> None:
        await self._wake.wake(slug)

    async def run(self, pay: Pay, sweep: Sweep | None = None) -> None:
        async def watched(slug: str) -> None:
            self._in_hand += 1
            self._active_at = self._clock()
            try:
                await pay(slug)
            finally:
                self._in_hand -= 1
                self._active_at = self._clock()

        self._is_running, self._active_at = True, self._clock()
        try:
            await self._wake.run(watched, sweep)
        finally:
            self._is_running, self._stopped_at = False, self._clock()

    def problem(self, *, oldest_seconds: float) -> str:
        """Empty when the worker works, as far as can be seen."""
        now = self._clock()
        if not self._is_running:
            return "no effects are performed here: the worker does not run"
        if now - self._stopped_at < STEADY_SECONDS:
            return "no effects were performed here: the worker stopped, and has just been started again"
        idle = not self._in_hand and now - self._active_at > OVERDUE_SECONDS
        if self._alone and idle and oldest_seconds > OVERDUE_SECONDS:
            return f"an effect has waited for {oldest_seconds:.0f} s, and the worker has not begun it"
        return ""
