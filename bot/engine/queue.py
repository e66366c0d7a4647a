"""How long what is owed has been waiting, whichever process should have paid it."""

from typing import NamedTuple, Protocol

from bot.domain.values.timestamps import seconds_since
from bot.engine.clock import Clock
from bot.errors import NewerVersion

LOOKED_AT = 200


class Waiting(NamedTuple):
    """*owing* roundtables owe something, and the one that waits longest has since *oldest_seconds*."""

    owing: int
    oldest_seconds: float


class Debt(Protocol):
    @property
    def id(self) -> str: ...


class Debtor(Protocol):
    """A roundtable, or the notice of an item's reviews. Something last happened to it *now*."""

    @property
    def next_effect(self) -> Debt | None: ...

    @property
    def now(self) -> str: ...


class Debtors(Protocol):
    """Where they are stored."""

    async def owing(self) -> tuple[str, ...]: ...

    async def get(self, slug: str) -> Debtor | None: ...


class Queue:
    """An effect waits from when we know that it is the next one: what people say meanwhile makes it no younger."""

    def __init__(self, debtors: Debtors, clock: Clock) -> None:
        self._debtors = debtors
        self._clock = clock
        self._next: dict[str, tuple[str, str]] = {}

    async def waiting(self) -> Waiting:
        """Raises Unavailable with the store."""
        slugs = await self._debtors.owing()
        found = [await self._next_of(slug) for slug in slugs[:LOOKED_AT]]
        self._next = {slug: effect for slug, effect in zip(slugs, found, strict=False) if effect}
        now = self._clock()
        ages = [seconds_since(since, now) for _, since in self._next.values()]
        return Waiting(len(slugs), max([0.0, *ages]))

    async def _next_of(self, slug: str) -> tuple[str, str] | None:
        try:
            debtor = await self._debtors.get(slug)
        except NewerVersion:
            return None
        if debtor is None or debtor.next_effect is None:
            return None
        known = self._next.get(slug)
        if known and known[0] == debtor.next_effect.id:
            return known
        return debtor.next_effect.id, debtor.now or self._clock()
