"""Threads that are no roundtable's: people talk in them all day, and the workspace is not looked through each time."""

import time

from bot.domain.place import Place
from bot.engine.newest import Newest

KNOWN_SECONDS = 60.0
"""Somebody else may push an item that was held there."""
THREADS = 10_000


class Strangers:
    def __init__(self) -> None:
        self._met: Newest[str, float] = Newest(THREADS)

    def knows(self, place: Place) -> bool:
        met = self._met.get(place.key)
        return met is not None and time.monotonic() - met < KNOWN_SECONDS

    def forget(self, place: Place) -> None:
        """It is a roundtable's by now."""
        self._met.pop(place.key, None)

    def meet(self, place: Place) -> None:
        self._met[place.key] = time.monotonic()
