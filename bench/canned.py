"""
Slack as these benchmarks need it: canned answers and Socket Mode, as cheap as can be, in the process that measures.

Apps are told apart by their app-level token, so that several can be connected at once.
"""

import asyncio
import json
import sys
from collections import defaultdict
from itertools import count, cycle
from types import TracebackType
from typing import Any, Self

from aiohttp import WSMsgType, web

TEAM, BOT_USER, BOT = "T1", "U0BOT", "B0BOT"
SCOPES = (
    "app_mentions:read,channels:history,chat:write,chat:write.customize,commands,reactions:write,users:read"
)
CONNECT_SECONDS = 30
ACK_SECONDS = 3
DELIVERIES = 4
HOST = "127.0.0.1"

_PROFILE = {
    "avatar_hash": "0",
    "real_name": "Ada",
    "display_name": "Ada",
    "real_name_normalized": "Ada",
    "display_name_normalized": "Ada",
    "team": TEAM,
    "email": "ada@localhost",
}
_ADA = {
    "id": "U0ADA",
    "name": "ada",
    "is_bot": False,
    "is_app_user": False,
    "updated": 1,
    "profile": _PROFILE,
}
_ANSWERS: dict[str, dict[str, Any]] = {
    "auth.test": {"team_id": TEAM, "team": "Bench", "user_id": BOT_USER, "user": "bench", "bot_id": BOT},
    "bots.info": {"bot": {"id": BOT, "user_id": BOT_USER, "name": "bench"}},
    "conversations.info": {"channel": {"id": "C0BENCH", "name": "bench", "is_channel": True}},
    "conversations.replies": {"messages": []},
    "conversations.list": {"channels": []},
    "chat.getPermalink": {"permalink": "https://slack.test/p1"},
    "users.info": {"user": _ADA},
    "users.list": {"members": [_ADA]},
}


class CannedSlack:
    def __init__(self, *, port: int = 0) -> None:
        self._port = port
        self._stamps = count(1)
        self._sockets: dict[str, list[web.WebSocketResponse]] = defaultdict(list)
        self._next: dict[str, Any] = {}
        self._acks: dict[str, asyncio.Future[None]] = {}
        self._connected = asyncio.Condition()

    async def __aenter__(self) -> Self:
        routes = web.Application()
        routes.add_routes([web.get("/link/{app}", self._link), web.route("*", "/api/{method}", self._api)])
        self._runner = web.AppRunner(routes, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, self._port).start()
        self._address = f"{HOST}:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for sockets in self._sockets.values():
            for socket in tuple(sockets):
                await socket.close()
        await self._runner.cleanup()

    @property
    def api_url(self) -> str:
        return f"http://{self._address}/api/"

    async def connected(self, app: str, *, sockets: int) -> None:
        async with asyncio.timeout(CONNECT_SECONDS), self._connected:
            await self._connected.wait_for(lambda: len(self._sockets[app]) >= sockets)
        self._next[app] = cycle(self._sockets[app])

    async def delivered(self, app: str, envelope_id: str, envelope: str) -> None:
        """Returns when the app *app* has acknowledged; until then, it is told again as Slack would."""
        acked = self._acks[envelope_id] = asyncio.get_running_loop().create_future()
        for _ in range(DELIVERIES):
            await next(self._next[app]).send_str(envelope)
            await asyncio.wait([acked], timeout=ACK_SECONDS)
            if acked.done():
                return
        raise AssertionError(f"{app} never acknowledged")

    async def _api(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        if method == "apps.connections.open":
            app = request.headers["Authorization"].removeprefix("Bearer ")
            return web.json_response({"ok": True, "url": f"ws://{self._address}/link/{app}"})
        if method == "chat.postMessage":
            return await self._posted(request)
        answer = _ANSWERS.get(method, {})
        return web.json_response({"ok": True, **answer}, headers={"x-oauth-scopes": SCOPES})

    async def _posted(self, request: web.Request) -> web.Response:
        said = await (request.json() if request.content_type == "application/json" else request.post())
        stamp = f"{1_800_000_000 + next(self._stamps)}.000100"
        return web.json_response({"ok": True, "ts": stamp, "channel": said["channel"], "message": {}})

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        async with self._connected:
            self._sockets[request.match_info["app"]].append(socket)
            self._connected.notify_all()
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                acked = self._acks.pop(json.loads(message.data).get("envelope_id", ""), None)
                if acked and not acked.done():
                    acked.set_result(None)
        self._sockets[request.match_info["app"]].remove(socket)
        return socket


async def _serve(port: int) -> None:
    async with CannedSlack(port=port):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
