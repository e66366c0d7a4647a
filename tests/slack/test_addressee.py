"""For whom a payload is: another workspace's, or another app's, changes nothing here, however well it is signed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.app import slack_app
from bot.slack.client import Identity, app_of
from bot.slack.reception import Reception
from slack_sandbox import Sandbox
from tests.slack.conftest import ScriptedDesk, payload
from tests.slack.test_listeners import dispatched

ELSEWHERE = {"team_id": "T9ELSEWHERE", "enterprise_id": None, "user_id": "U9BOT", "is_bot": True}
FOREIGN = {"team_id": "T9ELSEWHERE", "authorizations": [ELSEWHERE]}


def ours(**more: Any) -> dict[str, Any]:
    return {**ELSEWHERE, "team_id": "T0SANDBOX", **more}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("message_in_thread", FOREIGN),
        ("mention_in_thread", {"team_id": "T9ELSEWHERE", "authorizations": []}),
        ("message_in_thread", {"api_app_id": "A9ELSEWHERE"}),
        ("slash_command", {"api_app_id": "A9ELSEWHERE"}),
        ("block_actions", {"api_app_id": "A9ELSEWHERE"}),
        ("block_actions", {"team": {"id": "T9ELSEWHERE", "domain": "elsewhere"}}),
        ("message_action", {"team": {"id": "T9ELSEWHERE", "domain": "elsewhere"}}),
        ("message_in_thread", {**FOREIGN, "enterprise_id": "E9ELSEWHERE"}),
    ],
)
async def test_what_is_for_others_is_acknowledged_and_changes_nothing(
    app: AsyncApp,
    sandbox: Sandbox,
    desk: ScriptedDesk,
    caplog: pytest.LogCaptureFixture,
    name: str,
    changes: Mapping[str, Any],
) -> None:
    """Said once in the log, without a word of what was said."""
    for _ in range(2):
        assert (await dispatched(app, sandbox, payload(name, **changes))).status == 200

    assert not desk.brought
    (line,) = [record.getMessage() for record in caplog.records]
    assert "not for this bot" in line
    assert "9ELSEWHERE" in line


@pytest.mark.parametrize(
    ("enterprise", "changes"),
    [
        ("", {"team_id": "T9ELSEWHERE"}),
        ("", {"team_id": "T9ELSEWHERE", "authorizations": [], "context_team_id": "T0SANDBOX"}),
        ("", {**FOREIGN, "is_ext_shared_channel": True}),
        ("", {"team_id": None, "authorizations": [ours()]}),
        ("", {"team_id": None, "authorizations": None}),
        ("E0ORG", {"team_id": "T9ELSEWHERE", "authorizations": [ours(team_id=None, enterprise_id="E0ORG")]}),
        ("E0ORG", {**FOREIGN, "enterprise_id": "E0ORG"}),
        ("", {"api_app_id": None}),
    ],
    ids=["connect", "context", "shared", "ours", "unnamed", "org-wide", "grid", "no app"],
)
async def test_shared_channels_and_organisations_are_heard(
    client: AsyncWebClient,
    reception: Reception,
    sandbox: Sandbox,
    desk: ScriptedDesk,
    enterprise: str,
    changes: Mapping[str, Any],
) -> None:
    """In Slack Connect an event may name another workspace, and in an Enterprise Grid none that we know."""
    app = slack_app(client, replace(reception, us=replace(reception.us, enterprise=enterprise)))

    assert (await dispatched(app, sandbox, payload("message_in_thread", **changes))).status == 200
    assert [verb for verb, *_ in desk.brought] == ["say"]


async def test_an_app_whose_id_is_not_known_believes_what_comes(
    client: AsyncWebClient, reception: Reception, sandbox: Sandbox, desk: ScriptedDesk
) -> None:
    """Slack may not tell us; then the signature has to do, which is the app's own."""
    app = slack_app(client, replace(reception, us=replace(reception.us, apps=frozenset())))

    await dispatched(app, sandbox, payload("message_in_thread", api_app_id="A9ELSEWHERE"))
    assert desk.brought


async def test_it_is_the_same_over_sockets(connected: Sandbox, desk: ScriptedDesk) -> None:
    """And nobody has to send it again."""
    connected.workspace.team_id = "T9ELSEWHERE"
    root = await connected.person("ada").say("#roundtable", "a thread")
    await connected.person("ada").say("#roundtable", "an answer", thread_ts=root)
    await connected.settled()

    assert all(delivery.acked and delivery.attempts == 1 for delivery in connected.deliveries)
    assert not desk.brought


async def test_the_id_of_the_app_is_asked_for_or_read_from_its_token(us: Identity, sandbox: Sandbox) -> None:
    """Whatever can be had; without the scope for it, nothing."""
    assert us.apps == {sandbox.app.id}
    assert app_of("xapp-1-A012ABCD3EF-1234567890-abcdef") == {"A012ABCD3EF"}
    assert app_of("xapp-sandbox") == frozenset()
