"""Verbs that may open a thread: a roundtable is started, taken up from its folder, resumed, or planned."""

import asyncio
from contextlib import suppress

from bot.domain.item.item import (
    Item,
    backlog_title,
    folders_of,
    generate_slug,
    in_repository,
    is_surely_path,
    item_from,
    on_host,
    path_in,
)
from bot.domain.messages import home_page, start_form, step_wording, tracker_wording, trouble_wording
from bot.domain.messages.message import Message
from bot.domain.privacy.discretion import redacted_message
from bot.domain.roundtable.inputs import Amend, Plan, Press, Resume, Retract, Say, Start
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import ChannelKind, Place
from bot.engine import access, answers
from bot.engine.access import only_one, same_channel
from bot.engine.desk import Desk, Reply, is_there
from bot.engine.evidence_ports import LookRefused
from bot.engine.item_locator import folder_of, item_in
from bot.engine.ports import Listing
from bot.engine.unknown_threads import KnownThread, Moved, UnsignedThread
from bot.engine.verbs.verb import VerbRequest
from bot.engine.viewing import held_item
from bot.errors import Conflict, EffectError, UserError

KNOWN_SECONDS = 2.0
"""How long an event may wait for Slack to say who a person is."""
MEMBERS_SECONDS = 1.0
"""The same for who is in a channel. An issue is read after that, and Slack wants an answer after three."""


async def start(desk: Desk, asked: VerbRequest) -> Reply:
    if not asked.rest:
        return start_form.button(asked.adopts)
    wanted = Start(**asked.placed, item=item_from(asked.rest), room=asked.room, participants=asked.called)
    return await start_item(desk, wanted.but(place=asked.place.but(thread=asked.adopts)))


async def resume(desk: Desk, asked: VerbRequest) -> Reply:
    """By reference, by the thread it was asked in, or by a picker of this channel's items."""
    wanted = Resume(**asked.placed, room=asked.room)
    if not asked.place.channel:
        return await _resume_at_home(desk, wanted, asked.rest)
    slug = await desk.finder.slug(asked.place, asked.rest, asked.person)
    if slug is None and asked.place.thread and await recover(desk, wanted.place, wanted):
        return None
    if slug is None:
        return answers.picker(await desk.finder.here(asked.place))
    rt = await desk.store.get(slug)
    if rt is None or not rt.place.thread:
        return await _open(desk, wanted, slug, rt)
    await desk.roundtables.handle(slug, wanted)
    return None if is_there(rt, asked.place) else answers.goes_on_there(rt)


async def _resume_at_home(desk: Desk, wanted: Resume, slug: str) -> Reply:
    """The page itself answers: the Home tab is no place for a message."""
    rt, told = await desk.store.get(slug), home_page.GONE
    if rt and await desk.personal.sees(wanted.person.id, rt):
        told = ""
        try:
            await desk.roundtables.handle(slug, wanted.but(place=rt.place))
        except UserError as error:
            told = str(error)
    desk.personal.notice(wanted.person.id, told)
    return None


async def plan(desk: Desk, asked: VerbRequest) -> Reply:
    """When the text names no item and has several words, it is the brief of a new item."""
    wanted = Plan(**asked.placed, room=asked.room, ts=asked.ts)
    slug = await _item_to_plan(desk, asked)
    if slug is None:
        return await _plan_anew(desk, wanted, asked.rest)
    rt = await desk.store.get(slug)
    if rt is None or not rt.place.thread:
        return await _open(desk, wanted, slug, rt)
    await desk.roundtables.handle(slug, wanted)
    return None if is_there(rt, asked.place) else answers.planned_there(rt)


async def _item_to_plan(desk: Desk, asked: VerbRequest) -> str | None:
    """None for a brief. Raises UserError when it is not clear which item is meant."""
    place, reference = asked.place, asked.rest
    if not reference.strip():
        if slug := await desk.finder.slug(place, "", asked.person):
            return slug
        live = await desk.finder.live(place)
        if len(live) != 1:
            raise UserError(answers.say_what_to_plan(len(live)))
        return live[0].slug
    found = await desk.finder.matching(desk.viewers.of(asked.person, place), reference)
    is_brief = not found and len(reference.split()) > 1
    return None if is_brief else only_one(found, reference)


async def _plan_anew(desk: Desk, wanted: Plan, brief: str) -> Reply:
    if wanted.place.thread and (there := await desk.store.at(wanted.place)):
        return answers.plan_what(there)
    return await start_item(desk, _as_start(wanted, item_from(brief)).but(brief=brief.strip()))


# --- starting -------------------------------------------------------------------------------------------------------


