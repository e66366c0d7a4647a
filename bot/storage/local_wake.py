"""
Durable work within one process: what is woken is performed here.

What is left when the process ends is not lost: it is in the saved outboxes, where the first sweep of the next process
finds it (ADR 7).
"""

import asyncio
import logging
from collections import Counter

from bot.engine.ports import Pay, Sweep
from bot.errors import BotError

AT_ONCE = 100
DRAIN_SECONDS = 10.0
CANCEL_SECONDS = 2.0
HANDED_OVER_SECONDS = 0.1
"""After which work that gave itself up begins again. Its process usually ends before that."""
LONGEST_WAIT_SECONDS = 60.0

log = logging.getLogger(__name__)


class LocalWake:
    """Of *at_once* roundtables at most the outboxes are performed at the same time; the others wait in their order."""

    def __init__(self, *, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._woken: dict[str, None] = {}  # a set that keeps its order
        self._working: set[str] = set()
        self._running: set[asyncio.Task[None]] = set()
        self._failures: Counter[str] = Counter()
        self._changed = asyncio.Event()

    async def wake(self, slug: str) -> None:
        self._add(slug)

    def _add(self, slug: str) -> None:
        self._woken[slug] = None
        self._changed.set()

    async def run(self, pay: Pay, sweep: Sweep | None = None) -> None:
        running = self._running
        sweeping = asyncio.create_task(sweep(), name="sweep") if sweep else None
        try:
            while True:
                for slug in self._next(self._at_once - len(running)):
                    task = asyncio.create_task(self._work(slug, pay), name=f"work on {slug}")
                    running.add(task)
                    task.add_done_callback(running.discard)
                self._changed.clear()
                await self._changed.wait()
        finally:
            if sweeping:
                sweeping.cancel()
            await _drained(running)

    def cut_off(self) -> None:
        """What is at hand ends now."""
        for task in self._running:
            task.cancel()

    def _next(self, most: int) -> list[str]:
        """Taken from those that wait."""
        free = [slug for slug in self._woken if slug not in self._working][:most]
        for slug in free:
            del self._woken[slug]
            self._working.add(slug)
        return free

    async def _work(self, slug: str, pay: Pay) -> None:
        loop = asyncio.get_running_loop()
        try:
            await pay(slug)
        except asyncio.CancelledError:
            loop.call_later(HANDED_OVER_SECONDS, self._add, slug)
        except Exception as error:
            self._failures[slug] += 1
            seconds = min(2.0 ** (self._failures[slug] - 1), LONGEST_WAIT_SECONDS)
            if isinstance(error, BotError):
                log.warning("the work on %s is tried again in %.0f s: %s", slug, seconds, error)
            else:
                log.exception("the work on %s broke; it is tried again in %.0f s", slug, seconds)
            loop.call_later(seconds, self._add, slug)
        else:
            self._failures.pop(slug, None)
        finally:
            self._working.discard(slug)
            self._changed.set()


async def _drained(running: set[asyncio.Task[None]]) -> None:
    """What is at hand gets a few seconds to end, and is cancelled then."""
    left = tuple(running)
    if not left:
        return
    try:
        await asyncio.wait(left, timeout=DRAIN_SECONDS)
    finally:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=CANCEL_SECONDS)
