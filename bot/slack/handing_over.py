"""
What Slack sends to a process that does not own the team is handed to the owner, and its response is Slack's answer.

Nothing is acknowledged before the owner has saved it. What nobody has to decide about, such as our own posts that come
back as events, is acknowledged where it arrives.
"""

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.engine.ports import Meter
from bot.errors import Unavailable
from bot.slack import parse
from bot.slack.client import Identity
from bot.slack.parse import Payload, word
from bot.telemetry import continued

OK = 200
UNDATED = "1970-01-01T00:00:00.000Z"

Answer = Callable[[str], Awaitable[str]]


class Owner(Protocol):
    """Of several processes, the one that handles what people do in a team."""

    @property
    def mine(self) -> bool:
        """Whether it is this process."""
        ...

    def deciding(self) -> AbstractContextManager[None]:
        """What begins inside while the team is ours is not saved any more once it is not."""
        ...

    async def ask(self, request: str) -> str:
        """What the owner answers. Raises Unavailable when it does not."""
        ...

    def answering(self, answer: Answer) -> AbstractAsyncContextManager[None]:
        """Inside, *answer* is given what others ask while the team is ours."""
        ...


def hand_over(app: AsyncApp, owner: Owner, us: Identity, meter: Meter) -> None:
    """Before any listener of *app*."""

    @app.middleware
    async def by_owner(req: AsyncBoltRequest, next: Callable[[], Awaitable[None]]) -> BoltResponse | None:  # noqa: A002 -- Bolt's name
        if owner.mine:
            await next()
            return None
        if _decides_nothing(req.body, us):
            return BoltResponse(status=OK)
        try:
            answer = await owner.ask(json.dumps([req.body, req.headers]))
        except Unavailable:
            meter.handed_over(answered=False)
            raise
        meter.handed_over(answered=True)
        status, body, headers = json.loads(answer)
        return BoltResponse(status=status, body=body, headers=headers)


def answering(app: AsyncApp, owner: Owner) -> AbstractAsyncContextManager[None]:
    """Inside, *app* handles what other processes hand over to this one."""

    async def answer(request: str) -> str:
        body, headers = json.loads(request)
        # As over a socket, whose body is no text that was signed.
        asked = AsyncBoltRequest(body=body, headers=headers, mode="socket_mode")
        with continued(headers), owner.deciding():
            response = await AsyncApp.async_dispatch(app, asked)  # counted where it came in
        return json.dumps([response.status, response.body, response.headers])

    return owner.answering(answer)


def _decides_nothing(body: Payload, us: Identity) -> bool:
    event = body.get("event")
    if not isinstance(event, dict) or word(event, "channel_type") == "im":
        return False
    match word(event, "type"):
        case "message":
            return parse.message(event, us, at=UNDATED) is None
        case "reaction_added" | "reaction_removed":
            return parse.reaction(event, us, at=UNDATED) is None
    return False
