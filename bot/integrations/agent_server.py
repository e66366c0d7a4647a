"""The record as tools of the Model Context Protocol. It is loaded by `roundtable mcp` alone."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import INVALID_PARAMS, ToolAnnotations

from bot.domain.specification.claims import EntryState
from bot.domain.specification.shown import ShownEntry, ShownPoint
from bot.domain.values.text import visible
from bot.errors import BotError
from bot.integrations import agents
from bot.integrations.agents import AgentRows, ListedItem, ShortEntry
from bot.integrations.agreed import AgreedItems
from bot.integrations.trace import ShownReason

NAME = "roundtable"
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def agent_server(
    read: Callable[[], AgreedItems],
    reasons: Callable[[str, int], Awaitable[Sequence[ShownReason]]],
    *,
    version: str,
) -> MCPServer:
    """
    *read* is asked by each call, and *reasons* by `why`, with a path and a line. Tools are coroutines, so that git is
    read in one thread.
    """
    server = MCPServer(NAME, instructions=agents.INSTRUCTIONS, version=version, log_level="ERROR")

    @server.tool(annotations=READS)
    async def list_items(query: str = "") -> AgentRows[ListedItem]:
        """The items that the team talked about, with all words of query in name or title; by default all."""
        with _as_tool_error():
            return agents.list_items(read(), query)

    @server.tool(annotations=READS)
    async def get_specification(
        item: str, kinds: tuple[str, ...] = (), state: EntryState = EntryState.ACCEPTED
    ) -> AgentRows[ShortEntry]:
        """Entries of an item, short: of these kinds (requirement, criterion, decision, …), by default of all."""
        with _as_tool_error():
            return agents.get_specification(read(), item, kinds, state)

    @server.tool(annotations=READS)
    async def get_entry(address: str) -> ShownEntry:
        """One entry, such as rate-limiting/FR-001: who said and accepted each value, in which words, and where."""
        with _as_tool_error():
            return agents.get_entry(read(), address)

    @server.tool(annotations=READS)
    async def open_questions(item: str) -> AgentRows[ShownPoint]:
        """What is unanswered, contested, doubtful or only proposed in an item: do not build on it."""
        with _as_tool_error():
            return agents.open_questions(read(), item)

    @server.tool(annotations=READS)
    async def why(path: str, line: int = 0) -> AgentRows[ShownReason]:
        """From a file of the code, or a line of it, to the entries that it is about."""
        with _as_tool_error():
            agents.refuse_long(path=path)
            return agents.rows(await reasons(path, line))

    @server.prompt()
    async def implement(address: str) -> list[UserMessage]:
        """Implement one entry, such as rate-limiting/FR-001, as the team agreed on it."""
        try:
            return [UserMessage(text) for text in agents.task(read(), address)]
        except BotError as error:
            raise MCPError(INVALID_PARAMS, visible(str(error))) from None

    return server


@contextmanager
def _as_tool_error() -> Iterator[None]:
    try:
        yield
    except BotError as error:
        raise ToolError(visible(str(error))) from None
