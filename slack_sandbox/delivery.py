"""
What the app is told, and whether it said "got it".

Events are repeated, as by Slack; commands and clicks are sent once, and the person who made them sees the failure.
How something travels (a socket, a request) is the transport's business.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

from slack_sandbox.faults import Faults
from slack_sandbox.messages import JSON
from slack_sandbox.pulse import ActivitySignal

EVENT = "events_api"
COMMAND = "slash_commands"
INTERACTIVE = "interactive"
NOT_CONNECTED = "not_connected"
TOO_LATE = frozenset({"timeout", "http_timeout"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Slack's patience, in seconds. Tests scale it down."""

    ack_seconds: float = 3.0
    retry_seconds: tuple[float, ...] = (0, 60, 300)
    trigger_seconds: float = 3.0
    limits_speed: float = 1.0
    """How much faster than Slack's the minutes of `rate_limits` go by."""


@dataclass(frozen=True, slots=True)
class Retry:
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AckOutcome:
    """*final* means: not acknowledged, and do not try again."""

    acked: bool
    body: JSON = field(default_factory=dict)
    reason: str = ""
    final: bool = False


@dataclass(eq=False, slots=True)
class Delivery:
    """One thing the app was told. *seconds* is how long the last attempt took; *error* is what a person sees."""

    kind: str
    payload: JSON
    attempts: int = 0
    acked: bool = False
    seconds: float = 0.0
    response: JSON = field(default_factory=dict)
    error: str = ""

    @property
    def event(self) -> JSON:
        found: JSON = self.payload.get("event", {})
        return found

    @property
    def errors(self) -> dict[str, str]:
        """What the app found wrong in a submitted view, by block_id."""
        found: dict[str, str] = self.response.get("errors", {})
        return found


class Transport(Protocol):
    async def ready(self) -> None:
        """Returns as soon as an app can be delivered to."""

    async def offer(self, kind: str, payload: JSON, *, retry: Retry | None, seconds: float) -> AckOutcome:
        """One attempt. Never raises: what went wrong is the answer's reason."""


class Dispatcher:
    def __init__(
        self, transport: Callable[[], Transport], *, timing: Timing, faults: Faults, pulse: ActivitySignal
    ) -> None:
        self._transport = transport
        self._timing = timing
        self._faults = faults
        self._pulse = pulse
        self._tasks: set[asyncio.Task[None]] = set()
        self._held: list[Delivery] = []
        self.deliveries: list[Delivery] = []

    async def ask(self, kind: str, payload: JSON) -> Delivery:
        """A command or a click: one attempt, for which a person waits."""
        delivery = self._opened(kind, payload)
        answer = await self._attempt(delivery, None)
        if not answer.acked:
            delivery.error = "operation_timeout" if answer.reason in TOO_LATE else "dispatch_failed"
        self._pulse.beat()
        return delivery

    def announce(self, payload: JSON) -> Delivery:
        """An event: delivered in the background, again and again until it is acknowledged."""
        delivery = self._opened(EVENT, payload)
        if self._faults.holding:
            self._held.append(delivery)
        else:
            self._start(self._insist(delivery))
        return delivery

    def release(self, *, backwards: bool = False) -> None:
        """Lets go of the events held back: in order, or the last one first."""
        self._faults.holding = False
        held, self._held = self._held, []
        for delivery in reversed(held) if backwards else held:
            self._start(self._insist(delivery))

    async def again(self, delivery: Delivery, *, times: int = 1) -> None:
        """Delivers once more what was delivered already, as Slack does when an acknowledgement got lost."""
        for attempt in range(1, times + 1):
            await self._attempt(delivery, Retry(attempt, "timeout"))

    async def settled(self) -> None:
        """Returns when every event so far was acknowledged or given up."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _opened(self, kind: str, payload: JSON) -> Delivery:
        delivery = Delivery(kind, payload)
        self.deliveries.append(delivery)
        return delivery

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _insist(self, delivery: Delivery) -> None:
        retry: Retry | None = None
        for attempt, pause in enumerate((0, *self._timing.retry_seconds), start=1):
            await asyncio.sleep(pause)
            answer = await self._attempt(delivery, retry)
            if answer.acked:
                await self.again(delivery, times=self._faults.copies)
                return
            if answer.final:
                return
            await self._transport().ready()
            retry = Retry(attempt, "timeout" if answer.reason == NOT_CONNECTED else answer.reason)

    async def _attempt(self, delivery: Delivery, retry: Retry | None) -> AckOutcome:
        delivery.attempts += 1
        loop = asyncio.get_running_loop()
        began = loop.time()
        answer = await self._transport().offer(
            delivery.kind, delivery.payload, retry=retry, seconds=self._timing.ack_seconds
        )
        if answer.acked and self._faults.take_ack():
            answer = AckOutcome(acked=False, reason="timeout")
        delivery.seconds = loop.time() - began
        delivery.acked = delivery.acked or answer.acked
        delivery.response = answer.body
        self._pulse.beat()
        return answer
