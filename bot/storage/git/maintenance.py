"""
Runs `git gc`: every commit leaves a few loose files, and each version of a transcript in full, until git packs them.

It runs beside the bot with the lowest priority, after a number of commits and when the workspace is quiet. Commits need
not wait for it: git prunes nothing that is younger than two weeks.
"""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from bot.storage.git.command import Git

COMMITS = 200
IDLE_SECONDS = 20.0
LONGEST_SECONDS = 1800.0
LOOSE_OBJECTS = 1000
"""Git packs when there are more; a commit makes about ten."""

log = logging.getLogger(__name__)


class Maintenance:
    def __init__(self, root: Path, *, commits: int = COMMITS, idle_seconds: float = IDLE_SECONDS) -> None:
        self._git = Git(root.absolute())
        self._every = commits
        self._idle = idle_seconds
        self._commits = commits  # an earlier process may have left work
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Count a commit."""
        self._commits += 1
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if self._commits < self._every or not await self._is_quiet():
                await self._woken.wait()
                self._woken.clear()
                continue
            self._commits = 0
            await self.tidy()

    async def tidy(self, *, loose_objects: int = LOOSE_OBJECTS) -> None:
        words = ("-c", f"gc.auto={loose_objects}", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet")
        try:
            said = await self._git(*words, seconds=LONGEST_SECONDS, last=True)
        except (OSError, TimeoutError) as error:
            log.warning("the workspace was not packed: %s", str(error) or "it took too long")
            return
        if said.code:
            log.warning("the workspace was not packed: %s", said.error.strip())

    async def _is_quiet(self) -> bool:
        """Whether no commit came for a while."""
        self._woken.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._idle):
                await self._woken.wait()
            return False
        return True
