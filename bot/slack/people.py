"""Which user of Slack a person is (ADR 53). Inside the bot people have ids of ours; Slack's stand only at this edge."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import count
from typing import Protocol

from bot.domain.transcript.people import is_person_id
from bot.errors import Unavailable
from bot.slack.markdown import CALLED


class UserStore(Protocol):
    async def users(self) -> Mapping[str, str]: ...

    async def keep_users(self, users: Mapping[str, str]) -> None: ...


class PersonOf(Protocol):
    def __call__(self, user: str, *, generation: int = 0) -> str: ...


def same(user: str, *, generation: int = 0) -> str:  # noqa: ARG001 -- nobody is another person here
    return user


class PeopleDirectory:
    """*person_of* gives the id of a user. The way back is remembered and stored, for what goes out."""

    def __init__(self, person_of: PersonOf = same, *, store: UserStore | None = None) -> None:
        self._person_of = person_of
        self._store = store
        self._users: dict[str, str] = {}
        self._people: dict[str, str] = {}
        self._new: dict[str, str] = {}
        self._is_new = asyncio.Event()
        self._forgotten: frozenset[str] = frozenset()

    def leave_out(self, forgotten: Collection[str]) -> None:
        """Who speaks again after that is a new person."""
        self._forgotten = frozenset(filter(is_person_id, forgotten))
        for person in self._forgotten & self._users.keys():
            user = self._users.pop(person)
            self._new.pop(person, None)
            self._people.pop(user, None)

    def person(self, user: str) -> str:
        if not user or is_person_id(user):
            return user
        if user not in self._people:
            generations = (self._person_of(user, generation=n) for n in count())
            person = next(one for one in generations if one not in self._forgotten)
            self._people[user] = person
            if self._users.get(person) != user:
                self._users[person] = self._new[person] = user
                self._is_new.set()
        return self._people[user]

    def user(self, person: str) -> str:
        """Empty for a person whom this process does not know."""
        return self._users.get(person, "" if is_person_id(person) else person)

    async def find(self, person: str) -> str:
        """As `user`, and whom other processes stored. Empty for who was not seen since the store was lost."""
        if not (user := self.user(person)) and self._store:
            with suppress(Unavailable):
                self._users = {**await self._store.users(), **self._users}
            user = self.user(person)
        return user

    def called(self, text: str) -> str:
        """*text*, as a person wrote it, with our ids of those whom it mentions by Slack's."""
        return CALLED.sub(lambda found: f"@{self.person(found[1])}", text)

    async def keep_new(self) -> None:
        """Before a state names them: another process may be the one that answers them. Raises Unavailable."""
        if self._store and (new := dict(self._new)):
            await self._store.keep_users(new)
            self._new = {person: user for person, user in self._new.items() if person not in new}

    async def keep(self) -> None:
        """Until cancelled: stores whom it learns of, also of those whom no state names. Raises Unavailable."""
        while True:
            await self.keep_new()
            await self._is_new.wait()
            self._is_new.clear()
