"""
Whether this process performs effects, for readiness.

An effect that waits for long says nothing about this process: another one may work on it, or Slack may refuse it. From
here one can see whether our workers run and, without other processes, whether they begin anything.
"""

import time
from collections.abc import Callable

from bot.engine.ports import Pay, Wake

OVERDUE_SECONDS = 300.0
"""By then all retries but those of a post are over: an operator has to look."""
STEADY_SECONDS = 5.0
"""Workers that stop as soon as they start do nothing, although they are started again and again."""


class Payer(Wake):
    """*wake*, observed. *alone*: there is no other process."""

    def __init__(self, wake: Wake, *, alone: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._wake = wake
        self._alone = alone
        self._clock = clock
        self._is_running = False
        self._stopped_at = -STEADY_SECONDS
        self._moved_at = self._began_at = clock()
        self._in_hand = 0

    async def wake(self, slug: str) -> None:
        await self._wake.wake(slug)

    async def run(self, pay: Pay) -> None:
        async def noted(slug: str) -> None:
            self._in_hand += 1
            self._moved_at = self._clock()
            try:
                await pay(slug)
            finally:
                self._in_hand -= 1
                self._moved_at = self._clock()

        self._is_running, self._moved_at = True, self._clock()
        try:
            await self._wake.run(noted)
        finally:
            self._is_running, self._stopped_at = False, self._clock()

    def unable(self, *, oldest_seconds: float) -> str:
        """Why nothing is performed here; empty when it is, as far as we know."""
        now = self._clock()
        if not self._is_running:
            return "nothing is paid here: the payers do not run"
        if now - self._stopped_at < STEADY_SECONDS:
            return "nothing was paid here: the payers stopped, and have just been started again"
        idle = not self._in_hand and now - self._moved_at > OVERDUE_SECONDS
        if self._alone and idle and oldest_seconds > OVERDUE_SECONDS:
            return f"an effect has been owed for {oldest_seconds:.0f} s, and nobody has begun it"
        return ""
