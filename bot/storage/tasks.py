"""
Durable work by docket: one kind of task, "perform what this roundtable has in its outbox".

It runs on Redis Streams or, with `memory://`, in this process (ADR 7). Each wake is a task with a key of its own, and
docket runs one task of a roundtable at a time; the others wait until it ends. So the task of a wake always begins after
what was saved before the wake.

One key for each roundtable would make fewer tasks, but docket 0.27 drops a task whose key is running. A key that waits
can be added again, until docket wakes the wrong one of the two (about once in 10,000 wakes under load).
"""

import asyncio
import logging
import pickle
import re
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Self
from uuid import uuid4

from docket import ConcurrencyLimit, Disposition, Docket, ExponentialRetry, StrikeList, Worker
from redis.asyncio import Redis

from bot.engine.ports import Pay
from bot.storage.redis_client import NO_ANSWER
from bot.storage.team import prefix

TASK = "pay"

BATCH_DELAY_SECONDS = 0.02
BATCH_SIZE = 100
WAKE_SECONDS = 0.5
RESEND_SECONDS = 1.0
DRAIN_SECONDS = 10.0
HAND_OVER_SECONDS = 2.0
RECONNECTION = timedelta(seconds=1)
LONGEST_READ = timedelta(milliseconds=100)
KEPT_AFTER_END = timedelta(minutes=1)
ONE_AT_A_TIME = ConcurrencyLimit("slug", 1)
UNTIL_DONE = ExponentialRetry.forever(timedelta(seconds=1), timedelta(seconds=60))

log = logging.getLogger(__name__)

# Docket logs a traceback for every heartbeat that fails. Readiness already says that Redis is unreachable.
logging.getLogger("docket").setLevel(logging.CRITICAL)
logging.getLogger("docket.worker").setLevel(logging.CRITICAL)
# The exceptions of a task are logged here and nowhere else.
logging.getLogger("docket.dependencies").setLevel(logging.ERROR)


