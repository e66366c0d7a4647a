"""Servers of tools by configuration: the usual file, and sentences that quote nothing of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.content.mcp import McpServer, read_servers
from bot.errors import ContentError

SECRET = "hunter2hunter2"


def written(folder: Path, content: Any) -> Path:
    path = folder / "mcp.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_usual_form_is_read(tmp_path: Path) -> None:
    """A program or an address; what we do not know belongs to other programs."""
    servers = {
        "docs": {"command": "docs-server", "args": ["--quiet"], "env": {"TOKEN": SECRET}, "disabled": False},
        "tracker": {"url": "https://tracker.example/mcp", "allow": ["search_issues"]},
    }
    found = read_servers(written(tmp_path, {"mcpServers": servers}))

    assert found["docs"] == McpServer(command="docs-server", args=("--quiet",), env={"TOKEN": SECRET})
    assert found["tracker"].allow == ("search_issues",)


def test_who_is_disabled_is_left_out(tmp_path: Path) -> None:
    """As other programs read the file."""
    servers = {"docs": {"command": "docs-server", "disabled": True}, "tracker": {"command": "tracker"}}

    assert list(read_servers(written(tmp_path, {"mcpServers": servers}))) == ["tracker"]


def test_only_what_reads_or_is_named_is_used() -> None:
    """A server's hint that a tool only reads, or the operator's word."""
    server = McpServer(command="x", allow=("search_issues",))

    assert server.may_use("search_issues", read_only=False)
    assert server.may_use("get_issue", read_only=True)
    assert not server.may_use("close_issue", read_only=False)


@pytest.mark.parametrize(
    "content",
    [
        SECRET,
        {},
        {"mcpServers": {}},
        {"mcpServers": {"a b": {"command": SECRET}}},
        {"mcpServers": {"a": SECRET}},
        {"mcpServers": {"a": {"args": [SECRET]}}},
        {"mcpServers": {"a": {"command": "x", "url": f"https://{SECRET}"}}},
        {"mcpServers": {"a": {"url": SECRET}}},
        {"mcpServers": {"a": {"url": "https://x.example/sse", "type": "sse"}}},
        {"mcpServers": {"a": {"command": "x", "env": {"TOKEN": [SECRET]}}}},
    ],
)
def test_what_is_wrong_is_said_without_its_values(tmp_path: Path, content: Any) -> None:
    with pytest.raises(ContentError, match="ROUNDTABLE_MCP") as refused:
        read_servers(written(tmp_path, content))

    assert SECRET not in str(refused.value)


def test_a_file_that_is_not_there_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="cannot be read"):
        read_servers(tmp_path / "none.json")
