"""
The engine of reviews: a request or an arrived review changes the notice of its item, and the outbox is performed here.

It is the same `Engine` as that of the roundtables, with a value of its own under a key of its own: nothing here can
decide for a roundtable or save one. Personas review side by side, the archive keeps the review, the board shows it.
"""

import asyncio
import logging
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from secrets import token_hex
from typing import NamedTuple, assert_never
from urllib.parse import quote

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.item.item_paths import SHARED
from bot.domain.messages import review_wording
from bot.domain.messages.message import Link, Message
from bot.domain.privacy.discretion import redacted_message
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.reviews.deciding import decide
from bot.domain.reviews.notice import (
    Arrived,
    AskReview,
    Delayed,
    Gone,
    Happened,
    KeepReview,
    MakeReview,
    Notice,
    NoticeAttempted,
    NoticeFailed,
    Outcome,
    Owed,
    ReviewEntry,
    ReviewKept,
    ReviewMade,
    ShowNotice,
    Stands,
    TellPerson,
    TellThread,
    ThreadTold,
)
from bot.domain.reviews.review import triage_line, without_block
from bot.domain.reviews.text import ReviewerOpinion
from bot.domain.reviews.triage import entry_of
from bot.domain.specification.entries import Specification
from bot.domain.values.places import NOWHERE, Place
from bot.domain.values.text import text_of
from bot.domain.values.timestamps import seconds_since
from bot.engine import audit
from bot.engine.engine import SWEEP_SECONDS, Engine, Queue
from bot.engine.evidence_ports import NO_SIGHT, Sight, Sights
from bot.engine.item_locator import ItemLocator
from bot.engine.ports import NO_METER, Clock, Meter, Wake, Workspace
from bot.engine.review_ports import (
    Archive,
    Board,
    ItemLocation,
    NoticePosition,
    Notices,
    ReviewCase,
    Reviewers,
)
from bot.errors import EffectError, NewerVersion, UserError, VoiceError
from bot.log import about

log = logging.getLogger(__name__)

PREFIX = "review:"
_ESCAPE = re.compile(r"\\(?=[^a-zA-Z0-9\s])")
NO_ITEM = "no_item"
"""The item is gone: there is no folder to keep a review in."""
TAKEN, POSTED, CHANGED, FAILED = RESULTS = ("taken", "posted", "changed", "failed")
"""What is counted, as `Tally` has it."""
ENTRIES_FROM_GIT = 5
REVIEWS_READABLE = 50
"""By a button or a command; older ones are read in git."""
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 300.0
REVIEW_SECONDS = 120.0
PLAN = "planning/plan.md"
THREAD, FILE = "The item's thread", "The review"


