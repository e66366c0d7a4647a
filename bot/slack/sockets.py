"""Socket Mode, over more than one connection: Slack renews each every few hours, and clicks are not repeated."""

import asyncio
import json
import logging
import time
from collections.abc import Callable

from aiohttp import WSMessage
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import ConfigError, SlackError
from bot.slack.client import call, is_here
from bot.slack.parse import MALFORMED, Payload, flaw, word
from bot.slack.wording import APP_LEVEL_REFUSED, LINK_DISABLED, NO_CONNECTION

log = logging.getLogger(__name__)

CONNECTIONS = 2
PING_SECONDS = 3
CONNECT_SECONDS = 20
DRAIN_SECONDS = 5
DISABLED = "link_disabled"


class Sockets:
    """*client* is only asked for addresses, with *app_token* in place of its own token."""

    def __init__(
        self, app: AsyncApp, client: AsyncWebClient, *, app_token: str, connections: int = CONNECTIONS
    ) -> None:
        self._app = app
        self._client = client
        self._app_token = app_token
        self._connections = connections
        self._sockets: list[_Socket] = []
        self._is_disabled = False

    async def connect(self, *, seconds: float = CONNECT_SECONDS) -> None:
        """ConfigError for a bad token: the SDK would try it for ever. SlackError when it takes too long."""
        await self._check_token()
        self._sockets = [self._socket() for _ in range(self._connections)]
        try:
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(socket.connect() for socket in self._sockets))
        except TimeoutError as error:
            await self.close(seconds=0)
            raise SlackError(NO_CONNECTION % seconds, reason="timeout", again=True) from error

    async def is_connected(self) -> bool:
        """One is enough to hear everything."""
        return any([await socket.is_connected() for socket in self._sockets])

    def hello_age(self) -> float:
        """
        Seconds since Slack last said anything at all, on whichever connection: hello, a delivery, or an answer to a
        ping. Infinite without a connection.
        """
        return min((socket.hello_age() for socket in self._sockets), default=float("inf"))

    async def close(self, *, seconds: float = DRAIN_SECONDS) -> None:
        """What comes in from now on is left to others; what is under way gets *seconds* to be acknowledged."""
        sockets, self._sockets = self._sockets, []
        await asyncio.gather(*(socket.drained(seconds) for socket in sockets))
        await asyncio.gather(*(socket.close() for socket in sockets))

    def _socket(self) -> "_Socket":
        handler = AsyncSocketModeHandler(
            self._app, self._app_token, web_client=self._client, ping_interval=PING_SECONDS
        )
        if is_here(self._client.base_url):
            handler.client.proxy = None
        return _Socket(handler, disabled=self._complain)

    def _complain(self) -> None:
        """Once: every connection is told so, and Slack says it again whenever we try."""
        if not self._is_disabled:
            self._is_disabled = True
            log.error(LINK_DISABLED)

    async def _check_token(self) -> None:
        try:
            await call(self._client.apps_connections_open, app_token=self._app_token)
        except SlackError as error:
            if error.again:
                raise
            raise ConfigError(f"{APP_LEVEL_REFUSED} ({error.reason})") from error


class _Socket:
    """One connection, which knows what it is working on and can be told to take nothing more."""

    def __init__(self, handler: AsyncSocketModeHandler, *, disabled: Callable[[], None]) -> None:
        self._handler = handler
        self._disabled = disabled
        self._working: set[asyncio.Task[None]] = set()
        self._closing = False
        self._said_at = time.time()
        handler.client.socket_mode_request_listeners = [self._taken]
        handler.client.on_message_listeners.append(self._noticed)

    async def connect(self) -> None:
        await self._handler.client.connect()

    async def is_connected(self) -> bool:
        return await self._handler.client.is_connected()

    def hello_age(self) -> float:
        answered_at = self._handler.client.last_ping_pong_time or 0
        return max(0.0, time.time() - max(self._said_at, answered_at))

    async def drained(self, seconds: float) -> None:
        self._closing = True
        if self._working:
            await asyncio.wait(self._working, timeout=seconds)

    async def close(self) -> None:
        await self._handler.client.close()

    async def _noticed(self, message: WSMessage) -> None:
        self._said_at = time.time()
        if DISABLED in message.data and _is_farewell(message.data):
            self._disabled()

    async def _taken(self, _client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        task = asyncio.current_task()
        if self._closing or task is None:
            return
        if why := flaw(request.payload):
            request.payload = {"type": MALFORMED, "why": why}
        self._working.add(task)
        try:
            await self._handler.handle(self._handler.client, request)
        finally:
            self._working.discard(task)


def _is_farewell(text: str) -> bool:
    """Slack's own, and not somebody's message with the same words in it."""
    try:
        frame: Payload = json.loads(text)
    except ValueError:
        return False
    return word(frame, "type") == "disconnect" and word(frame, "reason") == DISABLED
