"""`Board` on Slack's Web API: one message for a key, edited where it stands, in a channel by its id or its name."""

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.messages.message import Message
from bot.domain.values.places import Place
from bot.engine.review_ports import NoticePosition
from bot.errors import SlackError
from bot.slack.board import SlackBoard
from bot.slack.client import Identity
from slack_sandbox import Sandbox

HELLO = Message(text="REVIEW: metadata unavailable")


@pytest.fixture
def board(client: AsyncWebClient, us: Identity) -> SlackBoard:
    return SlackBoard(client, us)


@pytest.mark.parametrize("name", ["#roundtable", "roundtable"])
async def test_a_channel_is_found_by_its_name(board: SlackBoard, sandbox: Sandbox, name: str) -> None:
    """It is looked up once."""
    for number in range(2):
        spot = await board.put(Place(team="", channel=name), HELLO, key=f"notice.{number}")
        assert spot.channel == sandbox.channel().id

    assert len(sandbox.calls_of("conversations.list")) == 1


async def test_a_private_channel_is_found_too(board: SlackBoard, sandbox: Sandbox) -> None:
    """If we are in it."""
    sandbox.add_channel("secret-triage", private=True)

    assert await board.channel("#secret-triage") == sandbox.channel("#secret-triage").id


async def test_an_id_is_taken_as_it_is(board: SlackBoard, sandbox: Sandbox) -> None:
    """No scope is needed for that."""
    sandbox.scopes.difference_update({"channels:read", "groups:read", "im:read"})
    spot = await board.put(Place(team="", channel=sandbox.channel().id), HELLO, key="notice.x")

    assert spot == NoticePosition(sandbox.channel().id, sandbox.messages()[0].ts)
    assert sandbox.calls_of("conversations.list") == []


async def test_a_channel_that_is_not_there_is_a_sentence(board: SlackBoard) -> None:
    """With the two ways out."""
    with pytest.raises(SlackError, match="There is no channel #nowhere that I can see") as raised:
        await board.channel("nowhere")

    assert not raised.value.again


async def test_without_the_scope_the_id_is_asked_for(board: SlackBoard, sandbox: Sandbox) -> None:
    """An app that was installed before needs no new installation."""
    sandbox.scopes.difference_update({"channels:read", "groups:read", "im:read"})
    with pytest.raises(SlackError, match="Set ROUNDTABLE_TRIAGE_CHANNEL to its id"):
        await board.channel("#roundtable")


async def test_what_stands_there_is_found_however_far_back(
    board: SlackBoard, sandbox: Sandbox, client: AsyncWebClient, us: Identity
) -> None:
    """Page by page, by its key alone; somebody else's message with the same words is not it."""
    place = Place(team="", channel=sandbox.channel().id)
    first = await board.put(place, HELLO, key="notice.x")
    for number in range(230):
        await sandbox.person("ada").say("#roundtable", f"REVIEW: {number}")
    found = await SlackBoard(client, us).put(place, HELLO, key="notice.x", thorough=True)
    other = await board.put(place, HELLO, key="notice.y", thorough=True)

    assert found == NoticePosition(first.channel, first.ts, found=True)
    assert other.ts != first.ts


async def test_an_edit_keeps_the_place(board: SlackBoard, sandbox: Sandbox) -> None:
    """Nobody is notified, and the message is where it was."""
    spot = await board.put(Place(team="", channel="roundtable"), HELLO, key="notice.x")

    assert await board.edit(spot, Message(text="REVIEW: PASS <!channel>"))
    assert [one.text for one in sandbox.messages()] == ["REVIEW: PASS &lt;!channel&gt;"]
    assert not await board.edit(NoticePosition(spot.channel, "1.000001"), HELLO)


async def test_a_thread_has_each_key_once(board: SlackBoard, sandbox: Sandbox) -> None:
    """Also when who posted it never heard of it."""
    root = await sandbox.person("ada").say("#roundtable", "Dark mode")
    place = Place(team="", channel=sandbox.channel().id, thread=root)
    sandbox.fail_next("chat.postMessage", hang_up=True, after=True)
    with pytest.raises(SlackError):
        await board.put(place, HELLO, key="review.x.1")
    spot = await board.put(place, HELLO, key="review.x.1", again=True)

    assert spot.found
    assert len(sandbox.thread("#roundtable", root)) == 2
