"""The manifest asks for what is used, and for nothing else."""

import json
import re
from pathlib import Path

from bot.slack.manifest import SCOPES, SHORTCUT_NAME, manifest, missing_scopes

ROOT = Path(__file__).parents[2]


def test_the_manifest_in_deploy_is_the_one_we_print() -> None:
    """`roundtable manifest > deploy/slack-manifest.json` keeps it so."""
    kept = json.loads((ROOT / "deploy" / "slack-manifest.json").read_text(encoding="utf-8"))

    assert kept == manifest()


def test_socket_mode_needs_no_address_and_http_needs_three() -> None:
    """Events, buttons and commands all go to one address."""
    http = json.dumps(manifest(socket_mode=False, url="https://bot.example/"))

    assert "url" not in json.dumps(manifest())
    assert re.findall(r'"(\w*url)": "(.*?)"', http) == [
        ("url", "https://bot.example/slack/events"),
        ("request_url", "https://bot.example/slack/events"),
        ("request_url", "https://bot.example/slack/events"),
    ]


def test_slack_takes_the_manifest() -> None:
    """The limits on what is shown, of which the shortcut's name is the easiest to break."""
    shown = manifest()
    (command,), shortcuts = shown["features"]["slash_commands"], shown["features"]["shortcuts"]

    assert len(shown["display_information"]["name"]) <= 35
    assert len(shown["display_information"]["description"]) <= 140
    assert shortcuts[0]["name"] == SHORTCUT_NAME
    assert all(len(one["name"]) <= 24 and len(one["description"]) <= 150 for one in shortcuts)
    assert len({one["callback_id"] for one in shortcuts}) == len(shortcuts)
    assert len(command["command"]) <= 32
    assert command["should_escape"]


def test_every_event_is_paid_for_by_a_scope() -> None:
    """An event whose scope is missing is refused when the app is installed."""
    scope_of = {
        "app_mention": "app_mentions:read",
        "message.channels": "channels:history",
        "message.groups": "groups:history",
        "channel_archive": "channels:read",
        "channel_left": "channels:read",
        "group_archive": "groups:read",
        "group_left": "groups:read",
        "channel_id_changed": "channels:read",
        "member_joined_channel": "channels:read",
        "member_left_channel": "channels:read",
        "user_change": "users:read",
        "reaction_added": "reactions:read",
        "reaction_removed": "reactions:read",
    }

    events = manifest()["settings"]["event_subscriptions"]["bot_events"]

    needs_none = {"app_home_opened"}
    assert all(scope_of[event] in SCOPES for event in events if event not in needs_none)


def test_an_agent_asks_for_what_makes_it_one() -> None:
    """Slack's own stop button, direct messages that people can write, and nothing more."""
    plain, agent = manifest(), manifest(agent=True)
    scopes = [one["oauth_config"]["scopes"]["bot"] for one in (plain, agent)]
    events = [one["settings"]["event_subscriptions"]["bot_events"] for one in (plain, agent)]

    assert {*scopes[1]} - {*scopes[0]} == {"assistant:write", "im:history"}
    own = {"agent_session_stopped", "app_home_opened", "message.im"}
    assert {*events[1]} - {*events[0]} == own - {*events[0]}
    assert own <= {*events[1]}
    assert plain["features"]["app_home"]["messages_tab_read_only_enabled"]
    assert not agent["features"]["app_home"]["messages_tab_read_only_enabled"]
    assert len(agent["features"]["agent_view"]["suggested_prompts"]) <= 4
    assert agent["features"].keys() - plain["features"].keys() == {"agent_view"}


def test_missing_scopes_are_found_by_what_was_granted() -> None:
    """In no order."""
    granted = [scope for scope in SCOPES if scope != "im:write"]

    assert missing_scopes(granted) == ("im:write",)
    assert missing_scopes(SCOPES) == ()


def test_an_app_for_several_workspaces_can_be_installed_by_an_organization() -> None:
    """And hears when it is removed. Tokens that expire are asked for, because Slack does not take that back."""
    plain, several = manifest(), manifest(url="https://bot.example/", teams=True)
    rotating = manifest(url="https://bot.example", teams=True, rotate=True)
    events = several["settings"]["event_subscriptions"]["bot_events"]

    assert several["oauth_config"]["redirect_urls"] == ["https://bot.example/slack/oauth_redirect"]
    assert set(events) - set(plain["settings"]["event_subscriptions"]["bot_events"]) == {
        "app_uninstalled",
        "tokens_revoked",
    }
    assert several["settings"]["org_deploy_enabled"]
    assert [one["settings"]["token_rotation_enabled"] for one in (plain, several, rotating)] == [
        False,
        False,
        True,
    ]
    assert several["oauth_config"]["scopes"] == plain["oauth_config"]["scopes"]
