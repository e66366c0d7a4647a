"""
Processes with different steps or personas never work on one roundtable at the same time.

A roundtable has the fingerprint of the content that it was last changed with. While another process with that content
lives, this one leaves the roundtable alone; when none does, as after an update, it goes on here.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from bot.domain.roundtable.state import Roundtable
from bot.errors import OtherContent, Unavailable

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
        self._others: frozenset[str] | None = None
        """None before the first answer: then only what was changed with our own content is touched."""

    @property
    def differs(self) -> bool:
        return bool(self._others and self._others - {self._own()})

    def check(self, rt: Roundtable) -> None:
        """Raises OtherContent."""
        own, its = self._own(), rt.content
        if its and its != own and (self._others is None or its in self._others):
            raise OtherContent(
                f"another process has the steps and personas {its}, and works on {rt.slug!r} with them; here they are"
                f" {own}. Give all processes the same files."
            )

    def mark(self, rt: Roundtable) -> Roundtable:
        return rt if rt.content == self._own() else rt.but(content=self._own())

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
