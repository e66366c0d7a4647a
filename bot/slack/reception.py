"""
What all listeners share: the desk they bring things to, and how one person alone is told something.

Nothing that acts is brought to the desk before Slack has said who the person is (`brought`, `said`). It is asked once
for a person, and remembered.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from bot.domain.messages.message import Message
from bot.domain.messages.trouble_wording import unverified
from bot.domain.roundtable.effects import Sign
from bot.domain.roundtable.inputs import Amend, Say
from bot.domain.roundtable.permission import may_be_wish
from bot.domain.values.places import Belonging, Person, Place, Room
from bot.engine.review_ports import Memory
from bot.errors import BotError, Conflict, NewerVersion, SlackError, Unavailable, UserError
from bot.slack import parse
from bot.slack.client import Identity
from bot.slack.commands import Desk, Reply
from bot.slack.parse import Payload
from bot.slack.parse import reply_url as reply_url_of
from bot.slack.verbs import OPENING, Asked, ask
from bot.slack.wording import AS_A_GUEST, MOMENT, NOT_SAVED, SAVED_BY_NEWER, WENT_WRONG, plain

log = logging.getLogger(__name__)

TELLINGS = 5
FIRST_WAIT_SECONDS = 0.5

KNOWN_SECONDS = 2.0
"""So long a click or a command waits for Slack to say who it is by. Slack waits three; the rest is for saving."""
AT_MOST_SECONDS = 60.0
"""So long it is tried to find that out."""

T = TypeVar("T")
Said = TypeVar("Said", Say, Amend)
Work = Callable[[Person, Room], Awaitable[Reply]]

ANSWERED_SECONDS = 900.0
"""Slack delivers what was not acknowledged again at once, after one minute and after five."""

Clock = Callable[[], str]
"""Now, in the form of a transcript's `ts`."""


class Whispering(Protocol):
    """What of the chat is for one person, or not for the record."""

    async def who(self, person: str) -> Belonging:
        """UNVERIFIED when Slack does not say; raises SlackError only when asking later may help."""
        ...

    def belonging(self, person: str) -> Belonging:
        """As far as it is known; nothing is asked."""
        ...

    async def room(self, channel: str, *, said: Room) -> Room:
        """*said* when Slack does not say."""
        ...

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None: ...

    async def replace(self, reply_url: str, message: Message) -> bool:
        """In place of the message that was pressed; False when that cannot be any more."""
        ...

    async def clear(self, place: Place, sign: Sign) -> None:
        """Slack shows no more that we are at work."""
        ...


ONE_MOMENT = plain(MOMENT)


