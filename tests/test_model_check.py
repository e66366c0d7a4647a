"""What `roundtable check`, and the start, say about the models that are configured."""

from pathlib import Path

import pytest

from bot.cli import check
from bot.cli.check import REVIEWED_BY_ITSELF, CheckProblem, CheckResult
from bot.settings import Settings
from tests.command_line import CommandLine
from tests.voices.models.provider import KEY, Answer, ModelServer, Reply, fails, hangs_up, model_server, says

MAYA = """---
key: business-analyst
name: Maya Chen
role: Business Analyst
model: {model}
---
"""


async def row(folder: Path, **env: str) -> CheckResult:
    """Slack is not asked: there is no token."""
    settings = Settings.from_env({"ROUNDTABLE_WORKSPACE": str(folder / "workspace"), **env})
    return next(one for one in await check.everything(settings) if one.name == "model")


def at(server: ModelServer, model: str, **more: str) -> dict[str, str]:
    return {
        "ROUNDTABLE_MODEL": model,
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": server.url,
        **more,
    }


async def test_offline_is_said_to_be_offline(tmp_path: Path) -> None:
    """Keys alone make nobody think."""
    found = await row(tmp_path, OPENAI_API_KEY=KEY)

    assert (found.status, found.found) == (
        "ok",
        "offline: the personas facilitate, and do not think for themselves",
    )


@pytest.mark.parametrize(
    "reply",
    [says(), says(Answer("", finish="length")), says(Answer("")), says(Answer(refusal="No."))],
    ids=["answers", "cut off", "says nothing", "refuses"],
)
async def test_each_model_is_asked_for_a_word(reply: Reply, tmp_path: Path) -> None:
    """Once, and it costs next to nothing; whatever it says shows that the key is right, and that it is there."""
    async with model_server() as server:
        server.will(reply)
        found = await row(tmp_path, **at(server, "openai:qwen3"))

    assert (found.status, found.found) == ("ok", f"openai:qwen3 answers{REVIEWED_BY_ITSELF}")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (fails(401), "openai:qwen3 does not accept our key (HTTP 401)."),
        (fails(404), "openai:qwen3 does not exist where we ask for it (HTTP 404)."),
        (hangs_up(), "openai:qwen3 could not be reached, or hung up."),
    ],
)
async def test_a_model_that_nobody_stands_in_for_stops_the_run(
    reply: Reply, said: str, tmp_path: Path
) -> None:
    """In a sentence, with neither the key nor what the provider said."""
    async with model_server() as server:
        server.will(reply)
        found = await row(tmp_path, **at(server, "openai:qwen3"))

    assert (found.status, found.found) == ("fail", "no model answers")
    assert found.problems == (CheckProblem(said, stops=True),)


@pytest.mark.parametrize("rest", ["offline", "anthropic:claude-sonnet-5"])
async def test_where_somebody_stands_in_it_is_a_warning(rest: str, tmp_path: Path) -> None:
    """Another model, or the voice without one."""
    async with model_server() as server:
        server.will(fails(401), says())
        found = await row(tmp_path, **at(server, f"openai:qwen3,{rest}"))

    assert found.status == "warn"


async def test_a_personas_own_model_is_tried_as_well(tmp_path: Path) -> None:
    """Its name stands in the front matter."""
    (tmp_path / "maya.md").write_text(MAYA.format(model="openai:own"), encoding="utf-8")
    async with model_server() as server:
        found = await row(tmp_path, **at(server, "offline", ROUNDTABLE_PERSONAS=str(tmp_path)))

    assert (found.status, found.found) == ("ok", "openai:own answers")
    assert [asked.body["model"] for asked in server.asked] == ["own"]


@pytest.mark.parametrize("model", ["gpt-6", "openai:a b", "offline,openai:x", "7"])
async def test_a_persona_with_a_model_that_is_none_is_refused(model: str, tmp_path: Path) -> None:
    """Like one with any other field that is wrong; the reason is in the row of the personas."""
    (tmp_path / "maya.md").write_text(MAYA.format(model=model), encoding="utf-8")
    settings = Settings.from_env({
        "ROUNDTABLE_WORKSPACE": str(tmp_path / "workspace"), "ROUNDTABLE_PERSONAS": str(tmp_path),
    })  # fmt: skip
    personas = next(one for one in await check.everything(settings) if one.name == "personas")

    assert personas.stops
    assert "model" in personas.problems[0].text


async def test_what_is_missing_is_a_row(tmp_path: Path) -> None:
    """Nothing is asked then."""
    found = await row(tmp_path, ROUNDTABLE_MODEL="anthropic:x,opnai:y")

    assert found.status == "fail"
    assert found.problems[0].text == (
        "anthropic:x needs ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own."
        " opnai:y is of a provider that we do not know; did you mean openai?"
    )


async def test_the_start_says_it_too(tmp_path: Path, loaded: CommandLine) -> None:
    """Before it listens to anybody."""
    ran = await loaded.run(
        tmp_path,
        "run",
        SLACK_BOT_TOKEN="xoxb-1",
        SLACK_APP_TOKEN="xapp-1",
        SLACK_API_URL="http://127.0.0.1:9/",
        ROUNDTABLE_MODEL="anthropic:claude-sonnet-5",
        ANTHROPIC_API_KEY="",
    )

    assert ran.code == 1
    assert ran.err.strip().splitlines()[-1] == (
        "anthropic:claude-sonnet-5 needs ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own."
    )


async def test_a_bad_file_of_servers_stops_the_run(tmp_path: Path) -> None:
    """It is read when the bot starts, too; the servers themselves are tried in tests/voices/test_servers.py."""
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    settings = Settings.from_env({
        "ROUNDTABLE_WORKSPACE": str(tmp_path / "workspace"), "ROUNDTABLE_MCP": str(path),
    })  # fmt: skip
    tools = next(one for one in await check.everything(settings) if one.name == "tools")

    assert tools.stops
    assert "mcpServers" in tools.problems[0].text
