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
import pickle
import re
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from docket import ConcurrencyLimit, Disposition, Docket, ExponentialRetry, StrikeList, Worker
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import RedisClusterException, RedisError

from bot.engine.ports import Pay
from bot.errors import ConfigError
from bot.storage.redis_client import CLUSTER, answering, cancellable, hosts_of, kind_of, only, taken_apart

# Docket without unpickling: a task is its key, and the key holds a slug.
#
# Docket pickles the arguments of a task into Redis, and unpickles what it finds there, so that write access
# to Redis would be a way to run code here. All messages reach docket by two commands, XREADGROUP and
# XAUTOCLAIM. Their answers are replaced here: of a message, only the key and a few numbers are read, and
# the arguments that docket unpickles are made from the key in this process. Messages that do not have this
# form are removed from the stream, with one line in the log.
#
# Strikes (rules that forbid tasks) would be unpickled too. They are not used, and not read.


TASK = "pay"
SAFEGUARD = "_safeguard_wake"
"""Docket's own task: looks after a task that waits for another one of the same slug."""

KEY = re.compile(r"(?P<slug>[^\x00-\x1f\x7f]{1,300})#[0-9a-f]{32}")
SAFEGUARD_PREFIX = "__safeguard__:"
ATTEMPT = re.compile(rb"[0-9]{1,4}")
GENERATION = re.compile(rb"[0-9]{1,9}")
TRACE = re.compile(rb"[0-9a-f-]{55}")


def key_for(slug: str) -> str:
    """A new key for a task that is about *slug*."""
    return f"{slug}#{uuid4().hex}"


class TaskDocket(Docket):
    def __init__(self, name: str, url: str, **options: Any) -> None:
        super().__init__(name, url, **options)
        self.tasks = {}  # docket's own tasks for demonstrations are not ours
        self._strikes = StrikeList(name=name)

    @property
    def strike_list(self) -> StrikeList:
        """One without a client."""
        return self._strikes

    @strike_list.setter
    def strike_list(self, connected: StrikeList) -> None:
        """Not taken: docket makes one with a client whenever it begins."""

    @asynccontextmanager
    async def redis(self) -> AsyncGenerator[Any, None]:
        async with super().redis() as client:
            yield _Checked(client, self)

    def message_of(self, found: Mapping[bytes, bytes]) -> Mapping[bytes, bytes] | None:
        """A message that is safe to unpickle, made from *found*; None when *found* is no task of ours."""
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
        named = KEY.fullmatch(text.removeprefix(SAFEGUARD_PREFIX))
        is_safeguard = text.startswith(SAFEGUARD_PREFIX)
        if not named or function != (SAFEGUARD if is_safeguard else TASK).encode():
            return None
        if not is_safeguard:
            return (named["slug"],), {}
        waiters = self.key(f"concurrency:slug:{named['slug']}:waiters")
        return (), {"waiter_stream": waiters, "max_concurrent": 1}


class _Checked:
    """A client of Redis that gives docket no message but ours."""

    def __init__(self, client: Any, docket: TaskDocket) -> None:
        self._client = client
        self._docket = docket

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:
        """That of the client: docket asks whether it is one of a cluster."""
        return type(self._client)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

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
                "removed %d entries of %s that this version did not write; what is unfinished is woken anyway",
                len(foreign),
                stream,
            )
        return [(number, message) for number, message in read if message is not None]


# Docket on a cluster or behind sentinels, which it only gets along with as long as they all answer.
#
# Docket 0.27 takes one node of a cluster, asks it at once, raises what its worker does not take for an
# outage, and never works again when the node is lost on which it listens for cancellations. Of sentinels it
# asks one after the other, and a lost one for a minute. It waits without end for the answer of a server
# that hangs. Here it is given what answers just now, an outage is one, and after it docket begins anew.
# Only what docket makes public is used for that.


