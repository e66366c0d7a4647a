"""What people are called, and whether they belong to the workspace."""

import asyncio
import logging
import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from slack_sdk.errors import SlackApiError

from bot.domain.values.places import Belonging, Room
from bot.engine.lru import Newest
from bot.errors import SlackError
from bot.slack.calls import Calls
from bot.slack.client import Identity
from bot.slack.markdown import one_line
from bot.slack.refusals import answer_of
from bot.slack.render import shortened

log = logging.getLogger(__name__)

REMEMBERED = 10_000
NAME_CHARS = 80
REFUSED_SECONDS = 60.0
"""After which Slack is asked again about somebody whom it did not tell us about."""


class _Known(NamedTuple):
    name: str
    belongs: Belonging = Belonging.UNVERIFIED
    until: float = math.inf


class Names:
    def __init__(self, calls: Calls, us: Identity) -> None:
        self._calls = calls
        self._us = us
        self._known: Newest[str, _Known] = Newest(REMEMBERED)
        self._asking: dict[str, asyncio.Task[_Known]] = {}

    async def of(self, person: str) -> str:
        """The id of somebody Slack does not name; raises SlackError only when asking later may help."""
        return (await self._found(person)).name

    async def who(self, person: str) -> Belonging:
        """UNVERIFIED when Slack does not say; raises SlackError only when asking later may help."""
        return (await self._found(person)).belongs

    async def or_id(self, person: str) -> str:
        try:
            return await self.of(person)
        except SlackError:
            return person

    def belonging(self, person: str) -> Belonging:
        """As far as it is known; nobody is asked."""
        known = self._remembered(person)
        return known.belongs if known else Belonging.UNKNOWN

    def _remembered(self, person: str) -> _Known | None:
        known = self._known.get(person)
        return known if known and time.monotonic() < known.until else None

    async def _found(self, person: str) -> _Known:
        """One call for all who ask at once; it goes on when one of them stops waiting."""
        if known := self._remembered(person):
            return known
        asking = self._asking.get(person)
        if asking is None:
            asking = self._asking[person] = asyncio.create_task(self._asked(person))
            asking.add_done_callback(lambda task: self._answered(person, task))
        return await asyncio.shield(asking)

    def _answered(self, person: str, asking: asyncio.Task[_Known]) -> None:
        del self._asking[person]
        if not asking.cancelled() and not asking.exception():
            self._known[person] = asking.result()

    async def _asked(self, person: str) -> _Known:
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
        return _Known(shortened(self._us.redact(name), NAME_CHARS), belonging_of(user, self._us))


def belonging_of(user: Mapping[str, Any], us: Identity) -> Belonging:
    """
    In an Enterprise Grid people of other workspaces of the same organisation are members. Those of another one are
    not, though Slack calls them users of an enterprise, too.
    """
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return Belonging.GUEST
    organisation = (user.get("enterprise_user") or {}).get("enterprise_id") or user.get("enterprise_id")
    ours = bool(us.enterprise) and organisation == us.enterprise
    elsewhere = user.get("team_id") not in {None, "", us.team} and not ours
    return Belonging.EXTERNAL if user.get("is_stranger") or elsewhere else Belonging.MEMBER


# Who can see a channel: what Slack says about it, when it says so.


PRIVATE_TYPES: Mapping[str, bool] = {"channel": False, "group": True, "im": True, "mpim": True}
"""The `channel_type` of events."""
DIRECT_TYPES = frozenset({"im", "mpim"})
DIRECT_SCOPES = frozenset({"im:read", "mpim:read"})
"""The app does not ask for them: what needs one of them is a direct message."""


def room_in(channel: str, *, name: str = "", kind: str = "") -> Room:
    """What a payload says: by the id, by the name in commands and clicks, or by the `channel_type` of events."""
    if channel.startswith("D") or kind in DIRECT_TYPES or name == "directmessage" or name.startswith("mpdm-"):
        return Room.DIRECT
    if channel.startswith("G") or kind == "group" or name == "privategroup":
        return Room.PRIVATE
    return Room.PUBLIC if kind == "channel" else Room.UNKNOWN


class Channels:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def private(self, channel: str) -> bool | None:
        """
        None when Slack does not say. Asked each time that a thread is opened: what was public then may be private now.
        One that becomes private later is told of by the messages in it.
        """
        try:
            answer = await self._calls(self._calls.client.conversations_info, channel=channel)
        except SlackError as error:
            log.info("nobody says who can see %s: %s", channel, error.reason)
            return None
        return is_private(answer["channel"])

    async def room(self, channel: str, *, said: Room) -> Room:
        """*said* is what the payload says, which counts when Slack does not say more."""
        if channel.startswith("D"):
            return Room.DIRECT
        try:
            answer = await self._calls(self._calls.client.conversations_info, channel=channel)
        except SlackError as error:
            lacked = _lacked(error)
            return Room.DIRECT if lacked and lacked <= DIRECT_SCOPES else said
        found = answer.get("channel") or {}
        if found.get("is_im") or found.get("is_mpim"):
            return Room.DIRECT
        if found.get("is_private") or found.get("is_group"):
            return Room.PRIVATE
        return Room.PUBLIC if found.get("is_channel") else said


def _lacked(error: SlackError) -> frozenset[str]:
    """The scopes that a call needs and the app does not have."""
    cause = error.__cause__
    needed = answer_of(cause).get("needed") if isinstance(cause, SlackApiError) else ""
    return frozenset(filter(None, str(needed or "").split(",")))


def is_private(channel: Mapping[str, Any]) -> bool:
    """Only what is plainly public is public."""
    closed = ("is_private", "is_im", "is_mpim", "is_group")
    return not channel.get("is_channel") or any(channel.get(name) for name in closed)
