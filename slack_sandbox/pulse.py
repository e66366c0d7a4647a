import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 120.0
"""What did not happen until then does not happen, on any machine."""
LOOK_SECONDS = 0.1
"""What happens outside the sandbox makes no beat, such as a commit: it is looked for from time to time."""


class ActivitySignal:
    """Beats whenever anything happened in the sandbox, so that what waits for it sees it at once."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def beat(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for listener in self._listeners:
            listener()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def until(self, wanted: Callable[[], T], *, seconds: float = PATIENCE_SECONDS) -> T:
        """What *wanted* says as soon as that is true; `TimeoutError` when it never is."""
        async with asyncio.timeout(seconds):
            while not (found := wanted()):
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self.next()
        return found

    async def next(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)
