"""Who can see a channel: what Slack says about it, when it says so."""

import logging
from collections.abc import Mapping
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.domain.place import Room
from bot.errors import SlackError
from bot.slack.calls import Calls
from bot.slack.refusals import answer_of

log = logging.getLogger(__name__)

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
