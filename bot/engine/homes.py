"""Where items are held: as the store has it, else as their folders say."""

from bot.domain.place import Place
from bot.engine.ports import Listing, Store, Workspace
from bot.engine.review_ports import Home
from bot.engine.sight import is_hidden, is_hidden_folder


class ItemHomes:
    def __init__(self, store: Store, workspace: Workspace) -> None:
        self._store = store
        self._workspace = workspace

    async def home(self, slug: str) -> Home | None:
        if rt := await self._store.get(slug):
            return Home(rt.title, rt.place, rt.permalink, hidden=is_hidden(rt))
        listed = await folder_of(self._workspace, slug)
        if listed is None:
            return None
        held = Place(team=listed.team, channel=listed.channel, thread=listed.thread)
        place = held if held.channel else None
        return Home(listed.known.title or slug, place, hidden=is_hidden_folder(listed))


async def folder_of(workspace: Workspace, slug: str) -> Listing | None:
    """What the workspace knows of *slug* without reading it."""
    return next((one for one in await workspace.items() if one.known.slug == slug), None)
