"""A persona never knows more than the least of those who read along; and every other way in tells the same."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pytest
from aiohttp import web

from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE
from tests.e2e.meeting import Meeting, sandbox, ways
from tests.e2e.test_pressing import EVA, GUS
from tests.integrations.strict_github import TOKEN, strict_github
from tests.voices.models.provider import Answer, Called, Json, ModelServer, says

SALES, HERE = "#sales", "#partners"
ELSEWHERE = ("zugzwang", "Price book", "roundtable(price-book): start")
CODE = ("quagmire", "src/margin.py")
LOOKS = (
    Called("search_code", {"words": "margin"}, "c1"),
    Called("read_file", {"path": "src/margin.py"}, "c2"),
    Called("history", {"path": "docs"}, "c3"),
    Called("history", {"path": "src/margin.py"}, "c4"),
    Called("search_items", {"words": "zugzwang margin price"}, "c5"),
    Called("read_entry", {"id": "price-book/FR-001"}, "c6"),
)
QUESTION = "Maya, what does your code say about the margin?"


@pytest.fixture
async def meeting(tmp_path: Path) -> AsyncIterator[Meeting]:
    """With a guest and a partner in the workspace, and a code base of one file."""
    async with sandbox((*PEOPLE, GUS, EVA)) as slack:
        meeting = Meeting(slack, tmp_path / "workspace")
        meeting.workspace.mkdir()
        meeting.git("init", "--quiet", "--initial-branch=main")
        committed(meeting, "src/margin.py", "MARGIN = 17  # quagmire\n", "Add the margin")
        for name, people in (("sales", ("ada", "grace", "linus")), ("partners", ("ada", "grace"))):
            members = {slack.workspace.user(one).id for one in people} | {slack.bot_user_id}
            slack.workspace.add_channel(name, members=members)
        yield meeting


def committed(meeting: Meeting, path: str, text: str, subject: str) -> None:
    """By a person, as what somebody pushed."""
    file = meeting.workspace / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    meeting.git("add", path)
    meeting.git("-c", "user.name=Ada", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", subject)


def join(meeting: Meeting, name: str, channel: str = HERE) -> None:
    workspace = meeting.slack.workspace
    workspace.join(workspace.channel(channel), workspace.user(name).id)


async def started(meeting: Meeting, title: str, channel: str) -> str:
    """The stamp of the root, once its card is there."""
    await meeting.slack.person("ada").slash(channel, f"/roundtable start {title}")
    root = (await meeting.until(lambda: meeting.slack.messages(channel)))[-1].ts
    await offered(meeting, channel, root, "finish_step")
    return root


async def offered(meeting: Meeting, channel: str, root: str, action: str) -> None:
    """Presses nothing: waits until *action* is offered in the thread."""
    await meeting.until(lambda: [one for one in meeting.slack.thread(channel, root) if action in ways(one)])


async def said(meeting: Meeting, text: str, root: str, channel: str = HERE) -> None:
    await meeting.slack.person("grace").say(channel, text, thread_ts=root)
    await meeting.slack.settled()


async def price_book(meeting: Meeting) -> str:
    """An item of #sales, with a commit of its own."""
    async with meeting.bot():
        root = await started(meeting, "Price book", SALES)
        await said(
            meeting, "requirement: The zugzwang margin is 17 percent\ndecision: A zugzwang list", root, SALES
        )
        (card,) = [one for one in meeting.slack.thread(SALES, root) if "finish_step" in ways(one)]
        await meeting.slack.person("ada").press(card, *ways(card)["finish_step"])
        await offered(meeting, SALES, root, "continue")
        await meeting.slack.settled()
    return root


