"""A coding agent asks the team over HTTP, with the official client, and people answer in the thread."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from threading import current_thread
from typing import Any, cast

import aiohttp
import httpx2
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import METHOD_NOT_FOUND, TextContent
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from pygit2 import Oid

from bot import app
from bot.cli.check import check_agents
from bot.cli.keys import key_of
from bot.content import mcp
from bot.content.agent_keys import read_keys, write_keys
from bot.engine import agent_desk
from bot.engine.agent_desk import AgentDesk
from bot.errors import ConfigError, Unavailable
from bot.server import agent_route
from bot.server.agent_route import AT_A_TIME, REQUESTS_A_MINUTE, KeyUse
from bot.settings import Settings
from bot.storage.git.tree import Files
from bot.storage.sqlite import SqliteStore
from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting
from tests.e2e.test_private import started_there
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.ports import free_port

ITEM = "offline-sync"
MODERN, HANDSHAKE = "2026-07-28", "2025-06-18"
"""Versions of the protocol; the SDK serves them in two ways."""
WHO = {"name": "raw", "version": "1"}
WORDS = "May a limit be below 10 a second?"
FORM = {"roundtable.words": "Never below 10."}


class Door:
    """The bot's address for agents, and their keys."""

    def __init__(self, meeting: Meeting, folder: Path) -> None:
        self.port = free_port()
        self.meeting = meeting
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.file = folder / "keys.json"
        meeting.more = {"ROUNDTABLE_AGENT_KEYS": str(self.file), "ROUNDTABLE_PORT": str(self.port)}

    def key(
        self, name: str = "claude-code-ada", *, who: str = "ada", items: str = "*", may_ask: bool = True
    ) -> str:
        secret, owner = token_urlsafe(), self.meeting.slack.person(who).id
        made = key_of(secret, name, owner=owner, items=items.split(","), may_ask=may_ask)
        write_keys(self.file, (*read_keys(self.file), made))
        return secret

    def withdraw(self, name: str = "claude-code-ada") -> None:
        write_keys(self.file, [one for one in read_keys(self.file) if one.name != name])

    def agent(self, secret: str) -> AbstractAsyncContextManager[Client]:
        return agent_at(self.url, secret)

    async def answer(
        self, secret: str, method: str, *, version: str = MODERN, **params: Any
    ) -> tuple[int, Any]:
        """One request and its answer, without a client between."""
        headers = {
            "Authorization": f"Bearer {secret}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": version,
            "Mcp-Method": method,
            **({"Mcp-Name": params["name"]} if "name" in params else {}),
        }
        meta = {
            PROTOCOL_VERSION_META_KEY: version,
            CLIENT_INFO_META_KEY: WHO,
            CLIENT_CAPABILITIES_META_KEY: {},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url, json=body, headers=headers) as got,
        ):
            return got.status, json.loads(await got.text())

    async def call(self, secret: str, tool: str, **given: Any) -> tuple[int, Any]:
        return await self.answer(secret, "tools/call", name=tool, arguments=given)

    async def status(self, headers: dict[str, str], body: bytes = b"{}") -> int:
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url, data=body, headers=headers) as got,
        ):
            await got.read()
            return got.status


@asynccontextmanager
async def agent_at(url: str, secret: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http,
        Client(
            streamable_http_client(url, http_client=http), read_timeout_seconds=PATIENCE_SECONDS
        ) as client,
    ):
        yield client


@pytest.fixture
def door(meeting: Meeting, tmp_path: Path) -> Door:
    return Door(meeting, tmp_path)


async def told(agent: Client, tool: str, **given: Any) -> Any:
    result = await agent.call_tool(tool, given)
    assert not result.is_error, result.content
    return result.structured_content


async def refused(agent: Client, tool: str, **given: Any) -> str:
    result = await agent.call_tool(tool, given)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text.removeprefix(f"Error executing tool {tool}: ")


