"""Durable work keeps its promises within one process and on a real Redis server."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from bot.engine.ports import Pay, Wake
from bot.storage import local_wake
from tests.contracts.conftest import OpenWake
from tests.patience import wait_until

SLUG = "bright-night"


class Ledger:
    """Counts what was saved and what was paid, as the engine does, and who pays at the same time."""

    def __init__(self, pause: Callable[[], Awaitable[None]]) -> None:
        self.saved: Counter[str] = Counter()
        self.performed: Counter[str] = Counter()
        self.paying: Counter[str] = Counter()
        self.most_payers = 0
        self.payments = 0
        self._pause = pause

    async def save(self, slug: str, wake: Wake) -> None:
        self.saved[slug] += 1
        await wake.wake(slug)

    async def pay(self, slug: str) -> None:
        self.payments += 1
        self.paying[slug] += 1
        self.most_payers = max(self.most_payers, self.paying[slug])
        while self.performed[slug] < self.saved[slug]:
            seen = self.saved[slug]
            await self._pause()
            self.performed[slug] = seen
        await self._pause()  # between "nothing is owed" and the end of the payment, wakes must not get lost
        self.paying[slug] -= 1


@asynccontextmanager
async def working(open_wake: OpenWake, pay: Pay, *, left: str = "") -> AsyncIterator[Wake]:
    """What an earlier process *left* in an outbox is found by the first sweep."""

    async def sweep() -> None:
        if left:
            await wake.wake(left)

    async with open_wake() as wake:
        running = asyncio.create_task(wake.run(pay, sweep))
        yield wake
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def a_moment() -> None:
    for _ in range(random.choice([0, 1, 5, 50])):
        await asyncio.sleep(0)


async def test_work_waits_for_a_worker(open_wake: OpenWake) -> None:
    """A process may wake before it works, or never work."""
    ledger = Ledger(a_moment)
    async with open_wake() as wake:
        await ledger.save(SLUG, wake)
        async with working(open_wake, ledger.pay):
            await wait_until(lambda: ledger.performed == ledger.saved)


async def test_a_wake_during_a_payment_leads_to_another(open_wake: OpenWake) -> None:
    """Even when the payment at hand has already looked for the last time."""
    begun, may_end = asyncio.Event(), asyncio.Event()
    payments = []

    async def pay(slug: str) -> None:
        payments.append(slug)
        begun.set()
        await may_end.wait()

    async with working(open_wake, pay) as wake:
        await wake.wake(SLUG)
        await begun.wait()
        await wake.wake(SLUG)
        await wake.wake(SLUG)
        assert payments == [SLUG]

        may_end.set()
        await wait_until(lambda: len(payments) > 1)


async def test_a_slow_payment_holds_up_nobody_else(open_wake: OpenWake) -> None:
    """One payer at a time is a promise for one roundtable, not for all."""
    may_end = asyncio.Event()
    performed = []

    async def pay(slug: str) -> None:
        if slug == "slow":
            await may_end.wait()
        performed.append(slug)

    async with working(open_wake, pay) as wake:
        await wake.wake("slow")
        await wake.wake("quick")
        await wait_until(lambda: performed == ["quick"])
        may_end.set()
        await wait_until(lambda: performed == ["quick", "slow"])


async def test_a_payment_that_fails_is_tried_again(
    open_wake: OpenWake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake of ours delays a roundtable, and does not stop it."""
    monkeypatch.setattr(local_wake, "LONGEST_WAIT_SECONDS", 0.01)
    failures = [RuntimeError("once")]
    performed = []

    async def pay(slug: str) -> None:
        if failures:
            raise failures.pop()
        performed.append(slug)

    async with working(open_wake, pay) as wake:
        await wake.wake(SLUG)
        await wait_until(lambda: performed == [SLUG])


async def test_the_payment_at_hand_ends_before_the_worker_does(open_wake: OpenWake) -> None:
    """A stop waits for what is nearly done."""
    begun, performed = asyncio.Event(), asyncio.Event()

    async def pay(_slug: str) -> None:
        begun.set()
        await a_moment()
        performed.set()

    async with working(open_wake, pay) as wake:
        await wake.wake(SLUG)
        await begun.wait()

    assert performed.is_set()


async def test_a_payment_that_takes_too_long_is_handed_over(
    open_wake: OpenWake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cancelled, and whoever works next begins it anew, without waiting for any timeout."""
    monkeypatch.setattr(local_wake, "DRAIN_SECONDS", 0.05)
    begun, cancelled, again = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def never_ends(_slug: str) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def ends(_slug: str) -> None:
        again.set()

    async with open_wake() as wake:
        async with working(open_wake, never_ends):
            await wake.wake(SLUG)
            await begun.wait()
        assert cancelled.is_set()

        async with working(open_wake, ends, left=SLUG):
            await wait_until(again.is_set)


async def test_a_payment_that_gives_itself_up_is_handed_over(open_wake: OpenWake) -> None:
    """It raises CancelledError, without having been cancelled by anybody: its process may be about to end."""
    performed = []

    async def pay(slug: str) -> None:
        performed.append(slug)
        if len(performed) == 1:
            raise asyncio.CancelledError

    async with working(open_wake, pay) as wake:
        await wake.wake(SLUG)
        await wait_until(lambda: len(performed) > 1)


async def test_no_wake_is_ever_lost_and_nobody_pays_twice_at_once(open_wake: OpenWake) -> None:
    """200 roundtables, two workers, and wakes that race with the ends of payments."""
    ledger = Ledger(a_moment)
    slugs = [f"item-{number}" for number in range(200)]

    async def people(wake: Wake) -> None:
        for _ in range(100):
            await ledger.save(random.choice(slugs), wake)
            await a_moment()

    async with working(open_wake, ledger.pay) as one, working(open_wake, ledger.pay) as other:
        await asyncio.gather(*(people(wake) for wake in (one, other) for _ in range(8)))
        await wait_until(lambda: ledger.performed == ledger.saved)

    assert ledger.most_payers == 1
