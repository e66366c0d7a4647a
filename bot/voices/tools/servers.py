"""
Tools of the servers that operators configured (MCP): programs that are started, or addresses.

They are connected in the background. A server that does not start, ends or is late says so in one sentence and rests
for a while: nobody waits for it, and no step fails because of it. What it returns was written by others.
"""

import asyncio
import hashlib
import json
import logging
import re
import subprocess
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TextIO, cast

from httpx2 import AsyncClient
from mcp import MCPError, StdioServerParameters, stdio_client
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, CallToolResult, EmbeddedResource, TextContent, TextResourceContents
from mcp.types import Tool as ServerTool

from bot.content.mcp import McpServer
from bot.domain.catalog.personas import server_area
from bot.domain.values.text import one_line
from bot.engine.evidence_ports import LookRefused, Passage
from bot.voices.model import ServerReport, Tool
from bot.voices.prompts.fencing import sanitized

log = logging.getLogger(__name__)

LET_GO_SECONDS = 3.0
MOST_PAGES = 4
MOST_TOOLS = 32
"""Of one server."""
NAME_CHARS = 64
"""The longest name of a tool that all providers take."""
DESCRIPTION_CHARS = 300
SCHEMA_CHARS = 4_000
RESULT_CHARS = 50_000
"""What is looked at of a result; personas are shown less."""
REFUSAL_CHARS = 300
SHORTEST_SECRET = 6
HIDDEN = "[redacted:setting]"
LATE = "it did not answer within {seconds:g} s"
ENDED = "it ended the connection"
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_NO_ID = re.compile(r"[^\w.-]")
_PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ServerTimes(NamedTuple):
    """In seconds: how long connecting and a call may take, and how long a server rests that failed."""

    connect: float = 10.0
    call: float = 10.0
    rest: float = 60.0


TIMES = ServerTimes()


class McpTools:
    """*servers* by their names, as they are configured."""

    def __init__(self, servers: Mapping[str, McpServer], times: ServerTimes = TIMES) -> None:
        self._servers = [_Server(name, one, times) for name, one in servers.items()]

    @property
    def tools(self) -> Sequence[Tool]:
        """Of the servers that can be asked now. Those that have rested are connected again, in the background."""
        self.wake()
        return [tool for one in self._servers for tool in one.tools]

    def wake(self) -> None:
        for one in self._servers:
            one.wake()

    async def ask(self, name: str, given: Mapping[str, Any]) -> Passage:
        """Raises LookRefused."""
        for one in self._servers:
            if name in one.called:
                return await one.ask(one.called[name], given)
        raise LookRefused(f"You have no tool {one_line(name, 40)}.")

    async def settled(self) -> tuple[ServerReport, ...]:
        self.wake()
        return tuple([await one.settled() for one in self._servers])

    async def close(self) -> None:
        await asyncio.gather(*(one.close() for one in self._servers))


@asynccontextmanager
async def opened_tools(
    servers: Mapping[str, McpServer], times: ServerTimes = TIMES
) -> AsyncIterator[McpTools]:
    logging.getLogger("mcp").setLevel(
        logging.CRITICAL
    )  # it logs what servers send; we say what becomes of them
    found = McpTools(servers, times)
    found.wake()
    try:
        yield found
    finally:
        await found.close()


