"""
Slack's rate limits, and who calls first where they are short (ADR 43).

https://docs.slack.dev/apis/web-api/rate-limits
"""

import asyncio
import heapq
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from bot.engine.ports import Urgency

# Slack counts calls per minute. A full budget may spend its burst and what it refills within one minute, so the refill
# is what Slack allows minus the burst.


BUDGETS_REMEMBERED = 10_000


class Rate(NamedTuple):
    per_second: float
    burst: int


def _a_minute(calls: int, *, burst: int) -> Rate:
    return Rate((calls - burst) / 60, burst)


TIER_2 = _a_minute(20, burst=5)
TIER_3 = _a_minute(50, burst=20)
TIER_4 = _a_minute(100, burst=40)

POSTS = _a_minute(300, burst=60)
"""In all channels of a workspace. Slack says "several hundred"."""
POSTS_IN_A_CHANNEL = Rate(1, 5)
"""Slack allows a short burst, so that messages that belong together come together."""

POSTING, EDITING = "chat_postMessage", "chat_update"
BETWEEN_EDITS = {Urgency.CARD: Rate(1 / 4, 1), Urgency.ROOT: Rate(1 / 30, 1)}
"""Of one message, which nobody has pressed: people read it, and do not watch it."""

RATES: Mapping[str, Rate] = {
    POSTING: POSTS,
    EDITING: TIER_3,
    "agents_sessions_rename": TIER_3,
    "agents_sessions_setStatus": TIER_3,
    "assistant_threads_setStatus": TIER_4,
    "assistant_threads_setSuggestedPrompts": TIER_3,
    "bots_info": TIER_3,
    "chat_delete": TIER_3,
    "chat_getPermalink": TIER_4,
    "chat_postEphemeral": TIER_4,
    "conversations_history": TIER_3,
    "conversations_info": TIER_3,
    "conversations_members": TIER_4,
    "conversations_open": TIER_3,
    "conversations_replies": TIER_3,
    "files_completeUploadExternal": TIER_4,
    "files_getUploadURLExternal": TIER_4,
    "reactions_add": TIER_3,
    "reactions_remove": TIER_2,
    "users_info": TIER_4,
    "views_open": TIER_4,
    "views_publish": TIER_4,
    "views_push": TIER_4,
    "views_update": TIER_4,
}
"""By the SDK's name of the method. Every other method counts as tier 2."""

SPARE: Mapping[Urgency, float] = {
    Urgency.ANSWER: 0.0,
    Urgency.SIGN: 0.0,
    Urgency.POST: 0.0,
    Urgency.CARD: 0.4,
    Urgency.ROOT: 0.6,
    Urgency.REACTION: 0.0,
    Urgency.TIDY: 0.7,
}
"""The part of a burst that a call leaves to more urgent ones."""


class RateBudget(NamedTuple):
    """A token bucket: *burst* calls at once, and *per_second* from then on."""

    name: str
    per_second: float
    burst: int

    def seconds(self, calls: int) -> float:
        """In which so many *calls* refill."""
        return calls / self.per_second

    def slack(self, spare: float) -> float:
        """Seconds before the bucket is full, from when a call may be made that leaves the part *spare* to others."""
        return self.seconds(self.burst - 1 - int(spare * (self.burst - 1)))


def budgets(
    method: str, *, team: str, channel: str = "", message: str = "", urgency: Urgency = Urgency.ANSWER
) -> list[RateBudget]:
    """The budgets of a call of *method*, the narrowest first. *message* is the one that is edited."""
    name = method.replace("_", ".")
    wanted = [RateBudget(f"{name}:{team}", *RATES.get(method, TIER_2))]
    if method == POSTING:
        wanted.insert(0, RateBudget(f"{name}:{team}.{channel}", *POSTS_IN_A_CHANNEL))
    if method == EDITING and (between := BETWEEN_EDITS.get(urgency)):
        wanted.append(RateBudget(f"{name}:{team}.{channel}.{message}", *between))
    return wanted


@dataclass(slots=True)
class _Bucket:
    """When the bucket is full again, and until when it is held."""

    full: float = 0.0
    held: float = 0.0


class RateLimit:
    """
    Where several processes share a Redis, one owns the team and makes the calls, so each counts only its own.

    *speed* multiplies all rates; with `math.inf` callers wait only for holds.
    """

    def __init__(self, *, speed: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:
        """
        0 when a call may be made, which is then counted in all *budgets*; else in how many seconds to ask again. The
        part *spare* of each burst is left to other calls.
        """
        now = self._clock()
        wait = max((self._wait(budget, now, spare=spare) for budget in budgets), default=0.0)
        if wait > 0:
            return wait
        for budget in budgets:
            bucket = self._bucket(budget)
            bucket.full = max(bucket.full, now) + budget.seconds(1) / self._speed
        return 0.0

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        """Slack asked for it: no call under *budget* for that long, and then without a burst."""
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


@dataclass(order=True, slots=True)
class _Waiting:
    urgency: Urgency
    number: int
    is_first: asyncio.Event = field(default_factory=asyncio.Event, compare=False)


class Pace:
    """
    One queue for each narrowest budget. The most urgent goes first, then who came first. Only the first one asks the
    limit.
    """

    def __init__(self, limit: RateLimit) -> None:
        self._limit = limit
        self._queues: dict[str, list[_Waiting]] = {}
        self._numbers = count()

    async def turn(self, wanted: Sequence[RateBudget], urgency: Urgency) -> None:
        """Returns when a call may be made in all budgets that are *wanted*."""
        with self._queued(wanted[0].name, urgency) as (queue, own):
            while True:
                if queue[0] is not own:
                    own.is_first.clear()
                    await own.is_first.wait()
                elif wait := await self._limit.take(wanted, spare=SPARE[urgency]):
                    await asyncio.sleep(wait)
                else:
                    return

    async def try_turn(self, wanted: Sequence[RateBudget], urgency: Urgency) -> float:
        """0 where a call may be made now; else in how many seconds to ask again."""
        if self._queues.get(wanted[0].name):
            return wanted[0].seconds(1)
        return await self._limit.take(wanted, spare=SPARE[urgency])

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        await self._limit.hold(budget, seconds=seconds)

    @contextmanager
    def _queued(self, name: str, urgency: Urgency) -> Iterator[tuple[list[_Waiting], _Waiting]]:
        queue, own = self._queues.setdefault(name, []), _Waiting(urgency, next(self._numbers))
        heapq.heappush(queue, own)
        try:
            yield queue, own
        finally:
            queue.remove(own)
            heapq.heapify(queue)
            if queue:
                queue[0].is_first.set()
            else:
                self._queues.pop(name, None)
