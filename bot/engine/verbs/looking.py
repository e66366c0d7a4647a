"""Verbs that tell what there is: of one item, of a channel, of a person. Only `export` posts anything."""

import asyncio
import logging
from collections.abc import AsyncIterator

from bot.domain.item.item import KnownItem, resolve
from bot.domain.messages import agent_wording, entry_wording, menus, record_wording, verb_wording
from bot.domain.messages.message import Link, Message
from bot.domain.roundtable import digest
from bot.domain.roundtable import waiting as waiting_rules
from bot.domain.roundtable.inputs import Export
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.entries import DECISION, Specification
from bot.domain.specification.shown import ShownEntry, ShownItem
from bot.domain.values.places import Person, Place
from bot.engine import answers
from bot.engine.access import same_channel
from bot.engine.desk import Desk, Reply, is_there, must_be_there
from bot.engine.item_locator import folder_of
from bot.engine.ports import now
from bot.engine.verbs.verb import VerbRequest
from bot.engine.viewing import known_item
from bot.errors import UserError, WorkspaceError

log = logging.getLogger(__name__)

SEARCH_SECONDS = 1.5
"""How long decisions are looked for: Slack wants an answer after three seconds."""


async def status(desk: Desk, asked: VerbRequest) -> Reply:
    slug = await desk.finder.slug(asked.place, asked.rest, asked.person)
    if slug is None:
        return answers.listing(await desk.finder.here(asked.place))
    if rt := await desk.store.get(slug):
        told = answers.status(rt, desk.playbook_of(rt))
        return answers.with_more(told, rt.slug) if same_channel(rt.place, asked.place) else told
    listed = await folder_of(desk.workspace, slug)
    return answers.status_of_folder(listed, desk.playbook) if listed else answers.nothing_here()


async def look_around(desk: Desk, asked: VerbRequest) -> Reply:
    """The answer to a call without a verb: what is held here, and what waits for the person."""
    here = await desk.finder.here(asked.place)
    held = answers.listing(here) if here else Message(text=verb_wording.BEFORE)
    return verb_wording.around(await waiting(desk, asked), held)


async def list_items(desk: Desk, asked: VerbRequest) -> Reply:
    return answers.listing(await desk.finder.here(asked.place))


async def waiting(desk: Desk, asked: VerbRequest) -> Message:
    """Of all channels in a direct message, elsewhere of that channel."""
    here = "" if asked.place.channel.startswith("D") else asked.place.channel
    return await desk.personal.told(asked.person.id, here=here)


async def export(desk: Desk, asked: VerbRequest) -> Reply:
    """The record goes into the item's thread, wherever it is asked for, so that no other channel sees it."""
    slug = await desk.finder.slug_or_only(asked.place, asked.rest, asked.person)
    if slug is None:
        return answers.which(await desk.finder.here(asked.place), menus.EXPORT)
    if await desk.store.get(slug):
        rt = await desk.roundtables.handle(slug, Export(**asked.sent, reply_url=asked.reply_url))
        return None if is_there(rt, asked.place) else answers.record_on_its_way(rt)
    listed = await folder_of(desk.workspace, slug)
    return answers.record_kept(listed) if listed else answers.nothing_here()


# --- decisions ------------------------------------------------------------------------------------------------------


async def decisions(desk: Desk, asked: VerbRequest) -> Reply:
    """Of all items that may be seen here, as far as they can be read before Slack wants an answer."""
    found: list[ShownEntry] = []
    titles: dict[str, str] = {}
    unread, until = 0, asyncio.get_running_loop().time() + SEARCH_SECONDS
    async for item, rt in _seen_by(desk, asked.place, asked.person):
        if asyncio.get_running_loop().time() > until:
            unread += 1
            continue
        titles[item.slug] = item.title or item.slug
        try:
            found += await _decisions_of(desk, item, rt)
        except WorkspaceError as error:
            log.warning("no decisions of %s: %s", item.slug, error)
    kept = entry_wording.matching(found, asked.rest, titles)
    return record_wording.decisions_found(kept, asked.rest, titles, unread=unread)


async def _seen_by(
    desk: Desk, place: Place, person: Person
) -> AsyncIterator[tuple[KnownItem, Roundtable | None]]:
    """In a direct message also the roundtables of channels of which the person is a member."""
    known = set()
    async for item, rt in desk.viewers.visible(desk.viewers.of(person, place)):
        known.add(item.slug)
        yield item, rt
    for rt in await desk.personal.held_by(person.id) if place.channel.startswith("D") else ():
        if rt.slug not in known:
            yield known_item(rt), rt


