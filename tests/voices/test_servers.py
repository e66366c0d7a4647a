"""Servers of tools (MCP) that operators configure: a real one, over its input and output and over HTTP."""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.cast import opened_speakers
from bot.cli.check import check_models, check_tools
from bot.content.mcp import McpServer
from bot.domain.catalog.personas import Roster
from bot.engine.evidence_ports import LookRefused
from bot.settings import Settings
from bot.voices.model import ForeignTools, ServerReport
from bot.voices.tools.looking import RESULT_CHARS, Looker, LookSubject
from bot.voices.tools.servers import McpTools, ServerTimes, opened_tools
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.ports import free_port
from tests.sights import MEMBERS
from tests.specification.meeting import SCHEMA
from tests.voices.minds import cue, debating, record, take_turn
from tests.voices.models.provider import Answer, Json, fails, model_server, says, settings_for
from tests.voices.people import ALEX, PLAYBOOK
from tests.voices.prompts.kept import ALEX as SHIPPED_ALEX
from tests.voices.prompts.kept import ROUNDTABLE, SHIPPED
from tests.voices.test_looking import FRAMED, Shelf, ToolUse, alex, calling, without_password

ROOT = Path(__file__).parents[2]
TOKEN = "tok-5551234"
READ_ONLY = {"find_tickets", "everything", "own_key", "environment", "broken", "hang", "die"}
PATIENT = ServerTimes(connect=20.0)
SHORT = ServerTimes(connect=20.0, call=1.0, rest=0.0)


PROGRAM = {
    "command": sys.executable,
    "args": ["-m", "tests.voices.tool_server"],
    "env": {"PYTHONPATH": str(ROOT), "TOKEN": TOKEN},
}


def started(*, allow: tuple[str, ...] = (), env: Mapping[str, str] | None = None) -> McpServer:
    program = McpServer.model_validate(PROGRAM)
    return program.but(allow=allow, env={**program.env, **(env or {})})


def configured(folder: Path, servers: Mapping[str, Any]) -> str:
    """The path of the file that names *servers*."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return str(path)


@asynccontextmanager
async def connected(times: ServerTimes = PATIENT, **servers: McpServer) -> AsyncIterator[McpTools]:
    async with opened_tools(servers or {"tracker": started()}, times) as tools:
        await tools.settled()
        yield tools


def looker(foreign: ForeignTools) -> Looker:
    subject = LookSubject.of(ROUNDTABLE, MEMBERS)
    return Looker(
        Shelf(), subject, SCHEMA, SHIPPED.roster[SHIPPED_ALEX], redact=without_password, foreign=foreign
    )


async def test_what_a_server_tells_is_cited_bounded_and_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As what our own tools tell; what the operator gave the server to keep is hidden, too. It gets no key of ours."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    async with connected() as tools:
        mine = looker(tools)
        find: ToolUse = ("tracker__find_tickets", {"words": "imports"})
        said = await alex(calling(find, others="tracker"), mine)
        long, own = [await mine.look(f"tracker__{name}", {}) for name in ("everything", "own_key")]
        names = (await tools.ask("tracker__environment", {})).text.split()
        for name, given in (("broken", {}), ("find_tickets", {"nothing": 1})):
            with pytest.raises(LookRefused, match="tracker says: "):
                await tools.ask(f"tracker__{name}", given)
        assert "T-42" in (await tools.ask("tracker__find_tickets", {"words": "rows"})).text, (
            "it needs no rest"
        )

    looked = said["looked_at"]
    assert isinstance(looked, list)
    assert (looked[0]["tool"], looked[0]["for"]) == ("tracker__find_tickets", "imports")
    (id,) = looked[0]["ids"]
    assert id.startswith("mcp:tracker/find_tickets#")
    assert mine.shown[id] == "T-42: rows vanish after two imports at once"
    assert len(long) < RESULT_CHARS + 100
    assert "[cut: " in long
    assert TOKEN not in own
    assert "hunter2" not in own
    assert "TOKEN" in names
    assert "SLACK_BOT_TOKEN" not in names


async def test_only_tools_that_read_or_are_named_are_offered(tmp_path: Path) -> None:
    """What a server does not mark as read-only is used only by the operator's word, and cannot be called otherwise."""
    closed = tmp_path / "closed"
    named = started(allow=("close_ticket",), env={"CLOSED": str(closed)})
    async with connected(tracker=started(env={"CLOSED": str(closed)}), mine=named) as tools:
        offered = {one.name for one in tools.tools}
        assert offered == {f"{server}__{tool}" for server in ("tracker", "mine") for tool in READ_ONLY} | {
            "mine__close_ticket"
        }
        described = next(one.description for one in tools.tools if one.name == "tracker__find_tickets")
        assert described.startswith("Of the server tracker: Tickets with one of the words.")
        assert "\n" not in described
        assert "You have no tool" in await looker(tools).look("tracker__close_ticket", {"number": "42"})
        assert not closed.exists()
        await tools.ask("mine__close_ticket", {"number": "42"})
        assert closed.read_text() == "42"


