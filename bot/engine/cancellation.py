"""
Work that nobody waits for any more is given up: a model that thinks for a minute must not keep a thread waiting that
people have stopped.

Only words that are not written down yet. A press that another process takes in is noticed when they are there, and then
they are not said.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from bot.domain.roundtable.effects import Effect, Formalize, Judge, Speak
from bot.domain.roundtable.outcomes import Outcome
from bot.domain.roundtable.state import Roundtable

THINKING = (Speak, Judge, Formalize)


class Performances:
    """What is being performed in this process, one effect for each roundtable."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[Effect, asyncio.Task[Outcome]]] = {}

    async def of(self, slug: str, effect: Effect, work: Coroutine[Any, Any, Outcome]) -> Outcome | None:
        """What becomes of *work*, which may raise; None when it was given up."""
        if not isinstance(effect, THINKING):
            return await work
        task = asyncio.create_task(work, name=f"{effect.kind} for {slug}")
        self._running[slug] = effect, task
        try:
            await asyncio.wait({task})
        finally:
            del self._running[slug]
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        return None if task.cancelled() else task.result()

    def look(self, rt: Roundtable) -> None:
        """*rt* is what is saved now: what is not owed in it is not wanted."""
        if rt.slug not in self._running:
            return
        effect, task = self._running[rt.slug]
        if all(one.id != effect.id for one in rt.outbox):
            task.cancel()


class Patient(Performances):
    """Waits for everything, and needs no event loop for that."""

    async def of(self, slug: str, effect: Effect, work: Coroutine[Any, Any, Outcome]) -> Outcome | None:  # noqa: ARG002
        return await work
