"""
Which item a person means, and which items can be seen from where.

An item of a private channel does not exist for other channels. A channel that we were told nothing about counts as
private; Slack is not asked here, because people would wait for it.

Slugs must not reveal what is hidden either. Items of private channels have slugs with a code at the end, so that the
plain slug of the same title stays free for all other channels.
"""

import asyncio
import hmac
import logging
from base64 import b32encode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from typing import Protocol, TypeVar

from bot.domain.item.item import resolve, suffixed
from bot.domain.messages import step_wording
from bot.domain.roundtable.inputs import Start
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Belonging, ChannelKind, Person, Place, Viewer
from bot.engine import answers
from bot.engine.item_locator import ItemLocator, item_in
from bot.engine.ports import Listing, Profile, Store, Workspace
from bot.engine.unknown_threads import UnknownThreads
from bot.engine.viewing import Viewers, held_item, known_item
from bot.errors import EffectError, UserError

log = logging.getLogger(__name__)

T = TypeVar("T")

ITEMS_LISTED = 20
CODE_CHARS = 8
CODES_TRIED = 100
ATTEMPTS = 5
FIRST_WAIT_SECONDS = 0.5


class Finder:
    def __init__(
        self, store: Store, workspace: Workspace, threads: UnknownThreads, viewers: Viewers, *, secret: bytes
    ) -> None:
        """Without *secret* it cannot be guessed which slug a title has in a private channel."""
        self._store = store
        self._workspace = workspace
        self._threads = threads
        self._viewers = viewers
        self._locator = ItemLocator(store, workspace)
        self._secret = secret

    async def slug(self, place: Place, reference: str, person: Person) -> str | None:
        """
        The item that *reference* means to *person*; without one, that of the thread, and None outside a thread. Raises
        UserError when the reference means no item, or several.
        """
        if reference.strip():
            return only_one(await self.matching(self._viewers.of(person, place), reference), reference)
        if not place.thread:
            return None
        if rt := await self._store.at(place):
            return rt.slug
        named = await self._locator.named_at(place)
        if named and not named.home:
            await self._threads.ask(place, item_in(named), step_wording.named_by_git(named.known.title))
            raise UserError(answers.asked_in_thread(named.known.title))
        return named.known.slug if named else None

    async def slug_or_only(self, place: Place, reference: str, person: Person) -> str | None:
        """As `slug`; outside a thread also the only item of the channel."""
        slug = await self.slug(place, reference, person)
        if slug or place.thread:
            return slug
        here = await self.here(place)
        return here[0].slug if len(here) == 1 else None

    async def running(self, place: Place, reference: str, person: Person) -> Roundtable:
        """As `slug`; outside a thread also the only roundtable that runs in the channel."""
        slug = await self.slug(place, reference, person)
        if slug is None:
            live = [rt for rt in await self.live(place) if rt.stage not in {Stage.ANALYSED, Stage.PAUSED}]
            if len(live) != 1:
                raise UserError(answers.say_which(len(live)))
            return live[0]
        rt = await self._store.get(slug)
        if rt is None:
            raise UserError(answers.not_running(slug))
        return rt

    async def here(self, place: Place) -> tuple[answers.ItemStatus, ...]:
        """The items of this channel, those with a roundtable first."""
        live = await self.live(place)
        slugs = {rt.slug for rt in live}
        lost = [one for one in await self._locator.in_channel(place) if one.known.slug not in slugs]
        standings = (*(answers.of_roundtable(rt) for rt in live), *(answers.of_folder(one) for one in lost))
        return standings[:ITEMS_LISTED]

    async def live(self, place: Place) -> tuple[Roundtable, ...]:
        return await self._store.in_channel(place.team, place.channel)

    async def matching(self, viewer: Viewer, reference: str) -> tuple[str, ...]:
        """Every item that *reference* may mean, of those that *viewer* sees."""
        listings = {one.known.slug: one for one in await self._workspace.items()}
        told = {slug: viewer.sees(held_item(None, one)) for slug, one in listings.items()}
        known = [one.known for slug, one in listings.items() if told[slug] or one.private is None]
        known += map(known_item, await self.live(viewer.place))
        backlog = await self._workspace.backlog()
        while found := resolve(reference, known, backlog):
            if seen := await self._seen(found, viewer, listings, told):
                return seen
            # What is hidden must not stand before what can be seen: it would be missed there.
            hidden = set(found)
            known = [one for one in known if one.slug not in hidden]
        return ()

    async def _seen(
        self, found: Iterable[str], viewer: Viewer, listings: Mapping[str, Listing], told: Mapping[str, bool]
    ) -> tuple[str, ...]:
        """*told* is what folders tell; only a live roundtable may know better."""
        lost = set(await self._store.missing(found))
        seen: list[str] = []
        for slug in found:
            rt = None if slug in lost else await self._store.get(slug)
            if viewer.sees(held_item(rt, listings.get(slug))) if rt else told.get(slug):
                seen.append(slug)
            if len(seen) == ITEMS_LISTED:
                break
        return tuple(seen)

    async def slug_for(self, slug: str, start: Start, listings: tuple[Listing, ...], viewer: Viewer) -> str:
        """
        The slug of the item that *start* means with *slug*: that very one when it is free, or *viewer* sees it.

        *start* says whether its channel is private; when that is unknown, the plain slug is used if it is free.
        """
        place = start.place
        for known in (self._coded(slug, place), slug):
            if await self._viewers.sees(viewer, known):
                return known
        if start.room is not ChannelKind.PRIVATE and await self._is_free(slug, listings):
            return slug
        for number in range(CODES_TRIED):
            coded = self._coded(slug, place, number)
            if await self._viewers.sees(viewer, coded) or await self._is_free(coded, listings):
                return coded
        raise UserError(answers.TITLE_TAKEN)

    async def _is_free(self, slug: str, listings: tuple[Listing, ...]) -> bool:
        # Some file systems do not tell capitals apart.
        taken = {one.known.slug.casefold() for one in listings}
        return slug.casefold() not in taken and await self._store.get(slug) is None

    def _coded(self, slug: str, place: Place, number: int = 0) -> str:
        """The same for the same title in the same channel: two people who begin it at once get one item."""
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


def same_channel(one: Place, other: Place) -> bool:
    return (one.team, one.channel) == (other.team, other.channel)


class KnowsPeople(Protocol):
    """The part of the chat that is asked here."""

    async def profile(self, person: str) -> Profile: ...


async def belonging(chat: KnowsPeople, person: Person, *, seconds: float) -> Belonging:
    """UNVERIFIED, which allows no more than a guest may do, when Slack gives no answer in time."""
    if person.belongs:
        return person.belongs
    try:
        async with asyncio.timeout(seconds):
            return (await retried(partial(chat.profile, person.id))).belongs
    except (EffectError, TimeoutError) as error:
        log.warning("Slack does not say who %s is: %s", person.id, error)
        return Belonging.UNVERIFIED


async def retried(call: Callable[[], Awaitable[T]]) -> T:
    """For calls that are in no outbox."""
    for attempt in range(ATTEMPTS):
        try:
            return await call()
        except EffectError as error:
            if not error.again or attempt == ATTEMPTS - 1:
                raise
            wait = error.after_seconds or FIRST_WAIT_SECONDS * 2**attempt
            log.info("Slack is asked again in %.1f s: %s", wait, error)
        await asyncio.sleep(wait)
    raise AssertionError("the last attempt returns or raises")
