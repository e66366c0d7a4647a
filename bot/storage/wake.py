"""
Durable work by pydocket: "pay what this roundtable owes", on Redis Streams or, with `memory://`, in this process.

Every wake is a task of its own, and docket runs one task of a roundtable at a time; the others wait until it ends.
So the task of a wake always begins after what was saved before it. A key for each roundtable would make fewer tasks,
but docket 0.27 drops an `add` of a key that is running; and a key that is waiting can be added again, until a stale
waiter is woken in place of a good one, which then sleeps on (about once in 10,000 wakes under load).

Nobody waits until a wake is sent: a moment later all of that moment go in one round trip. What dies with the process
in between owes something, and is found by whoever sweeps.

Nothing that comes from Redis is unpickled: `tasks.py`.
"""

import asyncio
import logging
from collections.abc import Collection
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import islice
from types import TracebackType
from typing import Self

from docket import ConcurrencyLimit, Disposition, ExponentialRetry, Worker
from redis.exceptions import RedisError

from bot.engine.ports import Pay
from bot.storage.patient import docket_at
from bot.storage.tasks import TASK, key_for

NAME = "roundtable-work"

MOMENT_SECONDS = 0.02
WAKES_AT_ONCE = 100
WAKE_SECONDS = 0.5
RESEND_SECONDS = 1.0
DRAIN_SECONDS = 10.0
HAND_OVER_SECONDS = 2.0
RECONNECTION = timedelta(seconds=1)
LONGEST_READ = timedelta(milliseconds=100)
KEPT_AFTER_END = timedelta(minutes=1)
ONE_PAYER = ConcurrencyLimit("slug", 1)
UNTIL_PAID = ExponentialRetry.forever(timedelta(seconds=1), timedelta(seconds=60))

log = logging.getLogger(__name__)

# Docket reports every beat it misses with a traceback; that Redis is away is for readiness to say.
logging.getLogger("docket").setLevel(logging.CRITICAL)
# Except what a payment raised: it says so here, and nowhere else.
logging.getLogger("docket.dependencies").setLevel(logging.ERROR)


class DocketWake:
    """
    Use it as a context manager; `wake` works from then on, also in a process that never calls `run`.

    After *redelivery_seconds* without a sign of life from its payer, a roundtable is given to another one.
    """

    def __init__(self, url: str, *, redelivery_seconds: float = 30, payers: int = 100) -> None:
        self._docket = docket_at(url, NAME, execution_ttl=KEPT_AFTER_END)
        self._docket.register(self._task, [TASK])
        self._redelivery = timedelta(seconds=redelivery_seconds)
        self._payers = payers
        self._stack = AsyncExitStack()
        self._unsent: dict[str, None] = {}  # in the order in which they came
        self._due = asyncio.Event()
        self._payments: set[asyncio.Future[None]] = set()
        self._pay: Pay = _nobody_pays

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._docket)
        self._sending = asyncio.create_task(self._send(), name="wakes")
        self._stack.push_async_callback(self._last_sent)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def wake(self, slug: str) -> None:
        """What cannot be sent in time is sent again, until that is possible."""
        self._unsent[slug] = None
        self._due.set()

    async def run(self, pay: Pay) -> None:
        self._pay = pay
        worker = Worker(
            self._docket,
            concurrency=self._payers,
            redelivery_timeout=self._redelivery,
            reconnection_delay=RECONNECTION,
            minimum_check_interval=LONGEST_READ,
            schedule_automatic_tasks=False,
        )
        async with worker:
            if self._sending.done():
                self._sending = asyncio.create_task(self._send(), name="wakes")
            working = asyncio.create_task(worker.run_forever(), name="payers")
            try:
                await asyncio.wait({working, self._sending}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await self._drain(working)
        if self._sending.done():
            self._sending.result()
        working.result()

    async def _send(self) -> None:
        while True:
            await self._due.wait()
            await asyncio.sleep(MOMENT_SECONDS)
            slugs = tuple(islice(self._unsent, WAKES_AT_ONCE))
            if not await self._taken_out(slugs):
                await asyncio.sleep(RESEND_SECONDS)
            if not self._unsent:
                self._due.clear()

    async def _taken_out(self, slugs: tuple[str, ...]) -> bool:
        """Who is woken again meanwhile is sent again: the payment may have looked for the last time."""
        for slug in slugs:
            del self._unsent[slug]
        sent = False
        try:
            sent = await self._sent(slugs)
        finally:
            if not sent:
                self._unsent.update(dict.fromkeys(slugs))
        return sent

    async def _last_sent(self) -> None:
        self._sending.cancel()
        await asyncio.wait({self._sending})
        if self._unsent:
            await self._sent(tuple(self._unsent))

    async def _sent(self, slugs: Collection[str]) -> bool:
        """All of them, or as good as none: a wake too many does no harm."""
        try:
            async with asyncio.timeout(WAKE_SECONDS):
                calls = [self._docket.call(TASK, key=key_for(slug))(slug) for slug in slugs]
                sent = await self._docket.add_many(calls)
        except (RedisError, OSError) as error:
            log.warning("woken later: %s (%s)", ", ".join(slugs), str(error) or "no answer in time")
            return False
        return all(one.disposition is not Disposition.FAILED for one in sent)

    async def _task(
        self, slug: str, _alone: ConcurrencyLimit = ONE_PAYER, _retry: ExponentialRetry = UNTIL_PAID
    ) -> None:
        payment = asyncio.ensure_future(self._pay(slug))
        self._payments.add(payment)
        payment.add_done_callback(self._payments.discard)
        try:
            await payment
        except asyncio.CancelledError:
            ours = asyncio.current_task()
            assert ours
            if ours.cancelling() or not await self._sent([slug]):
                raise

    async def _drain(self, working: asyncio.Task[None]) -> None:
        """
        The payments at hand get a few seconds. One that needs more is cancelled and handed over: to another
        process at once, or, where there is none, to whoever looks for unpaid roundtables at the next start.
        """
        working.cancel()
        try:
            await asyncio.wait({working}, timeout=DRAIN_SECONDS)
        finally:
            for payment in tuple(self._payments):
                payment.cancel()
            await asyncio.wait({working}, timeout=HAND_OVER_SECONDS)
            working.cancel()


async def _nobody_pays(slug: str) -> None:
    raise AssertionError(f"{slug} was given to a process that does not run")
