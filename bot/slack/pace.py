"""
Slack's rate limits, and who calls first where they are short (ADR 43).

https://docs.slack.dev/apis/web-api/rate-limits
"""

import asyncio
import heapq
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from bot.engine.ports import RateBudget, RateLimit, Urgency

# Slack counts calls per minute. A full budget may spend its burst and what it refills within one minute, so the refill
# is what Slack allows minus the burst.


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


class Unlimited(RateLimit):
    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:  # noqa: ARG002
        return 0.0

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        pass


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
