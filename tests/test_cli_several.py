"""The commands where several Slack workspaces install the app."""

import re
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests.command_line import Cli
from tests.ports import free_port
from tests.storage.checkout import Git, commit_all


def several(**more: str) -> dict[str, str]:
    return {
        "SLACK_CLIENT_ID": "1.2",
        "SLACK_CLIENT_SECRET": "open-sesame",
        "SLACK_SIGNING_SECRET": "8f742231b10e",
        "ROUNDTABLE_URL": "https://bot.example",
        "ROUNDTABLE_TEAMS": "T012,E034",
        "ROUNDTABLE_TOKEN_KEY": Fernet.generate_key().decode(),
        "ROUNDTABLE_SEAL_KEY": "a-key-of-sixteen-characters",
        "ROUNDTABLE_PORT": str(free_port()),
        "ROUNDTABLE_HEALTH_PORT": str(free_port()),
        **more,
    }


async def test_check_prints_a_key_to_copy_where_there_is_none(cli: Cli) -> None:
    ran = await cli("check", **several(ROUNDTABLE_TOKEN_KEY=""))

    assert ran.code == 1
    assert "With SLACK_CLIENT_ID, set ROUNDTABLE_TOKEN_KEY, too." in ran.out
    found = re.search(r"A fresh key, which nothing else knows: (\S+)", ran.out)
    assert found
    Fernet(found[1])
    checked = await cli("check", **several(ROUNDTABLE_TOKEN_KEY=found[1]))
    assert "T012       not installed: open https://bot.example/slack/install there" in checked.out
    assert checked.code == 0


@pytest.fixture
def item(tmp_path: Path) -> None:
    """In the repository of T012."""
    repository = tmp_path / "workspace" / "T012"
    Git(repository).write("docs/requirements/offline-sync/meta.json", '{"description": "Offline sync"}')
    commit_all(repository)


@pytest.mark.usefixtures("item")
async def test_most_commands_are_about_one_of_them(cli: Cli) -> None:
    for command in (("items",), ("--team", "T999", "items")):
        ran = await cli(*command, **several())
        assert (ran.code, ran.err) == (
            1,
            "There are several workspaces. Say which one before the command, with --team and one of: T012, E034.\n",
        )
    assert "offline-sync" in (await cli("--team", "T012", "items", **several())).out


async def test_a_workspace_is_named_only_where_there_are_several(cli: Cli) -> None:
    ran = await cli("--team", "T012", "items")
    running = await cli("--team", "T012", "run", **several())

    assert ran.err == "--team is for several workspaces: set SLACK_CLIENT_ID, or leave it out.\n"
    assert running.err == "This command is about all workspaces: leave out --team.\n"


async def test_a_manifest_for_several_needs_an_address(cli: Cli) -> None:
    without = await cli("manifest", "--teams")
    alone = await cli("manifest", "--rotate")

    assert (without.code, alone.code) == (2, 2)
    assert "--teams needs --url" in without.err
    assert "--rotate goes with --teams" in alone.err