FIRST_SECONDS = 1.0
"""So long the start waits; usually it takes a moment."""
SENTINEL_SECONDS = 0.3
OPENING_SECONDS = 2.0
AGAIN_SECONDS = 0.5
HUNG_SECONDS = "4"
"""Longer than docket ever waits for work."""
AWAY = (RedisError, RedisClusterException)


def docket_at(url: str, name: str, **options: Any) -> TaskDocket:
    """Raises ConfigError for a URL that cannot be used."""
    if not kind_of(url):
        return TaskDocket(name, url, **options)
    try:
        taken_apart(url)
    except ValueError as error:
        raise ConfigError(f"REDIS_URL cannot be used: {error}") from None
    return PatientDocket(url, name, options)


class PatientDocket(TaskDocket):
    """Until there is an answer, whoever needs one waits, as when a single server is away."""

    def __init__(self, url: str, name: str, options: Mapping[str, Any]) -> None:
        super().__init__(name, only(url, hosts_of(url)[:1]), **options)
        self._given = url
        self._options = options
        self._users = 0
        self._doubtful = False

    async def __aenter__(self) -> Self:
        self._opening = asyncio.create_task(self._opened(), name="first answer of Redis")
        await asyncio.wait({self._opening}, timeout=FIRST_SECONDS)
        if self._opening.done():
            self._opening.result()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opening.cancel()
        await asyncio.wait({self._opening})
        if not self._opening.cancelled() and not self._opening.exception():
            await self._closed()

    @asynccontextmanager
    async def redis(self) -> AsyncGenerator[Any, None]:
        """The worker is in here all the time, unless something went wrong; so then is the time to begin anew."""
        if self._doubtful and not self._users:
            self._doubtful = False
            self._opening = asyncio.create_task(self._reopened(), name="next answer of Redis")
        while not self._opening.done():
            await asyncio.wait({self._opening})
        self._users += 1
        try:
            async with super().redis() as client:
                with cancellable():
                    yield client
        except (*AWAY, BaseExceptionGroup) as error:
            if not _is_away(error):
                raise
            self._doubtful = True
            raise ConnectionLost(f"Redis did not answer: {error}") from error
        finally:
            self._users -= 1

    async def _reopened(self) -> None:
        with suppress(TimeoutError):  # what cannot be closed is left behind
            async with asyncio.timeout(OPENING_SECONDS):
                await self._closed()
        await self._opened()

    async def _closed(self) -> None:
        """redis-py leaves connections to a cluster open when it is about to ask who has which slots."""
        async with super().redis() as client:
            nodes = getattr(client, "nodes_manager", None)
        await super().__aexit__(None, None, None)
        if nodes:
            await nodes.aclose("nodes_cache")
            await nodes.aclose("startup_nodes")

    async def _opened(self) -> None:
        while True:
            for url in await self._worth_trying():
                try:
                    async with asyncio.timeout(OPENING_SECONDS):
                        await self._enter(url)
                except (*AWAY, OSError):
                    continue
                return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _worth_trying(self) -> list[str]:
        """Each node of a cluster, which knows the others; and all sentinels that answer."""
        hosts = hosts_of(self._given)
        if kind_of(self._given) == CLUSTER:
            return [only(self._given, [host], socket_timeout=HUNG_SECONDS) for host in hosts]
        answer = await answering(taken_apart(self._given), seconds=SENTINEL_SECONDS)
        heard = [host for host, answers in zip(hosts, answer, strict=True) if answers]
        return [only(self._given, heard, socket_timeout=HUNG_SECONDS)] if heard else []

    async def _enter(self, url: str) -> None:
        tasks = self.tasks
        super().__init__(self.name, url, **self._options)
        self.tasks = tasks
        async with AsyncExitStack() as undo:
            undo.push_async_callback(super().__aexit__, None, None, None)
            await super().__aenter__()
            async with super().redis() as client:
                await client.exists(self.stream_key)
            undo.pop_all()


def _is_away(error: BaseException) -> bool:
    """A task group tells of several errors at once."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(AWAY)[1] is None
    return isinstance(error, AWAY)


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
