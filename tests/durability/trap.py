"""
A Slack that can let a bot die at one of its calls: before it is performed, while, or right after the answer.

That is every boundary of an effect that can be seen from outside, without a line of test code in the bot.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from aiohttp import web

from bot.slack.manifest import SHORTCUT, SHORTCUT_NAME
from slack_sandbox import App, Sandbox, Timing
from slack_sandbox.api import ApiCall
from slack_sandbox.methods import Call

EFFECTS = frozenset({
    "chat.postMessage",
    "chat.update",
    "chat.getPermalink",
    "conversations.history",
    "conversations.replies",
    "reactions.add",
    "users.info",
})  # fmt: skip
POSTS = frozenset({"chat.postMessage"})
LOOKS = frozenset({"conversations.replies", "conversations.history"})
TOO_MANY, UNAVAILABLE = 429, 503
LATE_SECONDS = 4.5
PATIENCE = Timing(ack_seconds=1.5, retry_seconds=(0.1,) * 200)
"""What was not acknowledged is delivered again, much sooner than in Slack, and until it is."""


class When(StrEnum):
    BEFORE = "before"
    """The call has arrived, and is never performed."""
    DURING = "during"
    """It is performed, and the bot never hears of it."""
    LATE = "late"
    """It is performed seconds after the death, as a slow Slack does, within the time that the bot would have waited."""
    LOST = "lost"
    """It is performed, the connection breaks, and the bot lives on."""
    REFUSED = "refused"
    """Slack says that it is too busy, and performs nothing; the bot lives on, and tries again."""
    AFTER = "after"
    """The bot has its answer, and dies of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """At the *nth* call from now on (0 is the next), `strike` ends whoever made it: it is given the caller's host."""

    when: When
    nth: int
    strike: Callable[[str], None]
    seconds_after: float = 0.0
    methods: frozenset[str] = EFFECTS
    host: str = ""
    """Who has to make the call, if that is not all the same."""
    key: str = ""
    """Of which post, if that is not all the same."""
    text: str = ""
    """Which the call has to have in its text."""
    status: int = TOO_MANY
    """How it is refused."""

    def meets(self, call: Call, host: str) -> bool:
        is_meant = call.method in self.methods and self.host in {"", host} and self.key in {"", key_of(call)}
        return is_meant and self.text in str(call.args.get("text", ""))


@dataclass
class Trap:
    """A sandbox whose Web API can be armed, once at a time."""

    slack: Sandbox = field(
        default_factory=lambda: Sandbox(app=App(shortcuts={SHORTCUT: SHORTCUT_NAME}), timing=PATIENCE)
    )
    on_their_way: int = 0
    """Calls that were made, and are performed later."""
    refused: str = ""
    """The key of the post that was refused last."""
    _order: Order | None = None

    def __post_init__(self) -> None:
        self._api = self.slack._api
        self._answered = self._api._faulty
        self._api._faulty = self._call  # type: ignore[method-assign]

    @property
    def armed(self) -> bool:
        return self._order is not None

    def arm(self, order: Order | None) -> None:
        self._order = order

    async def _call(self, request: web.Request, call: Call, seen: ApiCall) -> web.StreamResponse:
        host = request.host.partition(":")[0]
        order = self._due(call, host)
        if order is None:
            return await self._answered(request, call, seen)
        if order.when is When.REFUSED:
            self.refused = key_of(call)
            order.strike(host)
            return _too_busy(order.status)
        if order.when is When.AFTER:
            seen.answer = self._api._perform(call)
            asyncio.get_running_loop().call_later(order.seconds_after, order.strike, host)
            return self._api._response(call.method, seen.answer)
        order.strike(host)
        if order.when in {When.DURING, When.LOST}:
            seen.answer = self._api._perform(call)
        if order.when is When.LATE:
            self.on_their_way += 1
            asyncio.get_running_loop().call_later(LATE_SECONDS, self._land, call)
        assert request.transport
        request.transport.abort()
        return web.Response()

    def _land(self, call: Call) -> None:
        self._api._perform(call)
        self.on_their_way -= 1

    def _due(self, call: Call, host: str) -> Order | None:
        order = self._order
        if order is None or not order.meets(call, host):
            return None
        self._order = replace(order, nth=order.nth - 1) if order.nth else None
        return None if order.nth else order


def _too_busy(status: int) -> web.Response:
    if status == TOO_MANY:
        answer = {"ok": False, "error": "ratelimited"}
        return web.json_response(answer, status=status, headers={"Retry-After": "1"})
    return web.Response(
        status=status, text="<html><body>Server Error</body></html>", content_type="text/html"
    )


def key_of(call: Call) -> str:
    """By which a post is known; empty for all other calls."""
    told = call.args.get("metadata") or {}
    told = json.loads(told) if isinstance(told, str) else told
    return str(told.get("event_payload", {}).get("key", ""))
