"""
Several models as one: when one fails, the next is asked at once.

    ModelChain       the order of models, and what is asked once more after a wait
    ModelLink        one model: a bounded number of calls at a time, each for a bounded time
    CircuitBreaker   the circuit breaker of a model: after some failures in a row it is not called for a while

Waiting comes last: another model now is better than the same one later.
"""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from bot.domain.catalog.personas import ModelName
from bot.errors import VoiceError
from bot.telemetry import model_answered, model_span
from bot.voices.model import (
    ANSWERED,
    CANCELLED,
    Completion,
    LanguageModel,
    ModelMeter,
    Prompt,
    Usage,
    together,
)

ROUNDS = 3
FIRST_WAIT_SECONDS = 0.5
PATIENCE_SECONDS = 10.0
"""A longer wait is not waited for: the error says how long it would be."""

FAILURES = 3
REST_SECONDS = 15.0
LONGEST_REST_SECONDS = 240.0
DOWN = frozenset({"timeout", "unavailable"})
"""Failures of the provider itself. All others are answers, and so is a rate limit."""

ASKED_TO_WAIT = "{name} asked us to wait."
FAILING = "{name} is not asked for a while, after failing several times."

Clock = Callable[[], float]
Pause = Callable[[float], Awaitable[None]]

log = logging.getLogger(__name__)


class CircuitBreaker:
    """As long as calls fail after a rest, each rest is twice as long. A provider may also name a rest itself."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._rests_until = 0.0
        self._why = ""

    def check(self, name: ModelName) -> None:
        """Raises VoiceError while the model of that name rests."""
        if (left := self._rests_until - self._clock()) > 0:
            raise VoiceError(
                self._why.format(name=name), reason="unavailable", again=True, after_seconds=left
            )

    def failed(self, error: VoiceError) -> None:
        """Other failures than those of DOWN are answers; those of calls that began before a rest do not count."""
        if error.after_seconds:
            self.answered()
            self._rest(error.after_seconds, ASKED_TO_WAIT)
        elif error.reason not in DOWN or not error.again:
            self.answered()
        elif self._clock() >= self._rests_until:
            self._failures += 1
            if self._failures >= FAILURES:
                rest = REST_SECONDS * 2 ** (self._failures - FAILURES)
                self._rest(min(LONGEST_REST_SECONDS, rest), FAILING)

    def answered(self) -> None:
        self._failures = 0

    def _rest(self, seconds: float, why: str) -> None:
        self._rests_until, self._why = self._clock() + seconds, why


class ProviderGate:
    """What all models of one provider, at one address, share."""

    def __init__(self, calls: int, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self.places = asyncio.Semaphore(calls)


class ModelLink:
    def __init__(
        self,
        name: ModelName,
        mind: Callable[[], Awaitable[LanguageModel]],
        gate: ProviderGate,
        *,
        seconds: float,
        meter: ModelMeter | None = None,
    ) -> None:
        self.name = name
        self._mind = mind
        self._gate = gate
        self._meter = meter or ModelMeter()
        self._seconds = seconds
        self._circuit = CircuitBreaker(gate.clock)

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        """The setting bounds *seconds*."""
        self._circuit.check(self.name)
        mind = await self._mind()
        seconds = min(seconds, self._seconds)
        async with self._place(seconds):
            self._circuit.check(self.name)  # an earlier call may have failed during the wait
            try:
                completion = await self._called(mind, prompt, seconds=seconds, tokens=tokens)
            except VoiceError as error:
                self._circuit.failed(error)
                raise
            self._circuit.answered()
            return completion

    async def _called(
        self, mind: LanguageModel, prompt: Prompt, *, seconds: float, tokens: int
    ) -> Completion:
        """What a call takes is counted and traced, also when it fails."""
        served: list[Usage] = []
        began, outcome = self._gate.clock(), ""
        with model_span(self.name.provider, self.name.name) as current:
            try:
                completion = await mind.think(prompt._replace(served=served), seconds=seconds, tokens=tokens)
                outcome = ANSWERED
            except VoiceError as error:
                outcome = error.reason
                raise
            except asyncio.CancelledError:
                outcome = CANCELLED
                raise
            else:
                if not served:  # a model that only tells what its answer took
                    served.append(completion.usage)
                return completion
            finally:
                if prompt.served is not None:
                    prompt.served.extend(served)
                took = self._gate.clock() - began
                self._meter.called(*self.name, outcome, task=prompt.task, seconds=took, usages=served)
                if served:
                    total = together(served)
                    model_answered(
                        current,
                        model=total.model,
                        tokens_in=total.tokens_in,
                        tokens_out=total.tokens_out,
                        tokens_cached=total.tokens_cached,
                        finish_reasons=[one.finish_reason for one in served if one.finish_reason],
                    )

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


class ModelChain:
    def __init__(
        self,
        links: Sequence[ModelLink],
        *,
        pause: Pause = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._links = tuple(links)
        self._pause = pause
        self._chance = chance
        self._clock = clock

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        """No new round begins after *seconds* for each model."""
        latest = self._clock() + seconds * len(self._links)
        failures: dict[ModelLink, VoiceError] = {}
        asked = self._links
        for number in range(1, ROUNDS + 1):
            for link in asked:
                try:
                    return await link.think(prompt, seconds=seconds, tokens=tokens)
                except VoiceError as error:
                    log.info("%s (%s)", error, error.reason)
                    failures[link] = error
                    if error.reason == "cut_off":
                        raise  # another model would be cut off, too: the caller asks for less
            asked = tuple(link for link in asked if _is_worth_repeating(failures[link]))
            wait = self._wait(failures, asked, number)
            if number == ROUNDS or wait is None or self._clock() + wait >= latest:
                break
            await self._pause(wait)
        raise _together(failures)

    def _wait(
        self, failures: Mapping[ModelLink, VoiceError], asked: Sequence[ModelLink], number: int
    ) -> float | None:
        """With jitter, so that not all callers come back at once. None when it would be too long."""
        if not asked:
            return None
        named = min(failures[link].after_seconds for link in asked)
        own = FIRST_WAIT_SECONDS * 2.0**number * (0.5 + self._chance() / 2)
        wait = named + own / 2 if named else own
        return wait if wait <= PATIENCE_SECONDS else None


def _is_worth_repeating(error: VoiceError) -> bool:
    """A timeout has used all the time; after an empty answer, the caller asks again in other words."""
    return error.again and error.reason == "unavailable"


def _together(failures: Mapping[ModelLink, VoiceError]) -> VoiceError:
    """A sentence for each failure; the reason is that of the first one that may pass, else of the first."""
    errors = tuple(failures.values())
    passing = [error for error in errors if error.again]
    reported = (passing or errors)[0]
    return VoiceError(
        " ".join(map(str, errors)),
        reason=reported.reason,
        again=bool(passing),
        after_seconds=min((error.after_seconds for error in passing), default=0.0),
    )
