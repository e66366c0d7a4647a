"""
One row of a file of JSON objects: what it says, or a sentence about why nobody knows, and whether it was cut off.

Only what a crash leaves of an object counts as cut off. A note that somebody typed below, a row in another encoding or
a file with other line ends is somebody's, and stays.
"""

import json
import re
from typing import Any

_BEGUN = re.compile(r"[-.]?|[eE][-+]?|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|\\?u[0-9a-fA-F]{0,4}")
"""What may be left of a value after its last whole character."""


def decoded(row: bytes) -> dict[str, Any] | str:
    """A mark of the byte order does no harm."""
    try:
        found = json.loads(row.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "is not UTF-8"
    except (ValueError, RecursionError):
        return "is not JSON"
    return found if isinstance(found, dict) else "is not a JSON object"


def cut_off(row: bytes) -> bool:
    text = row.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if not text.startswith("{"):
        return False
    try:
        json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated") or bool(_BEGUN.fullmatch(text, error.pos))
    except (ValueError, RecursionError):
        return False
    return False
