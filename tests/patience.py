"""How tests wait: for what they want to see, with one generous limit. No test asserts how long something took."""

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from slack_sandbox import Timing, pulse

PATIENCE_SECONDS = pulse.PATIENCE_SECONDS
"""A test that waits so long has failed, on any machine. It is the sandbox's limit, too."""
LOOK_SECONDS = 0.005

PATIENT = Timing(ack_seconds=3, retry_seconds=(0, 0.02, 0.05), trigger_seconds=60)
"""How long the sandbox waits for an acknowledgement: like Slack; it repeats at once what got none. A trigger opens a
form for longer than Slack's, since a busy machine may take those seconds for one call."""
impatient = pytest.mark.parametrize("timing", [replace(PATIENT, ack_seconds=0.5)], ids=["impatient"])
"""Where nobody acknowledges on purpose; elsewhere a busy machine takes longer than that."""


async def wait_until(met: Callable[[], Any]) -> Any:
    """Looks until it is so, and returns what was found. *met* may be a coroutine function."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_SECONDS
    while True:
        found = met()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        assert loop.time() < until, "it did not happen in time"
        await asyncio.sleep(LOOK_SECONDS)


def wait_here_until(met: Callable[[], object]) -> None:
    """As `wait_until`, in a test without an event loop."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not met():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(LOOK_SECONDS)


@contextmanager
def time_stands_still() -> Iterator[None]:
    """No timer of the event loop fires, so whatever waits for one does not go on, and the test is cancelled."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task
    stopped_at = loop.time()
    limit = threading.Timer(PATIENCE_SECONDS, lambda: loop.call_soon_threadsafe(task.cancel))
    limit.start()
    loop.time = lambda: stopped_at  # type: ignore[method-assign]
    try:
        yield
    finally:
        del loop.time
        limit.cancel()
