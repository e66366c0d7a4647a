"""The page people talk in: static files, and one websocket that carries every change out and every deed in."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

from slack_sandbox import deeds, feed
from slack_sandbox.changes import SandboxChange
from slack_sandbox.messages import JSON
from slack_sandbox.people import SandboxPerson
from slack_sandbox.recording import Recording, RecordingState
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.slack import Slack

STATIC = Path(__file__).with_name("static")
FILES = {
    "": "index.html",
    **{path.name: path.name for path in STATIC.glob("*.*") if path.suffix in {".js", ".css"}},
}


class SandboxPage:
    def __init__(
        self, slack: Slack, *, person: Callable[[str], SandboxPerson], connected: Callable[[], bool]
    ) -> None:
        self._slack = slack
        self._person = person
        self._connected = connected
        self._was_connected = False
        self._recording: Recording | None = None
        self._queues: set[asyncio.Queue[JSON | None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def changed(self, change: SandboxChange) -> None:
        if not self._queues:
            return
        for update in feed.updates(self._slack, change):
            self._tell_all(update)

    def noticed(self) -> None:
        """Whether an app is there is worth a dot of colour."""
        if (connected := self._connected()) != self._was_connected:
            self._was_connected = connected
            self._tell_all({"type": "app", "connected": connected})

    def offer(self, recording: Recording) -> None:
        self._recording = recording
        recording.watcher = lambda: self._tell_all({"type": "recording", "recording": recording.as_json()})
        recording.watcher()
        if self._queues:
            self._begin()

    def show_again(self) -> None:
        """Everything, also what no single change tells."""
        self._tell_all(self._everything())

    async def file(self, request: web.Request) -> web.StreamResponse:
        name = FILES.get(request.match_info.get("name", ""))
        if name is None:
            raise web.HTTPNotFound
        return web.FileResponse(STATIC / name, headers={"Cache-Control": "no-cache"})

    async def permalink(self, request: web.Request) -> web.StreamResponse:
        """`chat.getPermalink` leads to the page, to the very message."""
        digits = request.match_info["stamp"].removeprefix("p")
        ts = f"{digits[:-6]}.{digits[-6:]}"
        thread = request.query.get("thread_ts", "")
        raise web.HTTPFound(f"/#{request.match_info['channel']}/{thread or ts}/{ts}")

    async def live(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(heartbeat=30)
        await socket.prepare(request)
        queue: asyncio.Queue[JSON | None] = asyncio.Queue()
        queue.put_nowait(self._everything())
        self._queues.add(queue)
        self._begin()
        writer = self._keep(self._write(socket, queue))
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._keep(self._answer(_wish(message.data), queue))
        finally:
            self._queues.discard(queue)
            writer.cancel()
        return socket

    async def aclose(self) -> None:
        if self._recording:
            await self._recording.aclose()
        for queue in self._queues:
            queue.put_nowait(None)
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=1)
            for task in late:
                task.cancel()

    def _keep(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _tell_all(self, update: JSON) -> None:
        for queue in self._queues:
            queue.put_nowait(update)

    async def _write(self, socket: web.WebSocketResponse, queue: "asyncio.Queue[JSON | None]") -> None:
        with contextlib.suppress(ConnectionError):
            while (update := await queue.get()) is not None:
                await socket.send_json(update)
        await socket.close()

    async def _answer(self, wish: JSON, queue: "asyncio.Queue[JSON | None]") -> None:
        is_button = wish.get("do") == "recording"
        answer = self._pressed(wish) if is_button else await deeds.outcome(self._person, wish)
        queue.put_nowait({"type": "answer", "id": wish.get("id"), **answer})

    def _begin(self) -> None:
        recording = self._recording
        if recording and recording.at_once and recording.state is RecordingState.OFFERED:
            recording.press("play")

    def _pressed(self, wish: JSON) -> JSON:
        if self._recording is None:
            return {"ok": False, "error": "no_recording"}
        try:
            self._recording.press(str(wish.get("button")))
        except SlackRefused as refusal:
            return refusal.as_json()
        return {"ok": True}

    def _everything(self) -> JSON:
        recording = self._recording.as_json() if self._recording else None
        return feed.everything(self._slack) | {"connected": self._connected(), "recording": recording}


def _wish(text: str) -> JSON:
    try:
        wish = json.loads(text)
    except ValueError:
        return {}
    return wish if isinstance(wish, dict) else {}
