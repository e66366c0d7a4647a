"""Minds that do what they are told, and a clock that goes when it is told."""

import asyncio
from collections.abc import Awaitable, Callable

from bot.domain.catalog.models import ModelName
from bot.errors import VoiceError
from bot.voices.llm.chain import ChainOfMinds, Gate, Link
from bot.voices.model import Mind, Prompt, Thought, Usage

PROMPT = Prompt((), "Well?")

Turn = str | VoiceError | Callable[[], Awaitable[str]]


def down(reason: str = "unavailable", *, after: float = 0, again: bool = True) -> VoiceError:
    return VoiceError(f"It is {reason}.", reason=reason, again=again, after_seconds=after)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class ScriptedMind:
    """Does one of *turns* for each thought, the last one for all that follow; *costs* is what the clock says to it."""

    def __init__(self, clock: Clock, *turns: Turn, costs: float = 0) -> None:
        self._clock = clock
        self._turns = list(turns)
        self._costs = costs
        self.asked: list[float] = []
        self.begun = asyncio.Event()

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Thought:  # noqa: ARG002
        self.asked.append(seconds)
        self._clock.now += self._costs
        turn = self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]
        if isinstance(turn, VoiceError):
            raise VoiceError(
                str(turn), reason=turn.reason, again=turn.again, after_seconds=turn.after_seconds
            )
        if isinstance(turn, str):
            return Thought(turn, Usage("scripted", "one", 0.0))
        self.begun.set()
        return Thought(await turn(), Usage("scripted", "one", 0.0))


def link(mind: Mind, clock: Clock, *, name: str = "a", gate: Gate | None = None, seconds: float = 60) -> Link:
    async def found() -> Mind:
        return mind

    return Link(ModelName("scripted", name), found, gate or Gate(8, clock), seconds=seconds)


def chain(clock: Clock, *links: Link, chance: float = 0.5) -> ChainOfMinds:
    return ChainOfMinds(links, pause=clock.pause, chance=lambda: chance, clock=clock)