async def start_item(desk: Desk, wanted: Start) -> Reply:
    """A roundtable on the item; one that exists already is linked to, not begun again."""
    viewer = desk.viewers.of(wanted.person, wanted.place)
    _must_open(desk, wanted)
    wanted = await _with_files(desk, wanted, knows_code=viewer.knows_code)
    listings = await desk.workspace.items()
    seen = tuple(listed for listed in listings if viewer.sees(held_item(None, listed)))
    wanted = _in_only_repository(desk, wanted, seen)
    if tracker := desk.sources.tracker:
        wanted = wanted.but(item=on_host(wanted.item, tracker.host))
    backlog = await desk.workspace.backlog() if viewer.knows_code else ""
    item = _find_item(wanted, seen, desk.redact(backlog))
    slug = await desk.finder.slug_for(item.slug, wanted, listings, viewer)
    listed = next((listed for listed in seen if listed.known.slug == slug), None)
    item = item.but(slug=slug, title=(listed.known.title if listed else "") or item.title)
    wanted = wanted.but(item=item)
    if wanted.place.thread and (there := await desk.store.at(wanted.place)):
        return answers.held_already(there) if there.slug == item.slug else answers.thread_taken(there)

    known = await desk.store.get(item.slug)
    if known is None:
        wanted, why = await _with_issue(desk, wanted) if listed is None else (wanted, "")
        told = await _begin(desk, await _in_its_thread(desk, wanted, listed), listed)
        return told or (Message(text=why) if why else None)
    if known.place.thread:
        return answers.held_already(known)
    await desk.roundtables.handle(item.slug, wanted)
    return None


def _in_only_repository(desk: Desk, wanted: Start, seen: tuple[Listing, ...]) -> Start:
    """`#42` is an issue of the repository that is set, unless there is an item by that name."""
    repositories = desk.playbook.repositories
    if len(repositories) != 1 or folders_of(wanted.item, (listed.known for listed in seen)):
        return wanted
    return wanted.but(item=in_repository(wanted.item, repositories[0]))


async def _with_files(desk: Desk, wanted: Start, *, knows_code: bool) -> Start:
    """With what stands in the workspace, if a path was named. Raises UserError where that cannot be read."""
    item = wanted.item
    if not item.reference or item.source_id:
        return wanted
    refused, files = tracker_wording.NOT_FOR_GUESTS, None
    try:
        files = await desk.sources.read_files(item.reference) if knows_code else None
    except LookRefused as error:
        refused = str(error)
    if files is None and is_surely_path(item.reference):
        raise UserError(refused)
    if files is None:
        return wanted.but(item=item.but(reference=""))
    files = redacted_message(files, desk.redact)
    named = item.but(reference=files.path, files=files)
    is_titled = path_in(item.title) != item.reference
    found = item_from(files.title)
    return wanted.but(item=named if is_titled else named.but(title=found.title, slug=found.slug))


async def _with_issue(desk: Desk, wanted: Start) -> tuple[Start, str]:
    """
    With what stands in the issue, or else why not. A title that a person gave stays. Everybody in the channel will read
    it: what a private repository has is not for guests.
    """
    item = wanted.item
    if item.issue_number:
        return wanted, tracker_wording.no_repository(item.issue_number)
    if not item.reference or item.files:
        return wanted, ""
    if desk.sources.tracker is None:
        return wanted, tracker_wording.not_set_up(item.reference)
    for_guests = not await _only_members_read(desk, wanted.place)
    try:
        tracker = desk.sources.tracker
        issue = await tracker.read_issue(item.reference, public_only=for_guests, in_a_hurry=True)
        issue = issue.but(edits=desk.sources.issue_edits(issue))
        found = redacted_message(issue, desk.redact)
    except EffectError as error:
        return wanted, str(error)
    title = (found.title if item.title == item.source_id else "") or item.title
    return wanted.but(item=item.but(title=title, issue=found)), ""


async def _only_members_read(desk: Desk, place: Place) -> bool:
    """Where Slack does not say who is there in time, guests may be."""
    with suppress(TimeoutError):
        async with asyncio.timeout(MEMBERS_SECONDS):
            return (await desk.viewers.at(place)).viewer.knows_code
    return False


def _must_open(desk: Desk, wish: Start | Resume | Plan) -> None:
    """Raises UserError when this person may not start, or in a conversation that we cannot read."""
    desk.must_be_allowed(wish.person, wish.place.channel)
    if not desk.policy(wish.place.channel).start:
        raise UserError(trouble_wording.NO_START_HERE)
    if wish.room is ChannelKind.DIRECT:
        raise UserError(answers.NOT_IN_DIRECT)


def _find_item(wanted: Start, seen: tuple[Listing, ...], backlog: str) -> Item:
    """With the slug of a folder that exists, if it names one. Raises UserError when it names several."""
    item = wanted.item
    if item.files and item.files.item in {listed.known.slug for listed in seen}:
        return item.but(slug=item.files.item)
    if title := backlog_title(item.title, backlog):
        item = item_from(title)
    here = [listed.known.slug for listed in seen if _has_title_here(listed, wanted.place, item)]
    found = here[:1] or folders_of(item, [listed.known for listed in seen])
    return item.but(slug=only_one(tuple(found), item.title)) if found else item


def _has_title_here(listed: Listing, place: Place, item: Item) -> bool:
    """Items of a private channel have other slugs than their titles make."""
    here = bool(listed.private) and listed.is_in(place)
    return (
        here and not item.is_unread_issue and generate_slug(listed.known.title) == generate_slug(item.title)
    )


