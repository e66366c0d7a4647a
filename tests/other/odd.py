"""
What Slack may do to an answer or an event without breaking a promise: all of it at once.

Its documents promise fields, not that there are no others; not their order; not that a field which says nothing is
left out rather than null; and not that numbers of its own making are written as numbers.
"""

from collections.abc import Mapping
from typing import Any

JSON = dict[str, Any]

COUNTED = frozenset({"reply_count", "reply_users_count", "num_connections", "event_time", "count", "updated"})
LEFT_AS_IT_IS = frozenset({"blocks", "state", "values"})
"""What apps wrote themselves, or what Bolt gives to them by name."""
MORE: JSON = {"x_new_since": {"nested": [1, None, {"deep": "yes"}]}, "x_nothing": None, "x_flags": []}


def odd(body: Any) -> Any:
    """*body* with more in it than asked for, in another order, its counts as strings."""
    if isinstance(body, list):
        return [odd(item) for item in body]
    if not isinstance(body, dict):
        return body
    told = {name: _value(name, value) for name, value in reversed(body.items())}
    return {**MORE, **told}


def _value(name: str, value: Any) -> Any:
    if name in LEFT_AS_IT_IS:
        return value
    if name in COUNTED:
        return str(value)
    return odd_metadata(value) if name == "metadata" and isinstance(value, dict) else odd(value)


def odd_metadata(metadata: Mapping[str, Any]) -> JSON:
    """What apps put there comes back; a number may come back as text."""
    payload = {
        name: str(value) if isinstance(value, int) else value
        for name, value in metadata["event_payload"].items()
    }
    return {"event_payload": payload, "event_type": metadata["event_type"]}
