"""
What may be seen from where: an item that is held in a private channel does not exist for other channels.

A channel that nobody has told us about counts as private. Nothing is asked of Slack here: it would keep people waiting.

A slug must not tell of what is hidden, either. Items of private channels have slugs that end in a code of their own,
so that the plain slug of the same title stays free for all other channels.
"""

import hmac
from base64 import b32encode
from collections.abc import Iterable, Mapping
from hashlib import sha256

from bot.domain.item.item import Known, resolve, suffixed
from bot.domain.roundtable.inputs import Start
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place, Room
from bot.engine import answers
from bot.engine.ports import Listing, Store, Workspace
from bot.errors import UserError

ITEMS_LISTED = 20
CODE_CHARS = 8
CODES_TRIED = 100


class Sight:
    def __init__(self, store: Store, workspace: Workspace, *, secret: bytes) -> None:
        """Without *secret* nobody can tell which slug a title has in a private channel."""
        self._store = store
        self._workspace = workspace
        self._secret = secret

    async def meant(self, place: Place, reference: str, *, near: bool = False) -> str:
        """The item that *reference* means at *place*. Raises UserError when that is none, or several."""
        return only_one(await self.matching(place, reference, near=near), reference)

    async def matching(self, place: Place, reference: str, *, near: bool = False) -> tuple[str, ...]:
        """Every item that *reference* may mean at *place*; *near* ones alone are held in its channel."""
        listings = await self._workspace.items()
        known = [one.known for one in listings if may_see(place, one, near=near)]
        live = await self._store.in_channel(place.team, place.channel)
        here = [Known(slug=rt.slug, title=rt.title, source_id=rt.source_id) for rt in live]
        known, backlog = [*known, *here], await self._workspace.backlog()
        told = {one.known.slug: sees_folder(place, one, near=near) for one in listings}
        while found := resolve(reference, known, backlog):
            if seen := await self._seen(found, place, told, near=near):
                return seen
            # What is hidden must not stand before what can be seen: it would be missed there.
            hidden = set(found)
            known = [one for one in known if one.slug not in hidden]
        return ()

    async def _seen(
        self, found: Iterable[str], place: Place, told: Mapping[str, bool], *, near: bool
    ) -> tuple[str, ...]:
        """*told* is what folders tell; only a live roundtable may know better."""
        gone = set(await self._store.missing([slug for slug in found if not told.get(slug)]))
        seen: list[str] = []
        for slug in found:
            if slug in gone:
                continue
            rt = await self._store.get(slug)
            if sees(place, rt, near=near) if rt else told.get(slug):
                seen.append(slug)
            if len(seen) == ITEMS_LISTED:
                break
        return tuple(seen)

    async def slug_for(
        self, slug: str, start: Start, listings: tuple[Listing, ...], *, near: bool = False
    ) -> str:
        """
        The slug of the item that *start* means with *slug*: that very one when it is free, or can be seen from there.

        That a channel is private is taken from *start*; when nobody knows, the plain slug is used where it is free.
        """
        place = start.place
        for known in (self._coded(slug, place), slug):
            if await self._is_seen(known, place, listings, near=near):
                return known
        if start.room is not Room.PRIVATE and await self._is_free(slug, listings):
            return slug
        for number in range(CODES_TRIED):
            coded = self._coded(slug, place, number)
            if await self._is_seen(coded, place, listings) or await self._is_free(coded, listings):
                return coded
        raise UserError(answers.TITLE_TAKEN)

    async def _is_seen(
        self, slug: str, place: Place, listings: tuple[Listing, ...], *, near: bool = False
    ) -> bool:
        if rt := await self._store.get(slug):
            return sees(place, rt, near=near)
        return any(one.known.slug == slug and sees_folder(place, one, near=near) for one in listings)

    async def _is_free(self, slug: str, listings: tuple[Listing, ...]) -> bool:
        return await self._store.get(slug) is None and all(one.known.slug != slug for one in listings)

    def _coded(self, slug: str, place: Place, number: int = 0) -> str:
        """The same for the same title in the same channel: begun by two people at once, it is one item."""
        text = f"{place.team}.{place.channel}.{slug}.{number}"
        digest = hmac.new(self._secret, text.encode(), sha256).digest()
        return suffixed(slug, b32encode(digest).decode().lower()[:CODE_CHARS])


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
