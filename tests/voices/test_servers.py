"""Servers of tools (MCP) that operators configure: a real one, over its input and output and over HTTP."""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.cast import opened_speakers
from bot.cli.check import CheckResult, check_models, check_tools
from bot.content.mcp import McpServer, read_servers
from bot.domain.catalog.personas import Roster
from bot.engine.evidence_ports import LookRefused
from bot.settings import Settings
from bot.voices.model import ForeignTools, ServerReport
from bot.voices.tools.looking import RESULT_CHARS, TOOLS, Looker, LookSubject
from bot.voices.tools.servers import McpTools, ServerTimes, opened_tools
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.ports import free_port
from tests.sights import MEMBERS
from tests.specification.meeting import SCHEMA
from tests.voices.minds import cue, debating, record, take_turn
from tests.voices.models.provider import KEY, Answer, Json, fails, model_server, says, settings_for
from tests.voices.people import ALEX, PLAYBOOK
from tests.voices.prompts.kept import ALEX as SHIPPED_ALEX
from tests.voices.prompts.kept import ROUNDTABLE, SHIPPED
from tests.voices.test_looking import FRAMED, Shelf, alex, caller, calling

ROOT = Path(__file__).parents[2]
TOKEN = "tok-5551234"
READ_ONLY = {"find_tickets", "everything", "own_key", "environment", "broken", "hang", "die"}
PATIENT = ServerTimes(connect=20.0)
SHORT = ServerTimes(connect=20.0, call=1.0, rest=0.0)


def started(**more: Any) -> McpServer:
    env = {"PYTHONPATH": str(ROOT), "TOKEN": TOKEN, **more.pop("env", {})}
    return McpServer(command=sys.executable, args=("-m", "tests.voices.tool_server"), env=env, **more)


@asynccontextmanager
async def connected(times: ServerTimes = PATIENT, **servers: McpServer) -> AsyncIterator[McpTools]:
    async with opened_tools(servers or {"tracker": started()}, times) as tools:
        await tools.settled()
        yield tools


def looker(foreign: ForeignTools, *, looks_at: tuple[str, ...] = ()) -> Looker:
    persona = SHIPPED.roster[SHIPPED_ALEX].but(looks_at=looks_at)
    return Looker(
        Shelf(),
        LookSubject.of(ROUNDTABLE, MEMBERS),
        SCHEMA,
        persona,
        redact=lambda text: text.replace("hunter2hunter2", "[redacted:password]"),
        foreign=foreign,
    )


async def test_a_model_asks_a_server_and_its_answer_can_be_cited() -> None:
    """The call is a fact of the line, as a look at the code is."""
    async with connected() as tools:
        mine = looker(tools)
        model = calling(
            ("tracker__find_tickets", {"words": "imports"}), then="Two imports lose rows.", others="tracker"
        )
        said = await alex(caller(model), mine)

    looked = said["looked_at"]
    assert isinstance(looked, list)
    assert (looked[0]["tool"], looked[0]["for"]) == ("tracker__find_tickets", "imports")
    (id,) = looked[0]["ids"]
    assert id.startswith("mcp:tracker/find_tickets#")
    assert mine.shown == {id: "T-42: rows vanish after two imports at once"}


async def test_only_tools_that_read_or_are_named_are_offered(tmp_path: Path) -> None:
    """What a server does not mark as read-only is used only by the operator's word, and cannot be called otherwise."""
    closed = tmp_path / "closed"
    named = started(allow=("close_ticket",), env={"CLOSED": str(closed)})
    async with connected(tracker=started(env={"CLOSED": str(closed)}), mine=named) as tools:
        offered = {one.name for one in tools.tools}
        assert offered == {f"{server}__{tool}" for server in ("tracker", "mine") for tool in READ_ONLY} | {
            "mine__close_ticket"
        }
        assert "You have no tool" in await looker(tools).look("tracker__close_ticket", {"number": "42"})
        assert not closed.exists()
        await tools.ask("mine__close_ticket", {"number": "42"})
        assert closed.read_text() == "42"


async def test_results_are_bounded_redacted_and_material() -> None:
    """As those of our own tools; what the operator gave the server to keep is hidden, too."""
    async with connected() as tools:
        mine = looker(tools)
        long = await mine.look("tracker__everything", {})
        assert len(long) < RESULT_CHARS + 100
        assert "[cut: " in long
        told = await mine.look("tracker__own_key", {})
        assert TOKEN not in told
        assert "hunter2" not in told
        (description,) = (one.description for one in mine.tools if one.name == "tracker__find_tickets")
        assert description.startswith("Of the server tracker: Tickets with one of the words.")
        assert "\n" not in description


async def test_a_program_gets_none_of_our_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the few variables that every program needs, and those that are configured for it."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    async with connected() as tools:
        names = (await tools.ask("tracker__environment", {})).text.split()

    assert "TOKEN" in names
    assert "SLACK_BOT_TOKEN" not in names


