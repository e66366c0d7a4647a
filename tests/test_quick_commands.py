"""
Commands of git alone begin at once: they load neither Slack's library nor a server, a store or a model. How long they
take is in `bench/start.py`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from bench import start
from bot.cli.main import COMMANDS, load_command

ROOT = Path(__file__).parent.parent
LOADED = """
import atexit, json, sys
from bot.cli.main import main
atexit.register(lambda: print("\\n" + json.dumps(sorted(sys.modules)), file=sys.stderr))
sys.argv = ["roundtable", *sys.argv[1:]]
main()
"""
OF_A_BOT = frozenset({
    "aiohttp", "anthropic", "boto3", "google", "mcp", "openai", "prometheus_client", "pydantic_ai", "redis",
    "rich", "slack_bolt", "slack_sdk", "structlog",
    "bot.app", "bot.cast", "bot.tenants", "bot.cli.check", "bot.cli.commands", "bot.engine.engine", "bot.server.http",
    "bot.slack.client", "bot.storage.redis", "bot.storage.sqlite", "bot.voices.thinking", "roundtable_eval",
    "slack_sandbox",
    # Values of a live roundtable.
    "bot.domain.roundtable.state", "bot.domain.roundtable.machine", "bot.domain.actions.table",
    "bot.domain.catalog.agenda", "bot.domain.messages.step_wording",
})  # fmt: skip
OF_GIT = OF_A_BOT | {"pygit2", "bot.settings"}
DOORS = frozenset({
    "mcp", "mcp.server", "bot.cli.agents", "bot.cli.keys", "bot.cli.trace", "bot.integrations.agents",
    "bot.integrations.agent_server", "bot.integrations.github", "bot.integrations.trace", "bot.server.agent_route",
    "bot.slack.installations", "bot.tenants", "cryptography.fernet",
})  # fmt: skip
"""What a bot does not use without settings for it."""


def loaded_by(folder: Path, *words: str) -> set[str]:
    """By a command that runs in *folder*, as a person starts it."""
    env = {name: text for name, text in os.environ.items() if not name.startswith(("ROUNDTABLE_", "SLACK_"))}
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        cwd=folder,
        env={**env, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return set(cast(list[str], json.loads(ran.stderr.splitlines()[-1])))


@pytest.mark.parametrize(
    "words",
    [
        ("trace", "--check"),
        ("trace", "--message", "MESSAGE"),
        ("trace", "accept", "limits/FR-001"),
        ("why", "README.md"),
        ("show", "limits/FR-001"),
        ("decisions",),
        ("key", "list"),
    ],
)
def test_what_needs_git_alone_loads_no_bot(tmp_path: Path, words: tuple[str, ...]) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "MESSAGE").write_text("Limit requests (limits/FR-001)\n")
    assert loaded_by(tmp_path, *words).isdisjoint(OF_A_BOT | {"markdown_it", "bot.integrations.exports"})


@pytest.mark.parametrize("words", [("schema", "entry"), ("--version",)])
def test_what_needs_no_record_loads_no_git(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert loaded_by(tmp_path, *words).isdisjoint(OF_GIT)


def test_the_list_of_commands_loads_none_of_them(tmp_path: Path) -> None:
    """Rich draws it."""
    assert loaded_by(tmp_path, "-h").isdisjoint(OF_GIT - {"rich"})


def test_the_server_of_a_clone_loads_the_sdk_and_no_bot(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert loaded_by(tmp_path, "mcp").isdisjoint(OF_A_BOT - {"mcp", "rich", "bot.domain.actions.table"})


def test_a_bot_loads_no_door_that_it_does_not_use() -> None:
    told = f"import sys, bot.cli.commands; print(sorted(set(sys.modules) & {set(DOORS)}))"
    ran = subprocess.run([sys.executable, "-c", told], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
    assert "from mcp.server import MCPServer" not in start.imports()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_found_and_says_what_the_list_says(name: str) -> None:
    found = load_command(name)
    assert (found.name, found.help) == (name, COMMANDS[name].help)
