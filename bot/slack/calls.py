"""
Every call to Slack takes its turn first. What goes wrong is translated, once, here.

Nothing is retried. What the caller has to know for that goes along: how long Slack wants to be left alone, and how
long a post that seems to have failed may still turn up.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.engine.ports import Pace
from bot.errors import SlackError
from bot.slack.budgets import SEEN, Budget, budgets
from bot.slack.refusals import RATE_LIMITED, UNREACHED
from bot.slack.standing import Standing

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