@pytest.mark.parametrize(
    ("looks_at", "offered"),
    [
        ((), True),
        (("mcp",), True),
        (("mcp:tracker",), True),
        (("mcp:docs",), False),
        (("code",), False),
        (("code", "*"), True),
    ],
)
async def test_a_persona_may_be_confined(looks_at: tuple[str, ...], *, offered: bool) -> None:
    """To some servers, or to none; who has only a server does not read the code."""
    async with connected() as tools:
        mine = looker(tools, looks_at=looks_at)
        names = {one.name for one in mine.tools}

    assert ("tracker__find_tickets" in names) is offered
    if looks_at == ("mcp:tracker",):
        assert names.isdisjoint({one.name for one in TOOLS} - {"read_entry"})


async def test_what_a_server_says_is_wrong_is_a_sentence() -> None:
    """It is no reason to let the server rest."""
    async with connected() as tools:
        for name, given in (("broken", {}), ("find_tickets", {"nothing": 1})):
            with pytest.raises(LookRefused, match="tracker says: "):
                await tools.ask(f"tracker__{name}", given)
        assert "T-42" in (await tools.ask("tracker__find_tickets", {"words": "rows"})).text


@pytest.mark.parametrize(
    ("tool", "reason"), [("die", "it ended the connection"), ("hang", "it did not answer within 1 s")]
)
async def test_a_server_that_fails_rests_and_comes_back(
    tool: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One sentence for the model and for the log; the turn goes on, and later the server is connected again."""
    caplog.set_level(logging.WARNING)
    async with connected(SHORT) as tools:
        mine = looker(tools)
        sentence = f"tracker cannot be asked now: {reason}."
        assert await mine.look(f"tracker__{tool}", {}) == sentence
        assert await mine.look("tracker__find_tickets", {"words": "rows"}) == sentence
        assert "src/sync.py" in await mine.look("search_code", {"words": "retry"})
        assert [one.getMessage() for one in caplog.records if "rests" in one.getMessage()] == [
            f"The server of tools tracker rests for 0 s: {reason}"
        ]
        await wait_until(lambda: tools.tools)
        assert "T-42" in (await tools.ask("tracker__find_tickets", {"words": "rows"})).text


async def test_a_stop_ends_a_call_and_not_the_server() -> None:
    """As people end a turn in the middle of a look."""
    async with connected() as tools:
        asking = asyncio.create_task(looker(tools).look("tracker__hang", {}))
        assert (await asyncio.wait({asking}, timeout=0.3))[1] == {asking}
        asking.cancel()
        await asyncio.wait({asking})
        assert asking.cancelled()
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
    path = tmp_path / "mcp.json"
    good = started()
    given = {"command": good.command, "args": good.args, "env": dict(good.env)}
    path.write_text(json.dumps({"mcpServers": {"tracker": given}}))
    async with model_server() as server:
        server.will(says(Answer(record("Two ways."))))
        settings = Settings.from_env({
            "ROUNDTABLE_MODEL": "openai:qwen3",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "ROUNDTABLE_MCP": str(path),
        })  # fmt: skip
        async with (
            opened_speakers(settings, PLAYBOOK, str, evidence=Shelf()) as speakers,
            asyncio.timeout(PATIENCE_SECONDS),
        ):
            while not server.asked or "tracker__find_tickets" not in str(server.asked[-1].body):
                spoken = await take_turn(speakers.voices, cue(debating(FRAMED), ALEX)._replace(sight=MEMBERS))
                assert spoken.text == "Two ways."


async def checked(tmp_path: Path, servers: dict[str, Any]) -> CheckResult:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    assert set(read_servers(path)) == set(servers)
    return await check_tools(Settings.from_env({"ROUNDTABLE_MCP": str(path)}))


async def test_the_check_tries_the_servers(tmp_path: Path) -> None:
    """How many tools personas get of each, and a sentence for what is wrong."""
    good = {
        "command": sys.executable,
        "args": ["-m", "tests.voices.tool_server"],
        "env": {"PYTHONPATH": str(ROOT)},
    }
    found = await checked(
        tmp_path, {"tracker": {**good, "allow": ["close"]}, "gone": {"command": "no-such-program-here"}}
    )

    assert found.found == "tracker: 7 of 8 tools; gone: no answer"
    assert [one.text for one in found.problems] == [
        "`allow` of tracker names close, and it has no such tool.",
        "gone cannot be asked now: its command was not found.",
    ]
    assert not found.stops


async def test_the_check_says_whose_model_takes_no_foreign_tools(tmp_path: Path) -> None:
    """It offers them once: the model answers, and its personas have only our tools."""
    program = {"command": sys.executable, "args": ["-m", "tests.voices.tool_server"]}
    config = {"mcpServers": {"tracker": {**program, "env": {"PYTHONPATH": str(ROOT)}}}}
    (tmp_path / "mcp.json").write_text(json.dumps(config))

    async def reply(request: web.Request, body: Json) -> web.StreamResponse:
        names = [one["function"]["name"] for one in body.get("tools", ())]
        is_foreign = any(one.startswith("tracker") for one in names)
        return await (fails(400) if is_foreign else says())(request, body)

    async with model_server() as server:
        server.will(reply)
        given = settings_for(server, "vllm:qwen3", ROUNDTABLE_MCP=str(tmp_path / "mcp.json"))
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
