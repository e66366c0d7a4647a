"""The front desk, with reviews: which item and whose lens are meant, and the wish is saved."""

from typing import Any

from bot.domain import notice_wording, permission
from bot.domain.notice import AskReview
from bot.domain.place import Person
from bot.domain.reviewers import asked_for, names_somebody
from bot.engine import answers
from bot.engine.answers import say_which_item
from bot.engine.desk import FrontDesk, Reply
from bot.engine.homes import folder_of
from bot.engine.triage import Triage
from bot.errors import UserError, WorkspaceError


class ReviewDesk(FrontDesk):
    def __init__(self, *, triage: Triage, **parts: Any) -> None:
        super().__init__(**parts)
        self._triage = triage

    async def review(self, wish: AskReview, reference: str, lens: str) -> Reply:
        """
        Saved when this returns. The roundtable of the item is not asked, and need not run: its files are enough. One
        word that is no item may be somebody's name, or what they look at.
        """
        roster = self._playbook.roster
        try:
            slug = await self._reviewed(wish, reference)
        except UserError:
            if lens or not names_somebody(reference, roster):
                raise
            slug, lens = await self._reviewed(wish, ""), reference
        await self._may_ask(slug, wish.person)
        personas = asked_for(lens, roster)
        listed = await folder_of(self._workspace, slug)
        if listed is None:
            raise UserError(f"Nothing of `{slug}` is kept yet, so there is nothing to review.")
        if listed.channel and not listed.sealed and await self._store.get(slug) is None:
            raise UserError(answers.not_sealed(slug))
        title = listed.known.title or slug
        chosen = tuple(persona.key for persona in personas)
        try:
            await self._triage.ask(slug, wish.but(title=title, personas=chosen))
        except WorkspaceError as error:
            raise UserError(f"I can't get at the reviews of `{slug}`: {error}") from error
        return notice_wording.under_way(title, [persona.label for persona in personas])

    async def _may_ask(self, slug: str, person: Person) -> None:
        """A review is work for all reviewers, and a commit: it is for those who press. Raises UserError."""
        rt, house = await self._store.get(slug), self._playbook.house
        if rt is None:
            self._must_be_let(person)
        elif why := permission.refusal(rt, person, house):
            raise UserError(why)

    async def _reviewed(self, wish: AskReview, reference: str) -> str:
        """The item that is named, or of this thread, or the only one of this channel."""
        place = wish.place
        if slug := await self._slug(place, reference, wish.person):
            return slug
        if place.thread:
            raise UserError(
                "There is no roundtable in this thread. Say which item, as in `review dark-mode`."
            )
        here = await self._here(place)
        if len(here) != 1:
            raise UserError(say_which_item([one.slug for one in here]))
        return here[0].slug