async def ask(agent: Client, question: str = WORDS, **given: Any) -> Any:
    return await told(agent, "ask_people", **{"item": ITEM, "question": question, **given})


def questions(meeting: Meeting) -> list[SandboxMessage]:
    return [one for one in meeting.slack.thread(CHANNEL, meeting.root) if "an agent for" in one.text]


async def held(meeting: Meeting) -> None:
    await meeting.start("Offline sync")
    await meeting.do_step("requirement: Limits are per client.")


async def held_in_private(meeting: Meeting) -> str:
    await started_there(meeting, "Salary bands")
    folders = meeting.folder.parent
    (slug,) = await meeting.until(lambda: [one.name for one in folders.glob("salary-bands*") if one.is_dir()])
    return slug


async def test_an_agent_asks_a_person_presses_and_the_agent_goes_on(meeting: Meeting, door: Door) -> None:
    """One message; the answer comes with who gave it, and where; the record has it as theirs."""
    async with meeting.bot():
        await held(meeting)
        async with door.agent(door.key()) as agent:
            assert sorted(one.name for one in (await agent.list_tools()).tools) == [
                "ask_people", "get_answer", "get_entry", "get_specification", "list_items", "open_questions",
                "withdraw_question",
            ]  # fmt: skip
            asked = await ask(agent, options=["Yes", "No"], about=[f"{ITEM}/FR-001"])
            assert (asked["question"], asked["status"]) == (f"{ITEM}/Q-001", "open")
            message = await meeting.seen("an agent for")
            assert f"*claude-code-ada*, an agent for Ada, asks about FR-001:\n>{WORDS}" in message.text
            waiting = asyncio.create_task(
                told(agent, "get_answer", question=asked["question"], wait_seconds=20)
            )
            await meeting.press_in(message, "answer_option.2", who="grace")
            answer = await waiting
        await meeting.until(lambda: "Grace answered: No" in questions(meeting)[0].text)
        await meeting.press("continue")
        [line] = await meeting.until(
            lambda: [
                one for one in meeting.lines("PlanningAgent") if one.content == "Grace answered Q-001: No"
            ]
        )

    assert (answer["status"], answer["answers"]) == ("answered", [{"by": "Grace", "words": "No"}])
    assert answer["link"].endswith(f"p{message.ts.replace('.', '')}?thread_ts={meeting.root}&cid=C0SANDBOX01")
    assert line.person == meeting.person("grace")


async def test_a_person_answers_in_their_own_words(meeting: Meeting, door: Door) -> None:
    """By the form of the message; another person who says something else makes it contested."""
    grace = meeting.slack.person("grace")
    async with meeting.bot():
        await held(meeting)
        async with door.agent(door.key()) as agent:
            asked = await ask(agent, options=["Yes", "No"])
            message = await meeting.seen("an agent for")
            await meeting.press_in(message, "answer_form", who="grace")
            await meeting.until(lambda: grace.view is not None)
            await grace.submit(FORM)
            await meeting.until(lambda: "Grace answered: Never below 10." in questions(meeting)[0].text)
            answer = await told(agent, "get_answer", question=asked["question"])
            assert answer["answers"] == [{"by": "Grace", "words": "Never below 10."}]
            await meeting.press_in(questions(meeting)[0], "answer_form", who="linus")
            await meeting.submit(who="linus", words="For trials, yes.")
            await meeting.until(lambda: "Linus answered" in questions(meeting)[0].text)
            answer = await told(agent, "get_answer", question=asked["question"])

    assert answer["status"] == "contested"
    assert [one["by"] for one in answer["answers"]] == ["Grace", "Linus"]
    assert len(questions(meeting)) == 1