class DocketWake:
    """
    An async context manager. Inside it `wake` works, also in a process that never calls `run`. Tasks of *team* are for
    workers of that team.

    A task whose process gave no sign of life for *redelivery_seconds* is given to another process. *payers* is how many
    roundtables one process works on at the same time.
    """

    def __init__(self, url: str, *, team: str, redelivery_seconds: float = 30, payers: int = 100) -> None:
        self._docket = TaskDocket(name_for(team), url, execution_ttl=KEPT_AFTER_END)
        self._docket.register(self._task, [TASK])
        self._redelivery = timedelta(seconds=redelivery_seconds)
        self._concurrency = payers
        self._stack = AsyncExitStack()
        self._unsent: dict[str, None] = {}  # a set that keeps its order
        self._has_unsent = asyncio.Event()
        self._running: set[asyncio.Future[None]] = set()
        self._pay: Pay = _not_running

    async def __aenter__(self) -> Self:
        await self._connect()
        self._sending = asyncio.create_task(self._send(), name="wakes")
        self._stack.push_async_callback(self._last_sent)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _connect(self) -> None:
        """Waits for a cluster that does not answer yet. Docket asks it at once; one server, at the first call."""
        is_said = False
        while True:
            try:
                await self._stack.enter_async_context(self._docket)
            except NO_ANSWER as error:
                log.log(logging.DEBUG if is_said else logging.WARNING, "waiting for Redis: %s", error)
                is_said = True
                await asyncio.sleep(RESEND_SECONDS)
            else:
                return

    async def wake(self, slug: str) -> None:
        """Returns at once. The wake is sent in the background, and again every second until Redis has taken it."""
        self._unsent[slug] = None
        self._has_unsent.set()

    async def run(self, pay: Pay) -> None:
        self._pay = pay
        worker = Worker(
            self._docket,
            concurrency=self._concurrency,
            redelivery_timeout=self._redelivery,
            reconnection_delay=RECONNECTION,
            minimum_check_interval=LONGEST_READ,
            schedule_automatic_tasks=False,
        )
        async with worker:
            if self._sending.done():
                self._sending = asyncio.create_task(self._send(), name="wakes")
            working = asyncio.create_task(worker.run_forever(), name="worker")
            try:
                await asyncio.wait({working, self._sending}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await self._drain(working)
        if self._sending.done():
            self._sending.result()
        working.result()

    async def _send(self) -> None:
        """Wakes that come within a moment share one round trip."""
        while True:
            await self._has_unsent.wait()
            await asyncio.sleep(BATCH_DELAY_SECONDS)
            slugs = tuple(islice(self._unsent, BATCH_SIZE))
            if not await self._send_batch(slugs):
                await asyncio.sleep(RESEND_SECONDS)
            if not self._unsent:
                self._has_unsent.clear()

    async def _send_batch(self, slugs: tuple[str, ...]) -> bool:
        # Removed first: a slug that is woken again during the call must be sent again, since its task may already have
        # read the outbox for the last time.
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
        """False when one of them may not have been sent. Sending one twice does no harm."""
        try:
            async with asyncio.timeout(WAKE_SECONDS):
                calls = [self._docket.call(TASK, key=key_for(slug))(slug) for slug in slugs]
                sent = await self._docket.add_many(calls)
        except NO_ANSWER as error:
            log.warning("woken later: %s (%s)", ", ".join(slugs), str(error) or "no answer in time")
            return False
        return all(one.disposition is not Disposition.FAILED for one in sent)

    async def _task(
        self, slug: str, _alone: ConcurrencyLimit = ONE_AT_A_TIME, _retry: ExponentialRetry = UNTIL_DONE
    ) -> None:
        work = asyncio.ensure_future(self._pay(slug))
        self._running.add(work)
        work.add_done_callback(self._running.discard)
        try:
            await work
        except asyncio.CancelledError:
            # The work was cancelled by `_drain` or by itself, and not by docket: hand it over with a new wake.
            task = asyncio.current_task()
            assert task
            if task.cancelling() or not await self._sent([slug]):
                raise

    async def _drain(self, working: asyncio.Task[None]) -> None:
        """
        Running tasks get a few seconds to end. Then they are cancelled and handed over: another process takes them at
        once; without another process, the next start finds them among the roundtables with a filled outbox.
        """
        working.cancel()
        try:
            await asyncio.wait({working}, timeout=DRAIN_SECONDS)
        finally:
            for work in tuple(self._running):
                work.cancel()
            await asyncio.wait({working}, timeout=HAND_OVER_SECONDS)
            working.cancel()


async def _not_running(slug: str) -> None:
    raise AssertionError(f"{slug} was given to a process that does not run")


# --- Docket without unpickling ----------------------------------------------------------------------------------------
#
# Docket pickles the arguments of a task into Redis and unpickles what it finds there, so write access to Redis would
# be a way to run code in the bot. Messages reach docket by two commands, XREADGROUP and XAUTOCLAIM, and their answers
# are replaced here: only the key and a few numbers of a message are read, and the arguments that docket unpickles are
# made in this process from the key, which holds the slug. Messages of another form are removed from the stream and
# logged in one line.

SAFEGUARD = "_safeguard_wake"
"""A task of docket itself. It looks after a task that waits for another task of the same slug."""
SAFEGUARD_PREFIX = "__safeguard__:"
KEY = re.compile(r"(?P<slug>[^\x00-\x1f\x7f]{1,300})#[0-9a-f]{32}")
ATTEMPT = re.compile(rb"[0-9]{1,4}")
GENERATION = re.compile(rb"[0-9]{1,9}")
TRACE = re.compile(rb"[0-9a-f-]{55}")


def name_for(team: str) -> str:
    """What all keys of the work of *team* begin with."""
    return f"{prefix(team)}work"


def key_for(slug: str) -> str:
    return f"{slug}#{uuid4().hex}"


class TaskDocket(Docket):
    def __init__(self, name: str, url: str, **options: Any) -> None:
        super().__init__(name, url, **options)
        self.tasks = {}  # without docket's own demonstration tasks
        self._strikes = StrikeList(name=name)

    @property
    def strike_list(self) -> StrikeList:
        """One without a client: strikes (rules that forbid tasks) would be unpickled, too, and are not used."""
        return self._strikes

    @strike_list.setter
    def strike_list(self, connected: StrikeList) -> None:
        """Ignored: on entering, docket assigns one that reads from Redis."""

    @property
    def prefix(self) -> str:
        """Without braces of docket's own: the name has the hash tag of a team."""
        return self.name

    @asynccontextmanager
    async def redis(self) -> AsyncGenerator[Any, None]:
        async with super().redis() as redis:
            yield _CheckedClient(redis, self)

    @asynccontextmanager
    async def _pubsub(self) -> AsyncGenerator[Any, None]:
        """In a cluster, by a primary of now. Docket keeps to one of its start, and its worker waits for that one."""
        async with AsyncExitStack() as stack:
            if cluster := self._redis.cluster_client:
                # Fails when its node has ended; then the client asks the others which one took over.
                await cluster.xlen(self.stream_key)
                pool = self._redis._create_node_pool()  # noqa: SLF001 -- with password and TLS of the URL
                client = await stack.enter_async_context(Redis.from_pool(pool))
                yield await stack.enter_async_context(client.pubsub())
            else:
                yield await stack.enter_async_context(super()._pubsub())

    def message_of(self, found: Mapping[bytes, bytes]) -> Mapping[bytes, bytes] | None:
        """A message that is safe to unpickle, made from *found*; None when *found* is not one of our tasks."""
        key, function, attempt, generation = (
            found.get(name, b"") for name in (b"key", b"function", b"attempt", b"generation")
        )
        arguments = self._arguments(function, key)
        if arguments is None or not ATTEMPT.fullmatch(attempt) or not GENERATION.fullmatch(generation):
            return None
        args, kwargs = arguments
        trace = found.get(b"traceparent", b"")
        return {
            b"key": key,
            b"when": datetime.now(UTC).isoformat().encode(),
            b"function": function,
            b"args": pickle.dumps(args),
            b"kwargs": pickle.dumps(kwargs),
            b"attempt": attempt,
            b"generation": generation,
            **({b"traceparent": trace} if TRACE.fullmatch(trace) else {}),
        }

    def _arguments(self, function: bytes, key: bytes) -> tuple[tuple[str, ...], dict[str, Any]] | None:
        text = key.decode(errors="replace")
        match = KEY.fullmatch(text.removeprefix(SAFEGUARD_PREFIX))
        is_safeguard = text.startswith(SAFEGUARD_PREFIX)
        if not match or function != (SAFEGUARD if is_safeguard else TASK).encode():
            return None
        if not is_safeguard:
            return (match["slug"],), {}
        waiters = self.key(f"concurrency:slug:{match['slug']}:waiters")
        return (), {"waiter_stream": waiters, "max_concurrent": 1}


class _CheckedClient:
    """A Redis client that returns messages only as `TaskDocket.message_of` makes them."""

    def __init__(self, client: Any, docket: TaskDocket) -> None:
        self._client = client
        self._docket = docket

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    @property  # type: ignore[misc]  # as a proxy has it
    def __class__(self) -> Any:
        """For `isinstance`, by which docket sees that a client is one of a cluster."""
        return type(self._client)

    async def xreadgroup(self, **options: Any) -> list[Any]:
        found = await self._client.xreadgroup(**options)
        return [(stream, await self._ours(messages)) for stream, messages in found]

    async def xautoclaim(self, **options: Any) -> list[Any]:
        cursor, messages, *rest = await self._client.xautoclaim(**options)
        return [cursor, await self._ours(messages), *rest]

    async def _ours(self, found: list[Any]) -> list[Any]:
        read = [(number, self._docket.message_of(message or {})) for number, message in found]
        if foreign := [number for number, message in read if message is None]:
            stream, group = self._docket.stream_key, self._docket.worker_group_name
            await self._client.xack(stream, group, *foreign)
            await self._client.xdel(stream, *foreign)
            log.warning(
                "removed %d entries of %s that this version did not write; unfinished work is woken anyway",
                len(foreign),
                stream,
            )
        return [(number, message) for number, message in read if message is not None]
