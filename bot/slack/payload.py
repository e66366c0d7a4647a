"""
Slack's payloads, believed as far as they go.

What is missing reads as empty, and so does what is of another kind. What must be there and is not makes the payload
none of our business: it is acknowledged, and a line in the log says why.
"""

import re
from collections.abc import Mapping
from typing import Any

from bot.errors import BotError
from bot.slack.limits import ID_CHARS, URL_CHARS

Payload = Mapping[str, Any]

MALFORMED = "malformed"
EMPTY: Payload = {}

_ID = re.compile(rf"[\w.:-]{{1,{ID_CHARS}}}", re.ASCII)
_URL = re.compile(rf"https?://[!-~]{{1,{URL_CHARS}}}")

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("action_id", "block_id", "callback_id", "channel_id", "channel_type", "command"), str),
    **dict.fromkeys(
        ("enterprise_id", "response_url", "subtype", "team_id", "thread_ts", "ts", "user_id"), str
    ),
    **dict.fromkeys(("text", "type"), (str, dict)),
    **dict.fromkeys(("channel", "enterprise", "team", "user"), (str, dict)),
    **dict.fromkeys(("assistant_thread", "container", "event", "function_data", "item"), dict),
    **dict.fromkeys(("message", "previous_message", "view"), dict),
    **dict.fromkeys(("actions", "authorizations", "response_urls"), list),
}
_INSIDE = ("event", "message", "previous_message", "item", "assistant_thread", "view", "function_data")
_DEEPEST = 5

_TAKEN_FOR_GRANTED: Mapping[str, str] = {
    "block_actions": "actions",
    "block_suggestion": "action_id",
    "dialog_cancellation": "callback_id",
    "dialog_submission": "callback_id",
    "dialog_suggestion": "callback_id",
    "event_callback": "event",
    "interactive_message": "callback_id",
    "message_action": "callback_id",
    "shortcut": "callback_id",
    "view_closed": "view",
    "view_submission": "view",
    "workflow_step_edit": "callback_id",
}
"""By Bolt, of each type of payload."""


class Malformed(BotError):
    pass


def flaw(body: object) -> str:
    """What keeps Bolt from finding its way through *body*; empty when it is as Slack writes it, or near enough."""
    if not isinstance(body, dict):
        return f"it is a {type(body).__name__}"
    if "ssl_check" in body:
        return ""
    taken = "command" if "command" in body else _TAKEN_FOR_GRANTED.get(str(body.get("type")), "type")
    if not body.get(taken):
        return f"it has no {taken}"
    if "event" in body and not isinstance(part(body, "event").get("type"), str):
        return "its event has no type"
    if odd := _oddity(body, _DEEPEST):
        return odd
    if taken == "actions" and not all(word(action, "action_id") for action in body["actions"]):
        return "an action has no action_id"
    if taken == "view" and not (word(body, "view", "type") and word(body, "view", "callback_id")):
        return "its view has no type or callback_id"
    return ""


def _oddity(body: Payload, depth: int) -> str:
    for name, value in body.items():
        kind = _KINDS.get(name)
        if kind and not isinstance(value, kind) and (value is not None or name == "response_urls"):
            return f"its {name} is a {type(value).__name__}"
    inner = [body[name] for name in _INSIDE if body.get(name)]
    for name in ("actions", "authorizations", "response_urls"):
        inner += body.get(name) or ()
    if inner and not depth:
        return "it is too deep"
    for one in inner:
        if not isinstance(one, dict):
            return f"it lists a {type(one).__name__}"
        if odd := _oddity(one, depth - 1):
            return odd
    return ""


def _found(body: Payload, path: tuple[str, ...]) -> object:
    """JSON has no mappings but dicts, and to look for those takes a fraction of the time."""
    found: Any = body
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def part(body: Payload, *path: str) -> Payload:
    """The object at *path*; an empty one when there is none."""
    found = _found(body, path)
    return found if isinstance(found, dict) else EMPTY


def word(body: Payload, *path: str) -> str:
    """The text at *path*; empty when there is none."""
    found = _found(body, path)
    return found if isinstance(found, str) else ""


def known(body: Payload, *path: str) -> str:
    """The id or stamp at *path*; empty when there is none, or one that Slack would not give."""
    found = word(body, *path)
    return found if is_id(found) else ""


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def needed(body: Payload, *path: str) -> str:
    """`known`, and not empty."""
    if found := known(body, *path):
        return found
    raise Malformed(f"it has no {'.'.join(path)}")


def reply_url(body: Payload) -> str:
    found = word(body, "response_url")
    return found if _URL.fullmatch(found) else ""
