"""
What people ask for, one method for each verb, and one for each kind of event in a thread.

A command finds out which item is meant, answers at once what it can, and leaves every decision to the engine. The
reply is only for the person who asked; it is None when the thread will show the answer. The table of verbs is in
`slack/commands.py`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.policy import Policy
from bot.domain.item.item import Item, KnownItem, backlog_title, folders_of, generate_slug, item_from, resolve
from bot.domain.messages import (
    agent_wording,
    discussion_wording,
    home_page,
    mark_wording,
    menus,
    record_wording,
    review_wording,
    start_form,
    step_wording,
    trouble_wording,
)
from bot.domain.messages import form as form_wording
from bot.domain.messages.form import FormName, InputForm, Submission, SubmissionResult
from bot.domain.messages.message import Action, Link, Message
from bot.domain.messages.record_wording import FoundDecision
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.reviews.notice import AskReview
from bot.domain.reviews.reviewers import asked_for, names_a_reviewer
from bot.domain.roundtable import cards, digest, permission, so_far, waiting
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.inputs import (
    Amend,
    ChannelGone,
    ChannelMoved,
    Export,
    MarkMessage,
    Mute,
    PersonChanged,
    Plan,
    Press,
    Resume,
    Retract,
    Say,
    SetDepth,
    Start,
    Stop,
)
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import amending, answering, marking
from bot.domain.specification import entry_forms
from bot.domain.values.places import ChannelKind, Person, Place
from bot.engine import access, answers, positions
from bot.engine.access import Finder, only_one, same_channel
from bot.engine.answers import say_which_item
from bot.engine.item_locator import folder_of, item_in
from bot.engine.personal import Personal
from bot.engine.ports import Chat, Listing, Records, Store, Workspace
from bot.engine.roundtables import Roundtables
from bot.engine.unknown_threads import KnownThread, Moved, UnknownThreads, UnsignedThread
from bot.engine.viewing import Viewers, held_item, known_item
from bot.errors import Conflict, Overtaken, UserError, WorkspaceError

log = logging.getLogger(__name__)

SEARCH_SECONDS = 1.5
"""How long decisions are looked for: Slack wants an answer after three seconds."""
KNOWN_SECONDS = 2.0
"""How long an event may wait for Slack to say who a person is."""

Reply = Message | None


class Commands:
    def __init__(
        self,
        *,
        roundtables: Roundtables,
        ask_review: Callable[[str, AskReview], Awaitable[None]],
        read_review: Callable[[str, str, int], Awaitable[Message]],
        store: Store,
        workspace: Workspace,
        records: Records,
        chat: Chat,
        playbook: Playbook,
        personal: Personal,
        viewers: Viewers,
        secret: bytes,
        redact: Redact = unchanged,
    ) -> None:
        """*secret* makes slugs of private items; *redact* is done to files that roundtables begin with."""
        self._roundtables = roundtables
        self._ask_review = ask_review
        self._read_review = read_review
        self._store = store
        self._workspace = workspace
        self._records = records
        self._chat = chat
        self._playbook = playbook
        self._personal = personal
        self._redact = redact
        self._threads = UnknownThreads(store, workspace, chat)
        self._viewers = viewers
        self._finder = Finder(store, workspace, self._threads, viewers, secret=secret)

    def read_again(self, playbook: Playbook) -> None:
        """The content has changed."""
        self._playbook = playbook
        self._personal.read_again(playbook)

    # --- a roundtable -----------------------------------------------------------------------------------------------

    async def start(self, start: Start) -> Reply:
        """A roundtable on the item; one that exists already is linked to, not begun again."""
        viewer = self._viewers.of(start.person, start.place)
        self._may_open(start)
        listings = await self._workspace.items()
        seen = tuple(one for one in listings if viewer.sees(held_item(None, one)))
        backlog = await self._workspace.backlog() if viewer.knows_code else ""
        item = self._meant(start, seen, self._redact(backlog))
        slug = await self._finder.slug_for(item.slug, start, listings, viewer)
        listed = next((one for one in seen if one.known.slug == slug), None)
        item = item.but(slug=slug, title=(listed.known.title if listed else "") or item.title)
        start = start.but(item=item)
        if start.place.thread and (there := await self._store.at(start.place)):
            return answers.held_already(there) if there.slug == item.slug else answers.thread_taken(there)

        known = await self._store.get(item.slug)
        if known is None:
            return await self._begin(await self._in_its_thread(start, listed), listed)
        if known.place.thread:
            return answers.held_already(known)
        await self._roundtables.handle(item.slug, start)
        return None

    async def resume(self, resume: Resume, reference: str) -> Reply:
        """By reference, by the thread it was asked in, or by a picker of this channel's items."""
        slug = await self._finder.slug(resume.place, reference, resume.person)
        if slug is None and resume.place.thread and await self._recovered(resume.place, resume):
            return None
        if slug is None:
            return answers.picker(await self._finder.here(resume.place))
        rt = await self._store.get(slug)
        if rt is None or not rt.place.thread:
            return await self._open(resume, slug, rt)
        await self._roundtables.handle(slug, resume)
        return None if _is_there(rt, resume.place) else answers.goes_on_there(rt)

    async def resume_at_home(self, resume: Resume, slug: str) -> None:
        rt, told = await self._store.get(slug), home_page.GONE
        if rt and await self._personal.sees(resume.person.id, rt):
            told = ""
            try:
                await self._roundtables.handle(slug, resume.but(place=rt.place))
            except UserError as error:
                told = str(error)
        self._personal.notice(resume.person.id, told)

    async def say(self, place: Place, said: Say, *, mentioned: bool = False) -> Reply:
        """In a thread that git knows and the store has lost, the item is taken up first, so that no words are lost."""
        return None if await self._heard(place, said) or not mentioned else answers.nothing_here()

    async def amend(self, place: Place, amend: Amend) -> Reply:
        await self._heard(place, amend)
        return None

    async def retract(self, place: Place, retract: Retract) -> Reply:
        await self._heard(place, retract)
        return None

    async def press(self, place: Place, press: Press) -> Reply:
        if press.action is Action.TAKE_UP:
            return await self._taken_up_here(place, press)
        if not await self._heard(place, press):
            raise UserError(answers.UNKNOWN_THREAD)
        return None

    async def stop(self, place: Place, stop: Stop, reference: str) -> Reply:
        rt = await self._finder.running(place, reference, stop.person)
        await self._roundtables.handle(rt.slug, stop)
        return None if place.thread else answers.stopped(rt)

    async def mute(self, place: Place, mute: Mute, reference: str) -> Reply:
        rt = await self._finder.running(place, reference, mute.person)
        await self._roundtables.handle(rt.slug, mute)
        return None if place.thread else answers.muted(rt, muted=mute.muted)

    async def depth(self, place: Place, set_depth: SetDepth) -> Reply:
        rt = await self._finder.running(place, "", set_depth.person)
        await self._roundtables.handle(rt.slug, set_depth)
        return None if place.thread else answers.depth_set(rt, set_depth.depth)

    async def position(self, place: Place, person: Person, words: str, *, key: str, at: str) -> Reply:
        """In a discussion of the channel; elsewhere in one of those that the person takes part in and may see."""
        found = positions.discussed(await self._finder.live(place))
        found = found or positions.discussed(await self._personal.held_by(person.id))
        rt, words = positions.meant(found, words)
        await self._roundtables.handle(rt.slug, positions.given(words, person, key=key, at=at))
        return Message(text=discussion_wording.SEALED_NOTED)

    async def status(self, place: Place, person: Person, reference: str) -> Reply:
        slug = await self._finder.slug(place, reference, person)
        if slug is None:
            return answers.listing(await self._finder.here(place))
        if rt := await self._store.get(slug):
            told = answers.status(rt, playbook_for(rt, self._playbook))
            return answers.with_more(told, rt.slug) if same_channel(rt.place, place) else told
        listed = await folder_of(self._workspace, slug)
        return answers.status_of_folder(listed, self._playbook) if listed else answers.nothing_here()

    async def listing(self, place: Place, person: Person) -> Reply:  # noqa: ARG002 -- the same for all
        return answers.listing(await self._finder.here(place))

    async def decisions(self, place: Place, person: Person, words: str) -> Reply:
        """Of all items that may be seen here, as far as they can be read before Slack wants an answer."""
        found: list[FoundDecision] = []
        unread, until = 0, asyncio.get_running_loop().time() + SEARCH_SECONDS
        async for item, rt in self._seen_by(place, person):
            if asyncio.get_running_loop().time() > until:
                unread += 1
                continue
            try:
                found += await self._decided(item, rt)
            except WorkspaceError as error:
                log.warning("no decisions of %s: %s", item.slug, error)
        return record_wording.decisions_found(record_wording.matching(found, words), words, unread=unread)

    async def _seen_by(
        self, place: Place, person: Person
    ) -> AsyncIterator[tuple[KnownItem, Roundtable | None]]:
        """In a direct message also the roundtables of channels of which the person is a member."""
        known = set()
        async for item, rt in self._viewers.visible(self._viewers.of(person, place)):
            known.add(item.slug)
            yield item, rt
        for rt in await self._personal.held_by(person.id) if place.channel.startswith("D") else ():
            if rt.slug not in known:
                yield known_item(rt), rt

    async def _decided(self, item: KnownItem, rt: Roundtable | None) -> tuple[FoundDecision, ...]:
        """Their lines may not have the names of their authors yet."""
        pending, link = (rt.lines, rt.permalink) if rt else ((), "")
        found = await self._records.decisions(
            item.slug, pending, title=item.title or item.slug, permalink=link
        )
        unnamed = {id for one in found for id in one.by.split(", ") if rt and id in rt.people}
        names = {id: await self._chat.name(id) for id in sorted(unnamed)}
        return tuple(
            one._replace(by=", ".join(names.get(id, id) for id in one.by.split(", "))) for one in found
        )

    def _may_open(self, wish: Start | Resume | Plan) -> None:
        """Raises UserError when this person may not start, or in a conversation that we cannot read."""
        self._must_be_allowed(wish.person, wish.place.channel)
        if not self._policy(wish.place.channel).start:
            raise UserError(trouble_wording.NO_START_HERE)
        if wish.room is ChannelKind.DIRECT:
            raise UserError(answers.NOT_IN_DIRECT)

    def _must_be_allowed(self, person: Person, channel: str) -> None:
        """Raises UserError when *person* may neither start nor resume anything in *channel*."""
        if why := self._start_refusal(person, channel):
            raise UserError(why)

    def _start_refusal(self, person: Person, channel: str) -> str:
        return permission.start_refusal(person, self._policy(channel))

    def _policy(self, channel: str) -> Policy:
        return self._playbook.policies.of(channel, self._playbook.policy)

    async def _heard(self, place: Place, event: Say | Amend | Retract | Press) -> bool:
        if await self._roundtables.hear(place, event):
            self._threads.forget(place)
            return True
        if not await self._recovered(place, event):
            return False
        await self._roundtables.hear(place, event)
        return True

    async def _recovered(self, place: Place, event: Say | Amend | Retract | Press | Resume) -> bool:
        """Whether *place* was the thread of an item. The item is taken up there again, or people are asked about it."""
        under_us = event.under_us if isinstance(event, Say) else None
        is_said = not isinstance(event, Amend | Retract)
        match await self._threads.whose(place, under_us=under_us, look=is_said):
            case KnownThread(item, folder):
                person = event.person
                if not folder:  # words that are no command arrive without it, but start something here
                    belongs = await access.belonging(self._chat, person, seconds=KNOWN_SECONDS)
                    person = person.but(belongs=belongs)
                if not folder and (why := self._start_refusal(person, place.channel)):
                    await self._threads.ask(place, item, step_wording.record_gone(item.title))
                    raise UserError(why)
                start = Start(key=f"lost.{event.key}", at=event.at, item=item, place=place, person=person)
                await self._taken_up_at(start, folder)
                return True
            case UnsignedThread(folder):
                if isinstance(event, Say | Press):
                    await self._threads.ask(
                        place, item_in(folder), step_wording.named_by_git(folder.known.title)
                    )
                if isinstance(event, Press):
                    raise UserError(answers.asked_in_thread(folder.known.title))
                return isinstance(event, Say)
            case Moved(item):
                raise UserError(answers.moved(item.title, item.slug))
            case None:
                return False

    async def _taken_up_here(self, place: Place, press: Press) -> Reply:
        """A person confirms that the thread belongs to the item. Only from now on is it read."""
        if held := await self._store.at(place):
            return answers.held_already(held)
        self._must_be_allowed(press.person, place.channel)
        self._threads.forget(place)
        match await self._threads.whose(place):
            case KnownThread(item, folder) if item.slug == press.value:
                pass
            case UnsignedThread(folder) if folder.known.slug == press.value:
                item = item_in(folder)
            case _:
                raise UserError(answers.named_no_more())
        start = Start(key=press.key, at=press.at, item=item, place=place, person=press.person)
        await self._taken_up_at(start, folder)
        self._threads.forget(place)
        await self._threads.answered(place, press.ts, item, by=press.person.name or press.person.id)
        return None

    async def _taken_up_at(self, start: Start, folder: Listing | None) -> None:
        """In the thread of *start*, which is known to belong to the item."""
        with suppress(Conflict):  # another process was quicker; the input goes to its roundtable
            if folder:
                await self._roundtables.take_up(start, thread_known=True)
            else:
                await self._roundtables.start(start)

    async def _in_its_thread(self, start: Start, listed: Listing | None) -> Start:
        """In our own thread for the item, when the channel still has one and store and git have forgotten it."""
        if start.place.thread or (listed and listed.named):
            return start
        found = await self._threads.root_of(start.item.slug, start.place)
        return start.but(place=found) if found else start

    async def _begin(self, start: Start, listed: Listing | None) -> Reply:
        try:
            if listed is None:
                await self._roundtables.start(start)
            else:
                await self._taken_up_from(start, listed)
        except Conflict:
            rt = await self._store.get(start.item.slug)
            return answers.held_already(rt) if rt else None
        return None

    async def _open(self, wish: Resume | Plan, slug: str, rt: Roundtable | None) -> Reply:
        """Opens a thread for a roundtable without one, or for an item of which only the folder is left."""
        self._may_open(wish)
        if rt:
            await self._roundtables.handle(slug, _start(wish, rt.item))
            return None
        listed = await folder_of(self._workspace, slug)
        if listed is None:
            raise UserError(answers.no_such_item(slug))
        taken = await self._taken_up_from(_start(wish, item_in(listed)), listed)
        asked_there = taken.place.thread in {"", wish.place.thread}
        return None if asked_there else answers.taken_up(taken)

    async def _taken_up_from(self, start: Start, listed: Listing) -> Roundtable:
        """
        In the thread that the folder names, if that is in this channel; else in a new one here. Raises UserError when
        people have to confirm first that the thread belongs to the item.
        """
        named = listed.named if listed.named and same_channel(listed.named, start.place) else None
        if named is None or start.place.thread not in {"", named.thread}:
            return await self._roundtables.take_up(start, thread_known=False)
        if listed.home:
            return await self._roundtables.take_up(start.but(place=named), thread_known=True)
        text = step_wording.named_by_git(listed.known.title)
        if await self._threads.ask(named, item_in(listed), text, by_name=True):
            raise UserError(answers.asked_in_thread(listed.known.title))
        return await self._roundtables.take_up(start, thread_known=False)

    def _meant(self, start: Start, seen: tuple[Listing, ...], backlog: str) -> Item:
        """With the slug of a folder that exists, if it names one. Raises UserError when it names several."""
        item = start.item
        if title := backlog_title(item.title, backlog):
            item = item_from(title)
        here = [one.known.slug for one in seen if _has_title_here(one, start.place, item)]
        found = here[:1] or folders_of(item, [one.known for one in seen])
        return item.but(slug=only_one(tuple(found), item.title)) if found else item

    # --- its entries and settings, in forms --------------------------------------------------------------------------

    async def form(self, place: Place, person: Person, action: Action, subject: str) -> InputForm:
        if action is Action.START_FORM:
            return self._start_form(place, person, thread=subject)
        if action is Action.ANSWER_FORM:
            slug, _, step_id = subject.rpartition("/")
            asking = await self._readable(person, slug)
            return answering.form(asking, step_id, playbook_for(asking, self._playbook))
        rt = await self._store.get(subject) if action is Action.SETTINGS else await self._store.at(place)
        if rt is None or not same_channel(rt.place, place):
            raise UserError(answers.UNKNOWN_THREAD)
        return amending.opened(rt, action, subject, person, playbook_for(rt, self._playbook))

    async def _readable(self, person: Person, slug: str) -> Roundtable:
        """For a direct message: raises UserError when they may not see it."""
        rt = await self._store.get(slug)
        if rt is None or not await self._personal.sees(person.id, rt):
            raise UserError(home_page.GONE)
        return rt

    def _start_form(self, place: Place, person: Person, *, thread: str) -> InputForm:
        self._must_be_allowed(person, place.channel)
        channel = "" if place.channel.startswith("D") else place.channel
        return start_form.start_form(self._playbook.within(channel), channel=channel, thread=thread)

    async def start_submitted(
        self, submission: Submission, *, team: str, room: ChannelKind
    ) -> SubmissionResult:
        """The roundtable is saved when this returns."""
        if errors := start_form.mistakes(submission):
            return SubmissionResult(errors=errors)
        channel = submission.text(start_form.CHANNEL)
        start = start_form.started(submission, self._playbook.within(channel), team=team, room=room)
        return SubmissionResult(told=await self.start(start), place=start.place)

    async def mark_form(self, place: Place, ts: str) -> InputForm:
        rt = await self._store.at(place)
        found = marking.said_at(rt, ts) if rt else None
        if rt is None or found is None:
            raise UserError(mark_wording.NOT_MARKABLE if rt else answers.UNKNOWN_THREAD)
        return mark_wording.form(rt.slug, ts, words=found.words, author=rt.name_of(found.author))

    async def mark(self, place: Place, mark: MarkMessage) -> Reply:
        """A reaction names the channel and the message, but no thread. Most are about nothing of ours."""
        for rt in await self._finder.live(place):
            if marking.knows(rt, mark.ts):
                await self._roundtables.handle(rt.slug, mark)
                return None
        return None

    async def in_channel(self, place: Place, event: ChannelGone | ChannelMoved) -> None:
        for rt in await self._finder.live(place):
            await self._roundtables.handle(rt.slug, event)

    async def person_changed(self, event: PersonChanged) -> None:
        await self._roundtables.person_changed(event)

    async def _mark_submitted(self, submission: Submission) -> SubmissionResult:
        """An answer may be sorted next."""
        if errors := marking.flaws(submission):
            return SubmissionResult(errors=errors)
        mark = marking.entered(submission)
        rt = await self._roundtables.handle(submission.slug, mark)
        if mark.mark is not MarkKind.ANSWER:
            return SubmissionResult()
        playbook = playbook_for(rt, self._playbook)
        return SubmissionResult(
            form=entry_forms.sort_form(rt.step_id, rt.specification, playbook.schema, slug=rt.slug)
        )

    async def submit(self, submission: Submission) -> SubmissionResult:
        if submission.name is FormName.MARK:
            return await self._mark_submitted(submission)
        rt = await self._held(submission.slug)
        if submission.name is FormName.ANSWER:
            rt = await self._readable(submission.person, submission.slug)
        playbook = playbook_for(rt, self._playbook)
        reading = amending.read(rt, submission, playbook)
        if reading.errors:
            return SubmissionResult(errors=reading.errors)
        try:
            for event in amending.inputs(rt, submission, reading):
                await self._roundtables.handle(rt.slug, event)
        except Overtaken as overtaken:
            now = await self._held(submission.slug)
            form = amending.conflict_form(now, submission, overtaken, playbook)
            return SubmissionResult(form=form)
        if not reading.opens:
            return SubmissionResult()
        now = await self._held(submission.slug)
        return SubmissionResult(form=amending.entry_form(now, reading.opens, playbook))

    async def settings(self, place: Place, person: Person, reference: str) -> Reply:
        rt = await self._finder.running(place, reference, person)
        if not same_channel(rt.place, place):
            raise UserError(answers.UNKNOWN_THREAD)
        if why := permission.refusal(rt, person, self._policy(rt.place.channel)):
            raise UserError(why)
        button = menus.SETTINGS.but(value=rt.slug)
        return Message(text=form_wording.settings_button(rt.title), choices=(button,))

    async def _held(self, slug: str) -> Roundtable:
        rt = await self._store.get(slug)
        if rt is None:
            raise UserError(answers.not_running(slug))
        return rt

    # --- its plan ---------------------------------------------------------------------------------------------------

    async def plan(self, plan: Plan, reference: str) -> Reply:
        """A *reference* of several words that names no item is the brief of a new one."""
        slug = await self._planned(plan, reference)
        if slug is None:
            return await self._planned_anew(plan, reference)
        rt = await self._store.get(slug)
        if rt is None or not rt.place.thread:
            return await self._open(plan, slug, rt)
        await self._roundtables.handle(slug, plan)
        return None if _is_there(rt, plan.place) else answers.planned_there(rt)

    async def _planned(self, plan: Plan, reference: str) -> str | None:
        """None for a brief. Raises UserError when it is not clear which item is meant."""
        place = plan.place
        if not reference.strip():
            return await self._finder.slug(place, "", plan.person) or await self._only_one(place)
        found = await self._finder.matching(self._viewers.of(plan.person, place), reference)
        is_brief = not found and len(reference.split()) > 1
        return None if is_brief else only_one(found, reference)

    async def _only_one(self, place: Place) -> str:
        live = await self._finder.live(place)
        if len(live) != 1:
            raise UserError(answers.say_what_to_plan(len(live)))
        return live[0].slug

    async def _planned_anew(self, plan: Plan, brief: str) -> Reply:
        if plan.place.thread and (there := await self._store.at(plan.place)):
            return answers.plan_what(there)
        return await self.start(_start(plan, item_from(brief)).but(brief=brief.strip()))

    # --- its record -------------------------------------------------------------------------------------------------

    async def catch_up(self, place: Place, person: Person, reference: str) -> Reply:
        """What *person* has missed; where several items are meant, buttons for them."""
        if place.channel.startswith("D"):
            return await self._caught_up_directly(person, reference)
        slug = await self._finder.slug_or_only(place, reference, person)
        if slug is None:
            return answers.which(await self._finder.here(place), menus.CATCH_UP)
        return await self._digest(slug, place, person)

    async def _caught_up_directly(self, person: Person, reference: str) -> Reply:
        """In a direct message: about what they take part in, in channels of which they are a member now."""
        held = await self._personal.held_by(person.id)
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
        return await self._digest(held[0].slug, held[0].place, person)

    async def waits_for(self, place: Place, person: Person) -> Reply:
        """Elsewhere than in a direct message, only what waits in that channel."""
        here = "" if place.channel.startswith("D") else place.channel
        return await self._personal.told(person.id, here=here)

    async def greeted(self, person: Person) -> Reply:
        return await self._personal.greeting(person.id)

    async def belongs_nowhere(self, person: Person) -> Reply:
        return await self._personal.belongs_nowhere(person.id)

    async def export(self, place: Place, export: Export, reference: str) -> Reply:
        """The record goes into the item's thread, wherever it is asked for, so that no other channel sees it."""
        slug = await self._finder.slug_or_only(place, reference, export.person)
        if slug is None:
            return answers.which(await self._finder.here(place), menus.EXPORT)
        if await self._store.get(slug):
            rt = await self._roundtables.handle(slug, export)
            return None if _is_there(rt, place) else answers.record_on_its_way(rt)
        listed = await folder_of(self._workspace, slug)
        return answers.record_kept(listed) if listed else answers.nothing_here()

    async def _digest(self, slug: str, place: Place, person: Person) -> Message:
        """Raises UserError for an item of another channel: its words are for the people of that channel."""
        rt = await self._store.get(slug)
        if rt:
            title, known, pending, link = rt.title, rt.place, rt.lines, rt.permalink
            waiting = digest.waiting_for(digest.waits(rt, playbook_for(rt, self._playbook)))
        else:
            listed = await folder_of(self._workspace, slug)
            if listed is None:  # it was found there a moment ago
                raise UserError(answers.no_such_item(slug))
            if listed.channel and not listed.sealed:
                raise UserError(answers.not_sealed(slug))
            title, pending, link = listed.known.title or slug, (), ""
            known = Place(team=listed.team, channel=listed.channel) if listed.channel else place
            waiting = digest.not_running(slug)
        if not same_channel(known, place):
            raise UserError(digest.held_elsewhere(slug))
        try:
            recalled = await self._records.recall(slug, pending, person=person.id, permalink=link)
        except WorkspaceError as error:
            raise UserError(str(error)) from error
        if not recalled.since.now.lines:
            return Message(text=digest.nothing_said(title))
        # The running roundtable knows which lines others wrote: those decide nothing.
        since = recalled.since._replace(specification=rt.specification) if rt else recalled.since
        told = digest.digest(since, self._playbook)
        told = digest.with_moves(told, since, person.id)
        for_you = self._waits_for(rt, person) if rt else ()
        text = digest.caught_up(title, told, waiting, for_you=for_you)
        # Without a roundtable the links are what a pushed file says: they may lead anywhere.
        left_off = recalled.left_off if rt else ""
        links = (("Where you left off", left_off), ("Open the thread", link))
        sources = digest.links(told, rt) if rt else ()
        return Message(
            text=text, links=(*(Link(label=label, url=url) for label, url in links if url), *sources)
        )

    def _waits_for(self, rt: Roundtable, person: Person) -> tuple[str, ...]:
        found = waiting.waits_for(rt, person.id, playbook_for(rt, self._playbook))
        return tuple(map(waiting.in_words, found))

    # --- what waits for one person ----------------------------------------------------------------------------------

    async def snooze(self, person: Person, how_long: str) -> Reply:
        return await self._personal.snooze(person.id, how_long)

    async def remind(self, person: Person, when: str) -> Reply:
        return await self._personal.remind(person.id, when)

    async def opened_home(self, person: str) -> None:
        await self._personal.opened_home(person)

    # --- reviews ----------------------------------------------------------------------------------------------------

    async def review(self, wish: AskReview, reference: str, lens: str) -> Reply:
        """
        Saved when this returns. Only the item's files are reviewed; its roundtable need not run. A single word that
        names no item may name a persona, or what a persona looks at.
        """
        roster = self._playbook.roster
        try:
            slug = await self._reviewed(wish.place, wish.person, reference)
        except UserError:
            if lens or not names_a_reviewer(reference, roster):
                raise
            slug, lens = await self._reviewed(wish.place, wish.person, ""), reference
        await self._may_ask(slug, wish.person, wish.place.channel)
        personas = asked_for(lens, roster)
        listed = await folder_of(self._workspace, slug)
        if listed is None:
            raise UserError(f"Nothing of `{slug}` is kept yet, so there is nothing to review.")
        if listed.channel and not listed.sealed and await self._store.get(slug) is None:
            raise UserError(answers.not_sealed(slug))
        title = listed.known.title or slug
        chosen = tuple(persona.key for persona in personas)
        try:
            await self._ask_review(slug, wish.but(title=title, personas=chosen))
        except WorkspaceError as error:
            raise UserError(f"I can't get at the reviews of `{slug}`: {error}") from error
        return review_wording.under_way(title, [persona.label for persona in personas])

    async def read_review(self, place: Place, person: Person, reference: str, number: int) -> Reply:
        """Only in the item's own channel: its words are for the people there."""
        slug = await self._reviewed(place, person, reference)
        rt, listed = await self._store.get(slug), await folder_of(self._workspace, slug)
        channel = rt.place.channel if rt else listed.channel if listed else ""
        if channel and channel != place.channel:
            raise UserError(review_wording.held_elsewhere(slug))
        title = rt.title if rt else listed.known.title if listed else ""
        try:
            return await self._read_review(slug, title or slug, number)
        except WorkspaceError as error:
            raise UserError(f"I can't get at the reviews of `{slug}`: {error}") from error

    async def read_step(self, place: Place, person: Person, step_id: str) -> Reply:
        """Only in the item's own channel, as with a review."""
        rt = await self._finder.running(place, "", person)
        if not same_channel(rt.place, place):
            raise UserError(digest.held_elsewhere(rt.slug))
        return cards.read(rt, step_id, playbook_for(rt, self._playbook))

    async def read_so_far(self, place: Place, person: Person, reference: str) -> Reply:
        """Only in the item's own channel, as with a review."""
        slug = await self._finder.slug_or_only(place, reference, person)
        if slug is None:
            here = await self._finder.here(place)
            raise UserError(record_wording.which_item([one.slug for one in here]))
        rt = await self._held(slug)
        if not same_channel(rt.place, place):
            raise UserError(digest.held_elsewhere(slug))
        return so_far.so_far(rt, playbook_for(rt, self._playbook))

    async def _may_ask(self, slug: str, person: Person, channel: str) -> None:
        """Raises UserError for a person who may not press buttons: a review costs work of models, and is a commit."""
        rt = await self._store.get(slug)
        if rt is None:
            self._must_be_allowed(person, channel)
        elif why := permission.refusal(rt, person, self._policy(rt.place.channel)):
            raise UserError(why)

    async def _reviewed(self, place: Place, person: Person, reference: str) -> str:
        """The item that is named, or of this thread, or the only one of this channel."""
        if slug := await self._finder.slug(place, reference, person):
            return slug
        if place.thread:
            raise UserError(
                "There is no roundtable in this thread. Say which item, as in `review dark-mode`."
            )
        here = await self._finder.here(place)
        if len(here) != 1:
            raise UserError(say_which_item([one.slug for one in here]))
        return here[0].slug


def _has_title_here(listed: Listing, place: Place, item: Item) -> bool:
    """Items of a private channel have other slugs than their titles make."""
    here = bool(listed.private) and listed.is_in(place)
    return here and generate_slug(listed.known.title) == generate_slug(item.title)


def _start(wish: Resume | Plan, item: Item) -> Start:
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


def _is_there(rt: Roundtable, place: Place) -> bool:
    return same_channel(rt.place, place) and rt.place.thread == place.thread
