"""What people ask of the record: what they have missed, and the whole of it as files."""

from typing import Any

from bot.domain import menus
from bot.domain.inputs import Export
from bot.domain.place import Person, Place
from bot.domain.roundtable import Roundtable
from bot.engine import answers
from bot.engine.desk import FrontDesk, Reply, same_channel
from bot.engine.digests import Digests
from bot.engine.homes import folder_of
from bot.engine.ports import Records


class RecordDesk(FrontDesk):
    def __init__(self, *, records: Records, **parts: Any) -> None:
        super().__init__(**parts)
        self._digests = Digests(self._store, self._workspace, records, self._playbook)

    async def catch_up(self, place: Place, person: Person, reference: str) -> Reply:
        """What *person* has missed; where several items are meant, buttons for them."""
        slug = await self._wanted(place, reference, person)
        if slug is None:
            return answers.which(await self._here(place), menus.CATCH_UP)
        return await self._digests.of(slug, place, person)

    async def export(self, place: Place, export: Export, reference: str) -> Reply:
        """The record goes into the item's thread, whoever asks wherever: nobody else is shown it."""
        slug = await self._wanted(place, reference, export.person)
        if slug is None:
            return answers.which(await self._here(place), menus.EXPORT)
        if await self._store.get(slug):
            rt = await self._engine.handle(slug, export)
            return None if _is_there(rt, place) else answers.record_on_its_way(rt)
        listed = await folder_of(self._workspace, slug)
        return answers.record_kept(listed) if listed else answers.nothing_here()

    async def _wanted(self, place: Place, reference: str, person: Person) -> str | None:
        """As `_slug`; alone in its channel, an item need not be named. None when there is none, or a choice."""
        slug = await self._slug(place, reference, person)
        if slug or place.thread:
            return slug
        here = await self._here(place)
        return here[0].slug if len(here) == 1 else None


def _is_there(rt: Roundtable, place: Place) -> bool:
    return same_channel(rt.place, place) and rt.place.thread == place.thread
