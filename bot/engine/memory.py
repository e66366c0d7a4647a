"""
The roundtables that this process read or saved last, so that the next decision on one need not read it again.

It may be behind: another process goes on, or the store is lost. So it is only good for a decision that is saved, since
the store then says whether it was old. What is refused, or would change nothing, is for a fresh read to say.
"""

from bot.domain.place import Place
from bot.domain.roundtable import Roundtable
from bot.domain.stage import RESTING
from bot.engine.newest import Newest

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
