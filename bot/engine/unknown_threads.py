"""
Threads that the store does not know: which item they belong to, and who says so.

What others pushed is no authority: a folder that names a thread counts when its home is sealed. Otherwise people in the
thread are asked, once, and nothing is read or recorded there before one of them has pressed the button. A thread whose
root we posted belongs to that item, also if git says otherwise; looking at that root reads nothing that people wrote.
"""

import logging
import time
from contextlib import suppress
from typing import NamedTuple

from bot.domain.item.item import Item
from bot.domain.messages import step_wording
from bot.domain.messages.menus import TAKE_UP
from bot.domain.messages.message import Message
from bot.domain.values.places import Place
from bot.engine.item_locator import ItemLocator, folder_of, item_in
from bot.engine.lru import LruCache
from bot.engine.ports import Chat, Listing, Store, Urgency, Workspace
from bot.errors import EffectError, Unavailable

log = logging.getLogger(__name__)

KNOWN_SECONDS = 60.0
"""How long a thread counts as unknown: an item that names it may be pushed later."""
THREADS = 10_000
ASKING_SECONDS = 60.0
"""One process asks. If it dies before it has asked, another may after this time."""
ASKED_SECONDS = 365 * 24 * 3600.0


class KnownThread(NamedTuple):
    """The item that was held in this thread: by a sealed home in its *folder*, or by our own root post."""

    item: Item
    folder: Listing | None


class UnsignedThread(NamedTuple):
    """The *folder* names this thread, and we did not write that."""

    folder: Listing


class Moved(NamedTuple):
    """Our own thread of an item that continues in another thread. *item* is what the root says."""

    item: Item


class UnknownThreads:
    def __init__(self, store: Store, workspace: Workspace, chat: Chat) -> None:
        self._store = store
        self._workspace = workspace
        self._chat = chat
        self._locator = ItemLocator(store, workspace)
        self._not_ours: LruCache[str, float] = LruCache(THREADS)
        """Threads that others began, and when git was asked about each last."""

    def forget(self, place: Place) -> None:
        """It belongs to a roundtable now."""
        self._not_ours.pop(place.key, None)

    async def whose(
        self, place: Place, *, under_us: bool | None = None, look: bool = True
    ) -> KnownThread | UnsignedThread | Moved | None:
        """
        The item of a thread that the store does not know. Most threads have none, which is remembered for a while.

        *under_us* says whether the root is a post of ours, and saves a look at it; None when Slack did not say.
        Without *look* only git is asked.
        Raises Unavailable when only the root can tell, and Slack does not show it now.
        """
        met = self._not_ours.get(place.key)
        if met is not None and time.monotonic() - met < KNOWN_SECONDS:
            return None
        if listed := await self._locator.named_at(place):
            return KnownThread(item_in(listed), listed) if listed.home else UnsignedThread(listed)
        if not look:
            return None
        if under_us is not False and met is None:
            return await self._by_root(place, surely_ours=under_us is True)
        self._not_ours[place.key] = time.monotonic()
        return None

    async def ask(self, place: Place, item: Item, text: str, *, by_name: bool = False) -> bool:
        """
        *text* with a button, in the thread at *place*: once for the thread, and once for each item that a person asked
        for *by_name*. False when there is no such thread, or we may not post there.
        """
        thread, named = f"asked.{place.key}", f"asked.{place.key}.{item.slug}"
        is_first = await self._store.first(thread, seconds=ASKING_SECONDS)
        if not (is_first or by_name) or not await self._store.first(named, seconds=ASKING_SECONDS):
            return True
        message = Message(text=text, choices=(TAKE_UP.but(value=item.slug),))
        try:
            await self._chat.post(place, message, key=f"take_up.{item.slug}", again=False)
        except EffectError as error:
            log.warning("cannot ask in %s about %s: %s", place.key, item.slug, error)
            return error.again
        for mark in (thread, named):
            await self._store.first(mark, seconds=ASKED_SECONDS, renew=True)
        return True

    async def answered(self, place: Place, ts: str, item: Item, *, by: str) -> None:
        """The question *ts* says who answered it, and loses its button. Tried once."""
        text, note = step_wording.taken_up_here(item.title), step_wording.chosen(TAKE_UP.label, by)
        with suppress(EffectError):
            await self._chat.rewrite(place, ts, Message(text=text, note=note), urgency=Urgency.ANSWER)

    async def root_of(self, slug: str, place: Place) -> Place | None:
        """The thread in the channel of *place* that we began for *slug*, if nothing is held there now."""
        try:
            ts = await self._chat.find_root(place, slug)
        except EffectError as error:
            log.warning("can't look for an earlier thread of %s: %s", slug, error)
            return None
        found = place.but(thread=ts)
        return found if ts and await self._store.at(found) is None else None

    async def _by_root(self, place: Place, *, surely_ours: bool) -> KnownThread | Moved | None:
        try:
            root = await self._chat.root(place)
        except EffectError as error:
            if surely_ours and error.again:
                raise Unavailable(f"the root of {place.key} cannot be read: {error}") from error
            log.info("can't see who began %s: %s", place.key, error)
            return None
        if root is None:
            self._not_ours[place.key] = time.monotonic()
            return None
        item = Item(slug=root.slug, title=step_wording.title_of_root(root.text) or root.slug)
        if rt := await self._store.get(item.slug):
            if not rt.place.thread:  # it is being opened
                return None
            return KnownThread(rt.item, None) if rt.place == place else Moved(item)
        listed = await folder_of(self._workspace, item.slug)
        if listed and listed.home not in {None, place}:
            return Moved(item)
        return KnownThread(item_in(listed) if listed else item, listed)
