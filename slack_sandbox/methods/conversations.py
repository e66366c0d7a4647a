"""Channels, their history and their threads."""

from collections.abc import Iterable, Mapping

from slack_sandbox.messages import JSON, SandboxMessage
from slack_sandbox.methods.call import Call, Method
from slack_sandbox.methods.paging import MOST, USUAL, page
from slack_sandbox.residents import Channel
from slack_sandbox.rules.refusal import SlackRefused, missing
from slack_sandbox.slack import Slack

HISTORY = {
    "channel": "channels:history",
    "group": "groups:history",
    "im": "im:history",
    "mpim": "mpim:history",
}
READ = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}
READ_KINDS = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
MOST_REPLIES = 1_000
END_OF_TIME = 9_999_999_999.0


def listed(slack: Slack, call: Call) -> JSON:
    """Each kind of conversation that is asked for has a scope of its own."""
    kinds = _kinds(call)
    for kind in kinds:
        slack.need(READ[kind])
    me = slack.app.bot_user_id
    channels = [
        channel.as_json(seen_by=me)
        for channel in slack.workspace.channels.values()
        if channel.kind in kinds
        and (channel.kind == "channel" or me in channel.members)
        and not (call.flag("exclude_archived") and channel.archived)
    ]
    return page(call, "channels", channels)


def _kinds(call: Call) -> list[str]:
    names = [name.strip() for name in call.text("types", "public_channel").split(",")]
    if any(name not in READ_KINDS for name in names):
        raise SlackRefused("invalid_types")
    return [READ_KINDS[name] for name in names]


def info(slack: Slack, call: Call) -> JSON:
    channel = slack.channel(call.need("channel"))
    slack.need(READ[channel.kind])
    return {"channel": _shape(slack, channel)}


def members(slack: Slack, call: Call) -> JSON:
    channel = slack.channel(call.need("channel"))
    slack.need(READ[channel.kind])
    return page(call, "members", sorted(channel.members))


def join(slack: Slack, call: Call) -> JSON:
    channel = slack.channel(call.need("channel"))
    if channel.archived:
        raise SlackRefused("is_archived")
    if channel.kind != "channel":
        raise SlackRefused("method_not_supported_for_channel_type")
    slack.workspace.join(channel, slack.app.bot_user_id)
    return {"channel": _shape(slack, channel)}


def opened(slack: Slack, call: Call) -> JSON:
    if channel_id := call.text("channel"):
        return {"channel": _shape(slack, slack.channel(channel_id))}
    users = [user for user in call.text("users").split(",") if user]
    if not users:
        raise SlackRefused("users_list_not_supplied")
    if len(users) > 1 or users[0] not in slack.workspace.users:
        raise SlackRefused("user_not_found")
    channel = slack.workspace.direct(slack.app.bot_user_id, users[0])
    return {"channel": _shape(slack, channel) if call.flag("return_im") else {"id": channel.id}}


def history(slack: Slack, call: Call) -> JSON:
    """The newest message first, and no replies."""
    channel = _readable(slack, call)
    timeline = _between(call, slack.workspace.timeline(channel))
    return _messages(call, _shapes(slack, call, reversed(timeline)), most=MOST, usual=USUAL)


def replies(slack: Slack, call: Call) -> JSON:
    """The root first, on every page and for every period, then the replies, oldest first."""
    channel = _readable(slack, call)
    ts = call.text("ts")
    if not ts:
        raise missing("ts")
    asked = channel.messages.get(ts)
    if asked is None or asked.only_for:
        raise SlackRefused("thread_not_found")
    if asked.is_reply:
        return _messages(call, _shapes(slack, call, [asked]), most=MOST_REPLIES, usual=MOST_REPLIES)
    root, *answers = slack.workspace.thread(channel, ts)
    told = _messages(
        call, _shapes(slack, call, _between(call, answers)), most=MOST_REPLIES, usual=MOST_REPLIES
    )
    return {**told, "messages": [*_shapes(slack, call, [root]), *told["messages"]]}


def _readable(slack: Slack, call: Call) -> Channel:
    channel = slack.channel(call.need("channel"))
    slack.need(HISTORY[channel.kind])
    if slack.app.bot_user_id not in channel.members:
        raise SlackRefused("not_in_channel")
    return channel


def _between(call: Call, messages: Iterable[SandboxMessage]) -> list[SandboxMessage]:
    oldest, latest = _stamp(call, "oldest", 0), _stamp(call, "latest", END_OF_TIME)
    ends = {oldest, latest} if call.flag("inclusive") else set()
    return [m for m in messages if oldest < float(m.ts) < latest or float(m.ts) in ends]


def _stamp(call: Call, name: str, default: float) -> float:
    try:
        return float(call.text(name) or default)
    except ValueError:
        raise SlackRefused(f"invalid_ts_{name}") from None


def _shapes(slack: Slack, call: Call, messages: Iterable[SandboxMessage]) -> list[JSON]:
    with_metadata = call.flag("include_all_metadata")
    return [slack.workspace.as_json(message, with_metadata=with_metadata) for message in messages]


def _messages(call: Call, shapes: list[JSON], *, most: int, usual: int) -> JSON:
    found = page(call, "messages", shapes, most=most, usual=usual)
    return {**found, "has_more": bool(found["response_metadata"]["next_cursor"])}


def _shape(slack: Slack, channel: Channel) -> JSON:
    others = any(
        slack.workspace.users[one].team_id for one in channel.members if one in slack.workspace.users
    )
    shared = {"is_shared": others, "is_ext_shared": others, "is_org_shared": False}
    return channel.as_json(seen_by=slack.app.bot_user_id) | shared


METHODS: Mapping[str, Method] = {
    "conversations.list": Method(listed, by_form=True),
    "conversations.info": Method(info, by_form=True),
    "conversations.members": Method(members, by_form=True),
    "conversations.join": Method(join, ("channels:join",)),
    "conversations.open": Method(opened, ("im:write",)),
    "conversations.history": Method(history),
    "conversations.replies": Method(replies, by_form=True),
}
