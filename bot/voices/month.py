"""What models may take in one calendar month (UTC) in one Slack workspace: asked before each call, counted after it."""

import logging
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Protocol

from bot.domain.catalog.budget import Budget, Spent
from bot.domain.messages import draft_wording
from bot.engine.ports import Clock
from bot.errors import Unavailable, VoiceError
from bot.voices.model import Completion, LanguageModel, Prompt, Usage

log = logging.getLogger(__name__)

MICRO = Decimal(1_000_000)
MONTH = "month"
"""The reason of a voice when the budget of its workspace is used up."""


class MonthStore(Protocol):
    async def month(self, name: str, *, tokens: int = 0, micros: int = 0) -> tuple[int, int]:
        """Adds to what was taken in that month, in all processes, and returns it; *micros* are of a dollar."""
        ...


class MonthlyBudget:
    """While the store is away, what this process knows counts, and what is taken is added later."""

    def __init__(self, budget: Budget, clock: Clock) -> None:
        self._budget = budget
        self._clock = clock
        self._store: MonthStore | None = None
        self._unsaved = (0, 0)
        self._known = "", (0, 0)

    def kept_in(self, store: MonthStore) -> None:
        self._store = store

    async def used_ratio(self) -> float:
        tokens, micros = await self._counted()
        used = self._budget.used(Spent(tokens_in=tokens, cost=micros / MICRO))
        return float(used / self._budget.total)

    async def facts(self) -> Mapping[str, float]:
        return {"used_ratio": await self.used_ratio()}

    async def check(self) -> None:
        """Raises VoiceError when all of it is used."""
        if await self.used_ratio() >= 1:
            raise VoiceError(draft_wording.WHY[MONTH], reason=MONTH)

    async def pay(self, usages: Iterable[Usage]) -> None:
        for usage in usages:
            tokens, micros = self._unsaved
            tokens += (usage.tokens_in or 0) + (usage.tokens_out or 0)
            self._unsaved = tokens, micros + round((usage.dollars or 0) * MICRO)
        await self._counted()

    async def _counted(self) -> tuple[int, int]:
        name = self._clock()[:7]
        if self._store:
            adding, self._unsaved = self._unsaved, (0, 0)
            try:
                self._known = name, await self._store.month(name, tokens=adding[0], micros=adding[1])
            except Unavailable as error:
                log.warning("what models took is counted later: %s", error)
                self._unsaved = self._unsaved[0] + adding[0], self._unsaved[1] + adding[1]
        month, known = self._known
        before = known if month == name else (0, 0)
        return before[0] + self._unsaved[0], before[1] + self._unsaved[1]


class BudgetedModel(LanguageModel):
    def __init__(self, mind: LanguageModel, month: MonthlyBudget) -> None:
        self._mind = mind
        self._month = month

    async def think(self, prompt: Prompt, *, seconds: float, tokens: int) -> Completion:
        """What is on its way when the budget is used up is finished, and counted."""
        await self._month.check()
        served: list[Usage] = []
        try:
            return await self._mind.think(prompt._replace(served=served), seconds=seconds, tokens=tokens)
        finally:
            if prompt.served is not None:
                prompt.served.extend(served)
            await self._month.pay(served)
