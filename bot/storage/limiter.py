"""
How fast Slack is called: kept by this process alone, or by all processes of one Slack app together.

A budget is a bucket of *burst* calls that fills at *per_second*. Whoever asks is given a place in its queue at once,
and waits for that: first come, first served. The queue has a clock of its own, which a hold stops. So everybody keeps
their place and their distance while nobody may call, and what waited does not burst out when the hold is over.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from bot.engine.ports import Pace
from bot.storage.redis_client import CALL_SECONDS, NO_ANSWER, Connected

AWAY_SECONDS = 5.0
"""So long nobody asks a Redis that did not answer: each of them would wait for nothing."""
CONNECTIONS = 16
BUDGETS_REMEMBERED = 10_000
KEPT_SECONDS = 60
"""A budget that nobody used for so long is full again, and forgotten."""

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
"""KEYS: a budget. ARGV: interval, slack, seconds to keep it, and a place taken before. Returns the place, and how
long until it is due. `full` is when the bucket will be, `stood` and `goes` set the queue's clock: it stood at `stood`
until `goes`."""

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
"""KEYS: a budget. ARGV: how long nobody may call, seconds to keep it."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Bucket:
    """The same as in Lua above, and in the same words."""

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


class Taken(NamedTuple):
    bucket: _Bucket
    place: float


class LocalPace(Pace):
    """
    For one process. *speed* makes all budgets that much larger: with `math.inf` only holds are waited for, which is
    right for a Slack on this machine.
    """

    def __init__(self, *, speed: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    async def turn(self, budget: str, *, per_second: float, burst: int) -> None:
        await self.reached(self.taken(budget, per_second=per_second, burst=burst))

    async def hold(self, budget: str, *, seconds: float) -> None:
        self.held(budget, seconds=seconds)

    def taken(self, budget: str, *, per_second: float, burst: int) -> Taken:
        """A place in the queue."""
        bucket = self._bucket(budget)
        interval = 1 / (per_second * self._speed)
        return Taken(bucket, bucket.place(self._clock(), interval=interval, burst=burst))

    async def reached(self, taken: Taken) -> None:
        """Looks again after each wait: there may have been a hold meanwhile."""
        while (wait := taken.bucket.due(taken.place) - self._clock()) > 0:  # noqa: ASYNC110 -- it is known when
            await asyncio.sleep(wait)

    def held(self, budget: str, *, seconds: float) -> None:
        self._bucket(budget).hold(self._clock(), seconds=seconds)

    def _bucket(self, budget: str) -> _Bucket:
        if budget not in self._buckets and len(self._buckets) >= BUDGETS_REMEMBERED:
            now = self._clock()
            self._buckets = {name: kept for name, kept in self._buckets.items() if not kept.idle(now)}
        return self._buckets.setdefault(budget, _Bucket())


class RedisPace(Connected, Pace):
    """
    For all processes that share a Redis, by its clock.

    Our own pace is kept beside the common one, so that there is no new burst when Redis goes away.
    """

    def __init__(self, url: str, *, speed: float = 1.0) -> None:
        super().__init__(url, connections=CONNECTIONS)
        self._speed = speed
        self._alone = LocalPace(speed=speed)
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._away_until = 0.0

    async def turn(self, budget: str, *, per_second: float, burst: int) -> None:
        own = self._alone.taken(budget, per_second=per_second, burst=burst)
        interval = 1 / (per_second * self._speed)
        async with self._line(f"{budget} ask"):
            answer = await self._asked(TURN, budget, interval, (burst - 1) * interval, KEPT_SECONDS, "")
        async with self._line(f"{budget} wait"):
            while answer:
                place, wait = answer[0], float(answer[1])
                if wait <= 0:
                    return
                await asyncio.sleep(wait)
                answer = await self._asked(TURN, budget, 0, 0, KEPT_SECONDS, place)
            await self._alone.reached(own)

    async def hold(self, budget: str, *, seconds: float) -> None:
        self._alone.held(budget, seconds=seconds)
        await self._asked(HOLD, budget, seconds, KEPT_SECONDS)

    def _line(self, name: str) -> asyncio.Lock:
        """Of this process: nobody passes by because one connection is quicker than another."""
        return self._lines.setdefault(name, asyncio.Lock())

    async def _asked(self, script: str, budget: str, *arguments: Any) -> Any:
        """What Redis says; None when it does not."""
        now = time.monotonic()
        if now < self._away_until:
            return None
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await self._redis.eval(script, 1, f"roundtable:pace:{budget}", *arguments)
        except NO_ANSWER as error:
            if not self._away_until:
                log.warning(
                    "each process keeps Slack's pace by itself: %s", str(error) or "no answer in time"
                )
            self._away_until = time.monotonic() + AWAY_SECONDS
            return None
        if self._away_until:
            log.info("Slack's pace is shared again")
            self._away_until = 0.0
        return answer