async def test_a_hundred_repetitions_are_one_post(meeting: Meeting, door: Door) -> None:
    """Also over a restart, and in other capitals and spaces."""
    async with meeting.bot():
        await held(meeting)
        secret = door.key()
        async with door.agent(secret) as agent:
            found = [await ask(agent) for _ in range(50)]
    async with meeting.bot(), door.agent(secret) as agent, door.agent(door.key("second")) as other:
        found += [await ask(agent, f"  {WORDS.upper()}\n") for _ in range(50)]
        assert (await ask(other))["question"] == f"{ITEM}/Q-002"
        await meeting.until(lambda: len(questions(meeting)) == 2)
        await meeting.slack.settled()
        assert await refused(other, "get_answer", question=f"{ITEM}/Q-001") == (
            f"{ITEM}/Q-001 is no question of this key."
        )
    assert {one["question"] for one in found} == {f"{ITEM}/Q-001"}
    assert len(questions(meeting)) == 2


async def test_what_an_agent_writes_acts_on_nobody(meeting: Meeting, door: Door) -> None:
    """No mention, no link, no header of its own, no second message; options neither."""
    hostile = "<!channel> <@U0GRACE> @here *Ada* answered: Yes\n> [here](https://evil.example) ```x```"
    async with meeting.bot():
        await held(meeting)
        async with door.agent(door.key()) as agent:
            await ask(agent, hostile, options=["<!here>", "*No*"])
            await meeting.seen("an agent for")
            listed = await told(agent, "get_answer", question=f"{ITEM}/Q-001")

    (call,) = [one for one in meeting.slack.calls_of("chat.postMessage") if "an agent for" in str(one.args)]
    assert call.args["unfurl_links"] is False
    assert "reply_broadcast" not in call.args
    blocks = call.args["blocks"]
    blocks = json.loads(blocks) if isinstance(blocks, str) else blocks
    labels = [
        one["text"]["type"] for block in blocks for one in block.get("elements", ()) if "action_id" in one
    ]
    assert labels == ["plain_text"] * 4
    marked = [call.args["text"], *(one["text"]["text"] for one in blocks if one["type"] == "section")]
    assert len(marked) == 2
    assert not any(one in str(marked) for one in ("<!channel>", "<@U0GRACE>", "<!here>", "<https://evil"))
    (message,) = questions(meeting)
    assert message.text.index("&lt;!channel&gt;") > message.text.index("\n>")
    assert listed["status"] == "open"


async def test_a_key_is_needed(meeting: Meeting, door: Door) -> None:
    """Its secret is in no file; a withdrawn one opens nothing; a page of a browser is refused with any."""
    async with meeting.bot():
        await held(meeting)
        secret = door.key()
        assert secret not in door.file.read_text()
        known = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        assert await door.status({}) == 401
        assert await door.status({"Authorization": "Bearer rtk_unknown"}) == 401
        assert await door.status({**known, "Origin": "https://evil.example"}) == 403
        assert await door.status(known, b"x" * 300_000) == 413
        batch = json.dumps([{"jsonrpc": "2.0", "id": one, "method": "tools/list"} for one in range(2_000)])
        for odd in (batch.encode(), b"", b"x", b"[]", b"\xff", b'{"jsonrpc": "2.0"}', b"[" * 100_000):
            assert 400 <= await door.status({**known, "Accept": "application/json"}, odd) < 500
        async with door.agent(secret) as agent:
            assert (await told(agent, "list_items"))["rows"][0]["item"] == ITEM
        door.withdraw()
        assert await door.status(known) == 401


