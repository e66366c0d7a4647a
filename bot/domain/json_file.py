"""JSON files that people edit too: read as strictly as JSON asks, written so that diffs stay small."""

import json
import re
from typing import Any, NoReturn

DEEPEST = 100
INFINITE = (float("inf"), float("-inf"))
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(text: str) -> Any:
    """What *text* says. Raises ValueError for everything that could not be written back as it was."""
    try:
        value = json.loads(text.removeprefix("\ufeff"), parse_float=_finite, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if _deeper_than(value, DEEPEST):
        raise ValueError("is nested too deeply")
    return value


def pretty(value: Any) -> str:
    """*value* with two spaces of indent and a final line end. Half a character is escaped, so it can be encoded."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text) + "\n"


def _finite(number: str) -> float:
    value = float(number)
    return _refuse(number) if value in INFINITE else value


def _refuse(number: str) -> NoReturn:
    raise ValueError(f"{number} is no number that JSON can hold")


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        if not level:
            return False
        level = [child for parent in level for child in _children(parent)]
    return bool(level)


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
