"""
Decide, save, act: the engine of every aggregate with an outbox.

An input makes the next value of an aggregate, and that value is saved before anything else happens. Then the first
effect of its outbox is performed, and the outcome is the next input. A process may die between any two lines of this
file: what was saved is continued by the process that works on the aggregate next.

The engine knows neither roundtables nor reviews. `roundtables` and `reviews` say what is decided and how an effect is
performed.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar
from weakref import WeakValueDictionary

from bot.domain.values.timestamps import seconds_since
from bot.engine.lru import LruCache
from bot.engine.ports import NO_METER, Clock, Meter, Wake, kind_of
from bot.errors import BotError, Conflict, LeftAlone, NewerVersion, Unavailable, UserError
from bot.log import about
from bot.telemetry import span

CONFLICTS_ENDURED = 20
SWEEP_SECONDS = 10.0
PATIENCE_SECONDS = 30.0
"""An effect that may begin within this time is waited for. For a later one the sweep wakes a process again."""
REMEMBERED = 1_000
LOOKED_AT = 200


class Pending(Protocol):
    """An effect in an outbox."""

    @property
    def id(self) -> str: ...

    @property
    def kind(self) -> str: ...


class Aggregate(Protocol):
    """A frozen value with an outbox. *now* is the time of its last input."""

    @property
    def slug(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def now(self) -> str: ...

    @property
    def next_effect(self) -> Pending | None: ...

    def but(self, *, version: int) -> Self: ...


BeforeSave = Callable[[], Awaitable[None]]


async def nothing_before() -> None: ...


A = TypeVar("A", bound=Aggregate)
I = TypeVar("I")  # noqa: E741 -- the input of an aggregate


class Saved(Protocol[A]):
    """Where aggregates are stored."""

    async def get(self, slug: str) -> A | None: ...

    async def put(self, state: A, /, *, expected: int) -> None: ...


@dataclass(eq=False)
class _Request(Generic[A, I]):
    """
    An input of one caller. When it is no longer in its turn: *made* is what it was decided on and what came of that,
    *refused* why there is nothing, and *stored* what is stored then.
    """

    event: I
    only: Callable[[A], bool]
    made: tuple[A, A] | None = None
    refused: Exception | None = None
    stored: A | None = None


class _Turn(Generic[A, I]):
    """Of an aggregate: who has it saves for all who wait then."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting: dict[_Request[A, I], None] = {}  # a set that keeps its order


