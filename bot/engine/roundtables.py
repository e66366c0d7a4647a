"""The engine of roundtables: what people do comes in here, and the outbox is performed by `Performers`."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from bot import telemetry
from bot.domain.catalog.agenda import Playbook
from bot.domain.roundtable import timers
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import (
    Effect,
    OpenThread,
    Post,
    PushIssue,
    React,
    ReviewDraft,
    ShareRecord,
    Speak,
    Unreact,
    is_opening,
)
from bot.domain.roundtable.inputs import (
    ChannelGone,
    Command,
    Input,
    PersonChanged,
    Returned,
    Start,
    TryAgain,
)
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.outcomes import REMOVED, Attempted, Done, Failed, Outcome
from bot.domain.roundtable.stage import RESTING, Stage
from bot.domain.roundtable.state import TRIED_AGAIN, Roundtable
from bot.domain.roundtable.transitions import asking, opening
from bot.domain.values.places import Belonging, Person, Place
from bot.domain.values.timestamps import before, seconds_since
from bot.engine.audit import audited
from bot.engine.engine import BeforeSave, Engine, nothing_before
from bot.engine.lru import LruCache
from bot.engine.performers import Performers, urgency_of
from bot.engine.ports import NO_FACTS, NO_METER, Clock, Meter, Store, Wake
from bot.errors import (
    BotError,
    Conflict,
    EffectError,
    LeftAlone,
    NewerVersion,
    Postponed,
    Unavailable,
    UserError,
    VoiceError,
)
from bot.log import about

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
EDITS_REMEMBERED = 10_000
REACTIONS_REMEMBERED = 1_000
REACTIONS_WAITING = 20
BETWEEN_STEPS = frozenset({Stage.OPENING, Stage.AT_BOUNDARY, *RESTING})

NOT_REPEATABLE = (OpenThread, Post, ShareRecord, PushIssue)
"""People would see these twice: an attempt is saved before it is made."""
LOOK_SECONDS = 0.2
"""So often is looked, while a model works, whether people wait for something else."""
CANCELLABLE = (Speak, ReviewDraft)
"""Work of a model, of which nothing is written down before it ends."""
OPENING_SECONDS = 20.0
"""So long the contributions that are there wait for the others of an opening."""


Perform = Callable[[Effect], Coroutine[Any, Any, Outcome]]


class Cancellation:
    """
    The work of a model goes on beside all other effects, so that nobody waits for it. It is cancelled when its effect
    is no longer in the outbox: a thread that people have stopped does not wait for it. A press that another process
    takes is noticed at the end of the work; the answer is then dropped.

    The models of an opening work at the same time. Their outcomes are saved one after the other, in the order of the
    outbox, when all are there or have had `OPENING_SECONDS`; late ones follow. A crash repeats only the calls whose
    outcome was not saved.
    """

    def __init__(self) -> None:
        self._ahead: dict[str, dict[str, asyncio.Task[Outcome]]] = {}
        self._opened: dict[str, float] = {}

    def look(self, rt: Roundtable) -> "list[asyncio.Task[Outcome]]":
        """*rt* was just saved. Cancels what was begun for effects that are no longer in its outbox, each once."""
        ahead = self._ahead.get(rt.slug, {})
        dropped = [ahead.pop(id) for id in ahead.keys() - {one.id for one in rt.outbox}]
        for task in dropped:
            task.cancel()
        return dropped

    def has_dropped(self, slug: str, effect: Effect) -> bool:
        """Whether the work for *effect* was cancelled by `look`."""
        return effect.id not in self._ahead.get(slug, {})

    def begin(self, slug: str, effects: Iterable[Effect], perform: Perform) -> None:
        """Of *effects* that do not build on each other, before it is their turn; `outcome` has what came of it."""
        ahead = self._ahead.setdefault(slug, {})
        for effect in effects:
            if effect.id not in ahead:
                ahead[effect.id] = asyncio.create_task(perform(effect), name=f"{effect.kind} for {slug}")

    async def outcome(
        self, slug: str, effects: Sequence[Effect], perform: Perform, *, is_wanted: Callable[[], bool]
    ) -> Outcome | None:
        """
        Of one effect, or of all that open a discussion the one that is next. None as soon as something else *is_wanted*
        for *slug*: the work of a model goes on, and is awaited again.
        """
        if isinstance(effects[0], CANCELLABLE):
            if is_wanted():  # it may have dropped them
                return None
            self.begin(slug, effects, perform)
        ahead = self._ahead.get(slug, {})
        tasks = {one.id: ahead[one.id] for one in effects if one.id in ahead}
        if not tasks:
            return await perform(effects[0])
        clock = asyncio.get_running_loop().time
        began = self._opened.setdefault(slug, clock()) if len(tasks) > 1 else self._opened.pop(slug, 0.0)
        due = began + OPENING_SECONDS
        while True:
            done = [id for id, task in tasks.items() if task.done()]
            if len(done) == len(tasks) or (done and clock() >= due):
                ahead.pop(done[0], None)
                first = tasks[done[0]]
                return None if first.cancelled() else first.result()
            if is_wanted():
                return None
            working = [task for task in tasks.values() if not task.done()]
            await asyncio.wait(working, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)

    async def end(self, slug: str) -> None:
        """What was begun for *slug* and is not awaited any more."""
        self._opened.pop(slug, None)
        tasks = tuple(self._ahead.get(slug, {}).values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._ahead.pop(slug, None)


class Reactions:
    """
    An emoji that says "heard" waits for nothing, and nothing waits for it: it leaves the outbox at once, and is shown
    by the process that heard the words. Above `REACTIONS_WAITING`, Slack lets too many wait, and the rest are dropped:
    the card says who was heard. Shown twice, by two processes, it does no harm.
    """

    def __init__(self) -> None:
        self._begun: LruCache[str, bool] = LruCache(REACTIONS_REMEMBERED)
        self._running: dict[tuple[str, str, str], asyncio.Task[None]] = {}

    def begin(self, rt: Roundtable, show: Callable[[React], Coroutine[Any, Any, None]]) -> None:
        """Those of *rt*, which was just saved; but for one that an effect before it takes away."""
        taken = {_emoji(one, rt) for one in rt.outbox if isinstance(one, Unreact)}
        for one in rt.outbox if rt.place.thread else ():
            if not isinstance(one, React) or one.id in self._begun or _emoji(one, rt) in taken:
                continue
            self._begun[one.id] = True
            if len(self._running) < REACTIONS_WAITING:
                key = _emoji(one, rt)
                task = asyncio.create_task(show(one), name=f"reaction for {rt.slug}")
                self._running[key] = task
                task.add_done_callback(lambda _, key=key: self._running.pop(key, None))  # type: ignore[misc]

    async def end(self, effect: Unreact, rt: Roundtable) -> None:
        """One that is to be taken away is not shown any more."""
        if task := self._running.get(_emoji(effect, rt)):
            task.cancel()
            await asyncio.wait({task})

    def leave(self) -> None:
        for task in self._running.values():
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
    _memory: RoundtableCache

    def __init__(
        self,
        *,
        store: Store,
        wake: Wake,
        performers: Performers,
        playbook: Playbook,
        clock: Clock,
        meter: Meter = NO_METER,
        cancellation: Cancellation | None = None,
        reactions: Reactions | None = None,
        changed: Callable[[Roundtable], None] = lambda _: None,
        before_save: BeforeSave = nothing_before,
    ) -> None:
        """*changed* is told each roundtable that was saved."""
        memory = RoundtableCache()
        super().__init__(
            store=store, wake=wake, clock=clock, meter=meter, memory=memory, before_save=before_save
        )
        self._store = store
        self._performers = performers
        self._playbook = playbook
        self._opened_with: LruCache[str, Playbook] = LruCache(ROUNDTABLES_REMEMBERED)
        self._cancellation = cancellation or Cancellation()
        self._counting: set[asyncio.Task[None]] = set()
        self._reactions = reactions or Reactions()
        self._changed = changed
        self._postponed: LruCache[str, float] = LruCache(EDITS_REMEMBERED)
        """Edits that Slack's limit left no room for, and when to try them again, by the clock of this process."""

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
        slug = self._memory.threads.get(place.key)
        if slug and (rt := await self._handle(slug, event, only=lambda rt: rt.place == place)):
            return rt
        found = await self._store.at(place)
        if found is None:
            return None
        self._memory[found.slug] = found
        return await self._handle(found.slug, event, only=lambda rt: rt.place == place)

    def missing_steps(self) -> Mapping[str, int]:
        """Open steps that the files do not have, and how many of the roundtables in memory here wait for each."""
        held = (rt for _, rt in self._memory.items())
        return Counter(rt.step_id for rt in held if asking.lacks_step(rt, self._playbook_of(rt)))

    async def sweep(self) -> None:
        """Also takes up from git what was going on here and is gone from the store."""
        await super().sweep()
        going_on = {slug: rt for slug, rt in self._memory.items() if rt.stage not in RESTING}
        for slug in await self._store.missing(going_on):
            del self._memory[slug]
            await self._take_up_lost(going_on[slug])

    async def person_changed(self, event: PersonChanged) -> None:
        """In the roundtables that are in memory here, which are those that something happened in."""
        id, told = event.person.id, (event.person.name, event.person.belongs)
        for slug, rt in tuple(self._memory.items()):
            if id in rt.people and (rt.people[id], rt.manners.outsiders.get(id, Belonging.MEMBER)) != told:
                with suppress(LeftAlone):
                    await self._handle(slug, event)

    # --- what the engine asks ---------------------------------------------------------------------------------------

    def _decide(self, rt: Roundtable, event: Input) -> Roundtable:
        playbook = self._opened_with[rt.slug] = self._playbook_of(rt)
        return decide(rt, event, playbook)

    def _playbook_of(self, rt: Roundtable) -> Playbook:
        """In the middle of a step the one that it was opened with, as long as this process remembers it."""
        if rt.stage in BETWEEN_STEPS:
            return self._playbook
        return self._opened_with.get(rt.slug, self._playbook)

    def _next(self, state: Roundtable) -> Effect | None:
        """
        What people wait for comes first, in order; then the most urgent of what tidies up, as far as Slack's limit lets
        it; and the work of a model last, because it takes long: people wait for a review less than for anything else.
        """
        later = self._put_off(state)
        waited_for = [one for one in state.outbox if one not in later and not isinstance(one, CANCELLABLE)]
        if waited_for:
            return waited_for[0]
        now = time.monotonic()
        due = [one for one in later if self._postponed.get(one.id, now) <= now]
        working = (one for one in state.outbox if isinstance(one, CANCELLABLE))
        work = min(working, key=lambda one: isinstance(one, ReviewDraft), default=None)
        return min(due, key=lambda one: urgency_of(one, state), default=work)

    def _put_off(self, state: Roundtable) -> list[Effect]:
        """What tidies up, and what people wait for if Slack's limit left no room for it."""
        return [
            one
            for one in state.outbox
            if one.id in self._postponed or not urgency_of(one, state).is_waited_for
        ]

    async def pay(self, slug: str) -> None:
        try:
            await super().pay(slug)
        finally:
            await self._cancellation.end(slug)

    async def _perform(self, effect: Effect, state: Roundtable) -> Outcome | None:
        def perform(one: Effect) -> Coroutine[Any, Any, Outcome]:
            return self._performed(one, state)

        if isinstance(effect, React):
            self._show_reactions(state)
            return Done(key=effect.id, at=self._clock(), effect=effect.id)
        if isinstance(effect, Unreact):
            await self._reactions.end(effect, state)

        def is_wanted() -> bool:
            return self._working.get(state.slug, False) or self._next(state) is not effect

        effects = tuple(filter(is_opening, state.outbox)) if is_opening(effect) else (effect,)
        try:
            return await self._cancellation.outcome(state.slug, effects, perform, is_wanted=is_wanted)
        except Postponed as later:
            self._postponed[effect.id] = time.monotonic() + later.after_seconds
            return None

    async def _performed(self, effect: Effect, state: Roundtable) -> Outcome:
        began = time.monotonic()
        shown = {"item": state.slug, "step": state.step_id, "effect": effect.id, "kind": effect.kind}
        with about(effect=effect.id), telemetry.span("effect", refusals=Postponed, **shown) as current:
            outcome = await self._tried(effect, state)
            if isinstance(outcome, Failed):
                telemetry.failed(current, outcome.reason or "failed")
        self._meter.performed(effect, outcome, seconds=time.monotonic() - began)
        return outcome

    def _attempt(self, effect: Effect) -> Attempted | None:
        if not isinstance(effect, NOT_REPEATABLE):
            return None
        return Attempted(key=effect.id, at=self._clock(), effect=effect.id)

    def _saved(self, event: Input, before: Roundtable | None, after: Roundtable) -> None:
        self._meter.decided(event, before, after)
        audited(event, before, after)
        if after is not before:
            self._changed(after)

    def _about(self, state: Roundtable) -> dict[str, str]:
        turns = state.elaboration.turns if state.elaboration else ()
        return {"team": state.place.team, "step": state.step_id, "turn": turns[-1].id if turns else ""}

    async def _idle(self, state: Roundtable) -> None:
        at = self._clock()
        waits = [self._postponed.get(one.id, 0.0) - time.monotonic() for one in self._put_off(state)]
        if state.next_due > at and (until := seconds_since(at, state.next_due)) < TIMED_SECONDS:
            waits.append(until)
        if waits:
            self._wake_later(state.slug, max(0.0, min(waits)))
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
        for task in self._cancellation.look(state):
            self._counting.add(counting := asyncio.create_task(self._count(state.slug, task)))
            counting.add_done_callback(self._counting.discard)
        if not self._leaving.is_set():
            self._show_reactions(state)
        await super()._wake_for(state)

    async def _count(self, slug: str, task: "asyncio.Task[Outcome]") -> None:
        """What a model took counts, also where nobody waits for its answer any more."""
        with suppress(BotError, asyncio.CancelledError):
            await self._handle(slug, await task)

    def _show_reactions(self, state: Roundtable) -> None:
        async def show(effect: React) -> None:
            outcome = await self._performed(effect, state)
            if isinstance(outcome, Failed) and outcome.reason == REMOVED:
                at = self._clock()
                await self._handle(state.slug, ChannelGone(key=f"removed.{effect.id}", at=at))

        self._reactions.begin(state, show)

    # --- attempts ---------------------------------------------------------------------------------------------------

    async def _tried(self, effect: Effect, rt: Roundtable) -> Outcome:
        """The outcome, or the failure of the last attempt. The wait before an attempt grows each time."""
        attempts = ATTEMPTS_TO_POST if isinstance(effect, Post) else ATTEMPTS
        for attempt in range(1, attempts + 1):
            try:
                performers = self._performers._replace(playbook=playbook_for(rt, self._playbook_of(rt)))
                return await self._worked(performers, effect, rt)
            except Postponed:
                raise
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

    async def _worked(self, performers: Performers, effect: Effect, rt: Roundtable) -> Outcome:
        """Raises VoiceError where a model whose effect was dropped says what it took until then."""
        try:
            return await performers.perform(effect, rt)
        except asyncio.CancelledError as cancelled:
            facts = next((one for one in cancelled.args if isinstance(one, Mapping)), None)
            if not facts or not self._cancellation.has_dropped(rt.slug, effect):
                raise
            sentence = "The answer was not waited for."
            raise VoiceError(sentence, reason="cancelled", facts=facts) from cancelled

    async def _begun_again(self, effect: Effect, slug: str) -> Effect | None:
        """
        What people would see twice is saved before every attempt: a process that dies in one may have succeeded. None
        when another process has performed it meanwhile: an edit that is made again would undo a newer one.
        """
        if attempt := self._attempt(effect):
            rt = await self._take(slug, attempt.but(settled=effect.attempts))
        else:
            rt = await self._read_stored(slug)
        return next((one for one in rt.outbox if one.id == effect.id), None) if rt else None

    def _failed(
        self, effect: Effect, sentence: str, reason: str, *, facts: Mapping[str, Any] = NO_FACTS
    ) -> Failed:
        told = self._performers.redact(sentence)
        key = {"key": effect.id, "effect": effect.id, "at": self._clock()}
        return Failed(**key, reason=reason, sentence=told, facts=facts)

    async def _take_up_lost(self, rt: Roundtable) -> None:
        if not rt.place.thread:
            return
        log.warning("%s is gone from the store: it is taken up from git", rt.slug)
        person = Person(id=rt.started_by, name=rt.name_of(rt.started_by))
        key = f"lost.{rt.slug}.{rt.incarnation}"
        with suppress(Conflict):  # another process was quicker
            start = Start(key=key, at=self._clock(), item=rt.item, place=rt.place, person=person)
            await self.take_up(start, thread_known=True)


