"""
One post: in the thread that it is for, or not at all.

Into a thread whose root is gone Slack posts all the same, and what it posts stands in the channel, before everybody.
That the answer names no thread is the only sign of it.
"""

import logging
from typing import Any

from bot.errors import SlackError
from bot.slack.calls import Calls
from bot.slack.refusals import SENTENCES

log = logging.getLogger(__name__)

GONE = "thread_not_found"


class Posting:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._client = calls.client

    async def __call__(self, **arguments: Any) -> str:
        """The stamp. What Slack posted beside its thread is taken back, and that is a SlackError, too."""
        answer = await self._calls(self._client.chat_postMessage, **arguments)
        ts, channel, thread = str(answer["ts"]), arguments["channel"], arguments.get("thread_ts")
        if thread and _is_astray(answer) and await self._is_gone(channel, thread):
            await self._take_back(channel, ts)
            raise SlackError(SENTENCES[GONE], reason=GONE)
        return ts

    async def _is_gone(self, channel: str, thread: str) -> bool:
        """An answer may leave out what it need not say, so that nothing is taken back on its word alone."""
        try:
            await self._calls(self._client.conversations_replies, channel=channel, ts=thread, limit=1)
        except SlackError as error:
            return error.reason == GONE
        return False

    async def _take_back(self, channel: str, ts: str) -> None:
        try:
            await self._calls(self._client.chat_delete, channel=channel, ts=ts)
        except SlackError as error:
            log.warning("%s stands in %s, and its thread is gone: %s", ts, channel, error)


def _is_astray(answer: Any) -> bool:
    message = answer.get("message")
    return isinstance(message, dict) and not message.get("thread_ts")
