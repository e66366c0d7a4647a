"""How long what is owed has been waiting, whichever process should have paid it."""

from typing import NamedTuple

from bot.domain.moment import seconds_since
from bot.engine.clock import Clock
from bot.engine.ports import Store

ROUNDTABLES_LOOKED_AT = 200


class Waiting(NamedTuple):
    """*owing* roundtables owe something, and the one that waits longest has since *oldest_seconds*."""

    owing: int
    oldest_seconds: float


class Queue:
    """An effect waits from when we know that it is the next one: what people say meanwhile makes it no younger."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._next: dict[str, tuple[str, str]] = {}

    async def waiting(self) -> Waiting:
        """Raises Unavailable with the store."""
        slugs = await self._store.owing()
        found = [await self._next_of(slug) for slug in slugs[:ROUNDTABLES_LOOKED_AT]]
        self._next = {slug: effect for slug, effect in zip(slugs, found, strict=False) if effect}
        now = self._clock()
        ages = [seconds_since(since, now) for _, since in self._next.values()]
        return Waiting(len(slugs), max([0.0, *ages]))

    async def _next_of(self, slug: str) -> tuple[str, str] | None:
        rt = await self._store.get(slug)
        if rt is None or rt.next_effect is None:
            return None
        known = self._next.get(slug)
        if known and known[0] == rt.next_effect.id:
            return known
        return rt.next_effect.id, rt.now or self._clock()
