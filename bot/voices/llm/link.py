"""One model of a chain: it is asked when that makes sense, by a bounded number at a time, and for a bounded time."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot.domain.catalog.models import ModelName
from bot.errors import VoiceError
from bot.telemetry import span
from bot.voices.llm.circuit_breaker import Circuit, Clock
from bot.voices.model import Mind, Prompt, Thought


class Gate:
    """What all models of one provider, at one address, have in common."""

    def __init__(self, calls: int, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self.circuit = Circuit(clock)
        self.places = asyncio.Semaphore(calls)


class Link:
    def __init__(
        self, name: ModelName, mind: Callable[[], Awaitable[Mind]], gate: Gate, *, seconds: float
    ) -> None:
        self.name = name
        self._mind = mind
        self._gate = gate
        self._seconds = seconds
        self._held_until = 0.0

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Thought:
        """Never longer than the setting says, whatever *seconds* are."""
        self._check()
        mind = await self._mind()
        seconds = min(seconds, self._seconds)
        async with self._place(seconds):
            self._check()  # whoever had the place may have found out that there is no use
            with self._gate.circuit.asked(), span("think", model=str(self.name)):
                try:
                    return await mind.think(prompt, seconds=seconds, tokens=tokens)
                except VoiceError as error:
                    if error.after_seconds:
                        self._held_until = self._gate.clock() + error.after_seconds
                    raise

    def _check(self) -> None:
        if (held := self._held_until - self._gate.clock()) > 0:
            raise _resting(f"{self.name} asked us to wait.", held)
        if rests_for := self._gate.circuit.rests_for:
            raise _resting(f"{self.name} is not asked for a while, after failing several times.", rests_for)

    @asynccontextmanager
    async def _place(self, seconds: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(seconds):
                await self._gate.places.acquire()
        except TimeoutError:
            sentence = f"{self.name} has had too many questions at once."
            raise VoiceError(sentence, reason="unavailable", again=True) from None
        try:
            yield
        finally:
            self._gate.places.release()


def _resting(sentence: str, seconds: float) -> VoiceError:
    return VoiceError(sentence, reason="unavailable", again=True, after_seconds=seconds)
