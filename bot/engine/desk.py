"""
The front desk: what people ask for, brought to the roundtable that it is about.

Finds out which item is meant, answers what can be answered at once, and leaves every decision to the engine. What it
returns is for the person who asked alone; None when the thread itself will show the answer.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from bot.domain import permission
from bot.domain.agenda import Playbook
from bot.domain.inputs import Amend, Export, Mute, Plan, Press, Resume, Retract, Say, SetDepth, Start, Stop
from bot.domain.item import Item, backlog_title, generate_slug, item_from
from bot.domain.message import Message
from bot.domain.notice import AskReview
from bot.domain.place import OUTSIDERS, Belonging, Person, Place
from bot.domain.redaction import Redact, unchanged
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.engine import answers
from bot.engine.engine import Engine
from bot.engine.homes import folder_of
from bot.engine.ports import Listing, Store, Workspace
from bot.engine.sight import ITEMS_LISTED, Sight, sees_folder
from bot.engine.strangers import Strangers
from bot.errors import Conflict, UserError

Reply = Message | None
Wish = TypeVar("Wish", Start, Resume, Press, Stop, Mute, SetDepth, Plan, Export, AskReview)


class FrontDesk:
    def __init__(
        self,
        *,
        engine: Engine,
        store: Store,
        workspace: Workspace,
        playbook: Playbook,
        redact: Redact = unchanged,
        belonging: Callable[[str], Belonging] = lambda _: Belonging.UNKNOWN,
    ) -> None:
        """*redact* is done to files that roundtables begin with; *belonging* tells what is known without asking."""
        self._engine = engine
        self._store = store
        self._workspace = workspace
        self._playbook = playbook
        self._redact = redact
        self._belonging = belonging
        self._sight = Sight(store, workspace)
        self._strangers = Strangers()

    async def start(self, start: Start) -> Reply:
        """A roundtable on the item; one that exists already is linked to, not begun again."""
        near = self._is_outside(start.person)
        self._must_be_let(start.person)
        listings = await self._workspace.items()
        seen = tuple(one for one in listings if sees_folder(start.place, one, near=near))
        item, listed = self._meant(start.item, seen, self._redact(await self._workspace.backlog()))
        slug = await self._sight.free(item.slug, start.place, listings, near=near)
        item, listed = item.but(slug=slug), next((one for one in seen if one.known.slug == slug), listed)
        start = start.but(item=item)
        if start.place.thread and (there := await self._store.at(start.place)):
            return answers.held_already(there) if there.slug == item.slug else answers.thread_taken(there)

        known = await self._store.get(item.slug)
        if known is None:
            return await self._begin(start, listed)
        if known.place.thread:
            return answers.held_already(known)
        await self._engine.handle(item.slug, start)
        return None

    async def resume(self, resume: Resume, reference: str) -> Reply:
        """By reference, by the thread it was asked in, or by a picker of this channel's items."""
        resume = self._known(resume)
        slug = await self._slug(resume.place, reference, resume.person)
        if slug is None:
            return answers.picker(await self._here(resume.place))
        rt = await self._store.get(slug)
        if rt is None or not rt.place.thread:
            self._must_be_let(resume.person)
        if rt is None:
            return await self._take_up(resume, slug)
        if not rt.place.thread:
            start = Start(
                key=resume.key, at=resume.at, item=rt.item, place=resume.place, person=resume.person
            )
            await self._engine.handle(slug, start)
            return None
        await self._engine.handle(slug, resume)
        asked_there = resume.place.thread == rt.place.thread and resume.place.channel == rt.place.channel
        return None if asked_there else answers.goes_on_there(rt)

    async def say(self, place: Place, said: Say, *, mentioned: bool = False) -> Reply:
        """In a thread that git knows and the store has lost, the item is taken up first: nothing said is lost."""
        return None if await self._heard(place, said) or not mentioned else answers.nothing_here()

    async def amend(self, place: Place, amend: Amend) -> Reply:
        await self._heard(place, amend)
        return None

    async def retract(self, place: Place, retract: Retract) -> Reply:
        await self._heard(place, retract)
        return None

    async def press(self, place: Place, press: Press) -> Reply:
        if not await self._heard(place, self._known(press)):
            raise UserError(answers.UNKNOWN_THREAD)
        return None

    async def stop(self, place: Place, stop: Stop, reference: str) -> Reply:
        rt = await self._running(place, reference, stop.person)
        await self._engine.handle(rt.slug, self._known(stop))
        return None if place.thread else answers.stopped(rt)

    async def mute(self, place: Place, mute: Mute, reference: str) -> Reply:
        rt = await self._running(place, reference, mute.person)
        await self._engine.handle(rt.slug, self._known(mute))
        return None if place.thread else answers.muted(rt, muted=mute.muted)

    async def depth(self, place: Place, set_depth: SetDepth) -> Reply:
        rt = await self._running(place, "", set_depth.person)
        await self._engine.handle(rt.slug, self._known(set_depth))
        return None if place.thread else answers.depth_set(rt, set_depth.depth)

    async def status(self, place: Place, person: Person, reference: str) -> Reply:
        slug = await self._slug(place, reference, person)
        if slug is None:
            return answers.listing(await self._here(place))
        if rt := await self._store.get(slug):
            told = answers.status(rt, self._playbook)
            return answers.with_more(told, rt.slug) if same_channel(rt.place, place) else told
        listed = await folder_of(self._workspace, slug)
        return answers.status_of_folder(listed, self._playbook) if listed else answers.nothing_here()

    async def listing(self, place: Place, person: Person) -> Reply:  # noqa: ARG002 -- the same for everybody
        return answers.listing(await self._here(place))

    def _known(self, wish: Wish) -> Wish:
        """With what is known about the person: nobody is asked while Slack waits."""
        belongs = self._belongs(wish.person)
        return wish.but(person=wish.person.but(belongs=belongs)) if belongs else wish

    def _belongs(self, person: Person) -> Belonging:
        return person.belongs or self._belonging(person.id)

    def _is_outside(self, person: Person) -> bool:
        """Whoever is no member is shown what is held where they ask, as Slack does it with channels."""
        return self._belongs(person) in OUTSIDERS

    def _must_be_let(self, person: Person) -> None:
        """Raises UserError for whoever may not begin anything, nor bring it back."""
        known = person.but(belongs=self._belongs(person))
        if why := permission.start_refusal(known, self._playbook.house):
            raise UserError(why)

    async def _heard(self, place: Place, happened: Say | Amend | Retract | Press) -> bool:
        if await self._engine.hear(place, happened):
            self._strangers.forget(place)
            return True
        slug = await self._recovered(place, happened)
        if slug:
            await self._engine.handle(slug, happened)
        return slug is not None

    async def _recovered(self, place: Place, happened: Say | Amend | Retract | Press) -> str | None:
        """The item that was held at *place*, as git has it. Most threads of a channel are nobody's: they are known."""
        if self._strangers.knows(place):
            return None
        listed = next((one for one in await self._workspace.items() if _same_thread(one, place)), None)
        if listed is None:
            self._strangers.meet(place)
            return None
        item, at, person = item_in(listed), happened.at, happened.person
        start = Start(key=f"lost.{happened.key}", at=at, item=item, place=place, person=person)
        with suppress(Conflict):  # somebody else was quicker; what is said now is said to theirs
            await self._engine_takes_up(start, listed)
        return listed.known.slug

    # --- finding ------------------------------------------------------------------------------------------------

    async def _begin(self, start: Start, listed: Listing | None) -> Reply:
        try:
            if listed is None:
                await self._engine.start(start)
            else:
                await self._engine_takes_up(start, listed)
        except Conflict:
            rt = await self._store.get(start.item.slug)
            return answers.held_already(rt) if rt else None
        return None

    async def _take_up(self, resume: Resume, slug: str) -> Reply:
        """The store has lost it, or never had it: the folder is all there is, and is enough."""
        listed = await folder_of(self._workspace, slug)
        if listed is None:
            raise UserError(answers.no_such_item(slug))
        item = item_in(listed)
        start = Start(
            key=resume.key,
            at=resume.at,
            item=item,
            place=resume.place,
            person=resume.person,
            reply_url=resume.reply_url,
        )
        rt = await self._engine_takes_up(start, listed)
        return answers.taken_up(rt) if rt.place.thread and rt.place.thread != resume.place.thread else None

    async def _engine_takes_up(self, start: Start, listed: Listing) -> Roundtable:
        """In the thread that the folder names, if that is in this channel; else in a new one here."""
        here = (listed.team, listed.channel) == (start.place.team, start.place.channel)
        if not here or not listed.thread or start.place.thread not in {"", listed.thread}:
            return await self._engine.take_up(start, thread_known=False)
        start = start.but(place=start.place.but(thread=listed.thread))
        return await self._engine.take_up(start, thread_known=True)

    def _meant(self, item: Item, listings: tuple[Listing, ...], backlog: str) -> tuple[Item, Listing | None]:
        """An item that exists when it is named as such; free text is a new one, unless it makes the same slug."""
        if title := backlog_title(item.title, backlog):
            item = item_from(title)
        wanted = {item.slug, generate_slug(item.title)}
        for listed in listings:
            same_source = item.source_id and (listed.known.source_id or "").upper() == item.source_id.upper()
            if listed.known.slug in wanted or same_source:
                slug, title = listed.known.slug, listed.known.title or item.title
                return item.but(slug=slug, title=title), listed
        return item, None

    async def _slug(self, place: Place, reference: str, person: Person) -> str | None:
        """The item that *reference* means to *person*. Raises UserError when it means none, or several."""
        if not reference.strip():
            if not place.thread:
                return None
            if rt := await self._store.at(place):
                return rt.slug
            return next(
                (one.known.slug for one in await self._workspace.items() if _same_thread(one, place)), None
            )

        return await self._sight.meant(place, reference, near=self._is_outside(person))

    async def _running(self, place: Place, reference: str, person: Person) -> Roundtable:
        """The roundtable that a wish is about; alone in its channel, it need not be named."""
        slug = await self._slug(place, reference, person)
        if slug is None:
            live = [rt for rt in await self._live(place) if rt.stage not in {Stage.ANALYSED, Stage.PAUSED}]
            if len(live) != 1:
                raise UserError(answers.say_which(len(live)))
            return live[0]
        rt = await self._store.get(slug)
        if rt is None:
            raise UserError(answers.not_running(slug))
        return rt

    async def _here(self, place: Place) -> tuple[answers.Standing, ...]:
        """This channel's items, live ones first; nobody is shown those of other channels."""
        live = await self._live(place)
        lost = [
            one
            for one in await self._workspace.items()
            if (one.team, one.channel) == (place.team, place.channel)
            and one.known.slug not in {rt.slug for rt in live}
        ]
        standings = (*(answers.of_roundtable(rt) for rt in live), *(answers.of_folder(one) for one in lost))
        return standings[:ITEMS_LISTED]

    async def _live(self, place: Place) -> tuple[Roundtable, ...]:
        return await self._store.in_channel(place.team, place.channel)


def item_in(listed: Listing) -> Item:
    known = listed.known
    return Item(slug=known.slug, title=known.title or known.slug, source_id=known.source_id)


def same_channel(one: Place, other: Place) -> bool:
    return (one.team, one.channel) == (other.team, other.channel)


def _same_thread(listed: Listing, place: Place) -> bool:
    return (listed.team, listed.channel, listed.thread) == (place.team, place.channel, place.thread)