class Errands:
    """Small things done after the acknowledgement. Each is held on to: a task nobody holds may vanish unfinished."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def send(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def drain(self, seconds: float) -> None:
        """Waits for what is under way, and gives up on what takes longer than *seconds*."""
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
            log.warning("somebody could not be told something: %s", error)
        elif error:
            log.error("an errand failed", exc_info=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    desk: Desk
    chat: Whispering
    us: Identity
    memory: Memory
    clock: Clock
    errands: Errands = field(default_factory=Errands)

    async def ask(self, body: Payload, asked: Asked) -> Reply:
        """What the desk answers to a verb, as `brought`."""

        async def known(person: Person, room: Room) -> Reply:
            return await ask(self.desk, replace(asked, person=person, room=room))

        where = asked.place if asked.verb in OPENING else None
        return await self.brought(body, asked.person, known, where=where, room=asked.room)

    async def brought(
        self,
        body: Payload,
        person: Person,
        work: Work,
        *,
        where: Place | None = None,
        room: Room = Room.UNKNOWN,
    ) -> Reply:
        """
        What *work* answers, given who *person* is, and, with *where*, what kind of conversation that is.

        When Slack takes too long to say it, the answer is MOMENT, and the rest follows by itself. A crash before that
        loses it, but not silently: the person has read MOMENT and nothing after it, and asks again.
        """
        if where is None and (belongs := person.belongs or self.chat.belonging(person.id)):
            return await _done(work, person.but(belongs=belongs), room)
        finding = self.errands.send(self._found_out(person, where, room))
        await asyncio.wait({finding}, timeout=KNOWN_SECONDS)
        if finding.done():
            return await _done(work, *finding.result())
        self.errands.send(self._brought_later(body, finding, work))
        return ONE_MOMENT

    async def said(self, said: Said) -> Said:
        """
        With what is known of who said it. Words that may act wait for Slack to tell; when that takes too long they are
        recorded, and do not act. All other words wait for nothing.
        """
        person = said.person
        belongs = person.belongs or self.chat.belonging(person.id)
        if not belongs and may_be_wish(said.text):
            asking = self.errands.send(self._belonging(person))
            await asyncio.wait({asking}, timeout=KNOWN_SECONDS)
            belongs = asking.result() if asking.done() else Belonging.UNVERIFIED
        return said.but(person=person.but(belongs=belongs))

    def tell(self, place: Place, person: str, reply: Reply | str, *, reply_url: str = "") -> None:
        """Soon, and without keeping anybody waiting: Slack gives us three seconds in all."""
        if not reply or not person or not place.channel:
            return
        message = reply if isinstance(reply, Message) else plain(reply)
        self.errands.send(self._told(place, person, message, reply_url=reply_url))

    def answer(self, body: Payload, reply: Reply | str) -> None:
        """`tell`, to whoever caused *body*, and there."""
        place, person = parse.origin(body, self.us), parse.sender(body)
        self.tell(place, person, reply, reply_url=reply_url_of(body))

    async def answer_once(self, body: Payload, reply: Reply | str) -> None:
        """
        `answer` to an event, however often Slack delivers it, and to whichever process; also the `message` and the
        `app_mention` that one message may be. The first answer counts, even if that was none. A process that dies
        between here and the answer loses it, as after every acknowledgement.
        """
        try:
            is_first = await self.memory.first(f"answered.{parse.occasion(body)}", seconds=ANSWERED_SECONDS)
        except Unavailable:
            is_first = True  # rather twice than never
        if is_first:
            self.answer(body, reply)

    def replace(self, body: Payload, message: Message) -> None:
        """*message* in place of what was pressed, or beside it."""
        self.errands.send(self._replaced(body, message))

    async def _brought_later(
        self, body: Payload, finding: asyncio.Task[tuple[Person, Room]], work: Work
    ) -> None:
        told: Reply | str = WENT_WRONG
        try:
            told = await _done(work, *await finding)
        except BotError as error:
            told = sentence_for(error)
        finally:
            self.answer(body, told)

    async def _found_out(self, person: Person, where: Place | None, room: Room) -> tuple[Person, Room]:
        asking = self._belonging(person)
        if where is None:
            return person.but(belongs=await asking), room
        belongs, room = await asyncio.gather(asking, self.chat.room(where.channel, said=room))
        return person.but(belongs=belongs), room

    async def _belonging(self, person: Person) -> Belonging:
        """UNVERIFIED in the end: what a member may do is not done for somebody who may be a guest."""
        if person.belongs:
            return person.belongs
        try:
            async with asyncio.timeout(AT_MOST_SECONDS):
                return await self._again_and_again(partial(self.chat.who, person.id))
        except (SlackError, TimeoutError) as error:
            log.warning("Slack does not say who %s is: %s", person.id, error)
            return Belonging.UNVERIFIED

    async def _replaced(self, body: Payload, message: Message) -> None:
        url = reply_url_of(body)
        if not url or not await self.chat.replace(url, message):
            self.answer(body, message)

    async def _told(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        """Nobody but us tries again: what people are told here is in no outbox."""
        await self._again_and_again(partial(self.chat.tell, place, person, message, reply_url=reply_url))

    async def _again_and_again(self, call: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(TELLINGS):
            try:
                return await call()
            except SlackError as error:
                if not error.again or attempt == TELLINGS - 1:
                    raise
                wait = error.after_seconds or FIRST_WAIT_SECONDS * 2**attempt
                log.info("Slack is asked again in %.1f s: %s", wait, error)
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")


async def _done(work: Work, person: Person, room: Room) -> Reply:
    """Who is treated as a guest because Slack does not say who they are is told so with every answer."""
    if person.belongs is not Belonging.UNVERIFIED:
        return await work(person, room)
    try:
        reply = await work(person, room)
    except UserError as error:
        raise UserError(str(error) if str(error) == unverified() else f"{error}\n{AS_A_GUEST}") from error
    return reply.but(note="\n".join(filter(None, (reply.note, AS_A_GUEST)))) if reply else None


def sentence_for(error: Exception) -> str:
    """What a person is told of *error*; all but refusals are logged."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, Unavailable | Conflict):
        log.warning("not saved: %s", error)
        return SAVED_BY_NEWER if isinstance(error, NewerVersion) else NOT_SAVED
    log.error("a listener failed", exc_info=error)
    return WENT_WRONG
