"""Payload files through the real Bolt app: signed, dispatched, and always answered."""

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.actions.table import ACTIONS
from bot.domain.messages.form import settings
from bot.domain.messages.message import Action, Message
from bot.domain.values.places import Belonging, Person
from bot.errors import Unavailable, UserError
from bot.slack.app import slack_app
from bot.slack.reception import Reception
from slack_sandbox import Sandbox
from tests.slack.conftest import PAYLOADS, ScriptedDesk, payload

ALL = sorted(path.stem for path in PAYLOADS.glob("*.json"))
FORM = "application/x-www-form-urlencoded"


def encoded(body: Mapping[str, Any]) -> tuple[str, str]:
    """As Slack sends it over HTTP: events as JSON, commands as a form, the rest as JSON in a form."""
    if "command" in body:
        return urlencode(body), FORM
    if body["type"] in {"event_callback", "app_rate_limited", "url_verification"}:
        return json.dumps(body), "application/json"
    return urlencode({"payload": json.dumps(body)}), FORM


def signed(sandbox: Sandbox, body: Mapping[str, Any], **headers: str) -> AsyncBoltRequest:
    text, content_type = encoded(body)
    stamp = str(int(time.time()))
    digest = hmac.new(sandbox.signing_secret.encode(), f"v0:{stamp}:{text}".encode(), hashlib.sha256)
    return AsyncBoltRequest(
        body=text,
        headers={
            "content-type": content_type,
            "x-slack-request-timestamp": stamp,
            "x-slack-signature": f"v0={digest.hexdigest()}",
            **headers,
        },
    )


async def dispatched(
    app: AsyncApp, sandbox: Sandbox, body: Mapping[str, Any], **headers: str
) -> BoltResponse:
    return await app.async_dispatch(signed(sandbox, body, **headers))


@pytest.mark.parametrize("name", ALL)
async def test_every_kind_of_payload_is_acknowledged(app: AsyncApp, sandbox: Sandbox, name: str) -> None:
    """Whether anybody listens to it or not."""
    assert (await dispatched(app, sandbox, payload(name))).status == 200


@pytest.mark.parametrize("name", ["block_actions", "block_actions_picker", "message_action"])
@pytest.mark.parametrize("failure", [Unavailable(), ValueError(), UserError("No.")])
async def test_a_click_is_acknowledged_whatever_happens(
    app: AsyncApp, sandbox: Sandbox, desk: ScriptedDesk, name: str, failure: Exception
) -> None:
    """Slack shows a warning sign next to a button that is not, and never asks again."""
    desk.fails = [failure]

    assert (await dispatched(app, sandbox, payload(name))).status == 200


async def test_what_a_failed_command_quotes_can_not_act(
    app: AsyncApp, sandbox: Sandbox, desk: ScriptedDesk
) -> None:
    """The sentence has their own words in it: they mention, ping and link as little here as in a post."""
    desk.fails = [UserError("No item found for `<!channel>` <@U0ADA> <https://evil.test|bank> & *co*.")]

    response = await dispatched(app, sandbox, payload("slash_command"))

    told = json.loads(response.body)["text"]
    assert "&lt;!channel&gt;" in told
    assert "<" not in told


@pytest.mark.parametrize("action", list(ACTIONS))
async def test_every_press_comes_to_the_desk_with_whoever_pressed(
    app: AsyncApp, sandbox: Sandbox, desk: ScriptedDesk, action: str
) -> None:
    """There is one place where it is decided whether they may; nobody of another organisation is a stranger there."""
    body = payload("block_actions", user__team_id="T0ELSEWHERE")
    body["actions"][0] |= {"action_id": f"roundtable.{action}", "value": "/offline-sync"}
    desk.shown = settings("offline-sync", depth=None, muted=False)

    await dispatched(app, sandbox, body)

    (brought,) = desk.brought
    row = ACTIONS[action]
    is_form = row.opens_form("offline-sync")
    verb = row.verb or ("resume" if row == Action.RESUME else "form" if is_form else "press")
    (person,) = [one for one in (*brought[1:3], *map(person_of, brought)) if isinstance(one, Person)][:1]
    assert (brought[0], person.belongs) == (verb, Belonging.EXTERNAL)


async def test_a_link_that_was_followed_is_acknowledged_and_no_more(
    app: AsyncApp, sandbox: Sandbox, desk: ScriptedDesk, reception: Reception
) -> None:
    """Slack opens it by itself, and shows a warning without the acknowledgement."""
    body = payload("block_actions")
    body["actions"][0] |= {"action_id": "roundtable.open"}

    response = await dispatched(app, sandbox, body)
    await reception.errands.drain(2)

    assert response.status == 200
    assert desk.brought == []
    assert sandbox.calls_of("chat.postEphemeral") == []


def person_of(brought: object) -> object:
    return getattr(brought, "person", None)


async def test_a_long_answer_to_a_command_comes_in_parts(
    app: AsyncApp, sandbox: Sandbox, desk: ScriptedDesk
) -> None:
    """An acknowledgement holds one message; the parts of a longer one follow it."""
    desk.reply = Message(text="A line of a long list.\n" * 600)
    ada = sandbox.person("ada")
    body = payload(
        "slash_command", text="list", channel_id=sandbox.channel().id, user_id=ada.id, response_url=""
    )

    response = await dispatched(app, sandbox, body)
    await sandbox.until(lambda: len(ada.ephemerals) == 3)

    assert response.body == ""


async def test_a_handshake_is_answered(app: AsyncApp, sandbox: Sandbox) -> None:
    """Slack asks once, when the address is entered."""
    response = await dispatched(app, sandbox, {"type": "url_verification", "challenge": "3eZbrw1aB"})

    assert "3eZbrw1aB" in response.body


async def test_bolt_gives_no_wrong_advice(
    client: AsyncWebClient,
    reception: Reception,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A token in the environment is used, by our client: that Bolt does not need it is no warning."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")

    slack_app(client, reception)

    assert not caplog.records


# --- people who are called by their id --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Ask <@U0GRACE> and <@U0ADA|ada>", "Ask @Grace and @ada"),
        ("Ask <@U0GRACE>, <@U0NOBODY1>", "Ask @Grace, @U0NOBODY1"),
        ("mail a@U0GRACE or @USERS", "mail a@U0GRACE or @USERS"),
    ],
)
async def test_who_is_mentioned_is_called_by_name(
    app: AsyncApp, sandbox: Sandbox, desk: ScriptedDesk, said: str, text: str
) -> None:
    """What people said is repeated in files and posts, where an id says nothing."""
    await dispatched(app, sandbox, payload("message_in_thread", event__text=said))

    assert desk.brought[-1][2].text == text