class _Server:
    """One task keeps the connection, from its beginning to its end, because the library wants it so."""

    def __init__(self, name: str, given: McpServer, times: ServerTimes) -> None:
        self.name = name
        self.tools: tuple[Tool, ...] = ()
        self.called: Mapping[str, str] = {}
        """The server's own names of the tools, by those that models use; also of one that rests."""
        self._given = given
        self._secrets = [
            one for one in (*given.env.values(), *given.headers.values()) if len(one) >= SHORTEST_SECRET
        ]
        self._times = times
        self._offered: tuple[str, ...] = ()
        self._sentence = ""
        self._client: Client | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._leaving = asyncio.Event()
        self._rests_until = 0.0

    def wake(self) -> None:
        if self._keeper is None and time.monotonic() >= self._rests_until and not self._leaving.is_set():
            self._changed.clear()
            self._keeper = asyncio.create_task(self._kept(), name=f"server of tools {self.name}")
            self._keeper.add_done_callback(self._ended)

    async def settled(self) -> ServerReport:
        await self._changed.wait()
        used = tuple(self.called[one.name] for one in self.tools)
        return ServerReport(self.name, used, self._offered, self._sentence)

    async def ask(self, tool: str, given: Mapping[str, Any]) -> Passage:
        result = await self._result(tool, given)
        text = self._hidden(_text(result)[:RESULT_CHARS])
        if result.is_error:
            raise LookRefused(f"{self.name} says: {one_line(text, REFUSAL_CHARS)}")
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:7]
        return Passage(f"mcp:{self.name}/{_NO_ID.sub('_', tool)}#{digest}", text)

    async def close(self) -> None:
        """A server that does not end by itself is left to the library, which kills it."""
        self._leaving.set()
        if self._keeper is None:
            return
        await asyncio.wait({self._keeper}, timeout=LET_GO_SECONDS)
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper}, timeout=LET_GO_SECONDS)

    # --- the connection ---------------------------------------------------------------------------------------------

    async def _kept(self) -> None:
        late = asyncio.get_running_loop().call_later(self._times.connect, self._late)
        try:
            async with _connected(self._given, 2 * self._times.call) as client:
                self._take(await _listed(client))
                self._client, self._sentence = client, ""
                late.cancel()
                self._changed.set()
                await self._leaving.wait()
        finally:
            late.cancel()

    def _take(self, offered: Sequence[ServerTool]) -> None:
        allowed = [one for one in offered if self._given.may_use(one.name, read_only=_is_read_only(one))]
        found = {_called(self.name, one.name): one for one in allowed[:MOST_TOOLS]}
        shown = {name: self._tool(name, one) for name, one in found.items()}
        self._offered = tuple(one.name for one in offered)
        self.tools = tuple(tool for tool in shown.values() if tool)
        self.called = {tool.name: found[tool.name].name for tool in self.tools}

    def _tool(self, name: str, given: ServerTool) -> Tool | None:
        """None for one whose parameters are too long for each call of a model, or have names that providers refuse."""
        schema = _shortened(given.input_schema)
        names = schema.get("properties") or {}
        if len(json.dumps(schema)) > SCHEMA_CHARS or not all(map(_PARAMETER.fullmatch, names)):
            log.info("The tool %s is left out: no model takes its parameters", name)
            return None
        said = one_line(sanitized(self._hidden(given.description or given.name)), DESCRIPTION_CHARS)
        return Tool(name, f"Of the server {self.name}: {said}", schema, server_area(self.name))

    def _late(self) -> None:
        self._rest(LATE.format(seconds=self._times.connect))
        if self._keeper:
            self._keeper.cancel()

    def _ended(self, keeper: "asyncio.Task[None]") -> None:
        """Whatever went wrong; the library raises errors of many kinds, alone and in groups."""
        error = None if keeper.cancelled() else keeper.exception()
        if error:
            self._rest(_reason(error))
        self._keeper = None
        self._let_go()

    def _rest(self, reason: str) -> None:
        if time.monotonic() < self._rests_until:
            return
        self._sentence = f"{self.name} cannot be asked now: {reason}."
        log.warning("The server of tools %s rests for %g s: %s", self.name, self._times.rest, reason)
        self._rests_until = time.monotonic() + self._times.rest
        self._let_go()

    def _let_go(self) -> None:
        self._client, self.tools = None, ()
        self._changed.set()

    # --- a call -----------------------------------------------------------------------------------------------------

    async def _result(self, tool: str, given: Mapping[str, Any]) -> CallToolResult:
        client, keeper = self._client, self._keeper
        if client is None or keeper is None:
            raise LookRefused(self._sentence)
        asking = asyncio.create_task(client.call_tool(tool, dict(given)), name=f"asking {self.name}")
        try:
            await asyncio.wait(
                {asking, keeper}, timeout=self._times.call, return_when=asyncio.FIRST_COMPLETED
            )
            is_done = asking.done()
        finally:
            if asking.cancel():
                asking.add_done_callback(_forgotten)
        if not is_done:
            raise self._failed(ENDED if keeper.done() else LATE.format(seconds=self._times.call), keeper)
        error = asking.exception()
        if error is None:
            return asking.result()
        if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
            said = one_line(self._hidden(error.message), REFUSAL_CHARS)
            raise LookRefused(f"{self.name} says: {said}")
        raise self._failed(_reason(error), keeper)

    def _failed(self, reason: str, keeper: "asyncio.Task[None]") -> LookRefused:
        self._rest(reason)
        keeper.cancel()
        return LookRefused(self._sentence)

    def _hidden(self, text: str) -> str:
        """Without what the operator gave it to keep."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text


@asynccontextmanager
async def _connected(given: McpServer, seconds: float) -> AsyncIterator[Client]:
    """A program gets the few variables of ours that all programs need, and its own. What it says of itself is lost."""
    if given.url:
        async with (
            AsyncClient(headers=dict(given.headers), timeout=seconds) as http,
            Client(
                streamable_http_client(given.url, http_client=http), read_timeout_seconds=seconds
            ) as client,
        ):
            yield client
        return
    started = StdioServerParameters(command=given.command, args=list(given.args), env=dict(given.env))
    silent = cast("TextIO", subprocess.DEVNULL)  # as `subprocess` takes it, too
    async with Client(stdio_client(started, errlog=silent), read_timeout_seconds=seconds) as client:
        yield client


async def _listed(client: Client) -> Sequence[ServerTool]:
    found: list[ServerTool] = []
    cursor = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return found


def _is_read_only(tool: ServerTool) -> bool:
    return bool(tool.annotations and tool.annotations.read_only_hint)


def _called(server: str, tool: str) -> str:
    """A name that all providers take, and that is nobody else's."""
    whole = f"{server}__{tool}"
    plain = _NO_NAME.sub("_", whole)
    if plain == whole and len(plain) <= NAME_CHARS:
        return plain
    return f"{plain[: NAME_CHARS - 7]}_{hashlib.sha256(whole.encode()).hexdigest()[:6]}"


