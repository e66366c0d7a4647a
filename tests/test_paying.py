"""Whether a process pays what is owed, told from what it cannot help."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.engine.ports import Pay, Wake
from bot.errors import Unavailable
from bot.server.payer import OVERDUE_SECONDS, STEADY_SECONDS, Payer

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

    async def run(self, pay: Pay) -> None:
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
def payer(hands: Hands, watch: Watch) -> Payer:
    """The only process there is."""
    return Payer(hands, alone=True, clock=watch)


async def nothing_owed(_slug: str) -> None:
    return


@asynccontextmanager
async def running(payer: Payer, pay: Pay = nothing_owed) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(payer.run(pay))
    await asyncio.sleep(0)
    yield task
    task.cancel()
    await asyncio.wait({task})


async def test_who_does_not_run_pays_nothing(payer: Payer) -> None:
    """Before the start has come so far, and after the end."""
    assert "do not run" in payer.unable(oldest_seconds=0)
    async with running(payer):
        assert payer.unable(oldest_seconds=0) == ""
    assert "do not run" in payer.unable(oldest_seconds=0)


async def test_payers_that_stop_have_to_show_that_they_go_on(
    payer: Payer, hands: Hands, watch: Watch
) -> None:
    """Started again every other second, they would look well most of the time."""
    async with running(payer) as task:
        hands.fail()
        await asyncio.wait({task})
    async with running(payer):
        assert "stopped" in payer.unable(oldest_seconds=0)
        watch.seconds += STEADY_SECONDS
        assert payer.unable(oldest_seconds=0) == ""


async def test_something_owed_for_long_that_nobody_begins_is_our_fault(payer: Payer, watch: Watch) -> None:
    """There is no other process that could have it in hand."""
    async with running(payer):
        watch.seconds += LONG
        assert payer.unable(oldest_seconds=1) == ""
        assert "nobody has begun it" in payer.unable(oldest_seconds=LONG)

        await payer.wake("bright-night")
        assert payer.unable(oldest_seconds=LONG) == ""


async def test_a_roundtable_that_stands_still_in_our_hands_is_not_our_fault(
    payer: Payer, watch: Watch
) -> None:
    """Slack refuses its posts for an hour; all others are served."""
    refused = asyncio.Event()

    async def stuck(_slug: str) -> None:
        await refused.wait()

    async with running(payer, stuck):
        paying = asyncio.create_task(payer.wake("bright-night"))
        await asyncio.sleep(0)
        watch.seconds += LONG
        assert payer.unable(oldest_seconds=LONG) == ""
        refused.set()
        await paying


async def test_nor_is_one_that_another_process_has_in_hand(hands: Hands, watch: Watch) -> None:
    """With one Redis and several processes, an idle one is as good as the others."""
    payer = Payer(hands, alone=False, clock=watch)
    async with running(payer):
        watch.seconds += LONG
        assert payer.unable(oldest_seconds=LONG) == ""
