"""
Whether somebody hears Slack, whichever process it is; and what is done when nobody did for too long.

Slack repeats what it could not deliver at once, after a minute and after five. What was said in a longer silence
never comes by itself.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from bot.domain.roundtable.inputs import Returned
from bot.domain.values.timestamps import seconds_since
from bot.engine.clock import Clock
from bot.engine.engine import Engine
from bot.engine.ports import Store
from bot.errors import NewerVersion, Unavailable, UserError

SLACK_REPEATS_SECONDS = 300.0
LOOK_SECONDS = 30.0

Hears = Callable[[], Awaitable[bool]]

log = logging.getLogger(__name__)


class Absence:
    def __init__(self, engine: Engine, store: Store, clock: Clock, *, hears: Hears) -> None:
        self._engine = engine
        self._store = store
        self._clock = clock
        self._hears = hears

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            with suppress(Unavailable):  # readiness says so
                if await self._hears():
                    await self.ended()
            await asyncio.sleep(LOOK_SECONDS)

    async def ended(self) -> None:
        """
        We hear Slack. That is noted last: whoever dies before begins anew, and two who do it at once have the same
        keys. Raises Unavailable with the store.
        """
        since, at = await self._store.listened(), self._clock()
        if _too_long(since, at):
            await self._catch_up(since, at)
        await self._store.listening(at)

    async def _catch_up(self, since: str, at: str) -> None:
        slugs = await self._store.held()
        log.warning("nobody heard Slack since %s: %s threads are read again", since, len(slugs))
        for slug in slugs:
            with suppress(UserError, NewerVersion):  # it is gone since we looked, or not ours to change
                await self._engine.handle(slug, Returned(key=f"away.{since}", at=at, since=since))


def _too_long(since: str, at: str) -> bool:
    """What somebody wrote there by hand is no time, and no reason to read every thread."""
    with suppress(ValueError):
        return seconds_since(since, at) > SLACK_REPEATS_SECONDS
    return False
