"""What all listeners share: the desk they bring things to, and how one person alone is told something."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.domain.effects import Sign
from bot.domain.message import Message
from bot.domain.place import Place
from bot.errors import SlackError
from bot.slack import parse
from bot.slack.desk import Desk, Reply
from bot.slack.identity import Identity
from bot.slack.payload import Payload
from bot.slack.payload import reply_url as reply_url_of
from bot.slack.wording import plain

log = logging.getLogger(__name__)

TELLINGS = 5
FIRST_WAIT_SECONDS = 0.5

Clock = Callable[[], str]
"""Now, in the form of a transcript's `ts`."""


class Whispering(Protocol):
    """What of the chat is for one person, or not for the record."""

    async def tell(self, place: Place, person: str, message: Message, *, reply_url: str) -> None: ...

    async def replace(self, reply_url: str, message: Message) -> bool:
        """In place of the message that was pressed; False when that cannot be any more."""
        ...

    async def clear(self, place: Place, sign: Sign) -> None:
        """Slack shows no more that we are at work."""
        ...


class Errands:
    """Small things done after the acknowledgement. Each is held on to: a task nobody holds may vanish unfinished."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def send(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    async def drain(self, seconds: float) -> None:
        """Waits for what is under way, and gives up on what takes longer than *seconds*."""
        if not self._running:
            return
        _, late = await asyncio.wait(self._running, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
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
    clock: Clock
    errands: Errands = field(default_factory=Errands)

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

    def replace(self, body: Payload, message: Message) -> None:
        """*message* in place of what was pressed, or beside it."""
        self.errands.send(self._replaced(body, message))

    async def _replaced(self, body: Payload, message: Message) -> None:
        url = reply_url_of(body)
        if not url or not await self.chat.replace(url, message):
            self.answer(body, message)

    async def _told(self, place: Place, person: str, message: Message, *, reply_url: str) -> None:
        """Nobody but us tries again: what people are told here is in no outbox."""
        for attempt in range(TELLINGS):
            try:
                return await self.chat.tell(place, person, message, reply_url=reply_url)
            except SlackError as error:
                if not error.again or attempt == TELLINGS - 1:
                    raise
                wait = error.after_seconds or FIRST_WAIT_SECONDS * 2**attempt
                log.info("somebody is told something in %.1f s: %s", wait, error)
            await asyncio.sleep(wait)
        return None
