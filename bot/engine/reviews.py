"""Paying what a notice owes: personas review side by side, the archive keeps it, the board shows it."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from secrets import token_hex
from typing import NamedTuple, assert_never
from urllib.parse import quote

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.item import artifacts
from bot.domain.messages import review_wording
from bot.domain.messages.message import Link, Message
from bot.domain.privacy.discretion import discreet
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.reviews.deciding import decide
from bot.domain.reviews.notice import (
    Arrived,
    AskReview,
    Attempted,
    Delayed,
    Entry,
    Failed,
    Gone,
    Happened,
    KeepReview,
    Kept,
    Made,
    MakeReview,
    Notice,
    Outcome,
    Owed,
    ShowNotice,
    Stands,
    TellPerson,
    TellThread,
    Told,
)
from bot.domain.reviews.review import triage_line
from bot.domain.reviews.text import Opinion, Review
from bot.domain.reviews.triage import triage
from bot.domain.values.places import Place
from bot.domain.values.text import text_of
from bot.domain.values.timestamps import seconds_since
from bot.engine import audit
from bot.engine.clock import Clock
from bot.engine.ports import Pay, Wake, Workspace
from bot.engine.queue import Queue
from bot.engine.review_ports import (
    Archive,
    Board,
    Case,
    Home,
    Homes,
    KeptReview,
    Notices,
    Reviewers,
    Spot,
    Tally,
    Uncounted,
)
from bot.errors import Conflict, EffectError, NewerVersion, Unavailable, VoiceError
from bot.log import about

log = logging.getLogger(__name__)

REVIEW_SECONDS = 60.0
ALSO_READ = ("planning/plan.md", artifacts.SHARED)
"""Beside what steps write and what stands at the top of the item's folder."""
THREAD, FILE = "The item's thread", "The review"


