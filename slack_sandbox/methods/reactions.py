import re
from collections.abc import Mapping

from slack_sandbox.messages import JSON, SandboxMessage
from slack_sandbox.methods.call import Call, Method
from slack_sandbox.rules.refusal import SlackRefused
from slack_sandbox.slack import Slack

STAMP = re.compile(r"\d+\.\d+")
NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")


def add(slack: Slack, call: Call) -> JSON:
    slack.workspace.react(_message(slack, call), _name(call), slack.app.bot_user_id)
    return {}


def remove(slack: Slack, call: Call) -> JSON:
    slack.workspace.unreact(_message(slack, call), _name(call), slack.app.bot_user_id)
    return {}


def get(slack: Slack, call: Call) -> JSON:
    message = _message(slack, call)
    shape = slack.workspace.as_json(message, with_metadata=False)
    return {"type": "message", "channel": message.channel, "message": shape}


def _message(slack: Slack, call: Call) -> SandboxMessage:
    if not call.text("timestamp"):
        raise SlackRefused("no_item_specified")
    if not STAMP.fullmatch(call.text("timestamp")):
        raise SlackRefused("bad_timestamp")
    channel = slack.writable(call.need("channel"))
    return slack.workspace.message(channel, call.text("timestamp"))


def _name(call: Call) -> str:
    name = call.need("name").strip(":")
    if not NAME.fullmatch(name):
        raise SlackRefused("invalid_name")
    return name


METHODS: Mapping[str, Method] = {
    "reactions.add": Method(add, ("reactions:write",)),
    "reactions.remove": Method(remove, ("reactions:write",)),
    "reactions.get": Method(get, ("reactions:read",), by_form=True),
}
