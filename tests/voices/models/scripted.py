"""Minds that do what they are told, and a clock that goes when it is told."""

import asyncio
from collections.abc import Awaitable, Callable

from bot.domain.catalog.personas import ModelName
from bot.errors import VoiceError
from bot.voices.llm.chain import ModelChain, ModelLink, ProviderGate
from bot.voices.model import Completion, LanguageModel, Prompt, Usage

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

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:  # noqa: ARG002
        self.asked.append(seconds)
        self._clock.now += self._costs
        turn = self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]
        if isinstance(turn, VoiceError):
            raise VoiceError(
                str(turn), reason=turn.reason, again=turn.again, after_seconds=turn.after_seconds
            )
        if isinstance(turn, str):
            return Completion(turn, Usage("scripted", "one", 0.0))
        self.begun.set()
        return Completion(await turn(), Usage("scripted", "one", 0.0))


def link(
    mind: LanguageModel,
    clock: Clock,
    *,
    name: str = "a",
    gate: ProviderGate | None = None,
    seconds: float = 60,
) -> ModelLink:
    async def found() -> LanguageModel:
        return mind

    return ModelLink(ModelName("scripted", name), found, gate or ProviderGate(8, clock), seconds=seconds)


def chain(clock: Clock, *links: ModelLink, chance: float = 0.5) -> ModelChain:
    return ModelChain(links, pause=clock.pause, chance=lambda: chance, clock=clock)
