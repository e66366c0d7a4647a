"""
Lines of other tools that say what seed 004 §2 asks for in another notation, and what is wrong with those that do not.

UTC may be written `+00:00`, as Python has it. What has another type is another thing: `"3"`, `3.0` and null.
"""

from collections.abc import Mapping, Sequence
from typing import Any

UTC = ("+00:00", "-00:00")
_FORMS = {
    "ts": "UTC with milliseconds, such as 2025-03-01T10:15:30.123Z",
    "round": "a whole number from 0 to 2^53",
    "actor": "a name",
    "phase": "draft, clarifying, workshop, formalizing or review_ready",
    "role": "a name, such as planning or assistant",
    "source": "user, model or system",
    "content_type": "markdown, text or json",
    "content": "a text",
}


def in_our_notation(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The very same object, where its time is not written in another way."""
    ts = fields.get("ts")
    if isinstance(ts, str) and ts.endswith(UTC):
        return {**fields, "ts": f"{ts[:-6]}Z"}
    return fields


def no_valid(names: Sequence[str]) -> str:
    """What is wrong with a line whose fields *names* are not as they should be."""
    form = f" ({_FORMS[names[0]]})" if len(names) == 1 else ""
    return f"has no valid {', '.join(names)}{form}"
