"""
What Slack says about people and channels. It is remembered until Slack sends an event that it changed; and only for
minutes, because another process may have got that event.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

from bot.domain.values.places import Belonging, ChannelKind, Person
from bot.engine.lru import LruCache
from bot.engine.ports import Profile
from bot.errors import SlackError
from bot.slack.client import Calls, Identity, RefusalsNoted, needed_scopes
from bot.slack.limits import shortened
from bot.slack.markdown import one_line
from bot.slack.parse import word
from bot.slack.people import PeopleDirectory

log = logging.getLogger(__name__)

REMEMBERED = 10_000
A_DAY = 86_400
NAME_CHARS = 80
REFUSED_SECONDS = 60.0
"""After this Slack is asked again about what it did not say."""
KEPT_SECONDS = 900.0

T = TypeVar("T")


class Remembered(Generic[T]):
    """The answers to *ask*. Those for which *is_known* is not true are kept for a minute only."""

    def __init__(self, ask: Callable[[str], Coroutine[Any, Any, T]], is_known: Callable[[T], bool]) -> None:
        self._ask = ask
        self._is_known = is_known
        self._answers: LruCache[str, tuple[T, float]] = LruCache(REMEMBERED)
        self._asking: dict[str, asyncio.Task[T]] = {}

    def now(self, key: str) -> T | None:
        """What is remembered, without a call."""
        answer, at = self._answers.get(key, (None, -math.inf))
        kept = KEPT_SECONDS if answer and self._is_known(answer) else REFUSED_SECONDS
        return answer if time.monotonic() - at < kept else None

    async def of(self, key: str) -> T:
        """Concurrent callers share one request, which goes on when one of them is cancelled."""
        answer = self.now(key)
        if answer is None:
            if key not in self._asking:
                self._asking[key] = asyncio.create_task(self._ask(key))
                self._asking[key].add_done_callback(lambda task: self._finished(key, task))
            answer = await asyncio.shield(self._asking[key])
        return answer

    def forget(self, key: str) -> None:
        """Also an answer that is on its way."""
        self._answers.pop(key, None)
        self._asking.pop(key, None)

    def put(self, key: str, answer: T) -> None:
        self.forget(key)
        self._answers[key] = answer, time.monotonic()

    def _finished(self, key: str, asking: "asyncio.Task[T]") -> None:
        is_answer = not asking.cancelled() and not asking.exception()
        if self._asking.get(key) is asking:
            del self._asking[key]
            if is_answer:
                self._answers[key] = asking.result(), time.monotonic()


class PersonNames:
    def __init__(self, calls: Calls, us: Identity) -> None:
        self._calls = calls
        self._us = us
        self._known: Remembered[Profile] = Remembered(
            self._request, lambda one: one.belongs is not Belonging.UNVERIFIED
        )

    async def of(self, person: str) -> Profile:
        """As `Chat.profile`."""
        return await self._known.of(person)

    async def or_id(self, person: str) -> str:
        try:
            return (await self.of(person)).name
        except SlackError:
            return person

    async def or_ids(self, people: Iterable[str]) -> Mapping[str, str]:
        return {person: await self.or_id(person) for person in sorted(people)}

    def belonging(self, person: str) -> Belonging:
        """From memory, without a call."""
        known = self._known.now(person)
        return known.belongs if known else Belonging.UNKNOWN

    def changed(self, user: Mapping[str, Any]) -> Person | None:
        """Slack tells of a *user*; None when nothing of that is new to us: most changes are of a status."""
        person = self._us.people.person(word(user, "id"))
        before, known = self._known.now(person), self._read_member(person, user) if person else None
        if known is None or known == before:
            return None
        if before:
            self._known.put(person, known)
        return Person(id=person, name=known.name, belongs=known.belongs)

    async def _request(self, person: str) -> Profile:
        if not (user := await self._us.people.find(person)):
            return Profile(person)
        with RefusalsNoted(log, "Slack does not say who %s is", person):
            answer = await self._calls(self._calls.client.users_info, user=user)
            if member := answer.get("user"):
                return self._read_member(person, member)
        return Profile(person)

    def _read_member(self, person: str, user: Mapping[str, Any]) -> Profile:
        fields = (("profile", "display_name"), ("profile", "real_name"), ("real_name",))
        name = next((shown for one in fields if (shown := one_line(word(user, *one)))), person)
        offset = user.get("tz_offset")
        return Profile(
            shortened(self._us.redact(name), NAME_CHARS),
            belonging_of(user, self._us),
            zone=word(user, "tz"),
            offset=offset if isinstance(offset, int) and abs(offset) < A_DAY else None,
        )


def belonging_of(user: Mapping[str, Any], us: Identity) -> Belonging:
    """In an Enterprise Grid people of other workspaces of the same organisation are members."""
    if user.get("deleted"):
        return Belonging.LEFT
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return Belonging.GUEST
    organisation = word(user, "enterprise_user", "enterprise_id") or word(user, "enterprise_id")
    ours = bool(us.enterprise) and organisation == us.enterprise
    elsewhere = word(user, "team_id") not in {"", us.team} and not ours
    return Belonging.EXTERNAL if user.get("is_stranger") or elsewhere else Belonging.MEMBER


# --- channels ------------------------------------------------------------------------------------------------------

LISTED: Mapping[str, Any] = {"limit": 999, "most": 50}
"""Slack wants a limit below 1,000 for a page."""
DIRECT_SCOPES = frozenset({"im:read", "mpim:read"})
"""The app does not ask for them: a channel that needs one is a direct message."""
NO_NAME = (
    "I can't look up the channel %s by its name (%s). Set ROUNDTABLE_TRIAGE_CHANNEL to its id,"
    " which Slack shows at the end of the channel's details."
)
NO_CHANNEL = (
    "There is no channel %s that I can see. Invite me there, or set ROUNDTABLE_TRIAGE_CHANNEL to its id."
)


class Channels:
    def __init__(self, calls: Calls, people: PeopleDirectory) -> None:
        self._calls = calls
        self._people = people
        self._ids: dict[str, str] = {}
        self._members: Remembered[frozenset[str]] = Remembered(self._read_members, bool)
        self._infos: Remembered[Mapping[str, Any]] = Remembered(self._read, bool)

    async def members(self, channel: str) -> frozenset[str]:
        """Everybody in *channel*; empty when Slack does not say."""
        return await self._members.of(await self.id_of(channel))

    async def is_shared(self, channel: str) -> bool | None:
        """Whether people of other organisations are in *channel*, or invited; None when Slack does not say."""
        found = await self._infos.of(await self.id_of(channel))
        return bool(found.get("is_ext_shared") or found.get("is_pending_ext_shared")) if found else None

    def forget(self, channel: str) -> None:
        """Who is in there has changed."""
        self._members.forget(channel)
        self._infos.forget(channel)

    async def private(self, channel: str) -> bool | None:
        """
        None when Slack does not say. Never remembered, because a channel can become private; for a running thread its
        messages say so.
        """
        with suppress(SlackError):
            found = await self._read(channel)
            return is_private(found) if found else None
        return None

    async def _read(self, channel: str) -> Mapping[str, Any]:
        """Empty when Slack does not say. Raises SlackError only when a later call may succeed."""
        with RefusalsNoted(log, "Slack does not say what %s is", channel):
            answer = await self._calls(self._calls.client.conversations_info, channel=channel)
            return answer.get("channel") or {}
        return {}

    async def room(self, channel: str, *, said: ChannelKind) -> ChannelKind:
        """*said*, from the payload, is the answer when Slack does not say more."""
        if channel.startswith("D"):
            return ChannelKind.DIRECT
        try:
            answer = await self._calls(self._calls.client.conversations_info, channel=channel)
        except SlackError as error:
            missing = needed_scopes(error)
            return ChannelKind.DIRECT if missing and missing <= DIRECT_SCOPES else said
        found = answer.get("channel") or {}
        if found.get("is_im") or found.get("is_mpim"):
            return ChannelKind.DIRECT
        if found.get("is_private") or found.get("is_group"):
            return ChannelKind.PRIVATE
        return ChannelKind.PUBLIC if found.get("is_channel") else said

    async def _read_members(self, channel: str) -> frozenset[str]:
        found: set[str] = set()
        list_members = self._calls.client.conversations_members
        with RefusalsNoted(log, "Slack does not say who is in %s", channel):
            async for answer in self._calls.pages(list_members, channel=channel, **LISTED):
                found.update(map(self._people.person, answer.get("members") or ()))
            return frozenset(found)
        return frozenset()

    async def id_of(self, named: str) -> str:
        """The id of a channel that is given by its id, or by its name with or without #."""
        if named not in self._ids:
            self._ids[named] = named if _is_id(named) else await self._find(named.removeprefix("#"))
        return self._ids[named]

    async def _find(self, name: str) -> str:
        wanted = {"types": "public_channel,private_channel", "exclude_archived": True, **LISTED}
        try:
            async for answer in self._calls.pages(self._calls.client.conversations_list, **wanted):
                for channel in answer["channels"]:
                    if channel.get("name") == name:
                        return str(channel["id"])
        except SlackError as error:
            if error.again:
                raise
            raise SlackError(NO_NAME % (f"#{name}", error.reason), reason=error.reason) from error
        raise SlackError(NO_CHANNEL % f"#{name}", reason="channel_not_found")


def _is_id(named: str) -> bool:
    """Names of channels have no capitals."""
    return named[:1] in {"C", "G", "D"} and named.isalnum() and named.isupper()


def is_private(channel: Mapping[str, Any]) -> bool:
    """Anything that is not clearly public counts as private."""
    closed = ("is_private", "is_im", "is_mpim", "is_group")
    return not channel.get("is_channel") or any(channel.get(name) for name in closed)
