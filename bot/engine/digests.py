"""What one person has missed of an item, put together from its record; only looked at, never saved."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.message import Link, Message
from bot.domain.roundtable import digest as digest_wording
from bot.domain.roundtable.digest import digest, waits
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Person, Place
from bot.engine import answers
from bot.engine.item_locator import folder_of
from bot.engine.ports import Listing, Recalled, Records, Store, Workspace
from bot.errors import UserError, WorkspaceError


class Digests:
    def __init__(self, store: Store, workspace: Workspace, records: Records, playbook: Playbook) -> None:  # noqa: PLR0917 -- its four sources
        self._store = store
        self._workspace = workspace
        self._records = records
        self._playbook = playbook

    async def of(self, slug: str, place: Place, person: Person) -> Message:
        """Raises UserError for an item of another channel: what is said there is for those who are there."""
        if rt := await self._store.get(slug):
            return await self._of_roundtable(rt, place, person)
        listed = await folder_of(self._workspace, slug)
        if listed is None:  # it was found there a moment ago
            raise UserError(answers.no_such_item(slug))
        return await self._of_folder(listed, place, person)

    async def _of_roundtable(self, rt: Roundtable, place: Place, person: Person) -> Message:
        if (rt.place.team, rt.place.channel) != (place.team, place.channel):
            raise UserError(digest_wording.held_elsewhere(rt.slug))
        try:
            recalled = await self._records.recall(rt.slug, rt.lines, person=person.id, permalink=rt.permalink)
        except WorkspaceError as error:
            raise UserError(str(error)) from error
        waiting = digest_wording.waiting_for(waits(rt, self._playbook))
        return self._told(rt.title, recalled, waiting, link=rt.permalink)

    async def _of_folder(self, listed: Listing, place: Place, person: Person) -> Message:
        known = listed.known
        title = known.title or known.slug
        if listed.channel and not listed.sealed:
            raise UserError(answers.not_sealed(known.slug))
        if listed.channel and (listed.team, listed.channel) != (place.team, place.channel):
            raise UserError(digest_wording.held_elsewhere(known.slug))
        try:
            recalled = await self._records.recall(known.slug, (), person=person.id, permalink="")
        except WorkspaceError as error:
            raise UserError(str(error)) from error
        waiting = digest_wording.not_running(known.slug)
        # Its links are what a pushed file says: they may lead anywhere.
        return self._told(title, recalled._replace(left_off=""), waiting, link="")

    def _told(self, title: str, recalled: Recalled, waiting: str, *, link: str) -> Message:
        if not recalled.since.now.lines:
            return Message(text=digest_wording.nothing_said(title))
        text = digest_wording.caught_up(title, digest(recalled.since, self._playbook), waiting)
        links = (("Where you left off", recalled.left_off), ("Open the thread", link))
        return Message(text=text, links=tuple(Link(label=label, url=url) for label, url in links if url))
