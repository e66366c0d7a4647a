"""
The record as tools of the Model Context Protocol: of a clone over standard input and output, or of a running bot over
HTTP, where agents may ask, too. Only `roundtable mcp`, and a bot with keys for agents, load it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import INVALID_PARAMS, ToolAnnotations

from bot.domain.catalog.policy import AgentKey
from bot.domain.messages.agent_question_wording import MAY_NOT_ASK
from bot.domain.specification.agent_questions import QuestionStatus
from bot.domain.specification.claims import EntryState
from bot.domain.specification.shown import ShownEntry, ShownPoint
from bot.domain.values.text import visible
from bot.errors import BotError
from bot.integrations import agents
from bot.integrations.agents import AgentRows, ListedItem, ShortEntry
from bot.integrations.agreed import AgreedItems
from bot.integrations.trace import ShownReason

if TYPE_CHECKING:
    from bot.engine.agent_desk import AgentDesk  # what `roundtable mcp` does not load

T = TypeVar("T")
NAME = "roundtable"
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ASKS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)

Headers = Mapping[str, str]
Reasons = Callable[[str, int], Awaitable[Sequence[ShownReason]]]
CloneServer = MCPServer
"""For the command, which does not import the SDK."""


class ReadItems(Protocol):
    """
    What *work* makes of the items that the sender of a request may see: only of the one that the address *named* is in,
    if they see it. Raises BotError.
    """

    async def __call__(self, headers: Headers, named: str, work: Callable[[AgreedItems], T]) -> T: ...


def clone_server(read: Callable[[], AgreedItems], reasons: Reasons, *, version: str) -> CloneServer:
    """
    *read* is asked by each call, and *reasons* by `why`, with a path and a line. Tools are coroutines, so that git is
    read in one thread.
    """
    server = _server(version, agents.INSTRUCTIONS)

    async def read_items(
        headers: Headers,  # noqa: ARG001 -- one reader
        named: str,  # noqa: ARG001 -- who may see everything
        work: Callable[[AgreedItems], T],
    ) -> T:
        return work(read())

    _add_reading(server, read_items)

    @server.tool(annotations=READS)
    async def why(path: str, line: int = 0) -> AgentRows[ShownReason]:
        """From a file of the code, or a line of it, to the entries that it is about."""
        with _as_tool_error(path=path):
            return agents.rows(await reasons(path, line))

    return server


def bot_server(
    key_of: Callable[[Headers], AgentKey],
    desk: "AgentDesk",
    read: Callable[[], AgreedItems],
    *,
    reader: Executor,
    version: str,
) -> MCPServer:
    """
    *key_of* is who sent a request with these headers; it raises UserError. *read* gives the newest commit, in the one
    thread of *reader*.
    """
    server = _server(version, f"{agents.INSTRUCTIONS} {agents.ASK_INSTEAD}")

    async def read_items(headers: Headers, named: str, work: Callable[[AgreedItems], T]) -> T:
        seen = await desk.seen(key_of(headers), named.strip().partition("/")[0])
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(reader, lambda: work(read().limited_to(seen)))

    def asking(ctx: Context[Any, Any]) -> AgentKey:
        key = key_of(_headers(ctx))
        if not key.may_ask:
            raise ToolError(MAY_NOT_ASK)
        return key

    _add_reading(server, read_items)

    @server.tool(annotations=ASKS)
    async def ask_people(
        ctx: Context[Any, Any],
        item: str,
        question: str,
        options: tuple[str, ...] = (),
        about: tuple[str, ...] = (),
    ) -> QuestionStatus:
        """
        Ask the team in the item's Slack thread: one question, at most four short options, and the entries that it is
        about. Returns at once; get_answer says what people answered. The same question again is the same question.
        """
        with _as_tool_error(item=item, question=question, options=(*options, *about)):
            return await desk.ask(asking(ctx), item.strip(), question, options=options, about=about)

    @server.tool(annotations=READS)
    async def get_answer(ctx: Context[Any, Any], question: str, wait_seconds: int = 0) -> QuestionStatus:
        """
        What people answered to a question of yours, such as rate-limiting/Q-002, waiting at most 25 seconds. While it
        is open, do something else and ask again later; a contested one is not settled.
        """
        with _as_tool_error(question=question):
            return await desk.answer(asking(ctx), question, wait_seconds=wait_seconds)

    @server.tool(annotations=ASKS)
    async def withdraw_question(ctx: Context[Any, Any], question: str) -> QuestionStatus:
        """Take back a question of yours that no person has answered."""
        with _as_tool_error(question=question):
            return await desk.withdraw(asking(ctx), question)

    return server


def _server(version: str, instructions: str) -> MCPServer:
    # an answer to `subscriptions/listen` would never end
    return MCPServer(NAME, instructions=instructions, version=version, log_level="ERROR", subscriptions=False)


def _add_reading(server: MCPServer, read: ReadItems) -> None:
    @server.tool(annotations=READS)
    async def list_items(ctx: Context[Any, Any], query: str = "") -> AgentRows[ListedItem]:
        """The items that the team talked about, with all words of query in name or title; by default all."""
        with _as_tool_error(query=query):
            return await read(_headers(ctx), "", lambda items: agents.list_items(items, query))

    @server.tool(annotations=READS)
    async def get_specification(
        ctx: Context[Any, Any],
        item: str,
        kinds: tuple[str, ...] = (),
        state: EntryState = EntryState.ACCEPTED,
    ) -> AgentRows[ShortEntry]:
        """Entries of an item, short: of these kinds (requirement, criterion, decision, …), by default of all."""
        with _as_tool_error(item=item):
            return await read(
                _headers(ctx), item, lambda items: agents.get_specification(items, item, kinds, state)
            )

    @server.tool(annotations=READS)
    async def get_entry(ctx: Context[Any, Any], address: str) -> ShownEntry:
        """One entry, such as rate-limiting/FR-001: who said and accepted each value, in which words, and where."""
        with _as_tool_error(address=address):
            return await read(_headers(ctx), address, lambda items: items.show(address))

    @server.tool(annotations=READS)
    async def open_questions(ctx: Context[Any, Any], item: str) -> AgentRows[ShownPoint]:
        """What is unanswered, contested, doubtful or only proposed in an item: do not build on it."""
        with _as_tool_error(item=item):
            return await read(_headers(ctx), item, lambda items: agents.open_questions(items, item))

    @server.prompt()
    async def implement(ctx: Context[Any, Any], address: str) -> list[UserMessage]:
        """Implement one entry, such as rate-limiting/FR-001, as the team agreed on it."""
        try:
            agents.refuse_long(address=address)
            told = await read(_headers(ctx), address, lambda items: agents.task(items, address))
        except BotError as error:
            raise MCPError(INVALID_PARAMS, visible(str(error))) from None
        return [UserMessage(text) for text in told]


def _headers(ctx: Context[Any, Any]) -> Headers:
    return ctx.headers or {}


@contextmanager
def _as_tool_error(**given: str | Sequence[str]) -> Iterator[None]:
    """What is *given* has no longer texts than agents may send."""
    try:
        agents.refuse_long(**given)
        yield
    except BotError as error:
        raise ToolError(visible(str(error))) from None
