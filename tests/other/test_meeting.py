"""
A meeting on another Slack-compatible server than the sandbox: through the real Bolt, by requests and by sockets.

The server knows only Slack's documents (`server`), and does everything that they allow (`odd`): what is no promise of
theirs, the bot may not rely on.
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
from aiohttp import web

from bot import app
from bot.domain.catalog.personas import Roster
from bot.domain.messages.message import Message
from bot.domain.transcript.lines import Line, Source
from bot.domain.values.places import Belonging, Place
from bot.errors import SlackError
from bot.settings import Settings
from bot.slack.board import SlackBoard
from bot.slack.chat import POSTED_AGAIN, SlackChat
from bot.slack.client import call, identify, opened
from bot.slack.posting import metadata
from tests.all_steps import all_steps
from tests.other.delivering import ByRequest, BySocket, Door
from tests.other.people import People
from tests.other.published import unlike_published
from tests.other.server import APP_TOKEN, BOT_TOKEN, CHANNEL, SECRET, Instead, OtherSlack
from tests.patience import wait_until
from tests.ports import free_port
from tests.slack.conftest import MAYA
from tests.transcripts import Transcript, read


@dataclass
class Served:
    slack: OtherSlack
    sockets: BySocket


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    slack = OtherSlack()
    sockets = BySocket(slack)
    site = web.Application()
    site.add_routes([*slack.routes(), *sockets.routes()])
    runner = web.AppRunner(site, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield Served(slack, sockets)
    await runner.cleanup()
    assert unlike_published(slack.asked) == []


def settings(slack: OtherSlack, workspace: Path, **more: str) -> Settings:
    return Settings.from_env({
        "SLACK_API_URL": f"{slack.url}/api/",
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "ROUNDTABLE_WORKSPACE": str(workspace),
        "ROUNDTABLE_STEPS": all_steps(),
        **more,
    })  # fmt: skip


@asynccontextmanager
async def by_sockets(served: Served, workspace: Path) -> AsyncIterator[Door]:
    async with app.bot(settings(served.slack, workspace, SLACK_APP_TOKEN=APP_TOKEN), web=False):
        await wait_until(lambda: len(served.sockets.open) > 1)
        yield served.sockets


@asynccontextmanager
async def by_requests(served: Served, workspace: Path) -> AsyncIterator[Door]:
    port = free_port()
    more = {
        "SLACK_SIGNING_SECRET": SECRET,
        "ROUNDTABLE_PORT": str(port),
        "ROUNDTABLE_HEALTH_PORT": str(free_port()),
    }
    async with app.bot(settings(served.slack, workspace, **more)):
        yield ByRequest(f"http://127.0.0.1:{port}/slack/events")


DOORS = {"sockets": by_sockets, "requests": by_requests}


@pytest.mark.parametrize("door", DOORS)
async def test_a_meeting(served: Served, tmp_path: Path, door: str) -> None:
    """Two steps, with a mention, an edit, an export; everything stands there once, and everything said is kept."""
    slack, workspace = served.slack, tmp_path / "workspace"
    async with DOORS[door](served, workspace) as opened_door:
        people = People(slack, opened_door)
        await people.begin("Offline sync")
        first = await people.say("Field workers lose their edits. Scope: small", blocks=None, edited=None)
        await people.say("says it happens every day", who="U9GONE", subtype="me_message")
        await people.say("And photos too", who="U9BARE", client_msg_id=None, user_profile={"name": None})
        await people.tell(_edited(slack, first, "Field workers lose all their edits. Scope: small"))
        await people.mention("status")
        await people.whispered("Offline sync")
        await people.press("finish_step")
        await people.press("continue")
        await people.seen("Step 00-02")
        await people.say("sync queue, offline cache")
        await people.mention("export")
        await wait_until(lambda: [one for one in slack.messages if one.get("files")])
        await people.press("finish_step")
        await people.menu("continue")
        await wait_until(lambda: not people.offering("finish_step"))

    assert len(slack.keys()) == len(set(slack.keys())), "nothing is posted twice"
    assert not [one for one in slack.asked if one.method.startswith("views.")]
    names = json.loads((workspace / "docs/requirements/people.json").read_text())["people"]
    said = {
        line.content: names.get(line.person, {"name": "no name"})["name"]
        for line in _people(_transcript(workspace))
    }
    assert said == {
        "Field workers lose their edits. Scope: small": "Ada Byron",
        "Field workers lose all their edits. Scope: small": "Ada Byron",
        "says it happens every day": "Grace, who left",
        "And photos too": "no name",
        "sync queue, offline cache": "Ada Byron",
    }
    assert "step 00-02" in _git(workspace, "log", "--format=%s")
    assert len(slack.files) == FILES


FILES = 2
"""Of an export: to read as text, and as a page."""

TROUBLES: dict[str, Callable[[], web.Response]] = {
    "an error page": lambda: web.Response(status=500, text="<html>sorry</html>", content_type="text/html"),
    "patience, not how much": lambda: web.Response(status=429, text="slow down"),
    "an empty answer": lambda: web.Response(text=""),
    "a list": lambda: web.json_response([]),
    "null": lambda: web.json_response(None),
    "plain words": lambda: web.Response(text="upstream connect error", status=200),
}


@pytest.mark.parametrize("method", ["chat.update", "users.info", "conversations.info"])
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_answers_that_are_none(served: Served, trouble: str, method: str) -> None:
    """Whatever comes in place of one is trouble that passes, and has a sentence; it is no mistake of ours."""
    async with opened(BOT_TOKEN, api_url=f"{served.slack.url}/api/") as client:
        served.slack.instead = [Instead(method, TROUBLES[trouble])]
        calls = {
            "chat.update": lambda: client.chat_update(channel=CHANNEL, ts="1.1", text="x", blocks=[]),
            "users.info": lambda: client.users_info(user="U9ADA"),
            "conversations.info": lambda: client.conversations_info(channel=CHANNEL),
        }
        with pytest.raises(SlackError) as caught:
            await call(calls[method])

    assert caught.value.again
    assert "upstream" not in str(caught.value)


async def test_a_meeting_in_bad_weather(served: Served, tmp_path: Path) -> None:
    """Answers lost, refused and late, connections renewed in the middle: a meeting like any other, only slower."""
    slack, workspace = served.slack, tmp_path / "workspace"
    async with by_sockets(served, workspace) as door:
        people = People(slack, door)
        await people.begin("Offline sync")
        slack.instead = [
            Instead("chat.postMessage", TROUBLES["an error page"], done=True),
            Instead("chat.postMessage", TROUBLES["patience, not how much"]),
            Instead("chat.update", TROUBLES["an error page"]),
            Instead("users.info", TROUBLES["plain words"]),
        ]
        await people.say("Field workers lose their edits. Scope: small", who="U9GONE")
        before = served.sockets.opened
        for socket in tuple(served.sockets.open):
            await served.sockets.send(
                socket, {"type": "disconnect", "reason": "refresh_requested", "debug_info": None}
            )
        await wait_until(lambda: served.sockets.opened == before + 2)
        await people.press("finish_step")
        await people.press("continue")
        await people.seen("Step 00-02")
        await wait_until(lambda: not people.offering("continue"))
        await people.press("finish_step")
        await people.press("continue")
        await people.seen("Step 00-03")
        await wait_until(lambda: not slack.instead)

    assert len(slack.keys()) == len(set(slack.keys())), "nothing is posted twice"
    assert [line.content for line in _people(_transcript(workspace))] == [
        "Field workers lose their edits. Scope: small"
    ]


async def test_what_stands_in_a_long_thread_is_found_page_by_page(served: Served) -> None:
    """Slack may give fewer messages than were asked for: a post in two parts is found, and not made again."""
    async with _chat(served.slack) as chat:
        place = Place(team="T9OTHER", channel=CHANNEL)
        root = await chat.open(place, Message(text="Offline sync"), key="root", again=False)
        thread = place.but(thread=root.ts)
        for number in range(8):
            await chat.post(thread, Message(text=f"Part {number}"), key=f"k{number}", again=False)
        long = Message(text="\n\n".join(f"Paragraph {number}. " + "words " * 60 for number in range(40)))
        await chat.post(thread, long, key="long", again=False)
        standing = len(served.slack.messages)
    async with _chat(served.slack) as successor:
        await successor.post(thread, Message(text="Part 6"), key="k6", again=True)
        await successor.post(thread, long, key="long", again=True)

    assert len(served.slack.messages) == standing


async def test_where_no_metadata_is_shown_nothing_can_be_found(served: Served) -> None:
    """Then what may stand there already is said once more, and marked: better twice than lost."""
    async with _chat(served.slack) as chat:
        place = Place(team="T9OTHER", channel=CHANNEL)
        root = await chat.open(place, Message(text="Offline sync"), key="root", again=False)
        await chat.post(place.but(thread=root.ts), Message(text="Hello"), key="k", again=False)
    served.slack.hides_metadata = True
    async with _chat(served.slack) as successor:
        await successor.post(place.but(thread=root.ts), Message(text="Hello"), key="k", again=True)

    assert [one["text"].count(POSTED_AGAIN) for one in served.slack.messages] == [0, 0, 1]


async def test_a_thread_that_comes_in_pages_is_heard_once(served: Served) -> None:
    """Each page begins with the root; and what stands below it keeps the step that it was said to."""
    said = [{"user": "U9ADA", "text": f"Answer {number}"} for number in range(7)]
    ours: dict[str, Any] = {
        "bot_id": "B9OTHER",
        "text": "Step",
        "metadata": dict(metadata("k", message=Message(text="", about="00-01"))),
    }
    for one in [{"user": "U9ADA", "text": "Root"}, ours, *said]:
        root = served.slack.messages[0]["ts"] if served.slack.messages else None
        served.slack.messages.append(
            {"ts": served.slack.stamp(), "thread_ts": root, "channel": CHANNEL, **one}
        )
    async with _chat(served.slack) as chat:
        root = served.slack.messages[0]["ts"]
        thread = await chat.read(Place(team="T9OTHER", channel=CHANNEL, thread=root), after="")

    assert thread.complete
    assert [one.text for one in thread.heard] == ["Root", *(one["text"] for one in said)]
    assert {one.about for one in thread.heard[1:]} == {"00-01"}


async def test_the_root_of_a_thread_is_read_and_found(served: Served) -> None:
    """However few messages come at once; where no metadata is shown, it is nobody's."""
    place = Place(team="T9OTHER", channel=CHANNEL)
    async with _chat(served.slack) as chat:
        key = "offline-sync.0123abcd.1"
        opened = await chat.open(place, Message(text="**Roundtable: Offline**"), key=key, again=False)
        for number in range(5):
            ts, text = served.slack.stamp(), f"Later {number}"
            served.slack.messages.append({"ts": ts, "channel": CHANNEL, "user": "U9ADA", "text": text})
        root = await chat.root(place.but(thread=opened.ts))

        assert root
        assert (root.slug, root.text) == ("offline-sync", "*Roundtable: Offline*")
        assert await chat.find_root(place, "offline-sync") == opened.ts
        served.slack.hides_metadata = True
        assert await chat.root(place.but(thread=opened.ts)) is None


