"""Whether a process pays what is owed, told from what it cannot help."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.engine.ports import Pay, Sweep, Wake
from bot.errors import Unavailable
from bot.server.health import OVERDUE_SECONDS, STEADY_SECONDS, WatchedWorker

LONG = OVERDUE_SECONDS + 1


class Watch:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Hands(Wake):
    """What is woken is paid at once, by whoever runs; *fail* ends it."""

    def __init__(self) -> None:
        self.pay: Pay | None = None
        self._failed = asyncio.Event()

    async def wake(self, slug: str) -> None:
        assert self.pay
        await self.pay(slug)

    async def run(self, pay: Pay, sweep: Sweep | None = None) -> None:  # noqa: ARG002 -- as the port has it
        self.pay = pay
        self._failed.clear()
        await self._failed.wait()
        raise Unavailable("Redis did not answer")

    def fail(self) -> None:
        self._failed.set()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def worker(hands: Hands, watch: Watch) -> WatchedWorker:
    """The only process there is."""
    return WatchedWorker(hands, alone=True, clock=watch)


async def nothing_owed(_slug: str) -> None:
    return


@asynccontextmanager
async def running(worker: WatchedWorker, pay: Pay = nothing_owed) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(worker.run(pay))
    await asyncio.sleep(0)
    yield task
    task.cancel()
    await asyncio.wait({task})


async def test_who_does_not_run_pays_nothing(worker: WatchedWorker) -> None:
    """Before the start has come so far, and after the end."""
    assert "does not run" in worker.problem(oldest_seconds=0)
    async with running(worker):
        assert worker.problem(oldest_seconds=0) == ""
    assert "does not run" in worker.problem(oldest_seconds=0)


async def test_workers_that_stop_have_to_show_that_they_go_on(
    worker: WatchedWorker, hands: Hands, watch: Watch
) -> None:
    """Started again every other second, they would look well most of the time."""
    async with running(worker) as task:
        hands.fail()
        await asyncio.wait({task})
    async with running(worker):
        assert "stopped" in worker.problem(oldest_seconds=0)
        watch.seconds += STEADY_SECONDS
        assert worker.problem(oldest_seconds=0) == ""


async def test_something_owed_for_long_that_nobody_begins_is_our_fault(
    worker: WatchedWorker, watch: Watch
) -> None:
    """There is no other process that could have it in hand."""
    async with running(worker):
        watch.seconds += LONG
        assert worker.problem(oldest_seconds=1) == ""
        assert "has not begun it" in worker.problem(oldest_seconds=LONG)

        await worker.wake("bright-night")
        assert worker.problem(oldest_seconds=LONG) == ""


async def test_a_roundtable_that_stands_still_in_our_hands_is_not_our_fault(
    worker: WatchedWorker, watch: Watch
) -> None:
    """Slack refuses its posts for an hour; all others are served."""
    refused = asyncio.Event()

    async def stuck(_slug: str) -> None:
        await refused.wait()

    async with running(worker, stuck):
        paying = asyncio.create_task(worker.wake("bright-night"))
        await asyncio.sleep(0)
        watch.seconds += LONG
        assert worker.problem(oldest_seconds=LONG) == ""
        refused.set()
        await paying


async def test_nor_is_one_that_another_process_has_in_hand(hands: Hands, watch: Watch) -> None:
    """With one Redis and several processes, an idle one is as good as the others."""
    worker = WatchedWorker(hands, alone=False, clock=watch)
    async with running(worker):
        watch.seconds += LONG
        assert worker.problem(oldest_seconds=LONG) == ""
