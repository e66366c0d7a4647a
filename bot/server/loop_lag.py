"""How late the event loop is: whoever keeps it for itself keeps Slack waiting for an acknowledgement."""

import asyncio
import time
from collections import deque

BEAT_SECONDS = 1.0
BEATS = 60


class Pulse:
    """It is felt once a second; what is told is the worst of the last minute, so that no look comes too late."""

    def __init__(self) -> None:
        self._late: deque[float] = deque([0.0], maxlen=BEATS)

    @property
    def lag_seconds(self) -> float:
        return max(self._late)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            due = time.monotonic() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)
            self._late.append(max(0.0, time.monotonic() - due))
