"""How late the event loop is, also when it is looked at later."""

import asyncio
import threading

import pytest

from bot.server.health import LoopLag
from tests.patience import wait_until

BLOCKED_SECONDS = 0.3


async def test_a_loop_that_was_kept_waiting_is_seen_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst of the last minute, so that a look every half a minute misses nothing."""
    monkeypatch.setattr("bot.server.health.BEAT_SECONDS", 0.01)
    lag = LoopLag()
    beating = asyncio.create_task(lag.run())
    await asyncio.sleep(0)

    threading.Event().wait(BLOCKED_SECONDS)  # nothing else can run
    await wait_until(lambda: lag.seconds > BLOCKED_SECONDS / 2)

    beating.cancel()
    await asyncio.wait({beating})
    assert lag.seconds > BLOCKED_SECONDS / 2


def test_there_is_no_lag_before_the_first_measurement() -> None:
    """A zero, not a gap in the graph."""
    assert LoopLag().seconds == 0
