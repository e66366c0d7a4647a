"""
That we are at work, as Slack shows it under a thread (ADR 20).

In any thread an app may show words of its own there. An app that was declared an agent has a session in the thread,
with a button that stops it.
"""

import logging
from typing import assert_never

from bot.domain.roundtable.effects import Sign
from bot.domain.values.places import Place
from bot.errors import SlackError
from bot.slack.calls import Calls

AT_WORK, AT_REST = "processing", "active"
"""Slack's names for a session in which people wait for us, and for one in which we wait for them."""

GONE = frozenset({"thread_not_found", "message_not_found", "invalid_thread_ts"})

log = logging.getLogger(__name__)


class Signs:
    def __init__(self, call: Calls) -> None:
        self._call = call

    async def show(self, place: Place, sign: Sign, words: str) -> None:
        """A refusal raises; while Slack has trouble there is no sign, and whoever works does not wait for one."""
        try:
            await self._shown(place, sign, words=words, session=AT_WORK)
        except SlackError as error:
            if not error.again:
                raise
            log.info("nobody sees that somebody is at work: %s", error)

    async def clear(self, place: Place, sign: Sign) -> None:
        try:
            await self._shown(place, sign, words="", session=AT_REST)
        except SlackError as error:
            if error.reason not in GONE:
                raise

    async def _shown(self, place: Place, sign: Sign, *, words: str, session: str) -> None:
        where = {"channel_id": place.channel, "thread_ts": place.thread}
        match sign:
            case Sign.SESSION:
                await self._call(self._call.client.agents_sessions_setStatus, **where, status=session)
            case Sign.STATUS:
                await self._call(self._call.client.assistant_threads_setStatus, **where, status=words)
            case Sign.REACTION:
                raise AssertionError("an emoji stands on a message, not under a thread")
            case _:
                assert_never(sign)
