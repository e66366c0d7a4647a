"""How late the loop is, as somebody sees who looks a little later."""

import asyncio
import time

import pytest

from bot.server.loop_lag import Pulse
from tests.storage.samples import wait_until

BLOCKED_SECONDS = 0.3


async def test_a_loop_that_was_kept_waiting_is_seen_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst of the last minute: whoever looks every half a minute sees all of it."""
    monkeypatch.setattr("bot.server.loop_lag.BEAT_SECONDS", 0.01)
    pulse = Pulse()
    beating = asyncio.create_task(pulse.run())
    await asyncio.sleep(0)

    until = time.monotonic() + BLOCKED_SECONDS
    while time.monotonic() < until:
        pass
    await wait_until(lambda: pulse.lag_seconds > BLOCKED_SECONDS / 2)

    beating.cancel()
    await asyncio.wait({beating})
    assert pulse.lag_seconds > BLOCKED_SECONDS / 2


def test_nothing_was_late_before_anybody_looked() -> None:
    """Known, and not a hole in a graph."""
    assert Pulse().lag_seconds == 0
