"""
Verbs, words and presses in threads, forms, and what happens to channels and people.

A command finds out which item is meant, answers at once what it can, and leaves every decision to the engine. The
verbs are in `engine/verbs/table.py`.
"""

from bot.domain.messages import home_page, mark_wording, start_form
from bot.domain.messages.form import FormName, InputForm, Submission, SubmissionResult
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import (
    Amend,
    ChannelGone,
    ChannelMoved,
    MarkMessage,
    PersonChanged,
    Press,
    Retract,
    Say,
)
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import amending, answering, marking
from bot.domain.specification import entry_forms
from bot.domain.values.places import ChannelKind, Person, Place
from bot.engine import answers
from bot.engine.access import same_channel
from bot.engine.desk import Desk, Reply
from bot.engine.verbs.opening import confirm_thread, recover, start_item
from bot.engine.verbs.table import VERBS
from bot.engine.verbs.verb import VerbRequest
from bot.errors import Overtaken, UserError


class Commands(Desk):
    """
    When a method returns, the input is saved; only then is Slack's delivery acknowledged. A UserError is shown to the
    person as it is. After any other error an event is not acknowledged, so Slack delivers it again.
    """

    async def ask(self, asked: VerbRequest) -> Reply:
        return await VERBS.ask(self, asked)

    # --- in threads -------------------------------------------------------------------------------------------------

    async def hear(
        self, place: Place, event: Say | Amend | Retract | Press, *, mentioned: bool = False
    ) -> Reply:
        """
        In a thread that git knows and the store has lost, the item is taken up first, so that no words are lost.

        *mentioned*: a message mentions us, and expects an answer. An edit may arrive before its message; of a deletion
        Slack does not say whether its author did it, or an admin.
        """
        if isinstance(event, Press) and event.action == Action.TAKE_UP:
            return await confirm_thread(self, place, event)
        if await self.roundtables.hear(place, event):
            self.threads.forget(place)
        elif await recover(self, place, event):
            await self.roundtables.hear(place, event)
        elif isinstance(event, Press):
            raise UserError(answers.UNKNOWN_THREAD)
        elif mentioned:
            return answers.nothing_here()
        return None

    async def mark(self, place: Place, mark: MarkMessage) -> Reply:
        """A reaction names the channel and the message, but no thread. Most are about nothing of ours."""
        for rt in await self.finder.live(place):
            if marking.knows(rt, mark.ts):
                await self.roundtables.handle(rt.slug, mark)
                return None
        return None

    async def in_channel(self, place: Place, event: ChannelGone | ChannelMoved) -> None:
        for rt in await self.finder.live(place):
            await self.roundtables.handle(rt.slug, event)

    # --- people -----------------------------------------------------------------------------------------------------

    async def person_changed(self, event: PersonChanged) -> None:
        await self.roundtables.person_changed(event)

    async def greeted(self, person: Person) -> Reply:
        """Who we are and what waits for them, in a direct message."""
        return await self.personal.greeting(person.id)

    async def belongs_nowhere(self, person: Person) -> Reply:
        """Words in a direct message that are no command."""
        return await self.personal.belongs_nowhere(person.id)

    async def opened_home(self, person: str) -> None:
        await self.personal.opened_home(person)

    # --- forms ------------------------------------------------------------------------------------------------------

    async def form(self, place: Place, person: Person, action: str, subject: str) -> InputForm:
        """The form that a button opens, from the store alone: the person's trigger lasts three seconds."""
        if action == Action.START_FORM:
            return self._start_form(place, person, thread=subject)
        if action == Action.ANSWER_FORM:
            slug, _, step_id = subject.rpartition("/")
            asking = await self._readable(person, slug)
            return answering.form(asking, step_id, self.playbook_of(asking))
        if action == Action.REVERSE and subject:
            return await self._form_at_home(person, action, subject)
        rt = await self.store.get(subject) if action == Action.SETTINGS else await self.store.at(place)
        if rt is None or not same_channel(rt.place, place):
            raise UserError(answers.UNKNOWN_THREAD)
        return amending.opened(rt, action, subject, person, self.playbook_of(rt))

    async def _form_at_home(self, person: Person, action: str, subject: str) -> InputForm:
        """Of an entry. Home has no conversation to be told in, so it says itself why there is no form."""
        slug, _, id = subject.rpartition("/")
        try:
            rt = await self._readable(person, slug)
            return amending.opened(rt, action, id, person, self.playbook_of(rt))
        except UserError as refused:
            self.personal.notice(person.id, str(refused))
            raise

    async def _readable(self, person: Person, slug: str) -> Roundtable:
        """For a direct message and for Home: raises UserError when they may not see it."""
        rt = await self.store.get(slug)
        if rt is None or not await self.personal.sees(person.id, rt):
            raise UserError(home_page.GONE)
        return rt

    def _start_form(self, place: Place, person: Person, *, thread: str) -> InputForm:
        self.must_be_allowed(person, place.channel)
        channel = "" if place.channel.startswith("D") else place.channel
        return start_form.start_form(self.playbook.within(channel), channel=channel, thread=thread)

    async def mark_form(self, place: Place, ts: str) -> InputForm:
        rt = await self.store.at(place)
        found = marking.said_at(rt, ts) if rt else None
        if rt is None or found is None:
            raise UserError(mark_wording.NOT_MARKABLE if rt else answers.UNKNOWN_THREAD)
        return mark_wording.form(rt.slug, ts, words=found.words, author=rt.name_of(found.author))

    async def _start_submitted(
        self, submission: Submission, team: str, room: ChannelKind
    ) -> SubmissionResult:
        if errors := start_form.mistakes(submission):
            return SubmissionResult(errors=errors)
        here = self.playbook.within(submission.text(start_form.CHANNEL))
        start = start_form.started(submission, here, team=team, room=room)
        return SubmissionResult(told=await start_item(self, start), place=start.place)

    async def _mark_submitted(self, submission: Submission) -> SubmissionResult:
        """An answer may be sorted next."""
        if errors := marking.flaws(submission):
            return SubmissionResult(errors=errors)
        mark = marking.entered(submission)
        rt = await self.roundtables.handle(submission.slug, mark)
        if mark.mark is not MarkKind.ANSWER:
            return SubmissionResult()
        schema = self.playbook_of(rt).schema
        form = entry_forms.sort_form(rt.step_id, rt.specification, schema, slug=rt.slug)
        return SubmissionResult(form=form)

    async def submit(
        self, submission: Submission, *, team: str = "", room: ChannelKind = ChannelKind.UNKNOWN
    ) -> SubmissionResult:
        """A UserError leaves it open. *room* is the kind of the channel where a roundtable is to start."""
        if submission.name is FormName.START:
            return await self._start_submitted(submission, team, room)
        if submission.name is FormName.MARK:
            return await self._mark_submitted(submission)
        rt = await self.held(submission.slug)
        if submission.name is FormName.ANSWER:
            rt = await self._readable(submission.person, submission.slug)
        playbook = self.playbook_of(rt)
        reading = amending.read(rt, submission, playbook)
        if reading.errors:
            return SubmissionResult(errors=reading.errors)
        try:
            for event in amending.inputs(rt, submission, reading):
                await self.roundtables.handle(rt.slug, event)
        except Overtaken as overtaken:
            now = await self.held(submission.slug)
            return SubmissionResult(form=amending.conflict_form(now, submission, overtaken, playbook))
        if not reading.opens:
            return SubmissionResult()
        now = await self.held(submission.slug)
        return SubmissionResult(form=amending.entry_form(now, reading.opens, playbook))