class ReviewContext(NamedTuple):
    """
    Performs the effects of notices. *channel* is the triage channel, if there is one for all items; *file_url* is where
    files can be read, with `{path}` in it. *redact* is done to what reviewers say: they read files as they are.
    """

    reviewers: Reviewers
    workspace: Workspace
    archive: Archive
    board: Board
    homes: ItemLocator
    playbook: Playbook
    clock: Clock
    sights: Sights = NO_SIGHT
    channel: str = ""
    file_url: str = ""
    seconds: float = REVIEW_SECONDS
    redact: Redact = unchanged

    async def perform(self, effect: Owed, notice: Notice) -> Outcome:
        """Raises EffectError."""
        at = self.clock()
        match effect:
            case MakeReview():
                content, entry = await self._made(effect, notice)
                return redacted_message(
                    ReviewMade(at=at, effect=effect.id, content=content, entry=entry), self.redact
                )
            case KeepReview():
                kept = await self.archive.keep(notice.slug, effect.content.encode(), now=at)
                return ReviewKept(at=at, effect=effect.id, number=kept.number, path=kept.path)
            case ShowNotice():
                return await self._shown(effect, notice, at=at)
            case TellThread():
                await self._told(effect, notice)
            case TellPerson(person=person, place=place, sentence=sentence, reply_url=url):
                await self.board.tell(place, person.id, Message(text=sentence), reply_url=url)
            case _:
                assert_never(effect)
        return ThreadTold(at=at, effect=effect.id)

    def shown(self, text: str) -> str:
        """*text* of a review; without its escapes, if those would hide a secret that Slack then shows."""
        plain = _ESCAPE.sub("", text)
        redacted = self.redact(plain)
        return text if redacted == plain else redacted

    # --- making it --------------------------------------------------------------------------------------------------

    async def _made(self, wish: MakeReview, notice: Notice) -> tuple[str, ReviewEntry]:
        roster = self.playbook.roster
        personas = [persona for key in wish.personas if (persona := roster.get(key))]
        asked, case = await self._asked(wish), await self._case(notice)
        answers = await asyncio.gather(
            *(self._opinion(case, one) for one in personas), return_exceptions=True
        )
        # Before they are Markdown: an escaped `_` would hide a secret from the patterns.
        opinions = [
            redacted_message(answer, self.redact) for answer in answers if isinstance(answer, ReviewerOpinion)
        ]
        unseen = tuple(
            self._excuse(persona, answer)
            for persona, answer in zip(personas, answers, strict=True)
            if isinstance(answer, BaseException)
        )
        if not opinions:
            raise VoiceError(" ".join(unseen) or "No persona was there to review it.", reason="nobody")
        review = await self.reviewers.together(case, opinions, unseen=unseen, asked=asked)
        return review.markdown, entry_of(review)

    async def _opinion(self, case: ReviewCase, persona: Persona) -> ReviewerOpinion:
        async with asyncio.timeout(self.seconds):
            return await self.reviewers.opinion(case, persona)

    def _excuse(self, persona: Persona, error: BaseException) -> str:
        """A reviewer who fails is named in the review; the others' work is shown."""
        if isinstance(error, TimeoutError):
            log.warning("%s did not review within %.0f s", persona.key, self.seconds)
            return review_wording.late(persona.label, self.seconds)
        if isinstance(error, VoiceError):
            log.warning("%s could not review: %s", persona.key, error)
            return review_wording.broken(persona.label, str(error))
        log.error("%s broke in a review", persona.key, exc_info=error)
        return review_wording.broken(persona.label)

    async def _case(self, notice: Notice) -> ReviewCase:
        state = (await self.workspace.read(notice.slug, now=self.clock())).state
        written = (output for step in self.playbook.agenda.steps for output in step.outputs)
        standing = state.artifacts if state else ()
        paths = tuple(dict.fromkeys((*written, *standing, SHARED)))
        planning = await self.workspace.planning(notice.slug)
        plan = {PLAN: planning.files[PLAN]} if PLAN in planning.files else {}
        home = await self._home(notice)
        return ReviewCase(
            slug=notice.slug,
            title=review_wording.title_of(notice),
            files={**await self.workspace.files(notice.slug, paths), **plan},
            steps_completed=state.meta.steps_completed if state else (),
            playbook=self.playbook,
            specification=Specification().folding(planning.lines),
            sight=await self._sight(home, notice),
        )

    async def _home(self, notice: Notice) -> ItemLocation:
        return await self.homes.home(notice.slug) or ItemLocation()

    async def _sight(self, home: ItemLocation, notice: Notice) -> Sight:
        """Of those who will read the review: where the item is held, and in the triage channel."""
        held_in = Place(team="", channel=notice.asked_in) if home.place == NOWHERE else home.place
        triage = "" if home.hidden else notice.channel or self.channel
        channels = dict.fromkeys(filter(None, (held_in.channel, triage)))
        return await self.sights.at(*(held_in.but(channel=one) for one in channels))

    async def _asked(self, wish: MakeReview) -> str:
        who = wish.person.name or await self.board.name(wish.person.id)
        return f"Asked for by {who}, {wish.at}."

    # --- showing it -------------------------------------------------------------------------------------------------

    async def _shown(self, effect: ShowNotice, notice: Notice, *, at: str) -> Outcome:
        home = await self._home(notice)
        if home.hidden and notice.ts and notice.channel != home.place.channel:
            await self.board.edit(NoticePosition(notice.channel, notice.ts), review_wording.taken_away())
            notice = notice.but(channel="", ts="")
        wanted = () if home.hidden else (notice.channel, self.channel)
        channel = next(filter(None, (*wanted, home.place.channel, notice.asked_in)), "")
        newest = notice.newest
        if not channel or newest is None:
            return Stands(at=at, effect=effect.id)
        message = review_wording.notice(notice, await self._links(home, (newest,)))
        if notice.ts:
            spot = NoticePosition(notice.channel, notice.ts)
            if not await self.board.edit(spot, message):
                return Gone(at=at, effect=effect.id)
            return Stands(at=at, effect=effect.id, channel=spot.channel, ts=spot.ts)
        lost = not notice.searched and notice.lost_up_to > 0
        spot = await self.board.put(
            Place(team=home.place.team, channel=channel),
            message,
            key=f"notice.{notice.slug}",
            again=effect.attempts > 1 or lost,
            thorough=lost,
        )
        if spot.found:
            await self.board.edit(spot, message)
        return Stands(at=at, effect=effect.id, channel=spot.channel, ts=spot.ts)

    async def _told(self, effect: TellThread, notice: Notice) -> None:
        """An item without a thread has no place for details."""
        home = await self._home(notice)
        if not home.place.thread:
            return
        links = await self._links(ItemLocation(), effect.entries)
        message = review_wording.details(notice, effect.entries, more=effect.more, links=links)
        key = f"review.{notice.slug}.{effect.entries[0].number}"
        await self.board.put(home.place, message, key=key, again=effect.look or effect.attempts > 1)

    async def _links(self, home: ItemLocation, entries: Sequence[ReviewEntry]) -> tuple[Link, ...]:
        files = tuple(
            Link(label=f"{FILE} {one.number}", url=self.file_url.replace("{path}", quote(one.path)))
            for one in entries
            if self.file_url
        )
        if not home.place.thread:
            return files
        url = home.permalink or await self.board.link(NoticePosition(home.place.channel, home.place.thread))
        return (*((Link(label=THREAD, url=url),) if url else ()), *files)


