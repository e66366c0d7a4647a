"""What Slack says about people and channels, remembered as far as it does not change."""

import asyncio
import logging
import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.domain.values.places import Belonging, ChannelKind
from bot.engine.lru import LruCache
from bot.errors import SlackError
from bot.slack.client import Calls, Identity, following, needed_scopes
from bot.slack.limits import shortened
from bot.slack.markdown import one_line

log = logging.getLogger(__name__)

REMEMBERED = 10_000
A_DAY = 86_400
NAME_CHARS = 80
REFUSED_SECONDS = 60.0
"""After this Slack is asked again about a person it said nothing about."""


class _Known(NamedTuple):
    name: str
    belongs: Belonging = Belonging.UNVERIFIED
    until: float = math.inf
    zone: str = ""
    offset: int | None = None


class PersonNames:
    def __init__(self, calls: Calls, us: Identity) -> None:
        self._calls = calls
        self._us = us
        self._known: LruCache[str, _Known] = LruCache(REMEMBERED)
        self._asking: dict[str, asyncio.Task[_Known]] = {}

    async def of(self, person: str) -> str:
        """The id when Slack names no name. Raises SlackError only when a later call may succeed."""
        return (await self._found(person)).name

    async def who(self, person: str) -> Belonging:
        """UNVERIFIED when Slack does not say. Raises SlackError only when a later call may succeed."""
        return (await self._found(person)).belongs

    async def zone(self, person: str) -> str:
        """The name of their time zone; empty when Slack does not say."""
        return (await self._found(person)).zone

    async def offset(self, person: str) -> int | None:
        """Seconds east of UTC, as of when Slack was asked."""
        return (await self._found(person)).offset

    async def or_id(self, person: str) -> str:
        try:
            return await self.of(person)
        except SlackError:
            return person

    def belonging(self, person: str) -> Belonging:
        """From memory, without a call."""
        known = self._remembered(person)
        return known.belongs if known else Belonging.UNKNOWN

    def _remembered(self, person: str) -> _Known | None:
        known = self._known.get(person)
        return known if known and time.monotonic() < known.until else None

    async def _found(self, person: str) -> _Known:
        """Concurrent callers share one request, which goes on when one of them is cancelled."""
        if known := self._remembered(person):
            return known
        asking = self._asking.get(person)
        if asking is None:
            asking = self._asking[person] = asyncio.create_task(self._request(person))
            asking.add_done_callback(lambda task: self._finished(person, task))
        return await asyncio.shield(asking)

    def _finished(self, person: str, asking: asyncio.Task[_Known]) -> None:
        del self._asking[person]
        if not asking.cancelled() and not asking.exception():
            self._known[person] = asking.result()

    async def _request(self, person: str) -> _Known:
        try:
            answer = await self._calls(self._calls.client.users_info, user=person)
        except SlackError as error:
            if error.again:
                raise
            log.info("Slack does not say who %s is: %s", person, error.reason)
            return _Known(person, until=time.monotonic() + REFUSED_SECONDS)
        if not (user := answer.get("user")):
            return _Known(person, until=time.monotonic() + REFUSED_SECONDS)
        profile = user.get("profile") or {}
        names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), person)
        name = next(shown for name in names if name and (shown := one_line(name)))
        offset = user.get("tz_offset")
        return _Known(
            shortened(self._us.redact(name), NAME_CHARS),
            belonging_of(user, self._us),
            zone=str(user.get("tz") or ""),
            offset=offset if isinstance(offset, int) and abs(offset) < A_DAY else None,
        )


def belonging_of(user: Mapping[str, Any], us: Identity) -> Belonging:
    """In an Enterprise Grid people of other workspaces of the same organisation are members."""
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return Belonging.GUEST
    organisation = (user.get("enterprise_user") or {}).get("enterprise_id") or user.get("enterprise_id")
    ours = bool(us.enterprise) and organisation == us.enterprise
    elsewhere = user.get("team_id") not in {None, "", us.team} and not ours
    return Belonging.EXTERNAL if user.get("is_stranger") or elsewhere else Belonging.MEMBER


# --- channels ------------------------------------------------------------------------------------------------------

CHANNELS_A_PAGE = 999
"""Slack wants a limit below 1,000."""
CHANNEL_PAGES_READ = 50
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
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._ids: dict[str, str] = {}

    async def private(self, channel: str) -> bool | None:
        """
        None when Slack does not say. Never remembered, because a channel can become private; for a running thread its
        messages say so.
        """
        try:
            answer = await self._calls(self._calls.client.conversations_info, channel=channel)
        except SlackError as error:
            log.info("Slack does not say who can see %s: %s", channel, error.reason)
            return None
        return is_private(answer["channel"])

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

    async def members(self, channel: str) -> frozenset[str]:
        """Everybody in *channel* now; empty when Slack does not say."""
        found: set[str] = set()
        cursor = ""
        for _ in range(CHANNEL_PAGES_READ):
            try:
                answer = await self._calls(
                    self._calls.client.conversations_members,
                    channel=channel,
                    limit=CHANNELS_A_PAGE,
                    cursor=cursor or None,
                )
            except SlackError as error:
                if error.again:
                    raise
                log.info("Slack does not say who is in %s: %s", channel, error.reason)
                return frozenset()
            found.update(answer["members"])
            if not (cursor := following(answer)):
                break
        return frozenset(found)

    async def id_of(self, named: str) -> str:
        """The id of a channel that is given by its id, or by its name with or without #."""
        if named not in self._ids:
            self._ids[named] = named if _is_id(named) else await self._find(named.removeprefix("#"))
        return self._ids[named]

    async def _find(self, name: str) -> str:
        cursor = ""
        for _ in range(CHANNEL_PAGES_READ):
            try:
                answer = await self._calls(
                    self._calls.client.conversations_list,
                    types="public_channel,private_channel",
                    exclude_archived=True,
                    limit=CHANNELS_A_PAGE,
                    cursor=cursor or None,
                )
            except SlackError as error:
                if error.again:
                    raise
                raise SlackError(NO_NAME % (f"#{name}", error.reason), reason=error.reason) from error
            for channel in answer["channels"]:
                if channel.get("name") == name:
                    return str(channel["id"])
            if not (cursor := following(answer)):
                break
        raise SlackError(NO_CHANNEL % f"#{name}", reason="channel_not_found")


def _is_id(named: str) -> bool:
    """Names of channels have no capitals."""
    return named[:1] in {"C", "G", "D"} and named.isalnum() and named.isupper()


def is_private(channel: Mapping[str, Any]) -> bool:
    """Anything that is not clearly public counts as private."""
    closed = ("is_private", "is_im", "is_mpim", "is_group")
    return not channel.get("is_channel") or any(channel.get(name) for name in closed)