class Model:
    """Looks at everything when it has not looked yet. `asked` is all that left the process for it."""

    def __init__(self, server: ModelServer) -> None:
        self.asked: list[str] = []
        self.answered = 0
        server.will(self.reply)

    async def reply(self, request: web.Request, body: Json) -> web.StreamResponse:
        self.asked.append(json.dumps(body, ensure_ascii=False))
        if body.get("tools") and not any(one["role"] == "tool" for one in body["messages"]):
            return await says(Answer("", calls=LOOKS))(request, body)
        self.answered += 1
        told = {"say": "It says what it says.", "entries": []}
        return await says(Answer(json.dumps(told)))(request, body)

    def was_told(self, words: tuple[str, ...]) -> list[str]:
        """Results of tools and texts of prompts, but not what the model itself asked for."""
        texts = "\n".join(text for one in self.asked for text in _told(json.loads(one)))
        return [word for word in words if word in texts]


def _told(body: Json) -> Iterator[str]:
    for one in body["messages"]:
        if one["role"] != "assistant":
            yield json.dumps(one, ensure_ascii=False)


async def asks(meeting: Meeting, model: Model, root: str) -> None:
    answered = model.answered
    await said(meeting, QUESTION, root)
    await meeting.until(lambda: model.answered > answered)
    await meeting.slack.settled()


def thinking(meeting: Meeting, server: ModelServer, policies: str = "") -> Model:
    meeting.more = {"ROUNDTABLE_MODEL": "ollama:small", "OLLAMA_BASE_URL": f"{server.url}/v1"}
    if policies:
        file = meeting.workspace.parent / "policies.yaml"
        file.write_text(policies)
        meeting.more = {**meeting.more, "ROUNDTABLE_POLICIES": str(file)}
    return Model(server)


@pytest.mark.parametrize("who", ["", "gus", "eva"])
async def test_a_persona_never_knows_more_than_the_least_of_you(meeting: Meeting, who: str) -> None:
    """With a guest or a partner in the channel: no code and no other item, in no prompt and by no tool."""
    await price_book(meeting)
    if who:
        join(meeting, who)
    async with ModelServer() as server:
        model = thinking(meeting, server)
        async with meeting.bot():
            root = await started(meeting, "Offline sync", HERE)
            await asks(meeting, model, root)

    assert model.was_told(ELSEWHERE) == ([] if who else [*ELSEWHERE])
    assert model.was_told(CODE) == ([] if who else [*CODE])


@pytest.mark.parametrize("how", ["turned private", "pushed", "pushed and lost"])
async def test_what_is_private_is_private_for_tools(meeting: Meeting, how: str) -> None:
    """A channel that turned private, and a push that takes `slack` out of meta.json: with the store and without it."""
    if how != "turned private":
        meeting.slack.workspace.channel(SALES).kind = "group"
    root = await price_book(meeting)
    (folder,) = (meeting.workspace / "docs" / "requirements").glob("price-book*")
    if how != "turned private":
        fields = json.loads((folder / "meta.json").read_text())
        del fields["slack"]
        path = str((folder / "meta.json").relative_to(meeting.workspace))
        committed(meeting, path, json.dumps(fields), "Tidy up")
    if how == "pushed and lost":
        rmtree(meeting.workspace / ".roundtable")
    async with ModelServer() as server:
        model = thinking(meeting, server)
        async with meeting.bot():
            if how == "turned private":
                meeting.slack.workspace.channel(SALES).kind = "group"
                await said(meeting, "We keep this to ourselves.", root, SALES)
                await meeting.until(lambda: model.answered)
                model.asked.clear()
            told = await answer(meeting, f"status {folder.name}", "ada")
            here = await started(meeting, "Offline sync", HERE)
            await asks(meeting, model, here)

    assert "No matching item" in told
    assert model.was_told(ELSEWHERE) == []
    assert model.was_told(CODE) == [*CODE]


async def answer(meeting: Meeting, line: str, who: str, channel: str = HERE) -> str:
    person = meeting.slack.person(who)
    before = len(person.ephemerals)
    delivery = await person.slash(channel, f"/roundtable {line}")
    await meeting.slack.settled()
    if "One moment" in str(delivery.response):
        await meeting.until(lambda: len(person.ephemerals) > before)
    return str(delivery.response) + str([(one.text, one.blocks) for one in person.ephemerals[before:]])


