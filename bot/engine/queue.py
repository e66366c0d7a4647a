"""How long outboxes have been waiting, for health and metrics."""

from typing import NamedTuple, Protocol

from bot.domain.values.timestamps import seconds_since
from bot.engine.clock import Clock
from bot.errors import NewerVersion

LOOKED_AT = 200


class Waiting(NamedTuple):
    """*owing* counts the filled outboxes; *oldest_seconds* is the longest wait of a next effect."""

    owing: int
    oldest_seconds: float


class NextEffect(Protocol):
    @property
    def id(self) -> str: ...


class WithOutbox(Protocol):
    """A roundtable, or the notice of an item's reviews. *now* is when it last changed."""

    @property
    def next_effect(self) -> NextEffect | None: ...

    @property
    def now(self) -> str: ...


class Outboxes(Protocol):
    async def owing(self) -> tuple[str, ...]: ...

    async def get(self, slug: str) -> WithOutbox | None: ...


class Queue:
    """An effect waits from when it became the next one; later changes of its roundtable do not reset that."""

    def __init__(self, outboxes: Outboxes, clock: Clock) -> None:
        self._outboxes = outboxes
        self._clock = clock
        self._next: dict[str, tuple[str, str]] = {}

    async def waiting(self) -> Waiting:
        """Raises Unavailable when the store does."""
        slugs = await self._outboxes.owing()
        found = [await self._next_of(slug) for slug in slugs[:LOOKED_AT]]
        self._next = {slug: effect for slug, effect in zip(slugs, found, strict=False) if effect}
        now = self._clock()
        ages = [seconds_since(since, now) for _, since in self._next.values()]
        return Waiting(len(slugs), max([0.0, *ages]))

    async def _next_of(self, slug: str) -> tuple[str, str] | None:
        try:
            found = await self._outboxes.get(slug)
        except NewerVersion:
            return None
        if found is None or found.next_effect is None:
            return None
        known = self._next.get(slug)
        if known and known[0] == found.next_effect.id:
            return known
        return found.next_effect.id, found.now or self._clock()
