"""What leaves for Slack: no secret, whatever it was made of, and nobody's name is a way around that."""

from dataclasses import replace

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.catalog.personas import Roster
from bot.domain.messages.message import Action, Choice, Link, Message
from bot.domain.privacy.redaction import Redactor
from bot.domain.values.places import Place
from bot.slack import parse
from bot.slack.board import SlackBoard
from bot.slack.chat import SlackChat
from bot.slack.client import Identity, opened
from slack_sandbox import Sandbox
from slack_sandbox.residents import User
from tests.slack.conftest import NOW, payload

TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
SHOWN = "[redacted:github-token]"
TITLED = Message(
    text=f"**Rotate {TOKEN}** goes on",
    note=f"as `{TOKEN}`",
    choices=(Choice(action=Action.RESUME, label=f"Rotate {TOKEN[:30]}", value=f"rotate-{TOKEN.lower()}"),),
    links=(Link(label=f"about {TOKEN}", url="https://acme.slack.com/archives/C1/p1700000000123456"),),
    token="0123456789abcdef",
)


def hide(text: str) -> str:
    return Redactor()(text).text


@pytest.fixture
def discreet(us: Identity) -> Identity:
    return replace(us, redact=hide)


@pytest.fixture
def chat(client: AsyncWebClient, roster: Roster, discreet: Identity) -> SlackChat:
    return SlackChat(client, roster, discreet)


async def test_what_came_from_a_file_is_redacted_on_its_way_out(
    chat: SlackChat, client: AsyncWebClient, discreet: Identity, place: Place, sandbox: Sandbox
) -> None:
    """Posted, rewritten and whispered, by the roundtables' chat and the reviews' board; what a button carries stays."""
    root = await chat.open(place, TITLED, key="root", again=False)
    await chat.rewrite(place, root.ts, TITLED)
    await chat.tell(place, "U0ADA", TITLED, reply_url="")
    board = SlackBoard(client, discreet)
    spot = await board.put(place, TITLED, key="notice")
    await board.edit(spot, TITLED)
    await board.tell(place, "U0ADA", TITLED, reply_url="")

    methods = ("chat.postMessage", "chat.update", "chat.postEphemeral")
    sent = [call.args for method in methods for call in sandbox.calls_of(method)]
    assert len(sent) == 6
    assert TOKEN not in str(sent)
    assert all(SHOWN in one["text"] for one in sent)
    assert str(sent).count(f"rotate-{TOKEN.lower()}") == 6


@pytest.mark.parametrize("name", [f"Ada {TOKEN}", f"Ada \u202e{TOKEN[:8]}\u200b{TOKEN[8:]}"])
async def test_a_name_is_text_like_any_other(roster: Roster, name: str) -> None:
    """As Slack tells it, and as it comes with a click or a command: it goes into lines, prompts and posts."""
    async with Sandbox(people=(User("U0ADA", "ada", name),)) as sandbox:
        us = Identity(team=sandbox.team_id, user=sandbox.bot_user_id, bot="B0SANDBOX", redact=hide)
        async with opened(sandbox.bot_token, api_url=sandbox.api_url) as inside:
            profile = await SlackChat(inside, roster, us).profile("U0ADA")
            assert profile.name == f"Ada {SHOWN}"

    body = payload("block_actions")
    body["user"]["name"] = name
    pressed = parse.press(body, us, at=NOW)
    assert isinstance(pressed, parse.Placed)
    asked = parse.command(payload("slash_command", user_name=name), us, at=NOW)
    assert (pressed.given.person.name, asked.person.name) == (f"Ada {SHOWN}", f"Ada {SHOWN}")


async def test_who_can_see_a_channel_is_asked_whenever_a_thread_is_opened(
    chat: SlackChat, place: Place, sandbox: Sandbox
) -> None:
    """It may have become private since the last one, and nobody has said a word in the new thread."""
    before = await chat.open(place, Message(text="Dark mode"), key="one", again=False)
    sandbox.workspace.channel("#roundtable").kind = "group"
    after = await chat.open(place, Message(text="Takeover"), key="two", again=False)

    assert (before.private, after.private) == (False, True)