async def test_a_policy_may_tell_guests_of_the_code(meeting: Meeting) -> None:
    """And of nothing else."""
    await price_book(meeting)
    join(meeting, "gus")
    async with ModelServer() as server:
        model = thinking(meeting, server, "default:\n  guests_see: [code]\n")
        async with meeting.bot():
            await asks(meeting, model, await started(meeting, "Offline sync", HERE))

    assert model.was_told(CODE) == [*CODE]
    assert model.was_told(ELSEWHERE) == []


async def test_a_policy_switches_tools_off(meeting: Meeting) -> None:
    """For one channel: personas look at nothing there, and are told nothing of a search."""
    await price_book(meeting)
    channel = meeting.slack.channel(HERE).id
    async with ModelServer() as server:
        model = thinking(meeting, server, f"channels:\n  {channel}:\n    tools: no\n")
        async with meeting.bot():
            await asks(meeting, model, await started(meeting, "Offline sync", HERE))

    assert model.asked
    assert not any(json.loads(one).get("tools") for one in model.asked)
    assert model.was_told((*CODE, *ELSEWHERE)) == []


async def test_a_member_who_becomes_a_guest_is_one_at_the_next_question(meeting: Meeting) -> None:
    """Slack says so with an event; and somebody who joins counts from then on."""
    await price_book(meeting)
    grace = meeting.slack.workspace.user("grace")
    async with ModelServer() as server:
        model = thinking(meeting, server)
        async with meeting.bot():
            root = await started(meeting, "Offline sync", HERE)
            await asks(meeting, model, root)
            assert model.was_told(CODE) == [*CODE]
            meeting.slack.workspace.change_user(replace(grace, is_guest=True))
            await meeting.slack.settled()
            model.asked.clear()
            await asks(meeting, model, root)
            assert model.was_told((*CODE, *ELSEWHERE)) == []
            meeting.slack.workspace.change_user(grace)
            await meeting.slack.settled()
            await asks(meeting, model, root)
            assert model.was_told(ELSEWHERE) == [*ELSEWHERE]
            join(meeting, "eva")
            await meeting.slack.settled()
            model.asked.clear()
            await asks(meeting, model, root)
            assert model.was_told((*CODE, *ELSEWHERE)) == []


async def test_a_thread_goes_on_below_a_new_id_of_its_channel(meeting: Meeting) -> None:
    """Words, buttons and corrections of what was said before; git knows the new id with the next commit."""
    async with meeting.bot():
        root = await started(meeting, "Offline sync", HERE)
        early = await meeting.slack.person("grace").say(HERE, "requirement: Sync in tunnels", thread_ts=root)
        await meeting.slack.settled()
        await meeting.until(lambda: "Sync in tunnels" in card_of(meeting, root))
        channel = meeting.slack.channel(HERE)
        meeting.slack.workspace.renumber(channel, "C0MOVED")
        await meeting.slack.settled()
        await meeting.slack.person("grace").edit(early, "requirement: Sync in long tunnels")
        await said(meeting, "requirement: Say what was lost", root)
        await meeting.until(lambda: "Say what was lost" in card_of(meeting, root))
        await meeting.until(lambda: "Sync in long tunnels" in card_of(meeting, root))
        assert "Offline sync" in await answer(meeting, "list", "ada")
        (card,) = [one for one in meeting.slack.thread(HERE, root) if "finish_step" in ways(one)]
        await meeting.slack.person("ada").press(card, *ways(card)["finish_step"])
        await offered(meeting, HERE, root, "continue")
        await meeting.slack.settled()

    meeting.slug = "offline-sync"
    assert meeting.meta["slack"]["channel_id"] == "C0MOVED"
    requirements = [line.content for line in meeting.transcript.lines if "tunnels" in line.content]
    assert "requirement: Sync in long tunnels" in requirements


def card_of(meeting: Meeting, root: str) -> str:
    return str([one.blocks for one in meeting.slack.thread(HERE, root) if "finish_step" in ways(one)])


