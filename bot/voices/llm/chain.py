"""
Several models as one mind: who fails is followed by the next, and what may yet succeed is asked once more.

Waiting is the last thing we do: another model now is better than the same one later.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from bot.errors import VoiceError
from bot.voices.llm.link import Link
from bot.voices.model import Prompt, Thought

ROUNDS = 3
FIRST_WAIT_SECONDS = 0.5
PATIENCE_SECONDS = 10.0
"""A model that wants to be left alone for longer is left alone; whoever asked us hears when to come back."""

Pause = Callable[[float], Awaitable[None]]
Failures = Mapping[Link, VoiceError]

log = logging.getLogger(__name__)


class ChainOfMinds:
    def __init__(
        self,
        links: Sequence[Link],
        *,
        pause: Pause = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._links = tuple(links)
        self._pause = pause
        self._chance = chance
        self._clock = clock

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Thought:
        """After *seconds* for each model no other round is begun."""
        latest = self._clock() + seconds * len(self._links)
        failures: dict[Link, VoiceError] = {}
        asked = self._links
        for number in range(1, ROUNDS + 1):
            for link in asked:
                try:
                    return await link.think(prompt, seconds=seconds, tokens=tokens)
                except VoiceError as error:
                    log.info("%s (%s)", error, error.reason)
                    failures[link] = error
                    if error.reason == "cut_off":
                        raise  # longer than we want it, whoever says it
            asked = tuple(link for link in asked if _is_worth_repeating(failures[link]))
            wait = self._wait(failures, asked, number)
            if number == ROUNDS or wait is None or self._clock() + wait >= latest:
                break
            await self._pause(wait)
        raise _together(failures)

    def _wait(self, failures: Failures, asked: Sequence[Link], number: int) -> float | None:
        """Half of it is chance, so that not everybody comes back at once; None when it would be too long."""
        if not asked:
            return None
        named = min(failures[link].after_seconds for link in asked)
        own = FIRST_WAIT_SECONDS * 2.0**number * (0.5 + self._chance() / 2)
        wait = named + own / 2 if named else own
        return wait if wait <= PATIENCE_SECONDS else None


def _is_worth_repeating(error: VoiceError) -> bool:
    """A timeout has cost all the time there was; and who said nothing is asked again by who knows what to ask."""
    return error.again and error.reason == "unavailable"


def _together(failures: Failures) -> VoiceError:
    """All of it in one sentence; the kind is that of the first failure that may pass, or of the first."""
    errors = tuple(failures.values())
    passing = [error for error in errors if error.again]
    told = (passing or errors)[0]
    return VoiceError(
        " ".join(map(str, errors)),
        reason=told.reason,
        again=bool(passing),
        after_seconds=min((error.after_seconds for error in passing), default=0.0),
    )
