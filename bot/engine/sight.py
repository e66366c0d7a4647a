"""
What may be seen from where: an item that is held in a private channel does not exist for other channels.

A channel that nobody has told us about counts as private. Nothing is asked of Slack here: it would keep people waiting.
"""

from bot.domain.item import Known, resolve
from bot.domain.place import Place
from bot.domain.roundtable import Roundtable
from bot.engine import answers
from bot.engine.ports import Listing, Store, Workspace
from bot.errors import UserError

ITEMS_LISTED = 20
ITEMS_BESIDE = 100


class Sight:
    def __init__(self, store: Store, workspace: Workspace) -> None:
        self._store = store
        self._workspace = workspace

    async def meant(self, place: Place, reference: str, *, near: bool = False) -> str:
        """The item that *reference* means at *place*. Raises UserError when that is none, or several."""
        return only_one(await self.matching(place, reference, near=near), reference)

    async def matching(self, place: Place, reference: str, *, near: bool = False) -> tuple[str, ...]:
        """Every item that *reference* may mean at *place*; *near* ones alone are held in its channel."""
        listings = await self._workspace.items()
        known = [one.known for one in listings if may_see(place, one, near=near)]
        live = await self._store.in_channel(place.team, place.channel)
        here = [Known(slug=rt.slug, title=rt.title, source_id=rt.source_id) for rt in live]
        found = resolve(reference, [*known, *here], await self._workspace.backlog())
        told = {one.known.slug: sees_folder(place, one, near=near) for one in listings}
        seen = []
        for slug in found[:ITEMS_LISTED]:
            rt = await self._store.get(slug)
            if sees(place, rt, near=near) if rt else told.get(slug):
                seen.append(slug)
        return tuple(seen)

    async def free(
        self, slug: str, place: Place, listings: tuple[Listing, ...], *, near: bool = False
    ) -> str:
        """*slug*, or one beside it: that somebody has it in a private channel is not to be known at *place*."""
        hidden = {one.known.slug for one in listings if not sees_folder(place, one, near=near)}
        for one in (slug, *(f"{slug}-{number}" for number in range(2, ITEMS_BESIDE))):
            rt = await self._store.get(one)
            if sees(place, rt, near=near) if rt else one not in hidden:
                return one
        raise UserError(answers.TITLE_TAKEN)


def only_one(found: tuple[str, ...], reference: str) -> str:
    """Raises UserError when *reference* means none, or several."""
    if not found:
        raise UserError(answers.no_such_item(reference))
    if len(found) > 1:
        raise UserError(answers.several(reference, found))
    return found[0]


def is_hidden(rt: Roundtable) -> bool:
    """Whether it is for its own channel alone. What has no thread yet is held nowhere."""
    return rt.manners.private is not False and bool(rt.place.thread or rt.manners.private)


def is_hidden_folder(listed: Listing) -> bool:
    """An item that was never held in Slack is no channel's, and no secret."""
    return listed.private is not False and bool(listed.channel)


def sees(place: Place, rt: Roundtable, *, near: bool = False) -> bool:
    if not (near or is_hidden(rt)):
        return True
    return _same_channel(place, rt.place.team, rt.place.channel)


def sees_folder(place: Place, listed: Listing, *, near: bool = False) -> bool:
    if not (near or is_hidden_folder(listed)):
        return True
    return _same_channel(place, listed.team, listed.channel)


def may_see(place: Place, listed: Listing, *, near: bool = False) -> bool:
    """As far as its folder goes; the roundtable itself may know better."""
    return listed.private is None or sees_folder(place, listed, near=near)


def _same_channel(place: Place, team: str, channel: str) -> bool:
    return (team, channel) == (place.team, place.channel)