class Reviewing(NamedTuple):
    """
    The world, as far as reviews reach into it. *channel* is the triage channel, if there is one for all items, and
    *file_url* where the files can be read, with `{path}` in it. *redact* is done to what reviewers say: they read
    files that nobody redacted.
    """

    reviewers: Reviewers
    workspace: Workspace
    archive: Archive
    board: Board
    homes: Homes
    playbook: Playbook
    clock: Clock
    channel: str = ""
    file_url: str = ""
    seconds: float = REVIEW_SECONDS
    redact: Redact = unchanged

    @property
    def lands_within(self) -> float:
        return self.board.lands_within

    async def perform(self, effect: Owed, notice: Notice) -> Outcome:
        """Raises EffectError when the world says no."""
        at = self.clock()
        match effect:
            case MakeReview():
                content, entry = await self._made(effect, notice)
                return discreet(Made(at=at, effect=effect.id, content=content, entry=entry), self.redact)
            case KeepReview():
                kept = await self.archive.keep(notice.slug, effect.content.encode(), now=at)
                return Kept(at=at, effect=effect.id, number=kept.number, path=kept.path)
            case ShowNotice():
                return await self._shown(effect, notice, at=at)
            case TellThread():
                await self._told(effect, notice)
            case TellPerson(person=person, place=place, sentence=sentence, reply_url=url):
                await self.board.tell(place, person.id, Message(text=sentence), reply_url=url)
            case _:
                assert_never(effect)
        return Told(at=at, effect=effect.id)

    # --- making it --------------------------------------------------------------------------------------------------

    async def _made(self, wish: MakeReview, notice: Notice) -> tuple[str, Entry]:
        roster = self.playbook.roster
        personas = [persona for key in wish.personas if (persona := roster.get(key))]
        asked, case = await self._asked(wish), await self._case(notice)
        answers = await asyncio.gather(
            *(self._opinion(case, one) for one in personas), return_exceptions=True
        )
        opinions = [answer for answer in answers if isinstance(answer, Opinion)]
        unseen = tuple(
            self._excuse(persona, answer)
            for persona, answer in zip(personas, answers, strict=True)
            if isinstance(answer, BaseException)
        )
        if not opinions:
            raise VoiceError(" ".join(unseen) or "Nobody was there to review it.", reason="nobody")
        review = await self.reviewers.together(case, opinions, unseen=unseen, asked=asked)
        return review.markdown, _entry(review)

    async def _opinion(self, case: Case, persona: Persona) -> Opinion:
        async with asyncio.timeout(self.seconds):
            return await self.reviewers.opinion(case, persona)

    def _excuse(self, persona: Persona, error: BaseException) -> str:
        """What one of them cannot do is told of, and the others' work is shown."""
        if isinstance(error, TimeoutError):
            log.warning("%s did not review within %.0f s", persona.key, self.seconds)
            return review_wording.late(persona.label, self.seconds)
        if isinstance(error, VoiceError):
            log.warning("%s could not review: %s", persona.key, error)
            return review_wording.broken(persona.label, str(error))
        log.error("%s broke in a review", persona.key, exc_info=error)
        return review_wording.broken(persona.label)

    async def _case(self, notice: Notice) -> Case:
        state = (await self.workspace.read(notice.slug, now=self.clock())).state
        written = (output for step in self.playbook.agenda.steps for output in step.outputs)
        standing = state.artifacts if state else ()
        paths = tuple(dict.fromkeys((*written, *standing, *ALSO_READ)))
        return Case(
            slug=notice.slug,
            title=review_wording.title_of(notice),
            files=await self.workspace.files(notice.slug, paths),
            steps_completed=state.meta.steps_completed if state else (),
            playbook=self.playbook,
        )

    async def _asked(self, wish: MakeReview) -> str:
        who = wish.person.name or await self.board.name(wish.person.id)
        return f"Asked for by {who}, {wish.at}."

    # --- showing it -------------------------------------------------------------------------------------------------

    async def _shown(self, effect: ShowNotice, notice: Notice, *, at: str) -> Outcome:
        home = await self.homes.home(notice.slug)
        hidden = home is not None and home.hidden
        if hidden and notice.ts and notice.channel != _channel(home):
            await self.board.edit(Spot(notice.channel, notice.ts), review_wording.taken_away())
            notice = notice.but(channel="", ts="")
        wanted = () if hidden else (notice.channel, self.channel)
        channel = next(filter(None, (*wanted, _channel(home), notice.asked_in)), "")
        newest = notice.newest
        if not channel or newest is None:
            return Stands(at=at, effect=effect.id)
        message = review_wording.notice(notice, await self._links(home, (newest,)))
        if notice.ts:
            spot = Spot(notice.channel, notice.ts)
            if not await self.board.edit(spot, message):
                return Gone(at=at, effect=effect.id)
            return Stands(at=at, effect=effect.id, channel=spot.channel, ts=spot.ts)
        lost = not notice.searched and notice.lost_up_to > 0
        spot = await self.board.put(
            Place(team=_team(home), channel=channel),
            message,
            key=f"notice.{notice.slug}",
            again=effect.attempts > 1 or lost,
            thorough=lost,
        )
        if spot.found:
            await self.board.edit(spot, message)
        return Stands(at=at, effect=effect.id, channel=spot.channel, ts=spot.ts)

    async def _told(self, effect: TellThread, notice: Notice) -> None:
        """An item that is held nowhere has nobody to tell."""
        home = await self.homes.home(notice.slug)
        if home is None or home.place is None or not home.place.thread:
            return
        links = await self._links(None, effect.entries)
        message = review_wording.details(notice, effect.entries, more=effect.more, links=links)
        key = f"review.{notice.slug}.{effect.entries[0].number}"
        await self.board.put(home.place, message, key=key, again=effect.look or effect.attempts > 1)

    async def _links(self, home: Home | None, entries: Sequence[Entry]) -> tuple[Link, ...]:
        files = tuple(
            Link(label=f"{FILE} {one.number}", url=self.file_url.replace("{path}", quote(one.path)))
            for one in entries
            if self.file_url
        )
        if home is None or home.place is None or not home.place.thread:
            return files
        url = home.permalink or await self.board.link(Spot(home.place.channel, home.place.thread))
        return (*((Link(label=THREAD, url=url),) if url else ()), *files)


def _entry(review: Review) -> Entry:
    shown = triage(review, number=0)
    return Entry(
        line=shown.line,
        reviewers=shown.reviewers,
        findings=tuple(f"**{one.severity}** `{one.place}`: {one.text}" for one in shown.findings),
        missing=shown.missing,
        hidden=shown.hidden,
    )


def _channel(home: Home | None) -> str:
    return home.place.channel if home and home.place else ""


def _team(home: Home | None) -> str:
    return home.place.team if home and home.place else ""


# Reviews, from the wish or the arrival to the notice in the triage channel.
#
# As with roundtables: decide, save, then act, and whatever died in between is taken up by whoever pays
# next. It is a second, smaller engine on purpose: what it saves is no roundtable, so that no review can
# change one.


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
        return Notice(slug=slug, entries=tuple(map(_triage_entry, kept)), lost_up_to=last)


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


def _triage_entry(kept: KeptReview) -> Entry:
    line = triage_line(text_of(kept.content))
    return Entry(number=kept.number, path=kept.path, line=line)
