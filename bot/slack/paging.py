"""Where the next part of a list is to be had."""

from typing import Any


def following(answer: Any) -> str:
    """The cursor for what comes after *answer*; empty when that was all of it, whichever way Slack says so."""
    return str((answer.get("response_metadata") or {}).get("next_cursor") or "")
