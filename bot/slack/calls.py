"""
Every call to Slack takes its turn first. What goes wrong is translated, once, here.

Nothing is retried. What the caller has to know for that goes along: how long Slack wants to be left alone, and how
long a post that seems to have failed may still turn up.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any, NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from bot.engine.ports import Pace
from bot.errors import SlackError
from bot.slack.health import Standing
from bot.slack.refusals import RATE_LIMITED, UNREACHED

# How often Slack lets an app call its methods: https://docs.slack.dev/apis/web-api/rate-limits
#
# Slack counts by the minute. A budget that begins full and then fills steadily may spend both in one
# minute, so what it fills with is what Slack allows less the burst.


class Rate(NamedTuple):
    per_second: float
    burst: int


class Budget(NamedTuple):
    name: str
    rate: Rate


def _a_minute(calls: int, *, burst: int) -> Rate:
    return Rate((calls - burst) / 60, burst)


TIER_2 = _a_minute(20, burst=5)
TIER_3 = _a_minute(50, burst=10)
TIER_4 = _a_minute(100, burst=20)

POSTS = _a_minute(300, burst=20)
"""In all channels of a workspace. Slack says "several hundred"."""
POSTS_IN_A_CHANNEL = Rate(1, 5)
"""Slack lets a short burst pass: a few messages belong together, and people should not wait between them."""

POSTING = "chat_postMessage"
SEEN = frozenset({POSTING, "files_completeUploadExternal"})
"""What people would see twice."""

RATES: Mapping[str, Rate] = {
    POSTING: POSTS,
    "agents_sessions_setStatus": TIER_3,
    "assistant_threads_setStatus": TIER_4,
    "bots_info": TIER_3,
    "chat_delete": TIER_3,
    "chat_getPermalink": TIER_4,
    "chat_postEphemeral": TIER_4,
    "chat_update": TIER_3,
    "conversations_history": TIER_3,
    "conversations_info": TIER_3,
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
"""By the name that the method has in the SDK. What is not named here is called as rarely as if it were tier 2."""


def budgets(method: str, *, team: str, channel: str = "") -> Iterator[Budget]:
    """What a call of *method* uses up, the narrowest first: whoever waits there needs no other yet."""
    name = method.replace("_", ".")
    if method == POSTING:
        yield Budget(f"{name}:{team}.{channel}", POSTS_IN_A_CHANNEL)
    yield Budget(f"{name}:{team}", RATES.get(method, TIER_2))


STOPPED = "The bot was stopped for %.0f s, and somebody else may have posted it."
LOOK_SECONDS = 1.0
"""So often whoever waits sees whether time has passed without it."""
HOLD_SECONDS = 1.0
"""When Slack asks for patience, and does not say how much."""

Method = Callable[..., Awaitable[Any]]


class Unpaced(Pace):
    async def turn(self, budget: str, *, per_second: float, burst: int) -> None:
        pass

    async def hold(self, budget: str, *, seconds: float) -> None:
        pass


class Calls:
    """
    *client*'s methods in their turn: `await calls(calls.client.chat_update, channel=…)`. What the answers say about
    *standing* is noted there.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        pace: Pace,
        *,
        team: str,
        standing: Standing | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.client = client
        self._standing = standing or Standing()
        self._pace = pace
        self._team = team
        self._clock = clock

    async def __call__(self, method: Method, **arguments: Any) -> Any:
        name = method.__name__
        wanted = list(budgets(name, team=self._team, channel=str(arguments.get("channel", ""))))
        for budget in wanted:
            turn = self._pace.turn(budget.name, per_second=budget.rate.per_second, burst=budget.rate.burst)
            await (self._without_sleep(turn) if name in SEEN else turn)
        began = time.monotonic()
        try:
            return await self._standing.ask(method, **arguments)
        except SlackError as error:
            if error.reason == RATE_LIMITED:
                await self._slow_down(wanted[0], error)
            elif name in SEEN and error.again and error.reason != UNREACHED:
                error.after_seconds = self._until_settled(began)
            raise

    async def _without_sleep(self, turn: Coroutine[Any, Any, None]) -> None:
        """
        A process that was stopped while it waited is thought dead: somebody else may be posting this by now. So it has
        to be written down once more, which shows whether it is still ours.
        """
        waiting = asyncio.ensure_future(turn)
        longest = 0.0
        try:
            while not waiting.done():
                before = self._clock()
                await asyncio.wait({waiting}, timeout=LOOK_SECONDS)
                longest = max(longest, self._clock() - before - LOOK_SECONDS)
        finally:
            waiting.cancel()
        waiting.result()
        if longest > self.client.timeout / 2:
            raise SlackError(STOPPED % longest, reason="stopped", again=True)

    async def _slow_down(self, budget: Budget, error: SlackError) -> None:
        """Only the narrowest budget: one busy channel must not silence the others."""
        await self._pace.hold(budget.name, seconds=error.after_seconds or HOLD_SECONDS)

    def _until_settled(self, began: float) -> float:
        """A post may land while we believe it lost, but not after the time that a call has: only then can be looked."""
        return max(0.0, self.client.timeout - (time.monotonic() - began))


# Where the next part of a list is to be had.


def following(answer: Any) -> str:
    """The cursor for what comes after *answer*; empty when that was all of it, whichever way Slack says so."""
    return str((answer.get("response_metadata") or {}).get("next_cursor") or "")


# Arguments by which nothing that we post pings, links or unfolds by itself.


UNLINKED: dict[str, Any] = {"parse": "none", "link_names": False}
QUIET: dict[str, Any] = {**UNLINKED, "unfurl_links": False, "unfurl_media": False}