class Engine(ABC, Generic[A, I]):
    """
    Saves decisions in one compare-and-set: all inputs for an aggregate that wait at the same time are one version.

    In one process the inputs for an aggregate are decided one after the other, so that they conflict only with other
    processes. What this process read or saved last is in *memory*, and may be out of date. A save shows whether it was
    current; when there is nothing to save, the store is asked.
    """

    prefix: ClassVar[str] = ""
    """Before the slug in a wake-up. All engines share one queue, and no slug has a colon."""

    def __init__(
        self,
        *,
        store: Saved[A],
        wake: Wake,
        clock: Clock,
        meter: Meter = NO_METER,
        memory: MutableMapping[str, A] | None = None,
        before_save: BeforeSave = nothing_before,
    ) -> None:
        """*before_save* stores what a state may name. Raises Unavailable."""
        self._aggregates = store
        self._wake = wake
        self._clock = clock
        self._meter = meter
        self._memory: MutableMapping[str, A] = LruCache(REMEMBERED) if memory is None else memory
        self._before_save = before_save
        self._turns: WeakValueDictionary[str, _Turn[A, I]] = WeakValueDictionary()
        self._leaving = asyncio.Event()
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._waking: set[asyncio.Task[None]] = set()
        self._working: dict[str, bool] = {}  # the value: something was saved since the outbox was last read

    # --- what an aggregate needs of its engine ----------------------------------------------------------------------

    @abstractmethod
    def _decide(self, state: A, event: I) -> A:
        """The next value. Raises UserError when *event* makes no sense now."""

    @abstractmethod
    async def _perform(self, effect: Any, state: A) -> I | None:
        """The outcome; None when the effect stays in the outbox, and is begun again later."""

    def _next(self, state: A) -> Any | None:
        """The effect to perform now."""
        return state.next_effect

    def _attempt(self, effect: Any) -> I | None:
        """What is saved before *effect* begins; None for an effect that does no harm when it is repeated."""

    def _is_begun(self, state: A, attempt: I) -> bool:  # noqa: ARG002 -- for those who share an effect
        """Whether *attempt* counts. Another process may have begun the same effect."""
        return True

    def _wait_seconds(self, effect: Any) -> float:  # noqa: ARG002
        """Seconds until *effect* may begin."""
        return 0.0

    def _saved(self, event: I, before: A | None, after: A) -> None:
        """For counters and the audit log: *after* is stored, or *event* changed nothing."""

    def _about(self, state: A) -> dict[str, str]:  # noqa: ARG002
        """For the log, beside the item and the effect."""
        return {}

    async def _idle(self, state: A) -> None:
        """Nothing can be performed now."""

    @abstractmethod
    async def _due(self) -> Iterable[str]:
        """Slugs with an effect that may begin before the next sweep, or something else that is due."""

    # --- inputs -----------------------------------------------------------------------------------------------------

    async def _handle(self, slug: str, event: I, *, only: Callable[[A], bool] = lambda _: True) -> A | None:
        """Decides and saves; after a conflict it decides again. None as in `_take`."""
        with self._input(slug, event):
            state = await self._take(slug, event, only=only)
            if state:
                await self._wake_for(state)
            return state

    async def _begin(self, event: I, state: A) -> A:
        """Saves a new aggregate. Raises Conflict when there is one already."""
        with self._input(state.slug, event):
            state = state.but(version=1)
            await self._before_save()
            await self._aggregates.put(state, expected=0)
            self._memory[state.slug] = state
            self._saved(event, None, state)
            await self._wake_for(state)
        return state

    async def _wake_for(self, state: A) -> None:
        """This process looks again before it ends its work on it; else some process is woken."""
        if state.slug in self._working:
            self._working[state.slug] = True
        elif state.next_effect:
            await self._wake.wake(self.prefix + state.slug)

    @contextmanager
    def _input(self, slug: str, event: I) -> Iterator[None]:
        kind = kind_of(type(event))
        with about(item=slug), span("input", refusals=(UserError, Conflict), item=slug, kind=kind):
            try:
                yield
            except BotError as error:
                self._meter.refused(event, error)
                raise

    # --- saving ------------------------------------------------------------------------------------------------------

    async def _read_stored(self, slug: str) -> A | None:
        """As it is stored now."""
        state = await self._aggregates.get(slug)
        if state:
            self._memory[slug] = state
        else:
            self._memory.pop(slug, None)
        return state

    async def _take(self, slug: str, event: I, *, only: Callable[[A], bool] = lambda _: True) -> A | None:
        """
        Decides *event* and saves it. None when nothing is stored, or nothing that *only* is true of. Raises UserError
        when it makes no sense now.
        """
        request = _Request(event, only)
        await self._in_turn(slug, request)
        if request.refused:
            raise request.refused
        return request.stored if request.made else None

    async def _in_turn(self, slug: str, request: _Request[A, I]) -> None:
        """A caller that is cancelled while it saves leaves the others waiting, and the next one saves for them."""
        if (turn := self._turns.get(slug)) is None:
            turn = self._turns[slug] = _Turn()
        turn.waiting[request] = None
        try:
            async with turn.lock:
                if request in turn.waiting:
                    await self._save_together(slug, turn)
        finally:
            turn.waiting.pop(request, None)

    async def _save_together(self, slug: str, turn: _Turn[A, I]) -> None:
        requests = tuple(turn.waiting)
        try:
            stored = await self._decide_and_save(slug, requests)
        except BotError as error:
            stored = None
            for request in requests:
                request.refused = error
        for request in requests:
            turn.waiting.pop(request, None)
            request.stored = stored
            if stored and request.made:
                self._saved(request.event, *request.made)

    async def _decide_and_save(self, slug: str, requests: Sequence[_Request[A, I]]) -> A | None:
        """What is stored then."""
        before, is_current = self._memory.get(slug), False
        for _ in range(CONFLICTS_ENDURED):
            if before is None:
                before, is_current = await self._read_stored(slug), True
            if before is None:
                return None
            after = self._decide_all(before, requests)
            if after is not before:
                after = after.but(version=before.version + 1)
                await self._before_save()
                try:
                    await self._aggregates.put(after, expected=before.version)
                except Conflict:
                    self._memory.pop(slug, None)
                    self._meter.conflicted()
                    before = None
                    continue
                self._memory[slug] = after
                return after
            if is_current or (stored := await self._read_stored(slug)) is before:
                return before
            before, is_current = stored, True
        raise Conflict(f"gave up on {slug} after {CONFLICTS_ENDURED} conflicts")

    def _decide_all(self, state: A, requests: Sequence[_Request[A, I]]) -> A:
        """One after the other; an input that makes no sense, or breaks, does not keep the others from being saved."""
        for request in requests:
            request.made = request.refused = None
            try:
                if request.only(state):
                    request.made = state, self._decide(state, request.event)
            except Exception as error:  # noqa: BLE001 -- the caller gets it
                request.refused = error
            state = request.made[1] if request.made else state
        return state

    # --- effects ----------------------------------------------------------------------------------------------------

    async def pay(self, slug: str) -> None:
        """
        Performs the outbox of *slug* in order, until nothing can be performed now. Raises Unavailable with the store,
        and CancelledError once we leave: then another process continues.
        """
        try:
            with suppress(LeftAlone):  # the log says so
                self._working[slug] = True
                while self._working.get(slug):
                    self._working[slug] = False
                    await self._perform_outbox(slug)
        finally:
            if self._working.pop(slug, False):
                await self._wake.wake(self.prefix + slug)

    async def _perform_outbox(self, slug: str) -> None:
        """An effect with an attempt takes two rounds: the attempt is saved in the first, and made in the second."""
        state, begun = await self._read_stored(slug), ""
        while state and (effect := self._next(state)):
            if self._leaving.is_set() and effect.id != begun:
                raise asyncio.CancelledError
            with about(item=slug, effect=effect.id, **self._about(state)):
                attempt = self._attempt(effect) if effect.id != begun else None
                if attempt is not None and not await self._may_begin(effect):
                    break
                outcome = await self._perform(effect, state) if attempt is None else attempt
                if outcome is None:
                    if self._next(state) == effect:
                        break
                    continue
                state = await self._take(slug, outcome)
                begun = effect.id if attempt is not None and state and self._is_begun(state, attempt) else ""
        if state:
            await self._idle(state)

    def _wake_later(self, slug: str, seconds: float) -> None:
        """Replaces an earlier one. When this process ends before that, the sweep of another one wakes."""

        def wake() -> None:
            self._later.pop(slug, None)
            task = asyncio.ensure_future(self._wake.wake(self.prefix + slug))
            self._waking.add(task)
            task.add_done_callback(self._waking.discard)

        if timer := self._later.pop(slug, None):
            timer.cancel()
        self._later[slug] = asyncio.get_running_loop().call_later(seconds, wake)

    async def _may_begin(self, effect: Pending) -> bool:
        wait = self._wait_seconds(effect)
        if 0 < wait <= PATIENCE_SECONDS:
            await self._pause(wait)
        return wait <= PATIENCE_SECONDS

    async def _pause(self, seconds: float) -> None:
        """Raises CancelledError when we leave meanwhile: another process continues."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._leaving.wait()
            raise asyncio.CancelledError

    # --- for as long as the process lives ---------------------------------------------------------------------------

    async def sweep(self) -> None:
        """Wakes for effects that are not being performed here: an earlier process left them, or a wake-up got lost."""
        for slug in await self._due():
            if slug not in self._working:
                await self._wake.wake(self.prefix + slug)

    async def keep_sweeping(self) -> None:
        while not self._leaving.is_set():
            with suppress(Unavailable):  # readiness says so
                await self.sweep()
            with suppress(TimeoutError):
                async with asyncio.timeout(SWEEP_SECONDS):
                    await self._leaving.wait()

    def leave(self) -> None:
        """From now on the work on an aggregate ends with the effect at hand, and waits for nothing."""
        self._leaving.set()
        for timer in self._later.values():
            timer.cancel()
        self._later.clear()


async def run(wake: Wake, *engines: Engine[Any, Any]) -> None:
    """Performs what *engines* have in their outboxes until cancelled."""
    by_prefix = {engine.prefix: engine for engine in engines}

    async def pay(name: str) -> None:
        prefix, colon, slug = name.rpartition(":")
        await by_prefix[prefix + colon].pay(slug)

    async def sweep() -> None:
        await asyncio.gather(*(engine.keep_sweeping() for engine in engines))

    await wake.run(pay, sweep)


# How long effects have been waiting, for those who watch.


class QueueStatus(NamedTuple):
    """*unfinished* aggregates have an effect in their outbox; the oldest has waited *oldest_seconds*."""

    unfinished: int
    oldest_seconds: float


class HasQueue(Protocol):
    async def unfinished(self) -> tuple[str, ...]: ...

    @property
    def get(self) -> Callable[[str], Awaitable[Aggregate | None]]: ...


class Queue:
    """An effect waits from when it is first seen at the head of the outbox: later inputs do not make it younger."""

    def __init__(self, store: HasQueue, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._heads: dict[str, tuple[str, str]] = {}

    async def waiting(self) -> QueueStatus:
        """Raises Unavailable with the store."""
        slugs = await self._store.unfinished()
        found = [await self._head_of(slug) for slug in slugs[:LOOKED_AT]]
        self._heads = {slug: head for slug, head in zip(slugs, found, strict=False) if head}
        now = self._clock()
        ages = [seconds_since(since, now) for _, since in self._heads.values()]
        return QueueStatus(len(slugs), max([0.0, *ages]))

    async def _head_of(self, slug: str) -> tuple[str, str] | None:
        try:
            state = await self._store.get(slug)
        except NewerVersion:
            return None
        if state is None or state.next_effect is None:
            return None
        known = self._heads.get(slug)
        if known and known[0] == state.next_effect.id:
            return known
        return state.next_effect.id, state.now or self._clock()
