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

from bot.domain.catalog.agenda import Playbook
from bot.domain.roundtable.effects import NO_HARM_REPEATED, Effect, OpenThread, Post, ShareRecord
from bot.domain.roundtable.inputs import Clashed, Command, Input, Start, TryAgain
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.outcomes import Attempted, Done, Failed, Outcome
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import opening
from bot.domain.values.places import Person, Place
from bot.domain.values.timestamps import before, seconds_since
from bot.engine.cancellation import Performances
from bot.engine.clock import Clock
from bot.engine.metering import Meter, Unmetered, kind_of
from bot.engine.performers import Performers
from bot.engine.ports import Store, Wake
from bot.engine.repository import Decision, Ledger
from bot.errors import BotError, Conflict, EffectError, NewerVersion, Unavailable, UserError
from bot.log import about
from bot.telemetry import span

log = logging.getLogger(__name__)

ATTEMPTS = 6
ATTEMPTS_TO_POST = 1_000
"""What a persona said is never left out because Slack has a bad hour."""
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0

SWEEP_SECONDS = 10.0
TRY_AGAIN_SECONDS = 60.0
"""After the last thing that happened: then what could not be saved, or said, is tried once more."""

NOT_REPEATABLE = (OpenThread, Post, ShareRecord)
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
        performances: Performances | None = None,
    ) -> None:
        self._store = store
        self._wake = wake
        self._performers = performers
        self._playbook = playbook
        self._clock = clock
        self._meter = meter or Unmetered()
        self._ledger = Ledger(store, lambda rt, happened: decide(rt, happened, playbook), self._meter)
        self._performances = performances or Performances()
        self._leaving = asyncio.Event()
        self._paying: dict[str, bool] = {}  # and whether there is more to pay since we last looked

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
            rt = await self._ledger.take(slug, happened)
            if rt is None:
                raise UserError(f"I don't know a roundtable on `{slug}`. Try `/roundtable resume {slug}`.")
            await self._woken(rt)
            return rt

    async def hear(self, place: Place, happened: Command) -> Roundtable | None:
        """`handle`, for whatever is held at *place*; None when nothing is."""
        if (slug := self._ledger.remembered(place)) and (rt := await self._heard_at(place, slug, happened)):
            return rt
        slug = await self._ledger.found(place)
        return await self._heard_at(place, slug, happened) if slug else None

    async def pay(self, slug: str) -> None:
        """
        Everything *slug* owes, in order, until nothing is left. Raises Unavailable with the store, and CancelledError
        once we leave: then the rest is somebody else's to pay.
        """
        try:
            with suppress(NewerVersion):  # the store says so in the log, and is not ready
                await self._paid_here(slug)
        finally:
            if self._paying.pop(slug, False):
                await self._wake.wake(slug)

    async def run(self) -> None:
        """Work until cancelled, and look now and then for what nobody was woken for."""
        sweeping = asyncio.create_task(self._sweep(), name="sweep")
        try:
            await self._wake.run(self.pay)
        finally:
            sweeping.cancel()

    async def sweep(self) -> None:
        """
        Wake whatever owes something and is not being paid here: an earlier process left it, or a wake got lost. What
        the store has lost is taken up from git.
        """
        for slug in await self._store.owing(quiet_since=before(self._clock(), TRY_AGAIN_SECONDS)):
            if slug not in self._paying:
                await self._wake.wake(slug)
        for rt in await self._ledger.lost():
            await self._take_up_lost(rt)

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

    async def _paid_here(self, slug: str) -> None:
        """With all that is saved here meanwhile: nobody gets a word in between the last look and the end."""
        self._paying[slug] = True
        while self._paying.get(slug):
            self._paying[slug] = False
            await self._paid(slug)

    async def _paid(self, slug: str) -> None:
        """An effect that may not be repeated takes two rounds: in one it is begun, in the next performed."""
        rt, begun = await self._ledger.read(slug), ""
        unsaved: tuple[Decision, ...] = ()
        while rt and (owed := rt.next_effect):
            if self._leaving.is_set() and owed.id != begun:
                raise asyncio.CancelledError
            with about(item=slug, step=rt.step_id, turn=_turn(rt), effect=owed.id):
                if isinstance(owed, NOT_REPEATABLE) and owed.id != begun:
                    begun = owed.id
                    outcome: Outcome = Attempted(key=begun, at=self._clock(), effect=begun)
                else:
                    outcome = await self._performed(owed, rt)
                unsaved += self._ledger.decisions(rt, [outcome])
                can_wait = not isinstance(outcome, Attempted) and self._can_wait(owed, unsaved[-1])
                rt = unsaved[-1].after
                if not can_wait:
                    rt, unsaved = await self._ledger.settle(slug, unsaved), ()
        if rt and rt.owed and seconds_since(rt.now, self._clock()) >= TRY_AGAIN_SECONDS:
            at = self._clock()
            await self.handle(slug, TryAgain(key=f"again.{at}", at=at))

    def _can_wait(self, paid: Effect, unsaved: Decision) -> bool:
        """
        Whether it may be saved with what follows: with the beginning of a post, which is saved at once, or when
        *paid* is no matter. But nothing is performed that nobody else could know of.
        """
        rt = unsaved.after
        if self._leaving.is_set() or not rt.next_effect:
            return False
        owes_more = rt.sequence != unsaved.before.sequence
        return isinstance(rt.next_effect, NOT_REPEATABLE) or (
            isinstance(paid, NO_HARM_REPEATED) and not owes_more
        )

    async def _sweep(self) -> None:
        while not self._leaving.is_set():
            with suppress(Unavailable):  # readiness says so; the next round may do better
                await self.sweep()
            with suppress(TimeoutError):
                async with asyncio.timeout(SWEEP_SECONDS):
                    await self._leaving.wait()

    async def _take_up_lost(self, rt: Roundtable) -> None:
        if not rt.place.thread:
            return
        log.warning("%s is gone from the store: it is taken up from git", rt.slug)
        person = Person(id=rt.started_by, name=rt.name_of(rt.started_by))
        key = f"lost.{rt.slug}.{rt.incarnation}"
        with suppress(Conflict):  # somebody else was quicker
            start = Start(key=key, at=self._clock(), item=rt.item, place=rt.place, person=person)
            await self.take_up(start, thread_known=True)

    async def _begun(self, start: Start, rt: Roundtable) -> Roundtable:
        with self._heard(rt.slug, start):
            rt = await self._ledger.begin(start, rt)
            await self._woken(rt)
        return rt

    async def _heard_at(self, place: Place, slug: str, happened: Command) -> Roundtable | None:
        with self._heard(slug, happened):
            rt = await self._ledger.take(slug, happened, at=place)
            if rt:
                await self._woken(rt)
        return rt

    @contextmanager
    def _heard(self, slug: str, happened: Input) -> Iterator[None]:
        with about(item=slug), span("input", item=slug, kind=kind_of(type(happened))):
            try:
                yield
            except BotError as error:
                self._meter.refused(happened, error)
                raise

    async def _woken(self, rt: Roundtable) -> None:
        """Who is being paid here looks once more before the end, and leaves what is not wanted; all others are told."""
        self._performances.look(rt)
        if rt.slug in self._paying:
            self._paying[rt.slug] = True
        elif rt.outbox:
            await self._wake.wake(rt.slug)

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
            try:
                work = self._performers.perform(owed, rt)
                done = Done(key=owed.id, at=self._clock(), effect=owed.id)
                return await self._performances.of(rt.slug, owed, work) or done
            except EffectError as error:
                if not error.again or attempt == attempts:
                    log.warning("%s failed: %s (%s)", owed.kind, error, error.reason)
                    return self._failed(owed, str(error), error.reason)
                wait = error.after_seconds or _wait_seconds(attempt)
                log.info("%s is tried again in %.1f s: %s", owed.kind, wait, error)
                await self._pause(wait)
                self._meter.retried(owed)
                if (again := await self._begun_again(owed, rt.slug)) is None:
                    return Done(key=owed.id, at=self._clock(), effect=owed.id)
                owed = again
            except Exception:
                # A mistake of ours in one effect must not silence the roundtable for ever.
                log.exception("%s broke", owed.kind)
                return self._failed(owed, "Something went wrong on my side; it is in the log.", "unexpected")
        raise AssertionError("the last attempt returns")

    async def _begun_again(self, owed: Effect, slug: str) -> Effect | None:
        """
        What people would see twice is written down before every attempt: whoever dies in it may have succeeded. None
        when somebody else has paid it meanwhile.
        """
        if not isinstance(owed, NOT_REPEATABLE):
            return owed
        attempted = Attempted(key=owed.id, at=self._clock(), effect=owed.id, settled=owed.attempts)
        rt = await self._ledger.take(slug, attempted)
        return next((one for one in rt.outbox if one.id == owed.id), None) if rt else None

    async def _pause(self, seconds: float) -> None:
        """Raises CancelledError when we leave meanwhile: the attempt is written down for whoever goes on."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._leaving.wait()
            raise asyncio.CancelledError

    def _failed(self, owed: Effect, sentence: str, reason: str) -> Failed:
        told = self._performers.redact(sentence)
        return Failed(key=owed.id, at=self._clock(), effect=owed.id, reason=reason, sentence=told)


def _turn(rt: Roundtable) -> str:
    """The turn that a discussion has come to."""
    return rt.elaboration.turns[-1].id if rt.elaboration and rt.elaboration.turns else ""


def _wait_seconds(attempt: int) -> float:
    return min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(attempt - 1, 10))
