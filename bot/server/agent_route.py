"""
`/mcp`: the MCP server of a running bot, for agents with a key. Stateless, JSON in and JSON out, below the limits of the
bot's own address.

A request without a known key is refused by its headers, without a reason; so is every request of a browser's page.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.domain.catalog.policy import AgentKey
from bot.engine.agent_desk import AgentDesk
from bot.errors import UserError
from bot.integrations.agent_server import Headers, bot_server
from bot.integrations.agreed import AgreedItems
from bot.log import ThrottledWarning
from bot.server.connection import AGENTS_PATH
from bot.server.http import refuse, while_waited_for
from bot.server.known_agents import LARGEST_BYTES, NO_KEY, KnownAgents, unknown

REQUESTS_A_MINUTE, AT_A_TIME = 120, 4
"""Of one key."""
MINUTE_SECONDS = 60.0
ANSWERED_WITHIN_SECONDS = 60.0
"""More than a call of ours waits for people, or for Slack."""
SLOWER = "Too many requests of this key. Send it again later."
Event = MutableMapping[str, Any]


class AgentRoute(KnownAgents):
    """
    Requests of agents. *read* gives all items of the newest commit, in a thread of ours; each agent is told of those
    that it may see.
    """

    def __init__(
        self,
        keys: Path,
        desk: AgentDesk,
        read: Callable[[], AgreedItems],
        *,
        version: str,
        warnings: ThrottledWarning,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(keys, warnings=warnings)
        self._seconds = seconds
        self._use: dict[str, KeyUse] = {}
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="agents")
        self._server = bot_server(self._key_of, desk, read, reader=self._reader, version=version)
        self._app = self._server.streamable_http_app(
            streamable_http_path=AGENTS_PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=LARGEST_BYTES,
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        try:
            async with self._server.session_manager.run():
                yield
        finally:
            self._reader.shutdown(wait=False, cancel_futures=True)

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        key = self.key(request.headers)
        if key is None:  # withdrawn since
            return unknown()
        use = self._use.setdefault(key.name, KeyUse())
        with use.taking(self._seconds()) as may:
            if not may:
                return refuse(429, SLOWER, {"Retry-After": "5"})
            return await self._answered(request, body)

    async def _answered(self, request: web.Request, body: bytes) -> web.Response:
        waiting: list[Event] = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[Event] = []

        async def receive() -> Event:
            if not waiting:
                await asyncio.Event().wait()  # a client that hangs up ends the call
            return waiting.pop()

        async def send(event: Event) -> None:
            sent.append(event)

        calling = self._app(_scope(request), receive, send)
        if not await while_waited_for(request, calling, seconds=ANSWERED_WITHIN_SECONDS):
            return refuse(503, "It took too long.", {"Retry-After": "5"})
        if not sent:  # cut off
            return refuse(503, "The bot is stopping.", {"Retry-After": "5"})
        start, *rest = sent
        headers = {
            name.decode(): value.decode()
            for name, value in start["headers"]
            if name.lower() != b"content-length"
        }
        content = b"".join(one.get("body", b"") for one in rest)
        return web.Response(status=start["status"], headers=headers, body=content)

    def _key_of(self, headers: Headers) -> AgentKey:
        if (key := self.key(headers)) is None:
            raise UserError(NO_KEY)
        return key


class KeyUse:
    """How much a key is used now."""

    def __init__(self) -> None:
        self._at_once = 0
        self._begun: deque[float] = deque(maxlen=REQUESTS_A_MINUTE)

    @contextmanager
    def taking(self, now: float) -> Iterator[bool]:
        """Whether there is room for one more request."""
        is_full = len(self._begun) == REQUESTS_A_MINUTE and now - self._begun[0] < MINUTE_SECONDS
        if is_full or self._at_once >= AT_A_TIME:
            yield False
            return
        self._begun.append(now)
        self._at_once += 1
        try:
            yield True
        finally:
            self._at_once -= 1


def _scope(request: web.Request) -> Event:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": AGENTS_PATH,
        "raw_path": AGENTS_PATH.encode(),
        "root_path": "",
        "query_string": b"",
        # the SDK holds browsers off by Host, and those are refused already
        "headers": [(name.lower(), value) for name, value in request.raw_headers if name.lower() != b"host"]
        + [(b"host", b"127.0.0.1:80")],
        "client": None,
        "server": None,
    }