async def _decisions_of(desk: Desk, item: KnownItem, rt: Roundtable | None) -> tuple[ShownEntry, ...]:
    """
    Lines that are not committed may not have the names of their authors yet. Without a roundtable there are no links:
    they would be what a pushed file says, and may lead anywhere.
    """
    if rt:
        specification, pending = rt.specification, rt.lines
    else:
        state = (await desk.workspace.read(item.slug, now=now())).state
        specification, pending = state.specification if state else Specification(), ()
    decided = {id: one for id, one in specification.entries.items() if one.kind == DECISION}
    if not decided:
        return ()
    specification = specification.but(entries=decided)
    lines = (*(await desk.workspace.planning(item.slug)).lines, *pending)
    unnamed = sorted(specification.unnamed & set(rt.people)) if rt else ()
    shown = ShownItem(
        item.slug,
        specification,
        lambda: lines,
        schema=desk.playbook.schema,
        permalink=rt.permalink if rt else "",
        names={id: (await desk.chat.profile(id)).name for id in unnamed},
        redact=desk.redact,
    )
    return tuple(shown.entries())


# --- what a person has missed ---------------------------------------------------------------------------------------


async def catch_up(desk: Desk, asked: VerbRequest) -> Reply:
    """What they have missed; where several items are meant, buttons for them."""
    if asked.place.channel.startswith("D"):
        return await _catch_up_directly(desk, asked.person, asked.rest)
    slug = await desk.finder.slug_or_only(asked.place, asked.rest, asked.person)
    if slug is None:
        return answers.which(await desk.finder.here(asked.place), menus.CATCH_UP)
    return await _digest(desk, slug, asked.place, asked.person)


async def _catch_up_directly(desk: Desk, person: Person, reference: str) -> Reply:
    """In a direct message: about what they take part in, in channels of which they are a member now."""
    held = await desk.personal.held_by(person.id)
    known = [known_item(rt) for rt in held]
    if reference.strip():
        slugs = resolve(reference, known)
        held = tuple(rt for rt in held if rt.slug in slugs)
        if not held:
            raise UserError(answers.no_such_item(reference))
    if not held:
        return Message(text=agent_wording.NO_ROUNDTABLES)
    if len(held) > 1:
        return answers.which(tuple(map(answers.of_roundtable, held)), menus.CATCH_UP)
    return await _digest(desk, held[0].slug, held[0].place, person)


async def _digest(desk: Desk, slug: str, place: Place, person: Person) -> Message:
    """Raises UserError for an item of another channel."""
    rt = await desk.store.get(slug)
    if rt:
        title, known, pending, link = rt.title, rt.place, rt.lines, rt.permalink
        waits = digest.waiting_for(rt, desk.playbook_of(rt))
    else:
        listed = await folder_of(desk.workspace, slug)
        if listed is None:  # it was found there a moment ago
            raise UserError(answers.no_such_item(slug))
        if listed.channel and not listed.sealed:
            raise UserError(answers.not_sealed(slug))
        title, pending, link = listed.known.title or slug, (), ""
        known = Place(team=listed.team, channel=listed.channel) if listed.channel else place
        waits = digest.not_running(slug)
    must_be_there(slug, known, place)
    try:
        recalled = await desk.records.recall(slug, pending, person=person.id, permalink=link)
    except WorkspaceError as error:
        raise UserError(str(error)) from error
    if not recalled.since.is_said:
        return Message(text=digest.nothing_said(title))
    # The running roundtable knows which lines others wrote: those decide nothing.
    since = recalled.since._replace(specification=rt.specification) if rt else recalled.since
    told = digest.digest(since, desk.playbook, person.id)
    for_you = waiting_rules.waits_for(rt, person.id, desk.playbook_of(rt)) if rt else ()
    text = digest.caught_up(title, told, waits, for_you=tuple(map(waiting_rules.in_words, for_you)))
    # Without a roundtable the links are what a pushed file says: they may lead anywhere.
    left_off = recalled.left_off if rt else ""
    links = (("Where you left off", left_off), ("Open the thread", link))
    sources = digest.links(told, rt) if rt else ()
    return Message(text=text, links=(*(Link(label=label, url=url) for label, url in links if url), *sources))