STRANGER = User("U0SAM", "sam", "Sam")


@pytest.mark.parametrize(
    ("user", "sees"),
    [
        (STRANGER, True),
        (replace(STRANGER, is_guest=True), False),
        (replace(STRANGER, team_id="T0ELSEWHERE"), False),
        (None, False),
    ],
    ids=["member", "guest", "external", "unknown"],
)
async def test_every_way_in_gives_the_same_answer(meeting: Meeting, user: User | None, *, sees: bool) -> None:
    """To somebody who asks in a channel, and to a persona that speaks there: of its own item, and of another one."""
    await price_book(meeting)
    workspace = meeting.slack.workspace
    workspace.add_user(user or STRANGER)
    async with ModelServer() as server:
        model = thinking(meeting, server)
        async with meeting.bot():
            root = await started(meeting, "Offline sync", HERE)
            if user is None:
                meeting.slack.fail_next("users.info", error="user_not_found", times=1_000)
            join(meeting, "sam")
            await meeting.slack.settled()
            await meeting.slack.person("sam").say(HERE, "decision: ship it", thread_ts=root)
            await asks(meeting, model, root)
            told = {
                line: await answer(meeting, f"{line} price-book", "sam")
                for line in ("status", "export", "catchup")
            }
            told["decisions"] = await answer(meeting, "decisions zugzwang", "sam")
            own = await answer(meeting, "status offline-sync", "sam")
            await meeting.slack.person("sam").open_home()
            home = await meeting.until(lambda: meeting.slack.person("sam").home)
            await meeting.slack.settled()

    known = {
        **{line: "No matching item" not in told[line] for line in ("status", "export", "catchup")},
        "decisions": "A zugzwang list" in told["decisions"],
        "tool and prompt": bool(model.was_told(ELSEWHERE)),
    }
    assert known == dict.fromkeys(known, sees)
    assert not any(word in str(home) for word in ELSEWHERE), "Home is about the channels that one is in"
    assert "Offline sync" in own
    assert model.was_told(CODE) == ([*CODE] if sees else [])


async def test_home_does_not_ask_who_is_in_a_channel_again_and_again(meeting: Meeting) -> None:
    """Once for each channel, however often somebody opens it."""
    async with meeting.bot():
        for title, channel in (("Price book", SALES), ("Offline sync", HERE)):
            await started(meeting, title, channel)
        for times in range(1, 6):
            await meeting.slack.person("ada").open_home()
            await meeting.until(lambda: len(meeting.slack.calls_of("views.publish")) >= times)  # noqa: B023
        await meeting.slack.settled()
        asked = [call.args["channel"] for call in meeting.slack.calls_of("conversations.members")]

    assert sorted(asked) == sorted(meeting.slack.channel(one).id for one in (SALES, HERE))


@pytest.mark.parametrize("who_joins", ["linus", "gus"])
async def test_where_a_guest_reads_along_no_private_issue_is_read(meeting: Meeting, who_joins: str) -> None:
    """Whoever asks for it. Among members it is read."""
    async with strict_github() as github:
        github.add("acme/api#42", "The zugzwang", "A limit of 17.")
        github.private.add("acme/api")
        meeting.more = {"ROUNDTABLE_GITHUB_KEY": TOKEN, "ROUNDTABLE_GITHUB_URL": github.url}
        async with meeting.bot():
            join(meeting, who_joins)
            told = await meeting.slack.person("ada").slash(HERE, "/roundtable start acme/api#42")
            root = (await meeting.until(lambda: meeting.slack.messages(HERE)))[-1].ts
            await offered(meeting, HERE, root, "finish_step")
            await meeting.slack.settled()

    is_guest = who_joins == "gus"
    known = str([one.text for one in meeting.slack.thread(HERE, root)]) + meeting.git("log", "-p")
    assert ("zugzwang" in known, "A limit of 17" in known) == (not is_guest, not is_guest)
    assert told.response.get("text", "").endswith("and guests may read along here.") is is_guest
