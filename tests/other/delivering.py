"""How the other server tells an app what happened: by signed requests, or over its websockets."""

import asyncio
import hashlib
import hmac
import itertools
import json
import time
from collections.abc import Iterable
from typing import Any, Protocol
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType, web

from tests.other.odd import JSON, odd
from tests.other.server import APP, SECRET, OtherSlack

ATTEMPTS = 4
ACK_SECONDS = 3.0
SOCKETS_SEEN = 3
"""What `hello` says of connections, whatever there are."""


class Door(Protocol):
    async def tell(self, kind: str, body: JSON, *, attempt: int) -> tuple[bool, Any]:
        """Whether it was taken, and what the app said to it."""
        ...


async def insist(door: Door, kind: str, body: JSON) -> Any:
    """As often as Slack does, without its pauses; the answer."""
    for attempt in range(ATTEMPTS):
        taken, said = await door.tell(kind, body, attempt=attempt)
        if taken:
            return said
    raise AssertionError(f"nobody took {body}")


class ByRequest:
    """To a request URL."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def tell(self, kind: str, body: JSON, *, attempt: int) -> tuple[bool, Any]:
        content_type, text = _encoded(kind, odd(body) if kind == "events_api" else body)
        headers = {"Content-Type": content_type, **_signed(text)}
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": "http_error"}
        wait = aiohttp.ClientTimeout(total=ACK_SECONDS)
        async with (
            aiohttp.ClientSession(timeout=wait) as session,
            session.post(self._url, data=text, headers=headers) as response,
        ):
            said = await response.text()
            return response.ok, _decoded(said)


class BySocket:
    """Over whichever websocket is next; routes of its own."""

    def __init__(self, slack: OtherSlack) -> None:
        self._slack = slack
        self.open: list[web.WebSocketResponse] = []
        self.opened = 0
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._numbers = itertools.count()

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get("/link/", self._link),)

    async def tell(self, kind: str, body: JSON, *, attempt: int) -> tuple[bool, Any]:
        if not self.open:
            return False, None
        number = next(self._numbers)
        envelope: JSON = {"envelope_id": f"e-{number}", "type": kind, "payload": odd(body)}
        envelope["accepts_response_payload"] = kind != "events_api"
        if attempt:
            envelope |= {"retry_attempt": attempt, "retry_reason": "timeout"}
        answer = self._waiting[envelope["envelope_id"]] = asyncio.get_running_loop().create_future()
        await self.send(self.open[number % len(self.open)], {**envelope, "x_new": None})
        done, _ = await asyncio.wait({answer}, timeout=ACK_SECONDS)
        return bool(done), answer.result() if done else None

    async def send(self, socket: web.WebSocketResponse, body: JSON) -> None:
        """Slack sends empty frames, too."""
        await socket.send_str("")
        await socket.send_str(json.dumps(body))

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        ticket = request.query["ticket"]
        if ticket not in self._slack.tickets or request.query["debug"] != "/a=b":
            raise web.HTTPForbidden
        self._slack.tickets.remove(ticket)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        await self.send(
            socket, {"type": "hello", "num_connections": SOCKETS_SEEN, "connection_info": {"app_id": APP}}
        )
        self.opened += 1
        self.open.append(socket)
        try:
            async for message in socket:
                if message.type is WSMsgType.PING:
                    await socket.pong(message.data)
                elif message.type is WSMsgType.TEXT:
                    self._acknowledged(json.loads(message.data))
        finally:
            self.open.remove(socket)
        return socket

    def _acknowledged(self, frame: JSON) -> None:
        waiting = self._waiting.get(frame["envelope_id"])
        if waiting and not waiting.done():
            waiting.set_result(frame.get("payload"))


def _encoded(kind: str, body: JSON) -> tuple[str, bytes]:
    if kind == "events_api":
        return "application/json", json.dumps(body).encode()
    fields = body if kind == "slash_commands" else {"payload": json.dumps(odd(body))}
    return "application/x-www-form-urlencoded", urlencode(fields).encode()


def _signed(body: bytes) -> dict[str, str]:
    stamp = str(int(time.time()))
    words = b"v0:" + stamp.encode() + b":" + body
    digest = hmac.new(SECRET.encode(), words, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


def _decoded(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return {"text": text}
