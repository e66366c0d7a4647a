"""
How we stand with Slack: whether it still knows us, and how far our clock is from its own.

Every answer tells both. While nobody calls, or Slack has shut us out, we ask now and then ourselves: a token that was
revoked at night is found out before somebody needs it, and so is one that is good again.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from math import inf
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.errors import SlackError
from bot.slack.client import call
from bot.slack.refusals import SHUT_OUT

LOOK_SECONDS = 15.0
QUIET_SECONDS = 60.0
COMPARE_SECONDS = 5.0
"""A busy bot need not look at the clock with every answer."""

log = logging.getLogger(__name__)


class Standing:
    """*now* is the clock that is compared with Slack's."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.refusal = ""
        """Why Slack has shut us out, as a sentence; empty while it has not."""
        self.clock_ahead: float | None = None
        """By so many seconds our clock is ahead of Slack's; None when it never told."""
        self._now = now
        self._answered_at = self._compared_at = -inf

    async def ask(self, method: Callable[..., Awaitable[Any]], **arguments: Any) -> Any:
        """One call with the bot's token. Raises SlackError."""
        try:
            answer = await call(method, **arguments)
        except SlackError as error:
            self._refused(error)
            raise
        self._heard(answer.headers)
        if self.refusal:
            self.refusal = ""
            log.info("Slack takes our calls again")
        return answer

    async def watch(self, test: Callable[[], Awaitable[Any]]) -> None:
        """Until cancelled. *test* is a call that costs nothing and is always allowed."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self.refusal or time.monotonic() - self._answered_at > QUIET_SECONDS:
                with suppress(SlackError):
                    await self.ask(test)

    def _refused(self, error: SlackError) -> None:
        if isinstance(error.__cause__, SlackApiError):
            self._heard(getattr(error.__cause__.response, "headers", None) or {})
        if error.reason in SHUT_OUT:
            if not self.refusal:
                log.error("Slack has shut us out (%s): %s", error.reason, error)
            self.refusal = f"{error} ({error.reason})"

    def _heard(self, headers: Mapping[str, str]) -> None:
        self._answered_at = time.monotonic()
        if self._answered_at - self._compared_at > COMPARE_SECONDS:
            self._compared_at = self._answered_at
            self._compare({name.lower(): value for name, value in headers.items()}.get("date", ""))

    def _compare(self, date: str) -> None:
        """It is told in whole seconds, so that half of one is nothing."""
        with suppress(ValueError):
            self.clock_ahead = self._now() - parsedate_to_datetime(date).timestamp() - 0.5
