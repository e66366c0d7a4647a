"""
The shell: decide, save, then act. The one way in for whatever happens is `handle`, and `pay` is the one way out.

A process may die between any two lines of this file. What was saved is taken up by whoever pays next: every effect
can be begun again, and `Attempted` says that it may have been done already.
"""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bot.domain.agenda import Playbook
from bot.domain.effects import Effect, OpenThread, Post
from bot.domain.inputs import Attempted, Clashed, Failed, Input, Outcome, Start
from bot.domain.machine import decide
from bot.domain.roundtable import Roundtable
from bot.domain.transitions import opening
from bot.engine.clock import Clock
from bot.engine.meter import Meter, Unmetered, kind_of
from bot.engine.performers import Performers
from bot.engine.ports import Store, Wake
from bot.errors import BotError, Conflict, EffectError, Unavailable, UserError
from bot.log import about
from bot.tracing import span

log = logging.getLogger(__name__)

CONFLICTS_ENDURED = 20
ATTEMPTS = 6
ATTEMPTS_TO_POST = 1_000
"""What a persona said is never left out because Slack has a bad hour."""
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0

SWEEP_SECONDS = 10.0

NOT_REPEATABLE = (OpenThread, Post)
"""Effects that people would see twice: an attempt is written down before it is made."""


