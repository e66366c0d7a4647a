"""
What all listeners share: they bring inputs to the desk, and answer one person.

An input that acts reaches the desk only after Slack has said (`users.info`) who the person is: see `brought` and
`said`. Slack is asked once for each person.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from bot.domain.messages.form import InputForm, too_late
from bot.domain.messages.message import Message
from bot.domain.messages.trouble_wording import UNVERIFIED
from bot.domain.roundtable.inputs import (
    Amend,
    Say,
)
from bot.domain.roundtable.words import may_be_wish
from bot.domain.values.places import Belonging, ChannelKind, Person, Place
from bot.engine import access
from bot.engine.commands import Commands
from bot.engine.desk import Reply
from bot.engine.ports import Clock, OnceMarks
from bot.engine.verbs.table import VERBS
from bot.engine.verbs.verb import VerbRequest
from bot.errors import BotError, Conflict, NewerVersion, SlackError, Unavailable, UserError
from bot.slack import parse
from bot.slack.chat import SlackChat
from bot.slack.client import Identity
from bot.slack.markdown import called, calling_by_name, named_with
from bot.slack.parse import Payload
from bot.slack.parse import reply_url as reply_url_of

log = logging.getLogger(__name__)

IDENTIFY_SECONDS = 2.0
"""How long a click or a command waits for `users.info`. Slack waits three seconds in all; the rest is for saving."""
NAMES_SECONDS = 0.8
"""How long a text waits for the names of the people it mentions. After that it has their ids."""
CALLED_AT_MOST = 20
"""People in one message whose names are looked up."""
IDENTIFY_LATER_SECONDS = 60.0
"""How long we go on asking after that."""

T = TypeVar("T")
Work = Callable[[Person, ChannelKind], Awaitable[Reply]]

ANSWERED_SECONDS = 900.0
"""Slack repeats an unacknowledged event at once, after one minute and after five."""

TRIGGER_LATE = frozenset(
    {"expired_trigger_id", "exchanged_trigger_id", "trigger_expired", "trigger_exchanged"}
)

NOT_SAVED = "I could not save that. Try again in a moment."
SAVED_BY_NEWER = (
    "A newer version of me saved this roundtable, and I can't open it. Nothing was changed or lost. "
    "Ask the operator of this bot to start the newer version again."
)
WENT_WRONG = "Something went wrong on my side, and nothing was changed. Try again in a moment."
MOMENT = "One moment."
AS_A_GUEST = "Slack has not told me who you are, so I treat you as a guest for now."


ONE_MOMENT = Message(text=MOMENT)


class BackgroundTasks:
    """Small tasks after the acknowledgement. Keeps a reference to each, so none is garbage-collected while it runs."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def send(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def drain(self, seconds: float) -> None:
        """Waits *seconds* for running tasks, then cancels them."""
        if not self._running:
            return
        _, late = await asyncio.wait(self._running, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, SlackError):
            log.warning("an answer could not be delivered: %s", error)
        elif error:
            log.error("an errand failed", exc_info=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    desk: Commands
    chat: SlackChat
    us: Identity
    memory: OnceMarks
    clock: Clock
    errands: BackgroundTasks = field(default_factory=BackgroundTasks)

    async def ask(self, body: Payload, asked: VerbRequest) -> Reply:

        rest, named = named_with(asked.rest) if asked.verb == "start" else (asked.rest, ())

        async def known(person: Person, room: ChannelKind) -> Reply:
            words = await self._by_name(rest)
            return await self.desk.ask(replace(asked, person=person, room=room, rest=words, called=named))

        where = asked.place if VERBS[asked.verb].opens and asked.place.channel else None
        return await self.brought(body, asked.person, known, where=where, room=asked.room)

    async def brought(
        self,
        body: Payload,
        person: Person,
        work: Work,
        *,
        where: Place | None = None,
        room: ChannelKind = ChannelKind.UNKNOWN,
    ) -> Reply:
        """
        The answer of *work*, which is told who *person* is and, with *where*, which kind of conversation that is.

        When Slack takes too long to say so, the answer is MOMENT, and the real one follows later. A crash in between
        loses it; the person sees MOMENT without a result, and asks again.
        """
        if where is None and (belongs := person.belongs or self.chat.belonging(person.id)):
            return await _done(work, person.but(belongs=belongs), room)
        finding = await self._waited_for(self._found_out(person, where, room))
        if finding.done():
            return await _done(work, *finding.result())
        self.errands.send(self._brought_later(body, finding, work))
        return ONE_MOMENT

    async def said(self, said: Say | Amend) -> Say | Amend:
        """
        *said*, with what is known about its author. Text that may be a command waits for Slack's answer; when that
        takes too long, it is recorded and does not act. Other text does not wait.
        """
        known = may_be_wish(said.text)
        person = await self.identified(said.person) if known else self.remembered(said.person)
        return said.but(person=person, text=await self._by_name(said.text))

    def remembered(self, person: Person) -> Person:
        """With what is known about *person* without asking Slack."""
        return person.but(belongs=person.belongs or self.chat.belonging(person.id))

    async def identified(self, person: Person) -> Person:
        """Asks Slack; UNVERIFIED when that takes too long."""
        if (known := self.remembered(person)).belongs:
            return known
        return (await self.placed(person, None))[0]

    async def placed(self, person: Person, where: Place | None) -> tuple[Person, ChannelKind]:
        """Asks Slack who that is and what kind of conversation; unverified and unknown when that takes too long."""
        finding = await self._waited_for(self._found_out(person, where, ChannelKind.UNKNOWN))
        if finding.done():
            return finding.result()
        return person.but(belongs=Belonging.UNVERIFIED), ChannelKind.UNKNOWN

    async def _waited_for(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """In the background. It may not be done yet."""
        task = self.errands.send(work)
        await asyncio.wait({task}, timeout=IDENTIFY_SECONDS)
        return task

    def open_form(self, body: Payload, form: InputForm, trigger: str) -> None:
        """In the background, at once. Slack gives three seconds; when that was not enough, the person is told."""
        self.errands.send(self._open_form(body, form, trigger))

    def tell(self, place: Place, person: str, reply: Reply | str, *, reply_url: str = "") -> None:
        """In the background: an acknowledgement may take three seconds in all. Retried, because it is in no outbox."""
        if not reply or not person or not place.channel:
            return
        message = reply if isinstance(reply, Message) else Message(text=reply)
        told = partial(self.chat.tell, place, person, message, reply_url=reply_url)
        self.errands.send(access.retried(told))

    def answer(self, body: Payload, reply: Reply | str) -> None:
        """`tell` the sender of *body*, in the same place."""
        place, person = parse.origin(body, self.us), parse.sender(body, self.us)
        self.tell(place, person, reply, reply_url=reply_url_of(body))

    async def answer_once(self, body: Payload, reply: Reply | str) -> None:
        """
        `answer` an event once, even if Slack delivers it several times, to several processes, or as both `message` and
        `app_mention`. The first answer counts, even if it is empty. A crash right after this loses the answer.
        """
        try:
            is_first = await self.memory.first(f"answered.{parse.occasion(body)}", seconds=ANSWERED_SECONDS)
        except Unavailable:
            is_first = True  # better twice than not at all
        if is_first:
            self.answer(body, reply)

    def replace(self, body: Payload, message: Message) -> None:
        """*message* in place of the pressed message; as a new one if that is not possible."""
        self.errands.send(self._replaced(body, message))

    async def _by_name(self, text: str) -> str:
        """People who are called in *text* by the name that Slack knows; by their id when it takes too long to say."""
        ids = sorted(called(text))[:CALLED_AT_MOST]
        if not ids:
            return text
        asking = {one: self.errands.send(self.chat.name_or_id(one)) for one in ids}
        await asyncio.wait(asking.values(), timeout=NAMES_SECONDS)
        return calling_by_name(text, {one: task.result() for one, task in asking.items() if task.done()})

    async def _brought_later(
        self, body: Payload, finding: asyncio.Task[tuple[Person, ChannelKind]], work: Work
    ) -> None:
        reply: Reply | str = WENT_WRONG
        try:
            reply = await _done(work, *await finding)
        except BotError as error:
            reply = sentence_for(error)
        finally:
            self.answer(body, reply)

    async def _found_out(
        self, person: Person, where: Place | None, room: ChannelKind
    ) -> tuple[Person, ChannelKind]:
        asking = access.belonging(self.chat, person, seconds=IDENTIFY_LATER_SECONDS)
        if where is None:
            return person.but(belongs=await asking), room
        belongs, room = await asyncio.gather(asking, self.chat.room(where.channel, said=room))
        return person.but(belongs=belongs), room

    async def _open_form(self, body: Payload, form: InputForm, trigger: str) -> None:
        try:
            await self.chat.show_form(trigger, form)
        except SlackError as error:
            log.info("a form was not opened: %s (%s)", error, error.reason)
            is_late = error.again or error.reason in TRIGGER_LATE
            self.answer(body, too_late(form) if is_late else WENT_WRONG)

    async def _replaced(self, body: Payload, message: Message) -> None:
        url = reply_url_of(body)
        if not url or not await self.chat.replace(url, message):
            self.answer(body, message)


async def _done(work: Work, person: Person, room: ChannelKind) -> Reply:
    """Adds to every answer that an unverified person is treated as a guest."""
    if person.belongs is not Belonging.UNVERIFIED:
        return await work(person, room)
    try:
        reply = await work(person, room)
    except UserError as error:
        raise UserError(str(error) if str(error) == UNVERIFIED else f"{error}\n{AS_A_GUEST}") from error
    return reply.but(note="\n".join(filter(None, (reply.note, AS_A_GUEST)))) if reply else None


def sentence_for(error: Exception) -> str:
    """What a person is told about *error*. Logs it, unless it is a refusal of ours."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, Unavailable | Conflict):
        log.warning("not saved: %s", error)
        return SAVED_BY_NEWER if isinstance(error, NewerVersion) else NOT_SAVED
    log.error("a listener failed", exc_info=error)
    return WENT_WRONG