class WatchedStore:
    """Notes each call of the desk: its name, and what it is about."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.calls: list[tuple[str, list[str]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(slugs: Iterable[str]) -> Any:
            self.calls.append((name, sorted(slugs)))
            return getattr(self._store, name)(slugs)

        return call


async def test_what_was_read_is_not_read_again(
    meeting: Meeting, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nothing is committed: no file of the record, and one look at the store, of the items that a call names."""
    read: list[str] = []
    content, stores = Files.content, list[WatchedStore]()

    def counted(files: Files, path: str, id: Oid, most: int) -> bytes | None:
        if current_thread().name.startswith("agents"):
            read.append(path)
        return content(files, path, id, most)

    def watched(*, store: Any, **given: Any) -> AgentDesk:
        stores.append(WatchedStore(store))
        return AgentDesk(store=cast("Any", stores[-1]), **given)

    monkeypatch.setattr(Files, "content", counted)
    monkeypatch.setattr(app, "AgentDesk", watched)
    async with meeting.bot():
        await held(meeting)
        slug = await held_in_private(meeting)
        secret = door.key(items=f"*,{slug}")
        named, every = [("several", [ITEM])], [("several", [ITEM, slug])]
        calls: Sequence[tuple[str, dict[str, Any], list[tuple[str, list[str]]]]] = (
            ("list_items", {}, every),
            ("get_specification", {"item": ITEM}, named),
            ("open_questions", {"item": ITEM}, named),
            ("get_entry", {"address": f"{ITEM}/FR-001"}, named),
        )
        for at, (tool, given, looks) in enumerate((*calls, *calls)):
            status, answer = await door.call(secret, tool, **given)
            assert (status, answer["result"]["isError"]) == (200, False), answer
            assert bool(read) is (at == 0), read
            assert stores[0].calls == looks
            read.clear()
            stores[0].calls.clear()
        await meeting.press("continue")
        await meeting.do_step("requirement: Limits are for each client and day.")
        found = (await door.call(secret, "get_specification", item=ITEM))[1]["result"]["structuredContent"]
        assert [one["address"] for one in found["rows"]] == [f"{ITEM}/FR-001", f"{ITEM}/FR-002"]


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE])
async def test_huge_arguments_are_refused_with_a_sentence(meeting: Meeting, door: Door, version: str) -> None:
    """And one that only says how long to wait waits for no time."""
    many, about = 10_000, [f"FR-{number:03}" for number in range(1, 999)]
    async with meeting.bot():
        await held(meeting)
        secret = door.key()
        async with door.agent(secret) as agent:
            asked = await ask(agent)
        for tool, given, told in (
            ("get_specification", {"item": ITEM, "kinds": ["x" * 5_000] * 20}, "There is no kind 'xxx"),
            ("get_specification", {"item": ITEM, "kinds": ["requirement"] * many}, "Limits are per client"),
            ("ask_people", {"item": ITEM, "question": "?", "options": ["Yes"] * many}, "at most 4 options"),
            ("ask_people", {"item": ITEM, "question": "?", "about": about}, "at most 10 entries"),
            ("ask_people", {"item": ITEM, "question": "x" * 200_000}, "at most 1,000 characters"),
            ("get_answer", {"question": asked["question"], "wait_seconds": -(10**400)}, "'status': 'open'"),
        ):  # fmt: skip
            status, answer = await door.answer(
                secret, "tools/call", version=version, name=tool, arguments=given
            )
            assert (status, told in str(answer.get("result"))) == (200, True), (tool, answer)


async def test_who_listens_is_told_that_nothing_is_sent(meeting: Meeting, door: Door) -> None:
    """Such an answer would never end, and four of them would be all that the key may have at a time."""
    async with meeting.bot():
        secret = door.key()
        for _ in range(AT_A_TIME + 1):
            async with asyncio.timeout(PATIENCE_SECONDS):
                listening = door.answer(
                    secret, "subscriptions/listen", notifications={"toolsListChanged": True}
                )
                status, told = await listening
            assert (status, told["error"]["code"]) == (404, METHOD_NOT_FOUND)
        assert (await door.call(secret, "list_items"))[0] == 200


