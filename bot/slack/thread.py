"""What people said in a thread, and below which of our messages: read when it was not heard, or was forgotten."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from bot.domain.outcomes import Heard
from bot.domain.place import Belonging, Person, Place
from bot.domain.witness import Witness
from bot.engine.ports import Thread
from bot.slack.calls import Calls
from bot.slack.earlier import step_of, witness_of
from bot.slack.identity import Identity
from bot.slack.names import Names
from bot.slack.paging import following
from bot.slack.parse import heard

A_PAGE = 200
PAGES = 10
"""The oldest come first, so the newest of a longer thread stay unread."""


class Page(NamedTuple):
    messages: list[Mapping[str, Any]]
    is_last: bool


class ThreadReader:
    def __init__(self, calls: Calls, identity: Identity, names: Names) -> None:
        self._calls = calls
        self._identity = identity
        self._names = names

    async def read(self, place: Place, *, after: str) -> Thread:
        said: list[Heard] = []
        about, complete, witness = "", False, Witness()
        seen: set[str] = set()
        async for page in self._pages(place, after):
            complete = page.is_last
            for message in _unseen(page.messages, seen):
                if message.get("bot_id") == self._identity.bot:
                    about = step_of(message)
                    witness = witness_of(message) or witness
                elif (one := heard(message, self._identity)) and one.ts > after:
                    said.append(one.but(about=about))
        names = {one.person.id: await self._names.or_id(one.person.id) for one in said}
        known = (one.but(person=self._known(one.person, names[one.person.id])) for one in said)
        return Thread(tuple(known), complete, witness)

    def _known(self, person: Person, name: str) -> Person:
        """Words that act count as those of a guest where Slack does not say who wrote them."""
        belongs = person.belongs or self._names.belonging(person.id) or Belonging.UNVERIFIED
        return person.but(name=name, belongs=belongs)

    async def _pages(self, place: Place, after: str) -> AsyncIterator[Page]:
        cursor = ""
        for _ in range(PAGES):
            answer = await self._calls(
                self._calls.client.conversations_replies,
                channel=place.channel,
                ts=place.thread,
                oldest=after or None,
                cursor=cursor or None,
                limit=A_PAGE,
                include_all_metadata=True,
            )
            cursor = following(answer)
            yield Page(answer["messages"], is_last=not cursor)
            if not cursor:
                return


def _unseen(messages: Iterable[Mapping[str, Any]], seen: set[str]) -> Iterator[Mapping[str, Any]]:
    """Slack begins every page of a thread with its root."""
    for message in messages:
        if (ts := str(message.get("ts"))) not in seen:
            seen.add(ts)
            yield message
