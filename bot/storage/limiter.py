"""
Rate limits for calls of Slack: within this process, or shared by all processes of one Slack app.

A budget is a token bucket: *burst* calls at once, and *per_second* from then on. Who may not call yet is told when to
ask again. Which of several callers asks first is decided in `bot/slack/pace.py`.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.engine.ports import RateBudget, RateLimit
from bot.errors import Unavailable
from bot.storage.redis_client import Connected

COOL_DOWN_SECONDS = 5.0
"""Cool-down before an unreachable Redis is asked again."""
CONNECTIONS = 16
BUDGETS_REMEMBERED = 10_000
KEPT_SECONDS = 60
"""From when the bucket of a budget is full again until Redis deletes the budget."""

TAKE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local wait = 0
for i, key in ipairs(KEYS) do
  local kept = redis.call('HMGET', key, 'full', 'held')
  local full, held = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0
  wait = math.max(wait, held - now, full - now - ARGV[2 * i + 1])
end
if wait <= 0 then
  for i, key in ipairs(KEYS) do
    local full = math.max(now, tonumber(redis.call('HGET', key, 'full')) or 0) + ARGV[2 * i]
    redis.call('HSET', key, 'full', string.format('%.6f', full))
    redis.call('EXPIRE', key, math.ceil(full - now) + ARGV[1])
  end
end
return string.format('%.6f', wait)
"""
"""
KEYS: budgets. ARGV: seconds to keep them, then of each the interval between two calls, and how long before the bucket
is full a call may be made. Returns the seconds to wait; with none, the call is counted in every budget.
"""

HOLD = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local kept = redis.call('HMGET', KEYS[1], 'full', 'held')
local held = math.max(tonumber(kept[2]) or 0, now + ARGV[1])
local full = math.max(tonumber(kept[1]) or 0, held + ARGV[2])
redis.call('HSET', KEYS[1], 'full', string.format('%.6f', full), 'held', string.format('%.6f', held))
redis.call('EXPIRE', KEYS[1], math.ceil(full - now) + ARGV[3])
"""
"""KEYS: a budget. ARGV: seconds of the hold, seconds in which all but one call refill, seconds to keep the budget."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Bucket:
    """The same calculation as in Lua above: when the bucket is full again, and until when it is held."""

    full: float = 0.0
    held: float = 0.0


class LocalRateLimit(RateLimit):
    """For one process. *speed* multiplies all rates; with `math.inf`, for the sandbox, callers wait only for holds."""

    def __init__(self, *, speed: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:
        now = self._clock()
        wait = max((self._wait(budget, now, spare=spare) for budget in budgets), default=0.0)
        if wait <= 0:
            self.count(budgets)
        return max(0.0, wait)

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        bucket = self._bucket(budget)
        bucket.held = max(bucket.held, self._clock() + seconds)
        bucket.full = max(bucket.full, bucket.held + budget.seconds(budget.burst - 1) / self._speed)

    def count(self, budgets: Sequence[RateBudget]) -> None:
        """A call that is made, whatever the budgets say."""
        now = self._clock()
        for budget in budgets:
            bucket = self._bucket(budget)
            bucket.full = max(bucket.full, now) + budget.seconds(1) / self._speed

    def _wait(self, budget: RateBudget, now: float, *, spare: float) -> float:
        bucket = self._bucket(budget)
        return max(bucket.held - now, bucket.full - now - budget.slack(spare) / self._speed)

    def _bucket(self, budget: RateBudget) -> _Bucket:
        if budget.name not in self._buckets and len(self._buckets) >= BUDGETS_REMEMBERED:
            now = self._clock()
            self._buckets = {name: kept for name, kept in self._buckets.items() if kept.full > now}
        return self._buckets.setdefault(budget.name, _Bucket())


class RedisRateLimit(Connected, RateLimit):
    """
    For all processes of a team that share a Redis, by its clock.

    Each call also counts in this process's own budgets, so that an outage of Redis does not start a new burst.
    """

    def __init__(self, url: str, *, team: str, speed: float = 1.0) -> None:
        super().__init__(url, team=team, connections=CONNECTIONS)
        self._speed = speed
        self._local = LocalRateLimit(speed=speed)
        self._retry_at = 0.0

    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:
        times = [
            seconds / self._speed
            for budget in budgets
            for seconds in (budget.seconds(1), budget.slack(spare))
        ]
        wait = await self._asked(TAKE, [budget.name for budget in budgets], KEPT_SECONDS, *times)
        if wait is None:
            return await self._local.take(budgets, spare=spare)
        if float(wait) <= 0:
            self._local.count(budgets)
        return max(0.0, float(wait))

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        await self._local.hold(budget, seconds=seconds)
        refill = budget.seconds(budget.burst - 1) / self._speed
        await self._asked(HOLD, [budget.name], seconds, refill, KEPT_SECONDS)

    async def _asked(self, script: str, budgets: Sequence[str], *arguments: float) -> Any:
        """None when Redis does not answer."""
        if time.monotonic() < self._retry_at:
            return None
        keys = [f"{self._prefix}pace:{budget}" for budget in budgets]
        try:
            async with self._bounded():
                answer = await self._redis.eval(script, len(keys), *keys, *arguments)
        except Unavailable as error:
            if not self._retry_at:
                log.warning("each process keeps Slack's pace by itself: %s", error)
            self._retry_at = time.monotonic() + COOL_DOWN_SECONDS
            return None
        if self._retry_at:
            log.info("Slack's pace is shared again")
            self._retry_at = 0.0
        return answer
