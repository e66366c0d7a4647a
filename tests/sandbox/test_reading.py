"""What an app can look up: who it is, who is here, where it is, and what was said."""

from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox
from tests.sandbox.blocks import Body

# method, arguments, and where in the answer to find what
LOOKED_UP: list[tuple[str, Body, Callable[[Body], Any], Any]] = [
    ("api.test", {"foo": "bar"}, lambda a: a["args"], {"foo": "bar"}),
    ("auth.test", {}, lambda a: (a["user_id"], a["bot_id"]), ("U0ROUNDTABLE", "B0SANDBOX")),
    ("team.info", {}, lambda a: a["team"]["name"], "Sandbox"),
    ("bots.info", {"bot": "B0SANDBOX"}, lambda a: a["bot"]["user_id"], "U0ROUNDTABLE"),
    ("users.info", {"user": "U0ADA"}, lambda a: a["user"]["profile"]["real_name"], "Ada"),
    ("users.list", {}, lambda a: [u["is_bot"] for u in a["members"]], [False, False, False, True]),
    ("users.list", {"limit": 1}, lambda a: len(a["members"]), 1),
    ("conversations.list", {}, lambda a: [c["name"] for c in a["channels"]], ["roundtable", "elsewhere"]),
    (
        "conversations.list",
        {"types": "private_channel"},
        lambda a: [c["name"] for c in a["channels"]],
        ["inner-circle"],
    ),
    ("conversations.info", {"channel": "C0SANDBOX01"}, lambda a: a["channel"]["is_member"], True),
    ("conversations.info", {"channel": "C0SANDBOX02"}, lambda a: a["channel"]["is_member"], False),
    ("conversations.members", {"channel": "C0SANDBOX01"}, lambda a: len(a["members"]), 4),
    ("conversations.join", {"channel": "C0SANDBOX02"}, lambda a: a["channel"]["is_member"], True),
    ("conversations.open", {"users": "U0ADA", "return_im": True}, lambda a: a["channel"]["is_im"], True),
]


@pytest.fixture
def furnished(sandbox: Sandbox) -> Sandbox:
    """A public channel without the bot, a private one with it and one without."""
    sandbox.add_channel("elsewhere", with_bot=False)
    sandbox.add_channel("inner-circle", private=True)
    sandbox.add_channel("innermost", private=True, with_bot=False)
    return sandbox


@pytest.mark.usefixtures("furnished")
@pytest.mark.parametrize(("method", "args", "find", "expected"), LOOKED_UP)
async def test_everything_can_be_looked_up(
    client: AsyncWebClient, method: str, args: Body, find: Callable[[Body], Any], expected: object
) -> None:
    """In the shapes of Slack's answers."""
    answer = await client.api_call(method, params=args)

    assert isinstance(answer.data, dict)
    assert find(answer.data) == expected


async def test_history_can_be_read_in_part(sandbox: Sandbox, client: AsyncWebClient, channel: str) -> None:
    """Between two stamps, which count only when they are asked to."""
    stamps = [await sandbox.person("ada").say("#roundtable", str(number)) for number in range(4)]
    period: Body = {"channel": channel, "oldest": stamps[0], "latest": stamps[3]}

    between = await client.conversations_history(**period)
    inclusive = await client.conversations_history(**period, inclusive=True)

    assert [message["text"] for message in between["messages"]] == ["2", "1"]
    assert [message["text"] for message in inclusive["messages"]] == ["3", "2", "1", "0"]


async def test_a_reply_is_read_by_its_own_stamp(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Then it comes alone; a thread is read by its root."""
    ada = sandbox.person("ada")
    root = await ada.say("#roundtable", "root")
    reply = await ada.say("#roundtable", "reply", thread_ts=root)

    answer = await client.conversations_replies(channel=channel, ts=reply)

    assert [message["text"] for message in answer["messages"]] == ["reply"]
