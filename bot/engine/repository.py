"""
Where decisions are written down: one compare-and-set for each, or for several that belong together.

What was read or saved here last is remembered, so that the next decision need not read it again.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.stage import RESTING
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.engine.audit import audited
from bot.engine.lru import Newest
from bot.engine.metering import Meter
from bot.engine.ports import Store
from bot.errors import Conflict, UserError

# The roundtables that this process read or saved last, so that the next decision on one need not read it
# again.
#
# It may be behind: another process goes on, or the store is lost. So it is only good for a decision that is
# saved, since the store then says whether it was old. What is refused, or would change nothing, is for a
# fresh read to say.


ROUNDTABLES = 1_000
"""At some 25 KiB each."""
THREADS = 20_000


class Memory:
    def __init__(self, *, roundtables: int = ROUNDTABLES, threads: int = THREADS) -> None:
        self._roundtables: Newest[str, Roundtable] = Newest(roundtables)
        self._threads: Newest[str, str] = Newest(threads)

    def keep(self, rt: Roundtable) -> None:
        self._roundtables[rt.slug] = rt
        if rt.place.thread:
            self._threads[rt.place.key] = rt.slug

    def going_on(self) -> dict[str, Roundtable]:
        """Those in which somebody or something is expected to do the next thing."""
        return {slug: rt for slug, rt in self._roundtables.items() if rt.stage not in RESTING}

    def of(self, slug: str) -> Roundtable | None:
        return self._roundtables.get(slug)

    def at(self, place: Place) -> str | None:
        """Whoever was held at *place* when we last looked; a thread is remembered longer than what is held in it."""
        return self._threads.get(place.key)

    def forget(self, slug: str) -> None:
        self._roundtables.pop(slug, None)


CONFLICTS_ENDURED = 20

Decide = Callable[[Roundtable, Input], Roundtable]


class Decision(NamedTuple):
    """What became of a roundtable, maybe not saved yet."""

    happened: Input
    before: Roundtable
    after: Roundtable


class Ledger:
    def __init__(self, store: Store, decide: Decide, meter: Meter) -> None:
        self._store = store
        self._decide = decide
        self._meter = meter
        self._memory = Memory()

    async def read(self, slug: str) -> Roundtable | None:
        """As it is stored now; the store has to be read only when that is not what we remember."""
        rt = await self._store.get(slug, known=self._memory.of(slug))
        if rt:
            self._memory.keep(rt)
        else:
            self._memory.forget(slug)
        return rt

    async def begin(self, happened: Input, rt: Roundtable) -> Roundtable:
        """Raises Conflict when there is one already."""
        rt = rt.but(version=1)
        await self._store.put(rt, expected=0)
        self._memory.keep(rt)
        self._meter.decided(happened, None, rt)
        audited(happened, None, rt)
        return rt

    def remembered(self, place: Place) -> str | None:
        """Who was held at *place* when we last knew."""
        return self._memory.at(place)

    async def found(self, place: Place) -> str | None:
        """Who is held at *place* as the store has it; remembered from now on."""
        rt = await self._store.at(place)
        if rt is None:
            return None
        self._memory.keep(rt)
        return rt.slug

    async def lost(self) -> list[Roundtable]:
        """What went on when we last knew, and is gone from the store; it is told of once."""
        known = self._memory.going_on()
        gone = await self._store.missing(known)
        for slug in gone:
            self._memory.forget(slug)
        return [known[slug] for slug in gone]

    async def take(self, slug: str, happened: Input, *, at: Place | None = None) -> Roundtable | None:
        """
        Decided on what we remember, if the store agrees. What that would refuse, or take for old news, a fresh read
        decides. None when there is nothing, or nothing *at* that place.
        """
        known = self._memory.of(slug)
        if known and known.place == (at or known.place):
            with suppress(UserError, Conflict):
                decisions = self.decisions(known, [happened])
                if decisions[-1].after is not known:
                    return await self._saved(decisions)
        return await self._decided(slug, [happened], at=at)

    async def settle(self, slug: str, unsaved: Sequence[Decision]) -> Roundtable | None:
        """Saves them, or what they come to after what was saved meanwhile. None when there is nothing any more."""
        happened = [decision.happened for decision in unsaved]
        known = self._memory.of(slug)
        with suppress(Conflict):
            if known and known is not unsaved[0].before:
                unsaved = self.decisions(known, happened)
            return await self._saved(unsaved)
        return await self._decided(slug, happened)

    def decisions(self, before: Roundtable, happened: Sequence[Input]) -> tuple[Decision, ...]:
        decisions = []
        for one in happened:
            after = self._decide(before, one)
            decisions.append(Decision(one, before, after))
            before = after
        return tuple(decisions)

    async def _decided(
        self, slug: str, happened: Sequence[Input], *, at: Place | None = None
    ) -> Roundtable | None:
        """On fresh reads, until nobody else is quicker."""
        for _ in range(CONFLICTS_ENDURED):
            before = await self.read(slug)
            if before is None or before.place != (at or before.place):
                return None
            with suppress(Conflict):
                return await self._saved(self.decisions(before, happened))
        raise Conflict(f"gave up on {slug} after {CONFLICTS_ENDURED} conflicts")

    async def _saved(self, decisions: Sequence[Decision]) -> Roundtable:
        """All of them in one version. Raises Conflict when that is not the next one."""
        before, after = decisions[0].before, decisions[-1].after
        if after is not before:
            after = after.but(version=before.version + 1)
            try:
                await self._store.put(after, expected=before.version)
            except Conflict:
                self._memory.forget(after.slug)
                self._meter.conflicted()
                raise
            self._memory.keep(after)
        for decision in decisions:
            self._meter.decided(*decision)
            audited(*decision)
        return after
