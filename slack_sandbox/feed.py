"""What the page is told: everything once, then every change."""

from collections.abc import Iterator

from slack_sandbox.changes import ChangeKind, SandboxChange
from slack_sandbox.events import SUBSCRIPTIONS
from slack_sandbox.messages import JSON, SandboxMessage
from slack_sandbox.payloads import view_shape
from slack_sandbox.residents import Channel
from slack_sandbox.slack import Slack


def everything(slack: Slack) -> JSON:
    workspace = slack.workspace
    return {
        "type": "everything",
        "team": {"id": workspace.team_id, "name": workspace.team_name},
        "bot": {
            "id": slack.app.bot_user_id,
            "name": slack.app.name,
            "example": slack.app.example,
            "connect": slack.app.connect,
            "hears_directs": SUBSCRIPTIONS["im"] in slack.app.events,
            "has_home": "app_home_opened" in slack.app.events,
        },
        "users": [user.as_json(workspace.team_id) for user in workspace.users.values()],
        "channels": [_channel(channel) for channel in workspace.channels.values()],
        "messages": [_message(slack, m) for c in workspace.channels.values() for m in c.messages.values()],
        "statuses": [
            {"channel": channel.id, "ts": ts, **channel.at_work(ts)}
            for channel in workspace.channels.values()
            for ts in {**channel.status, **channel.sessions}
        ],
        "views": {user: _views(slack, user) for user in workspace.users},
        "shortcuts": dict(slack.app.shortcuts),
    }


def updates(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    channel = slack.workspace.channels.get(change.channel)
    if change.kind in {ChangeKind.CHANNEL, ChangeKind.JOINED, ChangeKind.LEFT} and channel:
        yield {"type": "channel", "channel": _channel(channel)}
    elif change.kind is ChangeKind.STATUS:
        yield {"type": "status", "channel": change.channel, **change.detail}
    elif change.kind in {ChangeKind.VIEW, ChangeKind.HOME}:
        yield {"type": "views", "user": change.user, **_views(slack, change.user)}
    elif channel:
        yield from _message_updates(slack, channel, change)


def _message_updates(slack: Slack, channel: Channel, change: SandboxChange) -> Iterator[JSON]:
    """A reply changes its root too: how many replies there are."""
    ts = change.detail.get("ts", "")
    subject = change.message or change.before or channel.messages[ts]
    for one in dict.fromkeys((subject.ts, subject.thread_ts)):
        if current := channel.messages.get(one):
            yield {"type": "message", "message": _message(slack, current)}
        elif one == subject.ts:
            yield {"type": "gone", "channel": channel.id, "ts": one}


def _message(slack: Slack, message: SandboxMessage) -> JSON:
    shape = slack.workspace.as_json(message, with_metadata=False)
    return {**shape, "channel": message.channel, "only_for": message.only_for}


def _channel(channel: Channel) -> JSON:
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": channel.kind,
        "archived": channel.archived,
        "members": sorted(channel.members),
    }


def _views(slack: Slack, user: str) -> JSON:
    modal, home = slack.views.top(user), slack.views.home(user)
    return {
        "modal": view_shape(slack, modal) if modal else None,
        "home": view_shape(slack, home) if home else None,
    }
