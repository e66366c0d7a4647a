"""Who can see a channel: what Slack says about it, when it says so."""

import logging
from collections.abc import Mapping
from typing import Any

from bot.errors import SlackError
from bot.slack.calls import Calls

log = logging.getLogger(__name__)

PRIVATE_TYPES: Mapping[str, bool] = {"channel": False, "group": True, "im": True, "mpim": True}
"""The `channel_type` of events."""


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


def is_private(channel: Mapping[str, Any]) -> bool:
    """Only what is plainly public is public."""
    closed = ("is_private", "is_im", "is_mpim", "is_group")
    return not channel.get("is_channel") or any(channel.get(name) for name in closed)
