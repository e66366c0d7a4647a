"""Paying what a notice owes: personas review side by side, the archive keeps it, the board shows it."""

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple, assert_never
from urllib.parse import quote

from bot.domain import artifact, notice_wording
from bot.domain.agenda import Playbook
from bot.domain.discretion import discreet
from bot.domain.message import Link, Message
from bot.domain.notice import (
    Entry,
    Gone,
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
from bot.domain.persona import Persona
from bot.domain.place import Place
from bot.domain.redaction import Redact, unchanged
from bot.domain.review_text import Opinion, Review
from bot.domain.review_triage import triage
from bot.engine.clock import Clock
from bot.engine.ports import Workspace
from bot.engine.review_ports import Archive, Board, Case, Home, Homes, Reviewers, Spot
from bot.errors import VoiceError

log = logging.getLogger(__name__)

REVIEW_SECONDS = 60.0
ALSO_READ = ("planning/plan.md", artifact.SHARED)
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
            return notice_wording.late(persona.label, self.seconds)
        if isinstance(error, VoiceError):
            log.warning("%s could not review: %s", persona.key, error)
            return notice_wording.broken(persona.label, str(error))
        log.error("%s broke in a review", persona.key, exc_info=error)
        return notice_wording.broken(persona.label)

    async def _case(self, notice: Notice) -> Case:
        state = (await self.workspace.read(notice.slug, now=self.clock())).state
        written = (output for step in self.playbook.agenda.steps for output in step.outputs)
        standing = state.artifacts if state else ()
        paths = tuple(dict.fromkeys((*written, *standing, *ALSO_READ)))
        return Case(
            slug=notice.slug,
            title=notice_wording.title_of(notice),
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
            await self.board.edit(Spot(notice.channel, notice.ts), notice_wording.taken_away())
            notice = notice.but(channel="", ts="")
        wanted = () if hidden else (notice.channel, self.channel)
        channel = next(filter(None, (*wanted, _channel(home), notice.asked_in)), "")
        newest = notice.newest
        if not channel or newest is None:
            return Stands(at=at, effect=effect.id)
        message = notice_wording.notice(notice, await self._links(home, (newest,)))
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
        message = notice_wording.details(notice, effect.entries, more=effect.more, links=links)
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
