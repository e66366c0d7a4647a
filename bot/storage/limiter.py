"""
Rate limits for calls of Slack: within this process, or shared by all processes of one Slack app.

A budget is a token bucket of *burst* calls that refills at *per_second*. A caller gets its place in the queue at once
and waits for it: first come, first served. The queue has a clock of its own, which a hold stops. So callers keep their
places and their distances during a hold, and do not all call at once when it ends.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from bot.engine.ports import RateLimit
from bot.storage.redis_client import CALL_SECONDS, NO_ANSWER, Connected

COOL_DOWN_SECONDS = 5.0
"""Cool-down before an unreachable Redis is asked again."""
CONNECTIONS = 16
BUDGETS_REMEMBERED = 10_000
KEPT_SECONDS = 60
"""From when the bucket of a budget is full again until Redis deletes the budget."""

TURN = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local kept = redis.call('HMGET', KEYS[1], 'full', 'stood', 'goes')
local full, stood, goes = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
local place = tonumber(ARGV[4])
if not place then
  local interval, slack = tonumber(ARGV[1]), tonumber(ARGV[2])
  local clock = stood + math.max(0, now - goes)
  place = math.max(clock, full - slack)
  full = math.max(clock, full) + interval
  redis.call('HSET', KEYS[1], 'full', string.format('%.6f', full), 'slack', string.format('%.6f', slack))
  redis.call('EXPIRE', KEYS[1], math.ceil(math.max(0, goes + full - stood - now)) + ARGV[3])
end
local due = goes + math.max(0, place - stood)
return {string.format('%.6f', place), string.format('%.6f', due - now)}
"""
"""
KEYS: a budget. ARGV: interval, slack, seconds to keep it, and a place taken before or "". Returns the place and the
seconds until it is due. `full` is when the bucket will be full. The queue's clock stands at `stood` until `goes`.
"""

HOLD = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local kept = redis.call('HMGET', KEYS[1], 'full', 'stood', 'goes', 'slack')
local full, stood, goes = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
local clock = stood + math.max(0, now - goes)
goes = math.max(goes, now + ARGV[1])
full = math.max(full, clock + (tonumber(kept[4]) or 0))
redis.call('HSET', KEYS[1], 'full', string.format('%.6f', full),
  'stood', string.format('%.6f', clock), 'goes', string.format('%.6f', goes))
redis.call('EXPIRE', KEYS[1], math.ceil(goes + full - clock - now) + ARGV[2])
"""
"""KEYS: a budget. ARGV: seconds of the hold, seconds to keep the budget."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Bucket:
    """The same calculation as in Lua above, with the same names."""

    full: float = 0.0
    slack: float = 0.0
    stood: float = 0.0
    goes: float = 0.0

    def place(self, now: float, *, interval: float, burst: int) -> float:
        clock = self._clock(now)
        self.slack = (burst - 1) * interval
        place = max(clock, self.full - self.slack)
        self.full = max(clock, self.full) + interval
        return place

    def due(self, place: float) -> float:
        return self.goes + max(0.0, place - self.stood)

    def hold(self, now: float, *, seconds: float) -> None:
        clock = self._clock(now)
        self.goes = max(self.goes, now + seconds)
        self.full = max(self.full, clock + self.slack)
        self.stood = clock

    def idle(self, now: float) -> bool:
        return self.full <= self._clock(now)

    def _clock(self, now: float) -> float:
        return self.stood + max(0.0, now - self.goes)


class Reservation(NamedTuple):
    bucket: _Bucket
    place: float


class LocalRateLimit(RateLimit):
    """For one process. *speed* multiplies all rates; with `math.inf`, for the sandbox, callers wait only for holds."""

    def __init__(self, *, speed: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    async def turn(self, budget: str, *, per_second: float, burst: int) -> None:
        await self.reached(self.taken(budget, per_second=per_second, burst=burst))

    async def hold(self, budget: str, *, seconds: float) -> None:
        self.held(budget, seconds=seconds)

    def taken(self, budget: str, *, per_second: float, burst: int) -> Reservation:
        bucket = self._bucket(budget)
        interval = 1 / (per_second * self._speed)
        return Reservation(bucket, bucket.place(self._clock(), interval=interval, burst=burst))

    async def reached(self, taken: Reservation) -> None:
        # A loop, because a hold during the wait postpones the place.
        while (wait := taken.bucket.due(taken.place) - self._clock()) > 0:  # noqa: ASYNC110 -- the time is known
            await asyncio.sleep(wait)

    def held(self, budget: str, *, seconds: float) -> None:
        self._bucket(budget).hold(self._clock(), seconds=seconds)

    def _bucket(self, budget: str) -> _Bucket:
        if budget not in self._buckets and len(self._buckets) >= BUDGETS_REMEMBERED:
            now = self._clock()
            self._buckets = {name: kept for name, kept in self._buckets.items() if not kept.idle(now)}
        return self._buckets.setdefault(budget, _Bucket())


class RedisRateLimit(Connected, RateLimit):
    """
    For all processes of a team that share a Redis, by its clock.

    Each call also takes a place in this process's own budgets, so that an outage of Redis does not start a new burst.
    """

    def __init__(self, url: str, *, team: str, speed: float = 1.0) -> None:
        super().__init__(url, team=team, connections=CONNECTIONS)
        self._speed = speed
        self._local = LocalRateLimit(speed=speed)
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._retry_at = 0.0

    async def turn(self, budget: str, *, per_second: float, burst: int) -> None:
        own = self._local.taken(budget, per_second=per_second, burst=burst)
        interval = 1 / (per_second * self._speed)
        async with self._queue(f"{budget} ask"):
            answer = await self._asked(TURN, budget, interval, (burst - 1) * interval, KEPT_SECONDS, "")
        async with self._queue(f"{budget} wait"):
            while answer:
                place, wait = answer[0], float(answer[1])
                if wait <= 0:
                    return
                await asyncio.sleep(wait)
                answer = await self._asked(TURN, budget, 0, 0, KEPT_SECONDS, place)
            await self._local.reached(own)

    async def hold(self, budget: str, *, seconds: float) -> None:
        self._local.held(budget, seconds=seconds)
        await self._asked(HOLD, budget, seconds, KEPT_SECONDS)

    def _queue(self, name: str) -> asyncio.Lock:
        """Keeps callers of this process in order: their calls may go through different connections."""
        return self._queues.setdefault(name, asyncio.Lock())

    async def _asked(self, script: str, budget: str, *arguments: Any) -> Any:
        """None when Redis does not answer."""
        now = time.monotonic()
        if now < self._retry_at:
            return None
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await self._redis.eval(script, 1, f"{self._prefix}pace:{budget}", *arguments)
        except NO_ANSWER as error:
            if not self._retry_at:
                log.warning(
                    "each process keeps Slack's pace by itself: %s", str(error) or "no answer in time"
                )
            self._retry_at = time.monotonic() + COOL_DOWN_SECONDS
            return None
        if self._retry_at:
            log.info("Slack's pace is shared again")
            self._retry_at = 0.0
        return answer
