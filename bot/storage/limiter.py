"""
Rate limits for the calls of Slack by one process: where several share a Redis, one owns the team and makes the calls.

A budget is a token bucket: *burst* calls at once, and *per_second* from then on. Who may not call yet is told when to
ask again. Which of several callers asks first is decided in `bot/slack/pace.py`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.engine.ports import RateBudget, RateLimit

BUDGETS_REMEMBERED = 10_000


@dataclass(slots=True)
class _Bucket:
    """When the bucket is full again, and until when it is held."""

    full: float = 0.0
    held: float = 0.0


class LocalRateLimit(RateLimit):
    """*speed* multiplies all rates; with `math.inf`, for the sandbox, callers wait only for holds."""

    def __init__(self, *, speed: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:
        now = self._clock()
        wait = max((self._wait(budget, now, spare=spare) for budget in budgets), default=0.0)
        if wait > 0:
            return wait
        for budget in budgets:
            bucket = self._bucket(budget)
            bucket.full = max(bucket.full, now) + budget.seconds(1) / self._speed
        return 0.0

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        bucket = self._bucket(budget)
        bucket.held = max(bucket.held, self._clock() + seconds)
        bucket.full = max(bucket.full, bucket.held + budget.seconds(budget.burst - 1) / self._speed)

    def _wait(self, budget: RateBudget, now: float, *, spare: float) -> float:
        bucket = self._bucket(budget)
        return max(bucket.held - now, bucket.full - now - budget.slack(spare) / self._speed)

    def _bucket(self, budget: RateBudget) -> _Bucket:
        if budget.name not in self._buckets and len(self._buckets) >= BUDGETS_REMEMBERED:
            now = self._clock()
            self._buckets = {name: kept for name, kept in self._buckets.items() if kept.full > now}
        return self._buckets.setdefault(budget.name, _Bucket())
