"""
Reviews, from the wish or the arrival to the notice in the triage channel.

As with roundtables: decide, save, then act, and whatever died in between is taken up by whoever pays next. It is a
second, smaller engine on purpose: what it saves is no roundtable, so that no review can change one.
"""

import asyncio
import logging
from contextlib import suppress
from secrets import token_hex

from bot.domain.moment import seconds_since
from bot.domain.notice import (
    Arrived,
    AskReview,
    Attempted,
    Delayed,
    Entry,
    Failed,
    Happened,
    KeepReview,
    MakeReview,
    Notice,
    Outcome,
    Owed,
    Stands,
)
from bot.domain.notice_deciding import decide
from bot.domain.review import triage_line
from bot.domain.text import text_of
from bot.engine import audit
from bot.engine.clock import Clock
from bot.engine.ports import Pay, Wake
from bot.engine.queue import Queue
from bot.engine.review_ports import Archive, KeptReview, Notices, Tally, Uncounted
from bot.engine.reviewing import Reviewing
from bot.errors import Conflict, EffectError, NewerVersion, Unavailable
from bot.log import about

log = logging.getLogger(__name__)

PREFIX = "review:"
"""Before the slug of whoever is woken: no slug has a colon."""
NO_ITEM = "no_item"
"""Somebody took the item away: there is nothing left to keep a review with."""
TAKEN, POSTED, CHANGED, FAILED = RESULTS = ("taken", "posted", "changed", "failed")
"""What is counted, as `Tally` has it."""
ENTRIES_FROM_GIT = 5
CONFLICTS_ENDURED = 20
SWEEP_SECONDS = 10.0
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 300.0
PATIENCE_SECONDS = 30.0
"""So long a payer waits by itself until an effect may be begun again; after that the sweep wakes another."""


class Triage:
    def __init__(
        self,
        *,
        notices: Notices,
        archive: Archive,
        wake: Wake,
        reviewing: Reviewing,
        clock: Clock,
        tally: Tally | None = None,
    ) -> None:
        self.queue = Queue(notices, clock)
        self._notices = notices
        self._archive = archive
        self._wake = wake
        self._reviewing = reviewing
        self._clock = clock
        self._tally = tally or Uncounted()

    async def ask(self, slug: str, wish: AskReview) -> None:
        """Saved when this returns; the review follows."""
        await self._handle(slug, wish)
        audit.line("review", person=wish.person.id, item=slug)
        await self._wake.wake(PREFIX + slug)

    async def arrived(self, slug: str, came: Arrived) -> None:
        """A review that is kept already is shown soon. Old news changes nothing, and still wakes whoever owes."""
        await self._handle(slug, came)
        await self._wake.wake(PREFIX + slug)

    async def pay(self, slug: str) -> None:
        """
        What the notice of *slug* owes, in order. What may succeed later stays owed, and is begun again by the sweep.

        Raises Unavailable with the store.
        """
        with about(item=slug), suppress(NewerVersion):
            while await self._paid_one(slug):
                pass

    async def owes(self, slug: str) -> bool:
        notice = await self._notices.get(slug)
        return notice is not None and notice.next_effect is not None

    async def run(self) -> None:
        """Until cancelled: wake whoever owes something that nobody was woken for."""
        while True:
            with suppress(Unavailable):
                await self.sweep()
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> None:
        """Wake whoever owes something that may be begun before the next sweep."""
        for slug in await self._notices.owing():
            with suppress(NewerVersion):
                notice = await self._notices.get(slug)
                if notice and notice.next_effect and self._wait(notice.next_effect) < SWEEP_SECONDS:
                    await self._wake.wake(PREFIX + slug)

    async def _paid_one(self, slug: str) -> bool:
        """Whether there may be more to do."""
        notice = await self._notices.get(slug)
        if notice is None or (owed := notice.next_effect) is None:
            return False
        if (wait := self._wait(owed)) > PATIENCE_SECONDS:
            return False
        await asyncio.sleep(wait)
        by = token_hex(8)
        attempted = Attempted(at=self._clock(), effect=owed.id, attempts=owed.attempts, by=by)
        notice = await self._handle(slug, attempted)
        begun = next((one for one in notice.outbox if one.attempted_by == by), None)
        if begun is None:  # somebody else was quicker
            return True
        try:
            outcome: Outcome | None = await self._reviewing.perform(begun, notice)
        except EffectError as error:
            outcome = self._gone_wrong(begun, error)
        if outcome:
            await self._handle(slug, outcome)
        return outcome is not None

    def _gone_wrong(self, begun: Owed, error: EffectError) -> Outcome | None:
        """None when it is simply tried again later."""
        keeping = begun if isinstance(begun, KeepReview) and error.reason != NO_ITEM else None
        if keeping and not keeping.told:
            log.warning("a review is not kept yet: %s (%s)", error, error.reason)
            return Delayed(at=self._clock(), effect=begun.id, sentence=str(error))
        if error.again or keeping:
            log.info("%s is tried again later: %s", begun.kind, error)
            return None
        log.warning("%s failed: %s (%s)", begun.kind, error, error.reason)
        return Failed(at=self._clock(), effect=begun.id, sentence=str(error))

    def _wait(self, owed: Owed) -> float:
        """Seconds until it may be begun again: what somebody died in may still land, and a refusal needs time."""
        if not owed.attempts:
            return 0.0
        pause = min(FIRST_WAIT_SECONDS * 2.0 ** min(owed.attempts - 1, 10), LONGEST_WAIT_SECONDS)
        if not isinstance(owed, MakeReview):
            pause = max(pause, self._reviewing.lands_within)
        return max(0.0, pause - max(0.0, seconds_since(owed.attempted_at, self._clock())))

    async def _handle(self, slug: str, happened: Happened) -> Notice:
        for _ in range(CONFLICTS_ENDURED):
            before = await self._notices.get(slug)
            known = before or await self._begun(slug)
            after = decide(known, happened)
            if after is known:
                return after
            after = after.but(version=known.version + 1)
            with suppress(Conflict):
                await self._notices.put(after, expected=known.version)
                if result := _result(known, happened):
                    self._tally.reviewed(result)
                return after
        raise Conflict(f"gave up on the notice of {slug} after {CONFLICTS_ENDURED} conflicts")

    async def _begun(self, slug: str) -> Notice:
        """The first of an item, or one that the store has lost: git still has the reviews."""
        kept = await self._archive.newest(slug, ENTRIES_FROM_GIT)
        last = kept[-1].number if kept else 0
        return Notice(slug=slug, entries=tuple(map(_entry, kept)), lost_up_to=last)


class Forked(Wake):
    """*wake* for two engines: whoever is woken for a review is paid by *triage*."""

    def __init__(self, wake: Wake, triage: Triage) -> None:
        self._wake = wake
        self._triage = triage

    async def wake(self, slug: str) -> None:
        await self._wake.wake(slug)

    async def run(self, pay: Pay) -> None:
        async def paid(slug: str) -> None:
            if slug.startswith(PREFIX):
                await self._triage.pay(slug.removeprefix(PREFIX))
            else:
                await pay(slug)

        await self._wake.run(paid)


def _result(before: Notice, happened: Happened) -> str:
    """What is counted of it; empty for what is not."""
    match happened:
        case AskReview() | Arrived():
            return TAKEN
        case Stands(ts=ts) if ts:
            return CHANGED if before.ts else POSTED
        case Failed():
            return FAILED
        case _:
            return ""


def _entry(kept: KeptReview) -> Entry:
    line = triage_line(text_of(kept.content))
    return Entry(number=kept.number, path=kept.path, line=line)
