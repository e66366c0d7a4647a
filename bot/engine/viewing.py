"""
Makes the `Viewer` of an answer, and finds the items that it may be told of: by what the store and git know of them.

A channel of another organisation is known by one call of Slack; otherwise each member is asked about, until one is no
member of the workspace. What Slack says is remembered by the chat. Large channels, and what Slack does not say within
seconds, count as having guests in them.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from typing import NamedTuple, Protocol

from bot.domain.catalog.policy import GuestsSee, Policy
from bot.domain.item.item import KnownItem
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import NOBODY, NOWHERE, Belonging, HeldItem, Person, Place, Viewer
from bot.engine.item_locator import folder_of
from bot.engine.ports import Listing, Profile, Store, Workspace
from bot.errors import EffectError

log = logging.getLogger(__name__)

MOST_MEMBERS = 100
"""Of a channel, that are asked about one by one."""
ASKED_AT_ONCE = 4
FOUND_WITHIN_SECONDS = 5.0
PRIVILEGES = (
    Belonging.EXTERNAL,
    Belonging.UNVERIFIED,
    Belonging.UNKNOWN,
    Belonging.GUEST,
    Belonging.MEMBER,
)
"""The least first."""


class KnowsMembers(Protocol):
    """The part of the chat that is asked here. Raises EffectError."""

    async def members(self, channel: str) -> frozenset[str]: ...

    async def is_shared(self, channel: str) -> bool | None:
        """With other organisations; None when Slack does not say."""
        ...

    async def profile(self, person: str) -> Profile: ...


class Viewers:
    """*policy_of* the id of a channel. Slack is waited for so many *seconds*."""

    def __init__(
        self,
        store: Store,
        workspace: Workspace,
        chat: KnowsMembers,
        policy_of: Callable[[str], Policy],
        *,
        seconds: float = FOUND_WITHIN_SECONDS,
    ) -> None:
        self._store = store
        self._workspace = workspace
        self._chat = chat
        self._policy_of = policy_of
        self._seconds = seconds
        self._finding: dict[str, asyncio.Task[Belonging]] = {}

    def of(self, person: Person, place: Place) -> Viewer:
        """Of what only *person* is shown at *place*."""
        return self._viewer(place, person.belongs, [place])

    async def at(self, *places: Place) -> "SightOfItems":
        """For what everybody at *places* will see. In several, items of private channels are not told of."""
        if not places:
            return SightOfItems(self, NOBODY)
        found = await asyncio.gather(*(self._least(place.channel) for place in places))
        least = min(found, key=PRIVILEGES.index)
        return SightOfItems(self, self._viewer(places[0] if len(places) == 1 else NOWHERE, least, places))

    async def visible(self, viewer: Viewer) -> AsyncIterator[tuple[KnownItem, Roundtable | None]]:
        """Every item that *viewer* may see, those of its own channel first, with its roundtable if there is one."""
        listings = {one.known.slug: one for one in await self._workspace.items()}
        here = {rt.slug: rt for rt in await self._store.in_channel(viewer.place.team, viewer.place.channel)}
        stored = {**here, **await self._store.several(listings)}
        for slug in dict.fromkeys((*here, *listings)):
            listed, rt = listings.get(slug), stored.get(slug)
            if (rt or listed) and viewer.sees(held_item(rt, listed)):
                yield known_item(rt, listed), rt

    async def sees(self, viewer: Viewer, slug: str) -> bool:
        listed = await folder_of(self._workspace, slug)
        rt = await self._store.get(slug)
        return bool(rt or listed) and viewer.sees(held_item(rt, listed))

    def _viewer(self, place: Place, least: Belonging, places: Iterable[Place]) -> Viewer:
        policies = [self._policy_of(one.channel) for one in places]
        return Viewer(
            place=place,
            least=least,
            tools=all(one.tools for one in policies),
            code_for_all=all(GuestsSee.CODE in one.guests_see for one in policies),
            items_for_all=all(GuestsSee.ITEMS in one.guests_see for one in policies),
        )

    async def _least(self, channel: str) -> Belonging:
        """Callers share one search, which goes on when they have waited long enough: the next one has its result."""
        finding = self._finding.get(channel)
        if finding is None:
            finding = self._finding[channel] = asyncio.create_task(self._found(channel))
            finding.add_done_callback(lambda _: self._finding.pop(channel))
        await asyncio.wait({finding}, timeout=self._seconds)
        return finding.result() if finding.done() else Belonging.UNVERIFIED

    async def _found(self, channel: str) -> Belonging:
        try:
            if (shared := await self._chat.is_shared(channel)) is not False:
                return Belonging.EXTERNAL if shared else Belonging.UNVERIFIED
            members = await self._chat.members(channel)
            if not 0 < len(members) <= MOST_MEMBERS:
                return Belonging.UNVERIFIED
            asked = sorted(members)
            for start in range(0, len(asked), ASKED_AT_ONCE):
                some = asked[start : start + ASKED_AT_ONCE]
                profiles = await asyncio.gather(*map(self._chat.profile, some))
                reading = [one.belongs for one in profiles if one.belongs is not Belonging.LEFT]
                least = min(reading, key=PRIVILEGES.index, default=Belonging.MEMBER)
                if least is not Belonging.MEMBER:
                    return least
        except EffectError as error:
            log.info("Slack does not say who is in %s: %s", channel, error)
            return Belonging.UNVERIFIED
        return Belonging.MEMBER


class SightOfItems(NamedTuple):
    """What a persona may be shown where its words will stand."""

    viewers: Viewers
    viewer: Viewer

    async def sees(self, slug: str) -> bool:
        return await self.viewers.sees(self.viewer, slug)

    async def items(self) -> AsyncIterator[KnownItem]:
        async for item, _ in self.viewers.visible(self.viewer):
            yield item


def held_item(rt: Roundtable | None, listed: Listing | None = None) -> HeldItem:
    """The store is believed, and git says what the store does not know."""
    if rt is None:
        assert listed, "an item is in the store or in git"
        return HeldItem(team=listed.team, channel=listed.channel, hidden=listed.hidden)
    hidden = rt.hidden or bool(listed and listed.is_signed_private)
    return HeldItem(team=rt.place.team, channel=rt.place.channel, hidden=hidden)


def known_item(rt: Roundtable | None, listed: Listing | None = None) -> KnownItem:
    if rt is None:
        assert listed, "an item is in the store or in git"
        return listed.known
    return KnownItem(slug=rt.slug, title=rt.title, source_id=rt.source_id)
