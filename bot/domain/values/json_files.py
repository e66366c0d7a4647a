"""
JSON files that people edit too: read as strictly as JSON asks, written so that diffs stay small.

What others wrote is written back as it was, numbers too: `1.10` may be a version, and some ids have more digits than
Python reads.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, Self

DEEPEST = 100
LONGEST_TEXT = 1_000_000
STARTS_TRIED = 20
MOST_DIGITS = 4300
"""Of a whole number that Python reads at all."""
INFINITE = (float("inf"), float("-inf"))
_PLACEHOLDER = "\ue000"
_SURROGATE = re.compile("[\ud800-\udfff]")


class NumberAsWritten(float):
    """A number that Python would write in another way, or cannot hold; *text* is how it stood there."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str | float) -> Self:
        found = super().__new__(cls, text)
        found.text = str(text)
        return found

    def __eq__(self, other: object) -> bool:
        """A number in another form is another value: a change of the form alone is written, too."""
        return isinstance(other, NumberAsWritten) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def parse(text: str) -> Any:
    """What *text* says, to go by. Raises ValueError for everything that means nothing, or too much."""
    return _parsed(text, decimal=_finite, integer=_countable)


def objects_in(text: str) -> Iterator[Mapping[str, Any]]:
    """
    JSON objects in what a voice wrote, wherever they stand in it: those that are whole, in order. Raises nothing, and
    looks at a few beginnings only.
    """
    text = text[:LONGEST_TEXT]
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(STARTS_TRIED):
        if start < 0:
            return
        end = start + 1
        try:
            end = decoder.raw_decode(text, start)[1]
            found = parse(text[start:end])
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            yield found
        start = text.find("{", end)


def parse_kept(text: str) -> Any:
    """What *text* says, to be changed and written back. Raises ValueError for what could not be."""
    return _parsed(text, decimal=_decimal_as_written, integer=_integer_as_written)


def map_texts(value: Any, change: Callable[[str, str], str], name: str = "") -> Any:
    """*value* with each text changed, wherever it stands; *change* gets the name of its field first, if it has one."""
    if isinstance(value, str):
        return change(name, value)
    if isinstance(value, Mapping):
        return {key: map_texts(one, change, key) for key, one in value.items()}
    return [map_texts(one, change) for one in value] if isinstance(value, list | tuple) else value


def pretty(value: Any, *, indent: str = "  ") -> str:
    """*value* on many lines, with a final line end."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    mark = _PLACEHOLDER
    while mark in text:
        mark += _PLACEHOLDER
    # A number that has to stand as it was is a text while the rest is written.
    if (marked := _marked(value, mark)) != value:
        text = json.dumps(marked, indent=indent, ensure_ascii=False)
        text = text.replace(f'"{mark}', "").replace(f'{mark}"', "")
    return encodable(text) + "\n"


def encodable(text: str) -> str:
    """*text* of JSON with half a character escaped, so that all of it can be encoded."""
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def whole(value: Any) -> int | None:
    """*value* as a whole number, which `12.0` is too; None where it is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _parsed(text: str, *, decimal: Callable[[str], Any], integer: Callable[[str], Any]) -> Any:
    plain = text.removeprefix("\ufeff")
    try:
        value = json.loads(plain, parse_float=decimal, parse_int=integer, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _deeper_than(value, DEEPEST):
        raise ValueError("it is nested too deeply")
    return value


def _finite(number: str) -> float:
    value = float(number)
    return _refuse(number) if value in INFINITE else value


def _countable(number: str) -> int:
    if len(number) > MOST_DIGITS:
        raise ValueError(f"a number of {len(number)} digits is too large")
    return int(number)


def _decimal_as_written(number: str) -> float:
    value = float(number)
    return value if repr(value) == number else NumberAsWritten(number)


def _integer_as_written(number: str) -> float:
    return NumberAsWritten(number) if len(number) > MOST_DIGITS or number == "-0" else int(number)


def _refuse(number: str) -> NoReturn:
    raise ValueError(f"{number} is no number that JSON can hold")


def _marked(value: Any, mark: str) -> Any:
    if isinstance(value, NumberAsWritten):
        return f"{mark}{value.text}{mark}"
    if isinstance(value, dict):
        return {name: _marked(one, mark) for name, one in value.items()}
    return [_marked(one, mark) for one in value] if isinstance(value, list | tuple) else value


def _deeper_than(value: Any, limit: int) -> bool:
    """Only what may have something in it is looked into: most of a large file are texts and numbers."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit - 1):
        if not level:
            return False
        level = [child for one in level for child in _children(one) if isinstance(child, (dict, list))]
    return any(level)


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


# One row of a file of JSON objects: the object, or a sentence about why it cannot be read, and whether it was
# cut off.
#
# Only what a crash leaves of an object counts as cut off. A note that a person typed below, a row in another
# encoding or a file with other line ends was written on purpose, and stays.


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