async def test_a_server_that_fails_rests_and_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    """
    One sentence for the model and for the log; the turn goes on, and later the server is connected again. When people
    end a turn in the middle of a look, the server goes on.
    """
    caplog.set_level(logging.WARNING)
    async with connected(SHORT) as tools:
        mine = looker(tools)
        asking = asyncio.create_task(mine.look("tracker__hang", {}))
        assert (await asyncio.wait({asking}, timeout=0.3))[1] == {asking}
        asking.cancel()
        await asyncio.wait({asking})
        assert asking.cancelled()
        for tool, reason in (("hang", "it did not answer within 1 s"), ("die", "it ended the connection")):
            caplog.clear()
            assert "T-42" in (await tools.ask("tracker__find_tickets", {"words": "rows"})).text
            sentence = f"tracker cannot be asked now: {reason}."
            assert await mine.look(f"tracker__{tool}", {}) == sentence
            assert await mine.look("tracker__find_tickets", {"words": "rows"}) == sentence
            assert "src/sync.py" in await mine.look("search_code", {"words": "retry"})
            assert [one.getMessage() for one in caplog.records if "rests" in one.getMessage()] == [
                f"The server of tools tracker rests for 0 s: {reason}"
            ]
            await wait_until(lambda: tools.tools)
        assert "T-42" in (await tools.ask("tracker__find_tickets", {"words": "rows"})).text


async def test_servers_that_do_not_start_break_nothing() -> None:
    """No command, one that ends at once, and one that says nothing; a good one beside them is used."""
    port = free_port()
    async with connected(
        SHORT._replace(connect=5.0),
        gone=McpServer(command="no-such-program-here"),
        ends=McpServer(command=sys.executable, args=("-c", "")),
        silent=McpServer(command=sys.executable, args=("-c", "import sys; sys.stdin.read()")),
        away=McpServer(url=f"http://127.0.0.1:{port}/mcp", headers={"Authorization": f"Bearer {TOKEN}"}),
        tracker=started(),
    ) as tools:
        reports = {one.name: one for one in await tools.settled()}
        assert {one.name for one in tools.tools} == {f"tracker__{tool}" for tool in READ_ONLY}

    assert reports["gone"] == ServerReport(
        "gone", (), (), "gone cannot be asked now: its command was not found."
    )
    assert reports["ends"].sentence == "ends cannot be asked now: it ended the connection."
    assert reports["silent"].sentence == "silent cannot be asked now: it did not answer within 5 s."
    assert reports["away"].sentence.startswith("away cannot be asked now: it ")
    assert TOKEN not in str(reports)


async def test_a_server_behind_an_address_is_asked() -> None:
    """Over HTTP, with the headers that are configured."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.voices.tool_server", str(port)),
        cwd=ROOT,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr
        async with asyncio.timeout(PATIENCE_SECONDS):
            while b"running" not in await process.stderr.readline():
                pass
        async with connected(web=McpServer(url=f"http://127.0.0.1:{port}/mcp")) as tools:
            assert "T-43" in (await tools.ask("web__find_tickets", {"words": "login"})).text
    finally:
        process.terminate()
        await process.communicate()


async def test_the_bot_offers_them_to_its_models(tmp_path: Path) -> None:
    """As soon as they are connected; until then, personas speak without them."""
    path = configured(tmp_path, {"tracker": PROGRAM})
    async with model_server() as server:
        server.will(says(Answer(record("Two ways."))))
        settings = settings_for(server, "openai:qwen3", ROUNDTABLE_MCP=path)
        async with (
            opened_speakers(settings, PLAYBOOK, str, evidence=Shelf()) as speakers,
            asyncio.timeout(PATIENCE_SECONDS),
        ):
            while not server.asked or "tracker__find_tickets" not in str(server.asked[-1].body):
                spoken = await take_turn(speakers.voices, cue(debating(FRAMED), ALEX)._replace(sight=MEMBERS))
                assert spoken.text == "Two ways."


async def test_the_check_tries_the_servers(tmp_path: Path) -> None:
    """How many tools personas get of each, and a sentence for what is wrong."""
    path = configured(
        tmp_path, {"tracker": {**PROGRAM, "allow": ["close"]}, "gone": {"command": "no-such-program-here"}}
    )
    found = await check_tools(Settings.from_env({"ROUNDTABLE_MCP": path}))

    assert found.found == "tracker: 7 of 8 tools; gone: no answer"
    assert [one.text for one in found.problems] == [
        "`allow` of tracker names close, and it has no such tool.",
        "gone cannot be asked now: its command was not found.",
    ]
    assert not found.stops


async def test_the_check_says_whose_model_takes_no_foreign_tools(tmp_path: Path) -> None:
    """It offers them once: the model answers, and its personas have only our tools."""

    async def reply(request: web.Request, body: Json) -> web.StreamResponse:
        names = [one["function"]["name"] for one in body.get("tools", ())]
        is_foreign = any(one.startswith("tracker") for one in names)
        return await (fails(400) if is_foreign else says())(request, body)

    async with model_server() as server:
        server.will(reply)
        path = configured(tmp_path, {"tracker": PROGRAM})
        given = settings_for(server, "vllm:qwen3", ROUNDTABLE_MCP=path)
        found = await check_models(given, Roster())

    assert (
        found.found
        == "vllm:qwen3 answers; drafts are checked by the same model, and another one would see more"
    )
    assert not found.stops
    assert [one.text for one in found.problems] == [
        "vllm:qwen3 does not take the tools of servers: personas with this model have only the other tools."
    ]
    assert ["tools" in one.body for one in server.asked] == [False, True, True]
