"""Where items are held: as the store says, else as their sealed folders say."""

from bot.domain.item.item import Item
from bot.domain.values.places import NOWHERE, Place
from bot.engine.ports import Listing, Store, Workspace
from bot.engine.review_ports import ItemLocation


class ItemLocator:
    def __init__(self, store: Store, workspace: Workspace) -> None:
        self._store = store
        self._workspace = workspace

    async def home(self, slug: str) -> ItemLocation | None:
        """None when there is no such item."""
        listed = await folder_of(self._workspace, slug)
        if rt := await self._store.get(slug):
            hidden = rt.hidden or bool(listed and listed.is_signed_private)
            return ItemLocation(rt.title, rt.place, rt.permalink, hidden=hidden)
        if listed is None:
            return None
        return ItemLocation(listed.known.title or slug, listed.home or NOWHERE, hidden=listed.hidden)

    async def named_at(self, place: Place) -> Listing | None:
        """The folder that names the thread *place*, a sealed one first. Items that the store knows do not count."""
        found = await self._lost([one for one in await self._workspace.items() if one.named == place])
        return next((one for one in found if one.sealed), found[0] if found else None)

    async def in_channel(self, place: Place) -> tuple[Listing, ...]:
        """The folders that name the channel of *place*, of items that the store does not know."""
        return await self._lost([one for one in await self._workspace.items() if one.is_in(place)])

    async def _lost(self, named: list[Listing]) -> tuple[Listing, ...]:
        """Those that the store does not know."""
        if not named:
            return ()
        lost = frozenset(await self._store.missing([one.known.slug for one in named]))
        return tuple(one for one in named if one.known.slug in lost)


async def folder_of(workspace: Workspace, slug: str) -> Listing | None:
    """What the workspace knows of *slug* without reading it."""
    return next((one for one in await workspace.items() if one.known.slug == slug), None)


def item_in(listed: Listing) -> Item:
    known = listed.known
    return Item(slug=known.slug, title=known.title or known.slug, source_id=known.source_id)
