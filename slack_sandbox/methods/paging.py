import base64
import binascii
from typing import Any

from slack_sandbox.messages import JSON
from slack_sandbox.methods.call import Call
from slack_sandbox.rules.refusal import SlackRefused

MOST = 999
USUAL = 100


def page(call: Call, name: str, items: list[Any], *, most: int = MOST, usual: int = USUAL) -> JSON:
    """
    The part of *items* that the call's cursor and limit ask for, as *name*, and the way to the next part. Without a
    limit there are *usual* ones; one above *most* is refused.
    """
    start = _position(call.text("cursor"))
    limit = call.number("limit", usual)
    if not 1 <= limit <= most:
        raise SlackRefused("invalid_limit")
    end = start + limit
    following = _cursor(end) if end < len(items) else ""
    return {name: items[start:end], "response_metadata": {"next_cursor": following}}


def _cursor(position: int) -> str:
    return base64.b64encode(f"next:{position}".encode()).decode()


def _position(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("next:"))
    except (ValueError, binascii.Error):
        raise SlackRefused("invalid_cursor") from None
