"""Small signs in a thread: that somebody was heard, or is at work. When one cannot be shown, nothing is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from bot.domain.effects import Sign
from bot.domain.place import Place
from bot.domain.roundtable import Roundtable
from bot.errors import EffectError

RENEWED_SECONDS = 90.0
"""Slack takes words from under a thread after two minutes."""


class Courtesies(Protocol):
    async def react(self, place: Place, ts: str, emoji: str) -> None:
        """Already there is no error."""
        ...

    async def unreact(self, place: Place, ts: str, emoji: str) -> None:
        """Not there is no error."""
        ...

    async def show(self, place: Place, sign: Sign, words: str) -> None:
        """
        We are at work in the thread. Shown once more, it lasts longer. Slack's trouble is no error: nobody waits for a
        sign. That Slack will not show it here is one.
        """
        ...

    async def clear(self, place: Place, sign: Sign) -> None:
        """Nothing there is no error."""
        ...


@asynccontextmanager
async def renewed(
    courtesies: Courtesies, rt: Roundtable, words: str, *, seconds: float = RENEWED_SECONDS
) -> AsyncIterator[None]:
    """What is shown of it stays, however long the work takes."""
    if not rt.working_at or rt.working_by is not Sign.STATUS:
        yield
        return
    renewing = asyncio.create_task(
        _renewing(courtesies, rt.place, words, seconds=seconds), name="renewing a sign"
    )
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.wait({renewing})


async def _renewing(courtesies: Courtesies, place: Place, words: str, *, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await courtesies.show(place, Sign.STATUS, words)
        except EffectError:  # it was shown before; what has changed since, the next one finds out
            return