class Engine:
    def __init__(
        self,
        *,
        store: Store,
        wake: Wake,
        performers: Performers,
        playbook: Playbook,
        clock: Clock,
        meter: Meter | None = None,
    ) -> None:
        self._store = store
        self._wake = wake
        self._performers = performers
        self._playbook = playbook
        self._clock = clock
        self._meter = meter or Unmetered()
        self._leaving = asyncio.Event()
        self._paying: set[str] = set()

    async def start(self, start: Start) -> Roundtable:
        """Saves a new roundtable. Raises Conflict when there is one on the item already."""
        return await self._begun(start, opening.start(start, self._playbook))

    async def take_up(self, start: Start, *, thread_known: bool) -> Roundtable:
        """Saves a roundtable on an item that the workspace knows and the store has lost, or never had."""
        return await self._begun(start, opening.take_up(start, self._playbook, thread_known=thread_known))

    async def handle(self, slug: str, happened: Input) -> Roundtable:
        """
        Decide and save; after a conflict the decision is simply made again.

        Raises UserError when there is no such roundtable, or it does not make sense now.
        """
        with self._heard(slug, happened):
            rt = await self._decided(slug, happened)
            if rt.outbox:
                await self._wake.wake(slug)
            return rt

    async def pay(self, slug: str) -> None:
        """
        Everything *slug* owes, in order, until nothing is left. Raises Unavailable with the store, and CancelledError
        once we leave: then the rest is somebody else's to pay.
        """
        self._paying.add(slug)
        try:
            await self._paid(slug)
        finally:
            self._paying.discard(slug)

    async def run(self) -> None:
        """Work until cancelled, and look now and then for what nobody was woken for."""
        sweeping = asyncio.create_task(self._sweep(), name="sweep")
        try:
            await self._wake.run(self.pay)
        finally:
            sweeping.cancel()

    async def sweep(self) -> None:
        """Wake whatever owes something and is not being paid here: an earlier process left it, or a wake got lost."""
        for slug in await self._store.owing():
            if slug not in self._paying:
                await self._wake.wake(slug)

    async def clashed(self, slug: str, paths: tuple[str, ...]) -> None:
        """Says so in the thread, if there is one."""
        if await self._store.get(slug) is None:
            log.warning("%s was changed here and at the remote: ours is kept as %s", slug, ", ".join(paths))
            return
        at = self._clock()
        await self.handle(slug, Clashed(key=f"clashed.{at}", at=at, paths=paths))

    def leave(self) -> None:
        """From now on a payment ends with the effect at hand, and does not wait to try that one again."""
        self._leaving.set()

    async def _paid(self, slug: str) -> None:
        rt = await self._store.get(slug)
        while rt and (owed := rt.next_effect):
            if self._leaving.is_set():
                raise asyncio.CancelledError
            with about(item=slug, step=rt.step_id, turn=_turn(rt), effect=owed.id):
                if isinstance(owed, NOT_REPEATABLE):
                    attempted = Attempted(key=owed.id, at=self._clock(), effect=owed.id)
                    rt = await self._decided(slug, attempted, known=rt)
                    if not rt.next_effect or rt.next_effect.id != owed.id:
                        continue
                    owed = rt.next_effect
                rt = await self._decided(slug, await self._performed(owed, rt), known=rt)

    async def _sweep(self) -> None:
        while not self._leaving.is_set():
            with suppress(Unavailable):  # readiness says so; the next round may do better
                await self.sweep()
            with suppress(TimeoutError):
                async with asyncio.timeout(SWEEP_SECONDS):
                    await self._leaving.wait()

    async def _begun(self, start: Start, rt: Roundtable) -> Roundtable:
        rt = rt.but(version=1)
        with self._heard(rt.slug, start):
            await self._store.put(rt, expected=0)
            self._meter.decided(start, None, rt)
            await self._wake.wake(rt.slug)
        return rt

    @contextmanager
    def _heard(self, slug: str, happened: Input) -> Iterator[None]:
        with about(item=slug), span("input", item=slug, kind=kind_of(type(happened))):
            try:
                yield
            except BotError as error:
                self._meter.refused(happened, error)
                raise

    async def _decided(self, slug: str, happened: Input, *, known: Roundtable | None = None) -> Roundtable:
        """Begins with what is *known*, if it was read or saved just now; the store says when that is old."""
        for _ in range(CONFLICTS_ENDURED):
            before, known = known or await self._store.get(slug), None
            if before is None:
                raise UserError(f"I don't know a roundtable on `{slug}`. Try `/roundtable resume {slug}`.")
            after = decide(before, happened, self._playbook)
            if after is before:
                self._meter.decided(happened, before, before)
                return before
            after = after.but(version=before.version + 1)
            try:
                await self._store.put(after, expected=before.version)
            except Conflict:
                self._meter.conflicted()
                continue
            self._meter.decided(happened, before, after)
            return after
        raise Conflict(f"gave up on {slug} after {CONFLICTS_ENDURED} conflicts")

    async def _performed(self, owed: Effect, rt: Roundtable) -> Outcome:
        began = time.monotonic()
        with span("effect", item=rt.slug, step=rt.step_id, effect=owed.id, kind=owed.kind):
            outcome = await self._attempted(owed, rt)
        self._meter.paid(owed, outcome, seconds=time.monotonic() - began)
        return outcome

    async def _attempted(self, owed: Effect, rt: Roundtable) -> Outcome:
        """The outcome, or in the end the failure. What may yet succeed is tried again, a little later each time."""
        attempts = ATTEMPTS_TO_POST if isinstance(owed, Post) else ATTEMPTS
        for attempt in range(1, attempts + 1):
            effect = owed.but(attempts=max(owed.attempts, 1) + attempt - 1)
            try:
                return await self._performers.perform(effect, rt)
            except EffectError as error:
                if not error.again or attempt == attempts:
                    log.warning("%s failed: %s (%s)", owed.kind, error, error.reason)
                    return self._failed(owed, str(error), error.reason)
                wait = error.after_seconds or _wait_seconds(attempt)
                log.info("%s is tried again in %.1f s: %s", owed.kind, wait, error)
                await self._pause(wait)
                self._meter.retried(owed)
            except Exception:
                # A mistake of ours in one effect must not silence the roundtable for ever.
                log.exception("%s broke", owed.kind)
                return self._failed(owed, "Something went wrong on my side; it is in the log.", "unexpected")
        raise AssertionError("the last attempt returns")

    async def _pause(self, seconds: float) -> None:
        """Raises CancelledError when we leave meanwhile: the attempt is written down for whoever goes on."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._leaving.wait()
            raise asyncio.CancelledError

    def _failed(self, owed: Effect, sentence: str, reason: str) -> Failed:
        return Failed(key=owed.id, at=self._clock(), effect=owed.id, reason=reason, sentence=sentence)


def _turn(rt: Roundtable) -> str:
    """The turn that a discussion has come to."""
    return rt.elaboration.turns[-1].id if rt.elaboration and rt.elaboration.turns else ""


def _wait_seconds(attempt: int) -> float:
    return min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(attempt - 1, 10))