async def test_who_hangs_up_is_waited_for_no_longer(
    meeting: Meeting, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their key is free again, and a question that they asked meanwhile stands."""
    monkeypatch.setattr(agent_desk, "LONGEST_WAIT_SECONDS", 10_000)
    monkeypatch.setattr(agent_route, "ANSWERED_WITHIN_SECONDS", 10_000)

    async def is_served() -> bool:
        return (await door.call(secret, "list_items"))[0] == 200

    async with meeting.bot():
        await held(meeting)
        secret = door.key()
        async with door.agent(secret) as agent:
            asked = await ask(agent)
        given = {"question": asked["question"], "wait_seconds": 10_000}
        calls = [asyncio.create_task(door.call(secret, "get_answer", **given)) for _ in range(AT_A_TIME + 1)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            (refused,), waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        assert refused.result()[0] == 429
        for one in waiting:
            one.cancel()
        await asyncio.wait(waiting)
        await wait_until(is_served)
        assert len(questions(meeting)) == 1


async def test_an_answer_that_does_not_come_is_given_up(
    meeting: Meeting, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that a call waits for keeps its key, or the bot, for ever."""
    monkeypatch.setattr(agent_route, "ANSWERED_WITHIN_SECONDS", 0.2)

    async def hangs(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    async with meeting.bot():
        secret = door.key()
        monkeypatch.setattr(AgentDesk, "seen", hangs)
        for _ in range(AT_A_TIME + 1):
            for version in (MODERN, HANDSHAKE):
                given: dict[str, Any] = {"version": version, "name": "list_items", "arguments": {}}
                answer = await door.answer(secret, "tools/call", **given)
                assert answer == (503, {"error": "It took too long."})


async def test_a_reading_key_asks_nobody(meeting: Meeting, door: Door) -> None:
    async with meeting.bot():
        await held(meeting)
        async with door.agent(door.key("ci", may_ask=False)) as agent:
            found = await told(agent, "get_specification", item=ITEM, kinds=["requirement"])
            assert [one["address"] for one in found["rows"]] == [f"{ITEM}/FR-001"]
            for tool, given in (
                ("ask_people", {"item": ITEM, "question": WORDS}),
                ("get_answer", {"question": "Q-1"}),
            ):
                assert await refused(agent, tool, **given) == "This key may read and not ask."


async def test_a_private_item_does_not_exist_for_a_key_that_may_not_see_it(
    meeting: Meeting, door: Door
) -> None:
    """The sentence is that of an unknown one. A key that names it sees it, while its owner is in the channel."""
    async with meeting.bot():
        await held(meeting)
        slug = await held_in_private(meeting)
        named = f"{slug},{ITEM}"
        for secret in (door.key("all"), door.key("stranger", who="linus", items=named)):
            async with door.agent(secret) as agent:
                assert [one["item"] for one in (await told(agent, "list_items"))["rows"]] == [ITEM]
                for tool in ("get_specification", "open_questions", "ask_people"):
                    more = {"question": WORDS} if tool == "ask_people" else {}
                    hidden, absent = [
                        await refused(agent, tool, item=one, **more) for one in (slug, "salary-bandz")
                    ]
                    assert hidden.replace(slug, "x") == absent.replace("salary-bandz", "x")
                    assert "Did you mean" not in hidden
                with pytest.raises(MCPError, match="There is no item"):
                    await agent.get_prompt("implement", {"address": f"{slug}/FR-001"})
        async with door.agent(door.key("named", items=named)) as agent:
            asked = await told(agent, "ask_people", item=slug, question=WORDS)
            assert asked["question"] == f"{slug}/Q-001"


async def test_a_key_of_who_left_sees_nothing(meeting: Meeting, door: Door) -> None:
    """At once, whatever it names, and even while a channel still lists its owner."""
    async with meeting.bot():
        await held(meeting)
        slug = await held_in_private(meeting)
        async with door.agent(door.key(items=f"*,{slug}")) as agent:
            asked = await ask(agent)
            assert len((await told(agent, "list_items"))["rows"]) == 2
            ada = meeting.slack.workspace.user("ada")
            meeting.slack.workspace.change_user(replace(ada, is_deleted=True))
            await meeting.slack.settled()
            assert (await told(agent, "list_items"))["rows"] == []
            for item in (ITEM, slug):
                for tool, given in (
                    ("get_entry", {"address": f"{item}/FR-001"}),
                    ("ask_people", {"item": item, "question": "Still?"}),
                    ("withdraw_question", {"question": f"{item}/Q-001"}),
                ):
                    assert await refused(agent, tool, **given) == f"There is no item {item!r}."
    assert asked["status"] == "open"
    assert len(questions(meeting)) == 1


async def test_what_could_not_be_saved_is_asked_again_later(
    meeting: Meeting, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent is told when; the same call then posts once."""

    async def away(*_: object, **__: object) -> None:
        raise Unavailable("the store is away")

    async with meeting.bot():
        await held(meeting)
        await meeting.slack.settled()
        async with door.agent(door.key()) as agent:
            with monkeypatch.context() as patched:
                patched.setattr(SqliteStore, "put", away)
                failed = await ask(agent)
            assert (failed["status"], failed["retry_after"], failed["question"]) == ("not asked", 30, "")
            assert (await ask(agent))["question"] == f"{ITEM}/Q-001"
            await meeting.seen("an agent for")
            await meeting.slack.settled()
    assert len(questions(meeting)) == 1


async def test_an_agent_that_waits_does_not_keep_the_bot_from_stopping(meeting: Meeting, door: Door) -> None:
    """It is told at once how the question stands, and asks the next bot."""
    secret, has_asked = door.key(), asyncio.Event()

    async def waits() -> str:
        async with door.agent(secret) as agent:
            asked = await ask(agent)
            has_asked.set()
            answer = await told(agent, "get_answer", question=asked["question"], wait_seconds=25)
            return str(answer["status"])

    async with meeting.bot():
        await held(meeting)
        waiting = asyncio.create_task(waits())
        await has_asked.wait()
        await asyncio.wait({waiting}, timeout=2.0)
        assert not waiting.done()
    assert await waiting == "open"


async def test_a_bot_with_keys_needs_the_sdk(
    meeting: Meeting, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how to install it, and `check` before it; nothing is served to agents half-way."""
    door.key()
    monkeypatch.setattr(mcp, "is_installed", lambda: False)
    with pytest.raises(ConfigError, match="lacks the extra `mcp`") as stopped:
        async with meeting.bot():
            pass
    checked = await check_agents(Settings.from_env({"ROUNDTABLE_AGENT_KEYS": str(door.file)}))
    assert checked.stops
    assert [problem.text for problem in checked.problems] == [str(stopped.value)]


def test_a_key_has_so_many_requests_a_minute_and_at_a_time() -> None:
    """Others go on meanwhile; a minute later there is room again."""
    use = KeyUse()
    with ExitStack() as open_requests:
        assert [open_requests.enter_context(use.taking(0.0)) for _ in range(AT_A_TIME)] == [True] * AT_A_TIME
        with use.taking(0.0) as fifth:
            assert not fifth
    for _ in range(REQUESTS_A_MINUTE - AT_A_TIME):
        with use.taking(1.0) as may:
            assert may
    for now, room in ((59.0, False), (60.0, True)):
        with use.taking(now) as may:
            assert may is room


async def test_a_question_that_is_taken_back_and_one_that_is_not_asked(meeting: Meeting, door: Door) -> None:
    async with meeting.bot():
        await held(meeting)
        async with door.agent(door.key()) as agent:
            asked = await ask(agent)
            gone = await told(agent, "withdraw_question", question=asked["question"])
            assert gone["status"] == "withdrawn"
            await meeting.slack.person("ada").slash(CHANNEL, f"/roundtable mute {ITEM}")
            await meeting.slack.settled()
            muted = await ask(agent, "And now?")

    assert (muted["status"], muted["why"]) == ("not asked", "The thread of this item is muted.")
