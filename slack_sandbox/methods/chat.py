"""Saying, changing and taking back."""

from collections.abc import Mapping

from slack_sandbox.messages import BROADCAST, JSON, SandboxMessage
from slack_sandbox.methods.call import Call, Method
from slack_sandbox.residents import Channel
from slack_sandbox.rules.refusal import SlackRefused, missing
from slack_sandbox.rules.shapes import size
from slack_sandbox.rules.validation import (
    TEXT_SHOWN,
    UPDATE_TEXT,
    check_blocks,
    check_content,
    check_metadata,
)
from slack_sandbox.slack import Slack

CUSTOMIZE = ("username", "icon_emoji", "icon_url")


def post_message(slack: Slack, call: Call) -> JSON:
    """A reply to what is gone is no reply: it stands in the channel, and only the answer, without a thread, tells."""
    channel = slack.writable(call.need("channel"))
    check_content(dict(call.args))
    check_thread(channel, call)
    thread_ts = _thread(channel, call)
    message = slack.workspace.post(
        channel, **_shown_as(slack, call, thread_ts), **content(call), thread_ts=thread_ts
    )
    shape = slack.workspace.as_json(message)
    return {"channel": channel.id, "ts": message.ts, "message": shape}


def post_ephemeral(slack: Slack, call: Call) -> JSON:
    """
    Answers with a stamp, but the message can neither be read nor updated with it; and it is not shown in a thread
    that has no replies yet.
    """
    channel = slack.writable(call.need("channel"))
    user = call.need("user")
    if user not in channel.members:
        raise SlackRefused("user_not_in_channel")
    if call.args.get("metadata"):
        raise SlackRefused("invalid_metadata_format")
    check_content(dict(call.args))
    check_thread(channel, call)
    if (thread_ts := _thread(channel, call)) and not channel.replies.get(thread_ts):
        return {"message_ts": slack.workspace.clock.stamp()}
    message = slack.workspace.post(
        channel, **authorship(slack, call), **content(call), thread_ts=thread_ts, only_for=user
    )
    return {"message_ts": message.ts}


def update(slack: Slack, call: Call) -> JSON:
    """What is not mentioned stays: blocks and metadata go only when they are set to nothing."""
    message = _own(slack, call, refusal="cant_update_message", archived="is_inactive")
    args = dict(call.args)
    if not args.get("text") and args.get("blocks") is None and args.get("metadata") is None:
        raise SlackRefused("no_text")
    if size(call.text("text")) > UPDATE_TEXT:
        raise SlackRefused("msg_too_long")
    changes: JSON = {"text": call.text("text")} if "text" in args or "blocks" in args else {}
    if (blocks := args.get("blocks")) is not None:
        check_blocks(blocks)
        changes["blocks"] = tuple(blocks)
    if (metadata := args.get("metadata")) is not None:
        if metadata:
            check_metadata(metadata)
        changes["metadata"] = metadata
    after = slack.workspace.edit(message, by=slack.app.bot_user_id, **changes)
    shape = slack.workspace.as_json(after)
    return {"channel": after.channel, "ts": after.ts, "text": after.text, "message": shape}


def delete(slack: Slack, call: Call) -> JSON:
    message = _own(slack, call, refusal="cant_delete_message", archived="is_archived")
    slack.workspace.delete(message)
    return {"channel": message.channel, "ts": message.ts}


def permalink(slack: Slack, call: Call) -> JSON:
    channel = slack.channel(call.need("channel"))
    message = slack.workspace.message(channel, call.need("message_ts"))
    link = f"{slack.base_url}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.is_reply:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def set_status(slack: Slack, call: Call) -> JSON:
    """Shown under the thread until the app posts there."""
    channel = slack.writable(call.need("channel_id"))
    thread_ts, status = call.need("thread_ts"), call.text("status")
    if thread_ts not in channel.messages:
        raise SlackRefused("thread_not_found")
    customize(slack, call)
    shown = {"status": status, "username": call.text("username", slack.app.name)} if status else {}
    slack.workspace.show_status(channel, thread_ts, shown)
    return {}


def authorship(slack: Slack, call: Call) -> JSON:
    """A post under a name of its own carries no `user`: it is a `bot_message` by that name."""
    if not customize(slack, call):
        return slack.identity()
    icons: JSON = {}
    if url := call.text("icon_url"):
        icons = {"image_36": url, "image_48": url, "image_72": url}
    if emoji := call.text("icon_emoji"):
        icons = {"emoji": f":{emoji.strip(':')}:"}
    return {
        "subtype": "bot_message",
        "username": call.text("username", slack.app.name),
        "icons": icons,
        "bot_id": slack.app.bot_id,
        "app_id": slack.app.id,
    }


def _shown_as(slack: Slack, call: Call, thread_ts: str) -> JSON:
    """A reply may also be shown in the channel."""
    author = authorship(slack, call)
    is_broadcast = bool(thread_ts and call.flag("reply_broadcast"))
    return {**author, "subtype": BROADCAST} if is_broadcast else author


def customize(slack: Slack, call: Call) -> bool:
    """Whether the call asks for a name or an icon of its own; refused without the scope."""
    wanted = any(call.text(name) for name in CUSTOMIZE)
    if wanted:
        slack.need("chat:write.customize")
    return wanted


def content(call: Call) -> JSON:
    text = call.text("text") or call.text("markdown_text")
    return {
        "text": text[:TEXT_SHOWN],
        "blocks": tuple(call.args.get("blocks") or ()),
        "metadata": call.args.get("metadata") or {},
    }


def check_thread(channel: Channel, call: Call) -> None:
    root = channel.messages.get(call.text("thread_ts"))
    if root and root.is_reply:
        raise SlackRefused("cannot_reply_to_message")


def _thread(channel: Channel, call: Call) -> str:
    root = channel.messages.get(call.text("thread_ts"))
    return root.ts if root and not root.only_for else ""


def _own(slack: Slack, call: Call, *, refusal: str, archived: str) -> SandboxMessage:
    channel = slack.channel(call.need("channel"))
    if not call.text("ts"):
        raise missing("ts")
    if channel.archived:
        raise SlackRefused(archived)
    message = slack.workspace.message(channel, call.text("ts"))
    if message.bot_id != slack.app.bot_id or message.subtype == "tombstone":
        raise SlackRefused(refusal)
    return message


METHODS: Mapping[str, Method] = {
    "chat.postMessage": Method(post_message, ("chat:write",)),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",)),
    "chat.update": Method(update, ("chat:write",)),
    "chat.delete": Method(delete, ("chat:write",)),
    "chat.getPermalink": Method(permalink, by_form=True),
    "assistant.threads.setStatus": Method(set_status, ("chat:write",)),
}
