"""The bodies Slack sends to an app. Pure: everything they say is already known."""

import uuid
from typing import Any

from slack_sandbox.messages import JSON, SandboxMessage
from slack_sandbox.residents import Channel, User
from slack_sandbox.rules.elements import touched
from slack_sandbox.slack import Slack
from slack_sandbox.views import View


def event_callback(slack: Slack, event: JSON) -> JSON:
    event_id = f"Ev{uuid.uuid4().hex[:10].upper()}"
    return {
        "token": "sandbox",
        "team_id": slack.workspace.team_id,
        "api_app_id": slack.app.id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(slack.workspace.clock.now()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": slack.workspace.team_id,
                "user_id": slack.app.bot_user_id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{event_id}",
    }


def command(slack: Slack, user: User, channel: Channel, *, name: str, text: str, response_url: str) -> JSON:
    return {
        "token": "sandbox",
        "team_id": user.team_id or slack.workspace.team_id,
        "team_domain": slack.workspace.team_name.lower(),
        "channel_id": channel.id,
        "channel_name": channel_ref(channel)["name"],
        "user_id": user.id,
        "user_name": user.name,
        "command": name,
        "text": text,
        "api_app_id": slack.app.id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": slack.triggers.issue(user.id),
    }


def message_click(
    slack: Slack, user: User, message: SandboxMessage, *, element: JSON, value: Any, response_url: str
) -> JSON:
    """An ephemeral message is not sent along: the app has to remember what it said."""
    container: JSON = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": bool(message.only_for),
    }
    if thread_ts := slack.workspace.as_json(message).get("thread_ts"):
        container["thread_ts"] = thread_ts
    payload = _interaction(slack, user, "block_actions") | {
        "container": container,
        "channel": channel_ref(slack.workspace.channels[message.channel]),
        "state": {"values": {}},
        "response_url": response_url,
        "actions": [_action(slack, element, value)],
    }
    if not message.only_for:
        payload["message"] = slack.workspace.as_json(message, with_metadata=False)
    return payload


def view_click(slack: Slack, user: User, view: View, *, element: JSON, value: Any) -> JSON:
    return _interaction(slack, user, "block_actions") | {
        "container": {"type": "view", "view_id": view.id},
        "view": view_shape(slack, view),
        "actions": [_action(slack, element, value)],
    }


def message_shortcut(
    slack: Slack, user: User, message: SandboxMessage, *, callback_id: str, response_url: str
) -> JSON:
    return _interaction(slack, user, "message_action") | {
        "callback_id": callback_id,
        "action_ts": slack.workspace.clock.stamp(),
        "message_ts": message.ts,
        "message": slack.workspace.as_json(message, with_metadata=False),
        "channel": channel_ref(slack.workspace.channels[message.channel]),
        "response_url": response_url,
    }


def global_shortcut(slack: Slack, user: User, *, callback_id: str) -> JSON:
    stamp = slack.workspace.clock.stamp()
    return _interaction(slack, user, "shortcut") | {"callback_id": callback_id, "action_ts": stamp}


def view_submission(slack: Slack, user: User, view: View) -> JSON:
    shape = view_shape(slack, view)
    return _interaction(slack, user, "view_submission") | {"view": shape, "response_urls": []}


def view_closed(slack: Slack, user: User, view: View, *, is_cleared: bool = False) -> JSON:
    shape = view_shape(slack, view)
    payload = _interaction(slack, user, "view_closed") | {"view": shape, "is_cleared": is_cleared}
    del payload["trigger_id"]
    return payload


def view_shape(slack: Slack, view: View) -> JSON:
    return slack.views.as_json(view, app_id=slack.app.id, bot_id=slack.app.bot_id)


def channel_ref(channel: Channel) -> JSON:
    private = {"group": "privategroup", "im": "directmessage"}
    return {"id": channel.id, "name": private.get(channel.kind, channel.name)}


def _interaction(slack: Slack, user: User, kind: str) -> JSON:
    return {
        "type": kind,
        "token": "sandbox",
        "team": {"id": slack.workspace.team_id, "domain": slack.workspace.team_name.lower()},
        "user": {
            "id": user.id,
            "username": user.name,
            "name": user.name,
            "team_id": user.team_id or slack.workspace.team_id,
        },
        "api_app_id": slack.app.id,
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": slack.triggers.issue(user.id),
    }


def _action(slack: Slack, element: JSON, value: Any) -> JSON:
    return {
        "action_id": element["action_id"],
        "block_id": element["block_id"],
        "type": element["type"],
        **touched(element, value),
        "action_ts": slack.workspace.clock.stamp(),
    }