async def _in_its_thread(desk: Desk, wanted: Start, listed: Listing | None) -> Start:
    """In our own thread for the item, when the channel still has one and store and git have forgotten it."""
    if wanted.place.thread or (listed and listed.named):
        return wanted
    found = await desk.threads.root_of(wanted.item.slug, wanted.place)
    return wanted.but(place=found) if found else wanted


async def _begin(desk: Desk, wanted: Start, listed: Listing | None) -> Reply:
    try:
        if listed is None:
            await desk.roundtables.start(wanted)
        else:
            await _take_up_from(desk, wanted, listed)
    except Conflict:
        rt = await desk.store.get(wanted.item.slug)
        return answers.held_already(rt) if rt else None
    return None


# --- taking up ------------------------------------------------------------------------------------------------------


async def _open(desk: Desk, wish: Resume | Plan, slug: str, rt: Roundtable | None) -> Reply:
    """Opens a thread for a roundtable without one, or for an item of which only the folder is left."""
    _must_open(desk, wish)
    if rt:
        await desk.roundtables.handle(slug, _as_start(wish, rt.item))
        return None
    listed = await folder_of(desk.workspace, slug)
    if listed is None:
        raise UserError(answers.no_such_item(slug))
    taken = await _take_up_from(desk, _as_start(wish, item_in(listed)), listed)
    asked_there = taken.place.thread in {"", wish.place.thread}
    return None if asked_there else answers.taken_up(taken)


async def _take_up_from(desk: Desk, wanted: Start, listed: Listing) -> Roundtable:
    """
    In the thread that the folder names, if that is in this channel; else in a new one here. Raises UserError when
    people have to confirm first that the thread belongs to the item.
    """
    named = listed.named if listed.named and same_channel(listed.named, wanted.place) else None
    if named is None or wanted.place.thread not in {"", named.thread}:
        return await desk.roundtables.take_up(wanted, thread_known=False)
    if listed.home:
        return await desk.roundtables.take_up(wanted.but(place=named), thread_known=True)
    text = step_wording.named_by_git(listed.known.title)
    if await desk.threads.ask(named, item_in(listed), text, by_name=True):
        raise UserError(answers.asked_in_thread(listed.known.title))
    return await desk.roundtables.take_up(wanted, thread_known=False)


def _as_start(wish: Resume | Plan, item: Item) -> Start:
    return Start(
        key=wish.key,
        at=wish.at,
        item=item,
        place=wish.place,
        person=wish.person,
        room=wish.room,
        reply_url=wish.reply_url,
        planning=isinstance(wish, Plan),
    )


# --- threads that the store has lost --------------------------------------------------------------------------------


async def recover(desk: Desk, place: Place, event: Say | Amend | Retract | Press | Resume) -> bool:
    """Whether *place* was the thread of an item. The item is taken up there again, or people are asked about it."""
    under_us = event.under_us if isinstance(event, Say) else None
    is_said = not isinstance(event, Amend | Retract)
    match await desk.threads.whose(place, under_us=under_us, look=is_said):
        case KnownThread(item, folder):
            person = event.person
            if not folder:  # words that are no command arrive without it, but start something here
                belongs = await access.belonging(desk.chat, person, seconds=KNOWN_SECONDS)
                person = person.but(belongs=belongs)
            if not folder and (why := desk.start_refusal(person, place.channel)):
                await desk.threads.ask(place, item, step_wording.record_gone(item.title))
                raise UserError(why)
            start = Start(key=f"lost.{event.key}", at=event.at, item=item, place=place, person=person)
            await _take_up_at(desk, start, folder)
            return True
        case UnsignedThread(folder):
            if isinstance(event, Say | Press):
                await desk.threads.ask(place, item_in(folder), step_wording.named_by_git(folder.known.title))
            if isinstance(event, Press):
                raise UserError(answers.asked_in_thread(folder.known.title))
            return isinstance(event, Say)
        case Moved(item):
            raise UserError(answers.moved(item.title, item.slug))
        case None:
            return False


async def confirm_thread(desk: Desk, place: Place, press: Press) -> Reply:
    """A person confirms that the thread belongs to the item. Only from now on is it read."""
    if held := await desk.store.at(place):
        return answers.held_already(held)
    desk.must_be_allowed(press.person, place.channel)
    desk.threads.forget(place)
    match await desk.threads.whose(place):
        case KnownThread(item, folder) if item.slug == press.value:
            pass
        case UnsignedThread(folder) if folder.known.slug == press.value:
            item = item_in(folder)
        case _:
            raise UserError(answers.named_no_more())
    start = Start(key=press.key, at=press.at, item=item, place=place, person=press.person)
    await _take_up_at(desk, start, folder)
    desk.threads.forget(place)
    await desk.threads.answered(place, press.ts, item, by=press.person.name or press.person.id)
    return None


async def _take_up_at(desk: Desk, start: Start, folder: Listing | None) -> None:
    """In the thread of *start*, which is known to belong to the item."""
    with suppress(Conflict):  # another process was quicker; the input goes to its roundtable
        if folder:
            await desk.roundtables.take_up(start, thread_known=True)
        else:
            await desk.roundtables.start(start)
