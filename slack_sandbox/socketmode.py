"""Socket Mode: the app connects to us, envelopes go out, acknowledgements come back on any of its sockets."""

import asyncio
import contextlib
import json
import secrets
import uuid
from typing import Any

from aiohttp import WSMsgType, web

from slack_sandbox.delivery import EVENT, NOT_CONNECTED, AckOutcome, Retry
from slack_sandbox.faults import Faults
from slack_sandbox.messages import JSON
from slack_sandbox.pulse import ActivitySignal

MOST_CONNECTIONS = 10


class SocketMode:
    """A transport. Every envelope goes to one connection, in turn; a ticket opens one connection, once."""

    def __init__(self, app_id: str, *, faults: Faults, pulse: ActivitySignal) -> None:
        self._app_id = app_id
        self._faults = faults
        self._pulse = pulse
        self._tickets: set[str] = set()
        self._open: list[web.WebSocketResponse] = []
        self._dead: set[web.WebSocketResponse] = set()
        self._unanswered: dict[str, asyncio.Future[JSON]] = {}
        self._turn = 0

    @property
    def connections(self) -> int:
        return len(self._open)

    def ticket(self) -> str:
        ticket = secrets.token_urlsafe(24)
        self._tickets.add(ticket)
        return ticket

    async def ready(self) -> None:
        while not self._open:
            await self._pulse.next()

    async def offer(self, kind: str, payload: JSON, *, retry: Retry | None, seconds: float) -> AckOutcome:
        if not self._open:
            return AckOutcome(acked=False, reason=NOT_CONNECTED)

        envelope_id = str(uuid.uuid4())
        answered: asyncio.Future[JSON] = asyncio.get_running_loop().create_future()
        self._unanswered[envelope_id] = answered
        try:
            await self._send(self._next_connection(), _envelope(envelope_id, kind, payload, retry=retry))
            async with asyncio.timeout(seconds):
                return AckOutcome(acked=True, body=await answered)
        except TimeoutError:
            return AckOutcome(acked=False, reason="timeout")
        finally:
            del self._unanswered[envelope_id]

    async def link(self, request: web.Request) -> web.StreamResponse:
        """The websocket endpoint whose address `apps.connections.open` hands out."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden(text="This ticket was used, or never issued.")
        self._tickets.remove(ticket)

        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        if self.connections >= MOST_CONNECTIONS:
            await self._send(socket, self._disconnect("too_many_websockets"))
            await socket.close()
            return socket
        await self._serve(socket)
        return socket

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Asks every connection to go away, as Slack does every few hours. The app reconnects by itself."""
        for socket in tuple(self._open):
            await self._send(socket, self._disconnect(reason))

    def freeze(self) -> None:
        """Half-open: the connections there are go on to be written to, and nothing gets through, either way."""
        self._dead.update(self._open)

    def drop(self) -> None:
        """Cuts every connection without a word, as a network does."""
        for socket in tuple(self._open):
            self._forget(socket)
            if transport := socket._req and socket._req.transport:  # noqa: SLF001 - aiohttp has no public way to be rude
                transport.abort()

    async def aclose(self) -> None:
        for socket in tuple(self._open):
            await socket.close()

    async def _serve(self, socket: web.WebSocketResponse) -> None:
        await self._send(socket, self._hello())
        self._open.append(socket)
        self._pulse.beat()
        try:
            async for message in socket:
                if not self._is_dead(socket):
                    await self._heard(socket, message.type, message.data)
        finally:
            self._forget(socket)

    async def _heard(self, socket: web.WebSocketResponse, kind: WSMsgType, data: Any) -> None:
        if kind is WSMsgType.PING:
            await socket.pong(data)
        elif kind is WSMsgType.TEXT:
            acked = json.loads(data)
            waiting = self._unanswered.get(acked.get("envelope_id", ""))
            if waiting and not waiting.done():
                waiting.set_result(acked.get("payload") or {})

    async def _send(self, socket: web.WebSocketResponse, body: JSON) -> None:
        """A connection that broke this moment loses what is sent; the missing acknowledgement tells."""
        if self._is_dead(socket):
            return
        with contextlib.suppress(ConnectionError):
            await socket.send_json(body)

    def _is_dead(self, socket: web.WebSocketResponse) -> bool:
        return self._faults.frozen or socket in self._dead

    def _next_connection(self) -> web.WebSocketResponse:
        self._turn += 1
        return self._open[self._turn % len(self._open)]

    def _forget(self, socket: web.WebSocketResponse) -> None:
        self._dead.discard(socket)
        if socket in self._open:
            self._open.remove(socket)
            self._pulse.beat()

    def _hello(self) -> JSON:
        return {
            "type": "hello",
            "num_connections": self.connections + 1,
            "debug_info": {"host": "sandbox", "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._app_id},
        }

    def _disconnect(self, reason: str) -> JSON:
        return {"type": "disconnect", "reason": reason, "debug_info": {"host": "sandbox"}}


def _envelope(envelope_id: str, kind: str, payload: JSON, *, retry: Retry | None) -> JSON:
    envelope: JSON = {
        "envelope_id": envelope_id,
        "type": kind,
        "payload": payload,
        "accepts_response_payload": kind != EVENT,
    }
    if kind == EVENT:
        envelope["retry_attempt"] = retry.attempt if retry else 0
        envelope["retry_reason"] = retry.reason if retry else ""
    return envelope