def _emoji(effect: React | Unreact, rt: Roundtable) -> tuple[str, str, str]:
    return rt.place.key, effect.ts, effect.emoji


def _seconds_before(attempt: int) -> float:
    return min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(attempt - 1, 10))


SLACK_REPEATS_SECONDS = 300.0
"""Slack delivers again at once, after a minute and after five. What was said in a longer gap never comes by itself."""
HEARING_SECONDS = 30.0
"""So often is noted that this process hears Slack."""

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
            await asyncio.sleep(HEARING_SECONDS)

    async def ended(self) -> None:
        """
        This process hears Slack. That is noted last: after a crash it is done again, and two processes that do it at
        once use the same keys. Raises Unavailable with the store.
        """
        since, at = await self._store.noted("listened"), self._clock()
        slugs = await self._store.held() if _is_too_long(since, at) else ()
        if slugs:
            log.warning("no process heard Slack since %s: %s threads are read again", since, len(slugs))
        for slug in slugs:
            with suppress(UserError, NewerVersion):  # gone meanwhile, or for a process of another kind
                await self._roundtables.handle(slug, Returned(key=f"away.{since}", at=at, since=since))
        await self._store.note("listened", at)


def _is_too_long(since: str, at: str) -> bool:
    with suppress(ValueError):  # written there by hand: no reason to read every thread
        return seconds_since(since, at) > SLACK_REPEATS_SECONDS
    return False