def _shortened(schema: Any) -> Any:
    """With every text in one line: descriptions are written by others, too."""
    match schema:
        case Mapping():
            return {str(name): _shortened(one) for name, one in schema.items()}
        case list() | tuple():
            return [_shortened(one) for one in schema]
        case str():
            return one_line(sanitized(schema), DESCRIPTION_CHARS)
        case _:
            return schema


def _text(result: CallToolResult) -> str:
    """Texts and texts of files; pictures and sounds are only named."""
    parts = [_part(one) for one in result.content]
    if not parts and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False, default=str)
    return "\n".join(parts)


def _part(block: Any) -> str:
    match block:
        case TextContent():
            return block.text
        case EmbeddedResource(resource=TextResourceContents() as file):
            return f"{file.uri}\n{file.text}"
        case _:
            return f"[{one_line(str(block.type), 20)} is not shown]"


def _reason(error: BaseException) -> str:
    """Without the words of the error: they may quote an address, a key or what was sent."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case FileNotFoundError():
            return "its command was not found"
        case PermissionError():
            return "its command may not be run"
        case MCPError() if error.code == CONNECTION_CLOSED:
            return ENDED
        case _:
            return f"it failed with {type(error).__name__}"


def _forgotten(asking: "asyncio.Task[CallToolResult]") -> None:
    if not asking.cancelled():
        asking.exception()
