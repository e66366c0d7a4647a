"""
How Slack's payloads come in: Socket Mode, or signed HTTP requests.

Both build Bolt's request in `bolt_request`.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from aiohttp import WSMessage, web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import ConfigError, SlackError
from bot.log import ThrottledWarning
from bot.slack.client import call, is_here
from bot.slack.parse import MALFORMED, Payload, word

log = logging.getLogger(__name__)


def bolt_request(
    body: str | dict[str, Any],
    *,
    headers: Mapping[str, str | Sequence[str]],
    query: str = "",
    mode: str = "http",
) -> AsyncBoltRequest:
    """Raises ValueError or RecursionError for a text that is not JSON."""
    with suppress(LookupError, TypeError, AttributeError):  # JSON in which Bolt does not find what it expects
        request = AsyncBoltRequest(body=body, query=query, headers=dict(headers), mode=mode)
        found = request.context
        ids = (found.enterprise_id, found.team_id, found.user_id, found.channel_id)
        if all(one is None or isinstance(one, str) for one in ids):
            return request
    request = AsyncBoltRequest(body="", headers=dict(headers))
    request.body = {"type": MALFORMED, "why": "nothing in it is where it should be"}
    return request


# --- HTTP -----------------------------------------------------------------------------------------------------------

PATH = "/slack/events"
LARGEST_BYTES = 4 * 1024 * 1024
"""Slack documents no maximum; events of 1.2 MB have been seen."""
TIMESTAMP, SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
WINDOW_SECONDS = 300
SSL_CHECK, SSL_CHECK_BYTES = b"ssl_check=1", 1024
"""Slack checks our certificate now and then, with an unsigned form that expects a 200."""


class SlackRequests:
    """
    A route for the web server. The signature is verified here, over the bytes as they came, before they are parsed:
    Bolt would parse first, and log the whole body of a request that it refuses.

    Without a *signing_secret* (Socket Mode needs none) every request is refused.
    """

    most_bytes = LARGEST_BYTES

    def __init__(self, app: AsyncApp, *, signing_secret: str) -> None:
        self._app = app
        self._secret = (signing_secret or secrets.token_hex()).encode()
        self._refusals = ThrottledWarning(log)

    def refusal(self, request: web.Request) -> web.Response | None:
        if _may_be_ssl_check(request):
            return None
        timestamp = _only(request, TIMESTAMP)
        if not re.fullmatch("[0-9]{1,12}", timestamp) or not re.fullmatch(
            "v0=[0-9a-f]{64}", _only(request, SIGNATURE)
        ):
            return self._refused("it is not signed")
        if abs(time.time() - int(timestamp)) > WINDOW_SECONDS:
            return self._refused("its timestamp is more than five minutes away from this machine's clock")
        return None

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        if _may_be_ssl_check(request):
            known = SSL_CHECK in body.split(b"&")
            return web.Response() if known else self._refused("it is not signed")
        signed = hmac.new(self._secret, b"v0:%s:" % _only(request, TIMESTAMP).encode(), hashlib.sha256)
        signed.update(body)
        if not hmac.compare_digest(f"v0={signed.hexdigest()}", _only(request, SIGNATURE)):
            return self._refused("its signature is not made with SLACK_SIGNING_SECRET")
        headers = {name: [value] for name, value in request.headers.items()}
        try:
            asked = bolt_request(body.decode("utf-8", "replace"), query=request.query_string, headers=headers)
        except (ValueError, RecursionError):
            raise web.HTTPBadRequest from None  # not JSON
        return await to_aiohttp_response(await self._app.async_dispatch(asked))

    def _refused(self, why: str) -> web.Response:
        """*why* has nothing of what was sent."""
        self._refusals.warn(f"A request to {PATH} was refused: {why}.")
        return web.Response(status=401, text="This request is not signed by Slack.\n")


def _only(request: web.Request, name: str) -> str:
    """The header; empty when there is none, or more than one."""
    values = request.headers.getall(name, [])
    return values[0] if len(values) == 1 else ""


def _may_be_ssl_check(request: web.Request) -> bool:
    is_small = request.content_length is not None and request.content_length <= SSL_CHECK_BYTES
    return is_small and SIGNATURE not in request.headers


# --- Socket Mode ----------------------------------------------------------------------------------------------------

CONNECTIONS = 2
PING_SECONDS = 3
CONNECT_SECONDS = 20
DRAIN_SECONDS = 5
DISABLED = "link_disabled"

APP_LEVEL_REFUSED = (
    "Slack does not accept the app-level token. Set SLACK_APP_TOKEN to one with connections:write."
)
LINK_DISABLED = (
    "Socket Mode was switched off for this app, so nothing is heard from Slack. Switch it on again in the app's "
    "settings, or use HTTP with SLACK_SIGNING_SECRET."
)
NO_CONNECTION = "Slack did not open a Socket Mode connection within %s seconds."


class Sockets:
    """
    More than one connection, because Slack renews each every few hours and does not repeat clicks.

    *client* is only used to ask for addresses, with *app_token* instead of its own token.
    """

    def __init__(self, app: AsyncApp, client: AsyncWebClient, *, app_token: str) -> None:
        self._app = app
        self._client = client
        self._app_token = app_token
        self._sockets: list[SocketModeClient] = []
        self._working: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._is_disabled = False
        self._heard_at = time.time()

    async def connect(self, *, seconds: float = CONNECT_SECONDS) -> None:
        """ConfigError for a refused token, with which the SDK would retry forever. SlackError after *seconds*."""
        await self._check_token()
        self._is_closing, self._heard_at = False, time.time()
        self._sockets = [self._socket() for _ in range(CONNECTIONS)]
        try:
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(socket.connect() for socket in self._sockets))
        except TimeoutError as error:
            await self.close(seconds=0)
            raise SlackError(NO_CONNECTION % seconds, reason="timeout", again=True) from error

    async def is_connected(self) -> bool:
        """One connection is enough: Slack sends each payload on one of them."""
        return any([await socket.is_connected() for socket in self._sockets])

    def hello_age(self) -> float:
        """Seconds since Slack sent anything on any connection, a pong included; infinite without a connection."""
        if not self._sockets:
            return float("inf")
        ponged_at = (socket.last_ping_pong_time or 0 for socket in self._sockets)
        return max(0.0, time.time() - max(self._heard_at, *ponged_at))

    async def close(self, *, seconds: float = DRAIN_SECONDS) -> None:
        """Ignores new payloads (Slack repeats events); running ones have *seconds* to be acknowledged."""
        sockets, self._sockets, self._is_closing = self._sockets, [], True
        if self._working:
            await asyncio.wait(self._working, timeout=seconds)
        await asyncio.gather(*map(_close, sockets))

    def _socket(self) -> SocketModeClient:
        client = SocketModeClient(
            app_token=self._app_token,
            logger=self._app.logger,
            web_client=self._client,
            ping_interval=PING_SECONDS,
        )
        if is_here(self._client.base_url):
            client.proxy = None
        client.socket_mode_request_listeners = [self._take]
        client.on_message_listeners.append(self._note)
        return client

    async def _check_token(self) -> None:
        try:
            await call(self._client.apps_connections_open, app_token=self._app_token)
        except SlackError as error:
            if error.again:
                raise
            raise ConfigError(f"{APP_LEVEL_REFUSED} ({error.reason})") from error

    async def _note(self, message: WSMessage) -> None:
        """LINK_DISABLED is logged once, though every connection is told so at every attempt."""
        self._heard_at = time.time()
        if not self._is_disabled and DISABLED in message.data and _is_disabled(message.data):
            self._is_disabled = True
            log.error(LINK_DISABLED)

    async def _take(self, client: AsyncBaseSocketModeClient, envelope: SocketModeRequest) -> None:
        task = asyncio.current_task()
        if self._is_closing or task is None:
            return
        self._working.add(task)
        try:
            began = time.time()
            request = bolt_request(
                envelope.payload, headers=build_headers(envelope) or {}, mode="socket_mode"
            )
            response = await self._app.async_dispatch(request)
            await send_async_response(client, envelope, response, began)
        finally:
            self._working.discard(task)


async def _close(client: SocketModeClient) -> None:
    """Slack is told, and its goodbye is not waited for: over a dead connection that takes ten seconds."""
    client.closed, client.auto_reconnect_enabled = True, False
    reading = [one for one in (client.current_session_monitor, client.message_receiver) if one]
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)
    with suppress(TimeoutError):
        async with asyncio.timeout(0):  # what can be sent at once is sent
            await client.disconnect()
    await client.close()


def _is_disabled(text: str) -> bool:
    """Whether Slack says so, and not a message that contains the same words."""
    try:
        frame: Payload = json.loads(text)
    except ValueError:
        return False
    return word(frame, "type") == "disconnect" and word(frame, "reason") == DISABLED
