"""
Whether living processes of one team have different steps or personas. Only the owner of the team decides, so these
never mix; operators are told, because what people are asked changes with the owner.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from bot.errors import Unavailable

BEAT_SECONDS = 2.0

log = logging.getLogger(__name__)


class Contents(Protocol):
    async def others(self, own: str) -> frozenset[str]:
        """Says that the content *own* is in use here, and returns those of all other living processes of the team."""
        ...


class SharedContent:
    """*own* is the fingerprint of what is in use here; it changes when files are read again."""

    def __init__(self, contents: Contents, own: Callable[[], str]) -> None:
        self._contents = contents
        self._own = own
        self._others: frozenset[str] = frozenset()

    @property
    def differs(self) -> bool:
        return bool(self._others - {self._own()})

    async def beat(self) -> None:
        """Raises Unavailable."""
        differed = self.differs
        self._others = await self._contents.others(self._own())
        if self.differs and not differed:
            log.warning(
                "processes have different steps or personas: %s",
                ", ".join(sorted({self._own(), *self._others})),
            )

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            with suppress(Unavailable):  # readiness says so
                await self.beat()
            await asyncio.sleep(BEAT_SECONDS)