@pytest.mark.parametrize(
    ("person", "name", "belongs"),
    [
        ("U9ADA", "Ada Byron", Belonging.MEMBER),
        ("U9GONE", "Grace, who left", Belonging.LEFT),
        ("U9BARE", "U9BARE", Belonging.MEMBER),
        ("U9NEAR", "Linus", Belonging.MEMBER),
        ("U9FAR", "Mallory", Belonging.EXTERNAL),
        ("U9NOBODY", "U9NOBODY", Belonging.UNVERIFIED),
    ],
)
async def test_people_are_known_however_little_is_said_of_them(
    served: Served, person: str, name: str, belongs: Belonging
) -> None:
    """Without a profile, or switched off. Another organisation's people are external, though they have one."""
    async with _chat(served.slack) as chat:
        assert (await chat.profile(person)).name == name
        assert chat.belonging(person) is belongs


async def test_a_channel_is_found_behind_an_empty_page(served: Served) -> None:
    """Fewer than were asked for may be none at all."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(opened(BOT_TOKEN, api_url=f"{served.slack.url}/api/"))
        board = SlackBoard(client, await identify(client))

        assert await board.channel("#other") == CHANNEL


@asynccontextmanager
async def _chat(slack: OtherSlack) -> AsyncIterator[SlackChat]:
    async with opened(BOT_TOKEN, api_url=f"{slack.url}/api/") as client:
        yield SlackChat(client, Roster((MAYA,)), await identify(client))


def _edited(slack: OtherSlack, ts: str, text: str) -> dict[str, object]:
    before = next(one for one in slack.messages if one["ts"] == ts)
    after = {**before, "text": text, "edited": {"user": before["user"], "ts": slack.stamp()}}
    stamp = slack.stamp()
    return {
        "type": "message",
        "subtype": "message_changed",
        "channel": CHANNEL,
        "ts": stamp,
        "message": after,
        "previous_message": before,
    }


def _transcript(workspace: Path) -> Transcript:
    return read((workspace / "docs/requirements/offline-sync/planning/meeting.jsonl").read_bytes())


def _people(transcript: Transcript) -> list[Line]:
    return [line for line in transcript.lines if line.source is Source.USER]


def _git(workspace: Path, *arguments: str) -> str:
    return run(["git", "-C", str(workspace), *arguments], check=True, capture_output=True, text=True).stdout
