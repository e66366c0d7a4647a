"""
ROUNDTABLE_MCP: a JSON file in the usual form, `{"mcpServers": {"NAME": {"command": …, "args": […]}}}` or with a `url`.

`allow` lists tools by name; all others are used only if their server marks them as read-only (`readOnlyHint`).
"""

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import StringConstraints, ValidationError, model_validator

from bot.domain.values.json_files import parse
from bot.domain.values.value import Value
from bot.errors import ContentError, lacks_extra
from bot.files import CONTENT_BYTES, chosen

PACKAGE = "mcp"
MOST_SERVERS = 16
NOT_INSTALLED = f"ROUNDTABLE_MCP names servers, but they are not asked: {lacks_extra('mcp')}"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
ToolName = Annotated[str, StringConstraints(pattern=r"^[\w.-]{1,128}$")]


class McpServer(Value):
    """A program that is started, or an address. Values of `env` and `headers` may be secret, and are never shown."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str = ""
    headers: Mapping[str, str] = {}
    allow: tuple[ToolName, ...] = ()
    type: str = ""
    disabled: bool = False

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if self.type == "sse":
            raise ValueError("a server of type sse cannot be reached, only one with streamable HTTP")
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has either a command or a url")
        if self.url and not re.match(r"https?://[^\s/]", self.url):
            raise ValueError("a url starts with https:// or http://")
        return self

    def may_use(self, tool: str, *, read_only: bool) -> bool:
        """Whether personas may call *tool*; *read_only* is the server's own hint."""
        return tool in self.allow or read_only


def read_servers(path: Path) -> Mapping[str, McpServer]:
    """Without those that are disabled. Raises ContentError, with a sentence that quotes no value of the file."""
    try:
        given: Any = parse(chosen(path, CONTENT_BYTES).decode())
    except OSError as error:
        raise ContentError(f"ROUNDTABLE_MCP: the file cannot be read ({error.strerror}).") from None
    except ValueError:
        raise ContentError("ROUNDTABLE_MCP: the file is no JSON.") from None
    servers = given.get("mcpServers") if isinstance(given, dict) else None
    if not isinstance(servers, dict) or not 0 < len(servers) <= MOST_SERVERS:
        raise ContentError(f"ROUNDTABLE_MCP: the file needs `mcpServers` with 1 to {MOST_SERVERS} servers.")
    found = {name: _server(name, one) for name, one in servers.items()}
    return {name: one for name, one in found.items() if not one.disabled}


def _server(name: str, given: Any) -> McpServer:
    if not _NAME.fullmatch(name):
        raise ContentError(
            "ROUNDTABLE_MCP: a server has a name that is not of letters, digits, `.`, `_` and `-`."
        )
    fields = (
        {field: one for field, one in given.items() if field in McpServer.model_fields}
        if isinstance(given, dict)
        else {}
    )
    try:
        return McpServer.model_validate(fields)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise ContentError(
            f"ROUNDTABLE_MCP: {name}{f'.{where}' if where else ''}: {problem['msg']}."
        ) from None


def is_installed() -> bool:
    return find_spec(PACKAGE) is not None
