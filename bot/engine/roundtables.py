"""The engine of roundtables: what people do comes in here, and the outbox is performed by `Performers`."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeGuard

from bot.domain.catalog.agenda import Playbook
from bot.domain.roundtable import timers
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import (
    NO_HARM_REPEATED,
    CompareStances,
    Draft,
    Effect,
    Formalize,
    Judge,
    OpenThread,
    Post,
    React,
    Rewrite,
    ShareRecord,
    Speak,
    Synthesize,
    Unreact,
    is_together,
)
from bot.domain.roundtable.inputs import Clashed, Command, Input, Returned, Start, TryAgain
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.outcomes import Attempted, Done, Failed, Outcome
from bot.domain.roundtable.stage import RESTING, Stage
from bot.domain.roundtable.state import TRIED_AGAIN, Roundtable
from bot.domain.roundtable.transitions import opening
from bot.domain.values.places import Person, Place
from bot.domain.values.timestamps import before, seconds_since
from bot.engine.audit import audited
from bot.engine.card_pace import CardPace
from bot.engine.clock import Clock
from bot.engine.engine import Engine, UnsavedChange
from bot.engine.lru import LruCache
from bot.engine.performers import Performers
from bot.engine.ports import NO_FACTS, Meter, Store, Wake
from bot.errors import Conflict, EffectError, NewerVersion, Unavailable, UserError
from bot.log import about
from bot.telemetry import span

log = logging.getLogger(__name__)

ATTEMPTS = 6
ATTEMPTS_TO_POST = 1_000
"""A bad hour of Slack must not lose what a persona said."""
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0
TRY_AGAIN_SECONDS = 60.0
"""After the last input: then what could not be saved, or posted, is tried once more."""
TIMED_SECONDS = 60.0
"""For a timer that is due within this time, this process wakes by itself; for a later one the sweep does."""

ROUNDTABLES_REMEMBERED = 1_000
"""At some 25 KiB each."""
THREADS_REMEMBERED = 20_000
REACTIONS_REMEMBERED = 1_000
REACTIONS_AT_ONCE = 64
BETWEEN_STEPS = frozenset({Stage.OPENING, Stage.AT_BOUNDARY, *RESTING})

NOT_REPEATABLE = (OpenThread, Post, ShareRecord)
"""People would see these twice: an attempt is saved before it is made."""
CANCELLABLE = (Speak, CompareStances, Draft, Synthesize, Judge, Formalize)
"""Work of a model, of which nothing is written down before it ends."""


Perform = Callable[[Effect], Coroutine[Any, Any, Outcome]]


class Cancellation:
    """
    Cancels the work of a model when its effect is no longer in the outbox: a thread that people have stopped does not
    wait for it. A press that another process takes is noticed at the end of the work; the answer is then dropped.

    Several models work at the same time where their effects are `together`. Their outcomes are saved one after the
    other, in the order of the outbox, so that a crash repeats only the calls whose outcome was not saved.
    """

    def __init__(self) -> None:
        self._running: dict[str, dict[str, asyncio.Task[Outcome]]] = {}
        self._ahead: dict[str, dict[str, asyncio.Task[Outcome]]] = {}

    async def of(self, slug: str, effect: Effect, work: Coroutine[Any, Any, Outcome]) -> Outcome | None:
        """The outcome of *work*, which may raise; None when it was cancelled."""
        if not isinstance(effect, CANCELLABLE):
            return await work
        task = asyncio.create_task(work, name=f"{effect.kind} for {slug}")
        running = self._running.setdefault(slug, {})
        running[effect.id] = task
        try:
            await asyncio.wait({task})
        finally:
            del running[effect.id]
            if not running:
                self._running.pop(slug, None)
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        return None if task.cancelled() else task.result()

    def look(self, rt: Roundtable) -> None:
        """*rt* was just saved."""
        if rt.slug not in self._running:
            return
        pending = {one.id for one in rt.outbox}
        for effect, task in self._running[rt.slug].items():
            if effect not in pending:
                task.cancel()

    def begin(self, slug: str, effects: Iterable[Effect], perform: Perform) -> None:
        """Of *effects* that do not build on each other, before it is their turn; `outcome` has what came of it."""
        ahead = self._ahead.setdefault(slug, {})
        for effect in effects:
            if effect.id not in ahead:
                ahead[effect.id] = asyncio.create_task(perform(effect), name=f"{effect.kind} for {slug}")

    async def outcome(self, slug: str, effect: Effect, perform: Perform) -> Outcome:
        task = self._ahead.get(slug, {}).pop(effect.id, None)
        return await task if task else await perform(effect)

    async def end(self, slug: str) -> None:
        """What was begun for *slug* and is not awaited any more."""
        tasks = self._ahead.pop(slug, {}).values()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


class Reactions:
    """
    An emoji that says "heard" does not wait for its turn in the outbox: it is shown as soon as it is saved, by the
    process that heard the words. Its outcome is saved in its turn. Done twice, by two processes, it does no harm.
    """

    def __init__(self) -> None:
        self._shown: LruCache[str, asyncio.Task[Outcome]] = LruCache(REACTIONS_REMEMBERED)
        self._running: set[asyncio.Task[Outcome]] = set()

    def begin(self, rt: Roundtable, perform: Perform) -> None:
        """
        Those of *rt*, which was just saved. One that an effect before it takes away waits for its turn, and so do all
        while Slack lets many others wait.
        """
        if not rt.place.thread or len(self._running) >= REACTIONS_AT_ONCE:
            return
        taken = {(one.ts, one.emoji) for one in rt.outbox if isinstance(one, Unreact)}
        for one in rt.outbox:
            if isinstance(one, React) and one.id not in self._shown and (one.ts, one.emoji) not in taken:
                task = asyncio.create_task(perform(one), name=f"reaction for {rt.slug}")
                self._shown[one.id] = task
                self._running.add(task)
                task.add_done_callback(self._running.discard)

    async def outcome(self, effect: React) -> Outcome | None:
        """None when it was not begun here, or given up."""
        task = self._shown.get(effect.id)
        if task is None:
            return None
        await asyncio.wait({task})
        return None if task.cancelled() else task.result()

    def leave(self) -> None:
        """What is not shown yet is left to the next process."""
        for task in self._running:
            task.cancel()


class RoundtableCache(LruCache[str, Roundtable]):
    """The roundtables that this process read or saved last, and their threads, which are remembered for longer."""

    def __init__(self) -> None:
        super().__init__(ROUNDTABLES_REMEMBERED)
        self.threads: LruCache[str, str] = LruCache(THREADS_REMEMBERED)

    def __setitem__(self, slug: str, rt: Roundtable) -> None:
        super().__setitem__(slug, rt)
        if rt.place.thread:
            self.threads[rt.place.key] = slug


class Roundtables(Engine[Roundtable, Input]):
    def __init__(
        self,
        *,
        store: Store,
        wake: Wake,
        performers: Performers,
        playbook: Playbook,
        clock: Clock,
        meter: Meter | None = None,
        cancellation: Cancellation | None = None,
        card_pace: CardPace | None = None,
        reactions: Reactions | None = None,
    ) -> None:
        self._memory = RoundtableCache()
        super().__init__(
            store=store,
            wake=wake,
            decide=self._decide,
            clock=clock,
            meter=meter,
            memory=self._memory,
        )
        self._store = store
        self._performers = performers
        self._playbook = playbook
        self._opened_with: LruCache[str, Playbook] = LruCache(ROUNDTABLES_REMEMBERED)
        self._cancellation = cancellation or Cancellation()
        self._card_pace = card_pace or CardPace()
        self._reactions = reactions or Reactions()

    def read_again(self, playbook: Playbook) -> None:
        """The content has changed: each roundtable uses it from its next step on."""
        self._playbook = playbook

    async def start(self, start: Start) -> Roundtable:
        """Saves a new roundtable. Raises Conflict when there is one on the item already."""
        return await self._begin(start, opening.start(start, self._playbook))

    async def take_up(self, start: Start, *, thread_known: bool) -> Roundtable:
        """Saves a roundtable on an item that the workspace knows and the store has lost, or never had."""
        return await self._begin(start, opening.take_up(start, self._playbook, thread_known=thread_known))

    async def handle(self, slug: str, event: Input) -> Roundtable:
        """Raises UserError when there is no such roundtable, or the input makes no sense now."""
        if rt := await self._handle(slug, event):
            return rt
        unknown = UserError(f"I don't know a roundtable on `{slug}`. Try `/roundtable resume {slug}`.")
        self._meter.refused(event, unknown)
        raise unknown

    async def hear(self, place: Place, event: Command) -> Roundtable | None:
        """`handle`, for the roundtable of the thread at *place*; None when there is none."""
        if (slug := self._memory.threads.get(place.key)) and (rt := await self._at(place, slug, event)):
            return rt
        found = await self._store.at(place)
        if found is None:
            return None
        self._memory[found.slug] = found
        return await self._at(place, found.slug, event)

    async def sweep(self) -> None:
        """Also takes up from git what was going on here and is gone from the store."""
        await super().sweep()
        going_on = {slug: rt for slug, rt in self._memory.items() if rt.stage not in RESTING}
        for slug in await self._store.missing(going_on):
            del self._memory[slug]
            await self._take_up_lost(going_on[slug])

    async def clashed(self, slug: str, paths: tuple[str, ...]) -> None:
        """*paths* were changed here and at the remote: the thread is told, if there is one."""
        if await self._store.get(slug) is None:
            log.warning("%s was changed here and at the remote: ours is kept as %s", slug, ", ".join(paths))
            return
        at = self._clock()
        await self.handle(slug, Clashed(key=f"clashed.{at}", at=at, paths=paths))

    # --- what the engine asks ---------------------------------------------------------------------------------------

    def _decide(self, rt: Roundtable, event: Input) -> Roundtable:
        playbook = self._playbook_of(rt)
        self._opened_with[rt.slug] = playbook
        return decide(rt, event, playbook)

    def _playbook_of(self, rt: Roundtable) -> Playbook:
        """In the middle of a step the one that it was opened with, as long as this process remembers it."""
        if rt.stage in BETWEEN_STEPS:
            return self._playbook
        return self._opened_with.get(rt.slug, self._playbook)

    def _next(self, state: Roundtable) -> Effect | None:
        """
        An edit of a card that may not be made yet lets the effects behind it pass. That of the first message comes
        last: people do not wait for it, and what they wait for needs fewer saves.
        """
        due = [one for one in state.outbox if self._card_seconds(one, state) <= 0]
        return next((one for one in due if not _edits_root(one, state)), next(iter(due), None))

    def _card_seconds(self, effect: Effect, rt: Roundtable) -> float:
        """Until *effect* may be performed, if it is the edit of a card."""
        if not _edits_card(effect):
            return 0.0
        is_root = _edits_root(effect, rt)
        return self._card_pace.wait_seconds(_card_key(effect, rt), pressed=effect.pressed, is_root=is_root)

    async def pay(self, slug: str) -> None:
        try:
            await super().pay(slug)
        finally:
            await self._cancellation.end(slug)

    async def _perform(self, effect: Effect, state: Roundtable) -> Outcome:
        def perform(one: Effect) -> Coroutine[Any, Any, Outcome]:
            return self._performed(one, state)

        if isinstance(effect, React):
            self._reactions.begin(state, perform)
            if shown := await self._reactions.outcome(effect):
                return shown
        if is_together(effect):
            self._cancellation.begin(state.slug, filter(is_together, state.outbox), perform)
        return await self._cancellation.outcome(state.slug, effect, perform)

    async def _performed(self, effect: Effect, state: Roundtable) -> Outcome:
        if _edits_card(effect):
            self._card_pace.edited(_card_key(effect, state), pressed=effect.pressed)
        began = time.monotonic()
        with (
            about(effect=effect.id),
            span("effect", item=state.slug, step=state.step_id, effect=effect.id, kind=effect.kind),
        ):
            outcome = await self._tried(effect, state)
        self._meter.performed(effect, outcome, seconds=time.monotonic() - began)
        return outcome

    def _attempt(self, effect: Effect) -> Attempted | None:
        if not isinstance(effect, NOT_REPEATABLE):
            return None
        return Attempted(key=effect.id, at=self._clock(), effect=effect.id)

    def _joins(self, performed: Sequence[Effect], newest: UnsavedChange[Roundtable, Input]) -> bool:
        """
        With the attempt of a post, which is saved at once; or with an effect that does no harm when it is repeated, if
        none does, or if it follows a post, which is looked for before it is made again. But no new effect is performed
        before it is saved, and that a question is shown is saved at once: it decides what words below it mean.
        """
        following = self._next(newest.after)
        if self._leaving.is_set() or not following:
            return False
        if isinstance(following, NOT_REPEATABLE):
            return True
        if newest.after.sequence != newest.before.sequence or _asks(performed[-1], newest.before):
            return False
        if isinstance(following, NO_HARM_REPEATED):
            return all(isinstance(one, (*NO_HARM_REPEATED, *NOT_REPEATABLE)) for one in performed)
        return all(isinstance(one, NO_HARM_REPEATED) for one in performed)

    def _saved(self, event: Input, before: Roundtable | None, after: Roundtable) -> None:
        self._meter.decided(event, before, after)
        audited(event, before, after)

    def _about(self, state: Roundtable) -> dict[str, str]:
        turns = state.elaboration.turns if state.elaboration else ()
        return {"team": state.place.team, "step": state.step_id, "turn": turns[-1].id if turns else ""}

    async def _idle(self, state: Roundtable) -> None:
        at = self._clock()
        waits = [self._card_seconds(one, state) for one in state.outbox]
        if state.next_due > at and (until := seconds_since(at, state.next_due)) < TIMED_SECONDS:
            waits.append(until)
        if waits:
            self._wake_later(state.slug, min(waits))
        for event in timers.due_at(state, at):
            await self.handle(state.slug, event)
        if not TRIED_AGAIN.isdisjoint(state.pending) and seconds_since(state.now, at) >= TRY_AGAIN_SECONDS:
            await self.handle(state.slug, TryAgain(key=f"again.{at}", at=at))

    async def _due(self) -> Iterable[str]:
        at = self._clock()
        return await self._store.unfinished(quiet_since=before(at, TRY_AGAIN_SECONDS), now=at)

    def leave(self) -> None:
        super().leave()
        self._reactions.leave()

    async def _wake_for(self, state: Roundtable) -> None:
        self._cancellation.look(state)
        if not self._leaving.is_set():
            self._reactions.begin(state, lambda effect: self._performed(effect, state))
        await super()._wake_for(state)

    # --- attempts ---------------------------------------------------------------------------------------------------

    async def _tried(self, effect: Effect, rt: Roundtable) -> Outcome:
        """The outcome, or the failure of the last attempt. The wait before an attempt grows each time."""
        attempts = ATTEMPTS_TO_POST if isinstance(effect, Post) else ATTEMPTS
        for attempt in range(1, attempts + 1):
            try:
                performers = self._performers._replace(playbook=playbook_for(rt, self._playbook_of(rt)))
                work = performers.perform(effect, rt)
                done = Done(key=effect.id, at=self._clock(), effect=effect.id)
                return await self._cancellation.of(rt.slug, effect, work) or done
            except EffectError as error:
                if not error.again or attempt == attempts:
                    log.warning("%s failed: %s (%s)", effect.kind, error, error.reason)
                    return self._failed(effect, str(error), error.reason, facts=error.facts)
                wait = error.after_seconds or _seconds_before(attempt)
                log.info("%s is tried again in %.1f s: %s", effect.kind, wait, error)
                await self._pause(wait)
                self._meter.retried(effect)
                if (again := await self._begun_again(effect, rt.slug)) is None:
                    return Done(key=effect.id, at=self._clock(), effect=effect.id)
                effect = again
            except Exception:
                # A mistake of ours in one effect must not silence the roundtable for ever.
                log.exception("%s broke", effect.kind)
                return self._failed(
                    effect, "Something went wrong on my side; it is in the log.", "unexpected"
                )
        raise AssertionError("the last attempt returns")

    async def _begun_again(self, effect: Effect, slug: str) -> Effect | None:
        """
        What people would see twice is saved before every attempt: a process that dies in one may have succeeded. None
        when another process has performed it meanwhile: an edit that is made again would undo a newer one.
        """
        if attempt := self._attempt(effect):
            rt = await self._repository.take(slug, attempt.but(settled=effect.attempts))
        else:
            rt = await self._repository.read(slug)
        return next((one for one in rt.outbox if one.id == effect.id), None) if rt else None

    def _failed(
        self, effect: Effect, sentence: str, reason: str, *, facts: Mapping[str, Any] = NO_FACTS
    ) -> Failed:
        told = self._performers.redact(sentence)
        key = {"key": effect.id, "effect": effect.id, "at": self._clock()}
        return Failed(**key, reason=reason, sentence=told, facts=facts)

    # --- finding ----------------------------------------------------------------------------------------------------

    async def _at(self, place: Place, slug: str, event: Command) -> Roundtable | None:
        return await self._handle(slug, event, only=lambda rt: rt.place == place)

    async def _take_up_lost(self, rt: Roundtable) -> None:
        if not rt.place.thread:
            return
        log.warning("%s is gone from the store: it is taken up from git", rt.slug)
        person = Person(id=rt.started_by, name=rt.name_of(rt.started_by))
        key = f"lost.{rt.slug}.{rt.incarnation}"
        with suppress(Conflict):  # another process was quicker
            start = Start(key=key, at=self._clock(), item=rt.item, place=rt.place, person=person)
            await self.take_up(start, thread_known=True)


def _edits_card(effect: Effect) -> TypeGuard[Rewrite]:
    return isinstance(effect, Rewrite) and effect.message.card is not None


def _edits_root(effect: Effect, rt: Roundtable) -> bool:
    return rt.root is not None and isinstance(effect, Rewrite) and effect.ts == rt.root.ts


def _asks(effect: Effect, rt: Roundtable) -> bool:
    """Whether *effect* makes a card show the newest question or menu. Of a post it is known when it was attempted."""
    return isinstance(effect, Rewrite) and rt.question is not None and rt.question.post == effect.id


def _card_key(edit: Rewrite, rt: Roundtable) -> str:
    return f"{rt.place.channel}.{edit.ts}"


def _seconds_before(attempt: int) -> float:
    return min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(attempt - 1, 10))


SLACK_REPEATS_SECONDS = 300.0
"""Slack delivers again at once, after a minute and after five. What was said in a longer gap never comes by itself."""
LOOK_SECONDS = 30.0

Hears = Callable[[], Awaitable[bool]]


class Absence:
    """Reads the threads again when no process has heard Slack for too long."""

    def __init__(self, roundtables: Roundtables, store: Store, clock: Clock, *, hears: Hears) -> None:
        self._roundtables = roundtables
        self._store = store
        self._clock = clock
        self._hears = hears

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            with suppress(Unavailable):  # readiness says so
                if await self._hears():
                    await self.ended()
            await asyncio.sleep(LOOK_SECONDS)

    async def ended(self) -> None:
        """
        This process hears Slack. That is noted last: after a crash it is done again, and two processes that do it at
        once use the same keys. Raises Unavailable with the store.
        """
        since, at = await self._store.listened(), self._clock()
        if _is_too_long(since, at):
            await self._catch_up(since, at)
        await self._store.listening(at)

    async def _catch_up(self, since: str, at: str) -> None:
        slugs = await self._store.held()
        log.warning("no process heard Slack since %s: %s threads are read again", since, len(slugs))
        for slug in slugs:
            with suppress(UserError, NewerVersion):  # gone meanwhile, or written by a newer version
                await self._roundtables.handle(slug, Returned(key=f"away.{since}", at=at, since=since))


def _is_too_long(since: str, at: str) -> bool:
    with suppress(ValueError):  # written there by hand: no reason to read every thread
        return seconds_since(since, at) > SLACK_REPEATS_SECONDS
    return False