class _Begun(NamedTuple):
    """
    The stored notices. One that is not stored is the first of its item, or the store has lost it: it begins with the
    reviews that git has.
    """

    notices: Notices
    archive: Archive

    async def get(self, slug: str) -> Notice:
        if notice := await self.notices.get(slug):
            return notice
        kept = await self.archive.newest(slug, ENTRIES_FROM_GIT)
        entries = tuple(
            ReviewEntry(number=one.number, path=one.path, line=triage_line(text_of(one.content)))
            for one in kept
        )
        return Notice(slug=slug, entries=entries, lost_up_to=kept[-1].number if kept else 0)

    async def put(self, state: Notice, /, *, expected: int) -> None:
        await self.notices.put(state, expected=expected)


class ReviewTriage(Engine[Notice, Happened]):
    """
    A command may work on a notice beside the bot. So every attempt has a name, and of two processes that begin the same
    effect one is too late.
    """

    prefix = PREFIX

    def __init__(
        self,
        reviewing: ReviewContext,
        *,
        notices: Notices,
        wake: Wake,
        team: str = "",
        tally: Meter = NO_METER,
    ) -> None:
        begun = _Begun(notices, reviewing.archive)
        super().__init__(store=begun, wake=wake, clock=reviewing.clock)
        self.reviewing = reviewing
        self.queue = Queue(notices, reviewing.clock)
        self._notices = notices
        self._team = team
        self._tally = tally

    async def ask(self, slug: str, wish: AskReview) -> None:
        """Saved when this returns; the review follows."""
        await self._handle(slug, wish)

    async def arrived(self, slug: str, came: Arrived) -> None:
        """A review that is kept already is shown soon. One that is known changes nothing."""
        await self._handle(slug, came)

    async def read(self, slug: str, title: str, number: int) -> Message:
        """Review *number*, or the newest one, for a person. Raises UserError when there is none, WorkspaceError."""
        kept = await self.reviewing.archive.newest(slug, REVIEWS_READABLE)
        found = next((one for one in reversed(kept) if number in {0, one.number}), None)
        if found is None:
            raise UserError(review_wording.no_such_review(title, number, [one.number for one in kept]))
        text = self.reviewing.shown(without_block(text_of(found.content)))
        return review_wording.whole(title, found.number, text, found.path)

    async def is_unfinished(self, slug: str) -> bool:
        notice = await self._notices.get(slug)
        return notice is not None and notice.next_effect is not None

    # --- what the engine asks ---------------------------------------------------------------------------------------

    def _decide(self, state: Notice, event: Happened) -> Notice:
        return decide(state, event)

    async def _perform(self, effect: Owed, state: Notice) -> Outcome | None:
        try:
            return await self.reviewing.perform(effect, state)
        except EffectError as error:
            return self._refused(effect, error)

    def _about(self, state: Notice) -> dict[str, str]:  # noqa: ARG002
        return {"team": self._team}

    def _attempt(self, effect: Owed) -> NoticeAttempted:
        return NoticeAttempted(at=self._clock(), effect=effect.id, attempts=effect.attempts, by=token_hex(8))

    def _is_begun(self, state: Notice, attempt: Happened) -> bool:
        assert isinstance(attempt, NoticeAttempted), "made by _attempt"
        return state.next_effect is not None and state.next_effect.attempted_by == attempt.by

    def _wait_seconds(self, effect: Owed) -> float:
        """A post of a process that died may still land, and after a refusal the pauses grow."""
        if not effect.attempts:
            return 0.0
        pause = min(FIRST_WAIT_SECONDS * 2.0 ** min(effect.attempts - 1, 10), LONGEST_WAIT_SECONDS)
        if not isinstance(effect, MakeReview):
            pause = max(pause, self.reviewing.board.lands_within)
        return max(0.0, pause - max(0.0, seconds_since(effect.attempted_at, self._clock())))

    def _saved(self, event: Happened, before: Notice | None, after: Notice) -> None:
        if before is None or after is before:
            return
        if result := _result(before, event):
            self._tally.reviewed(result)
        if isinstance(event, AskReview):
            audit.line("review", team=event.place.team, person=event.person.id, item=after.slug)

    async def _due(self) -> Iterable[str]:
        due = []
        for slug in await self._notices.unfinished():
            with about(item=slug), suppress(NewerVersion):
                notice = await self._notices.get(slug)
                if notice and notice.next_effect and self._wait_seconds(notice.next_effect) < SWEEP_SECONDS:
                    due.append(slug)
        return due

    def _refused(self, effect: Owed, error: EffectError) -> Outcome | None:
        """A review that cannot be kept now stays in the outbox; the person who asked is told once."""
        keeping = effect if isinstance(effect, KeepReview) and error.reason != NO_ITEM else None
        if keeping and not keeping.told:
            log.warning("a review is not kept yet: %s (%s)", error, error.reason)
            return Delayed(at=self._clock(), effect=effect.id, sentence=str(error))
        if error.again or keeping:
            log.info("%s is tried again later: %s", effect.kind, error)
            return None
        log.warning("%s failed: %s (%s)", effect.kind, error, error.reason)
        return NoticeFailed(at=self._clock(), effect=effect.id, sentence=str(error))


def _result(before: Notice, event: Happened) -> str:
    """Empty for what is not counted."""
    match event:
        case AskReview() | Arrived():
            return TAKEN
        case Stands(ts=ts) if ts:
            return CHANGED if before.ts else POSTED
        case NoticeFailed():
            return FAILED
        case _:
            return ""
