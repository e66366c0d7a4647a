"""From a change in the workspace to the events the app hears of it."""

from collections.abc import Callable, Iterator, Mapping

from slack_sandbox.changes import ChangeKind, SandboxChange
from slack_sandbox.messages import JSON, SandboxMessage
from slack_sandbox.slack import Slack

SUBSCRIPTIONS = {
    "channel": "message.channels",
    "group": "message.groups",
    "im": "message.im",
    "mpim": "message.mpim",
}


def events(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    """Only for channels the app is in, and only what it is subscribed to."""
    make = EVENTS.get(change.kind)
    is_told = change.kind is ChangeKind.PERSON or _present(slack, change) or _is_ours(slack, change)
    if make is None or not is_told:
        return
    for event in make(slack, change):
        if _subscription(event) in slack.app.events:
            yield event


def _present(slack: Slack, change: SandboxChange) -> bool:
    channel = slack.workspace.channels.get(change.channel)
    return channel is not None and slack.app.bot_user_id in channel.members


def _is_ours(slack: Slack, change: SandboxChange) -> bool:
    """The app itself was removed from a channel."""
    return change.kind is ChangeKind.LEFT and change.user == slack.app.bot_user_id


def _subscription(event: JSON) -> str:
    if event["type"] == "message":
        return SUBSCRIPTIONS[event["channel_type"]]
    return str(event["type"])


def _posted(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    assert change.message
    event = _shape(slack, change.message) | _where(slack, change)
    yield event
    mention = f"<@{slack.app.bot_user_id}>"
    if mention in change.message.text and not change.message.by_bot and event["channel_type"] != "im":
        left_out = {"channel_type", "subtype", "parent_user_id"}
        yield {name: value for name, value in event.items() if name not in left_out} | {"type": "app_mention"}


def _edited(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    assert change.message
    assert change.before
    yield _hidden(slack, change, "message_changed") | {
        "message": _whole(slack, change.message),
        "previous_message": _whole(slack, change.before),
    }


def _deleted(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    assert change.before
    yield _hidden(slack, change, "message_deleted") | {
        "deleted_ts": change.before.ts,
        "previous_message": _whole(slack, change.before),
    }


def _reacted(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    yield {
        "type": "reaction_added" if change.kind is ChangeKind.REACTED else "reaction_removed",
        "user": change.user,
        "reaction": change.detail["name"],
        "item": {"type": "message", "channel": change.channel, "ts": change.detail["ts"]},
        "item_user": change.detail["author"],
        "event_ts": slack.workspace.clock.stamp(),
    }


def _member(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    kind = slack.workspace.channels[change.channel].kind
    yield {
        "type": f"member_{change.kind.value}_channel",
        "user": change.user,
        "channel": change.channel,
        "channel_type": "C" if kind == "channel" else "G",
        "team": slack.workspace.team_id,
        "event_ts": slack.workspace.clock.stamp(),
    }


def _left(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    if _is_ours(slack, change):
        yield _of_channel(slack, change, "left")
    else:
        yield from _member(slack, change)


def _renumbered(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    yield {
        "type": "channel_id_changed",
        "old_channel_id": change.detail["old"],
        "new_channel_id": change.channel,
        "event_ts": slack.workspace.clock.stamp(),
    }


def _person(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    stamp = slack.workspace.clock.stamp()
    yield {
        "type": "user_change",
        "user": slack.workspace.users[change.user].as_json(slack.workspace.team_id),
        "cache_ts": int(float(stamp)),
        "event_ts": stamp,
    }


def _archived(slack: Slack, change: SandboxChange) -> Iterator[JSON]:
    if change.detail.get("archived"):
        yield _of_channel(slack, change, "archive")


def _of_channel(slack: Slack, change: SandboxChange, what: str) -> JSON:
    kind = slack.workspace.channels[change.channel].kind
    name = "group" if kind == "group" else "channel"
    return {
        "type": f"{name}_{what}",
        "channel": change.channel,
        "event_ts": slack.workspace.clock.stamp(),
    }


EVENTS: Mapping[ChangeKind, Callable[[Slack, SandboxChange], Iterator[JSON]]] = {
    ChangeKind.POSTED: _posted,
    ChangeKind.EDITED: _edited,
    ChangeKind.DELETED: _deleted,
    ChangeKind.REACTED: _reacted,
    ChangeKind.UNREACTED: _reacted,
    ChangeKind.JOINED: _member,
    ChangeKind.LEFT: _left,
    ChangeKind.CHANNEL: _archived,
    ChangeKind.RENUMBERED: _renumbered,
    ChangeKind.PERSON: _person,
}


def _where(slack: Slack, change: SandboxChange) -> JSON:
    assert change.message
    kind = slack.workspace.channels[change.channel].kind
    return {"channel": change.channel, "event_ts": change.message.ts, "channel_type": kind}


def _hidden(slack: Slack, change: SandboxChange, subtype: str) -> JSON:
    stamp = slack.workspace.clock.stamp()
    return {
        "type": "message",
        "subtype": subtype,
        "hidden": True,
        "channel": change.channel,
        "ts": stamp,
        "event_ts": stamp,
        "channel_type": slack.workspace.channels[change.channel].kind,
    }


def _shape(slack: Slack, message: SandboxMessage) -> JSON:
    shape = slack.workspace.as_json(message)
    author = slack.workspace.users.get(message.user)
    if author and not message.subtype:
        shape["team"] = author.team_id or slack.workspace.team_id
        shape |= {"user_team": author.team_id, "source_team": author.team_id} if author.team_id else {}
    if message.files:
        shape["subtype"] = "file_share"
    return shape


def _whole(slack: Slack, message: SandboxMessage) -> JSON:
    return slack.workspace.as_json(message)
