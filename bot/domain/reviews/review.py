"""
What a review says about itself, and the one line that people are shown of it.

    @@@REVIEW_META
    verdict: PASS
    issues_total: 3
    issues_critical: 0
    missing_inputs: 1
    @@@

The block may be anywhere in the text. It is shown, and nothing else is done with it. A block that cannot be read for
certain counts as no metadata, and so does a text that names the marker twice.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from itertools import islice
from typing import Annotated

from pydantic import Field

from bot.domain.values.value import Value

UNAVAILABLE = "REVIEW: metadata unavailable"
MARKER = "@@@REVIEW_META"
CLOSER = "@@@"
MOST_DIGITS = 100
"""Of a number that can still be shown in a line; Python itself refuses to write one of a few thousand."""

_OPENING = re.compile(rf"{MARKER}(?!\w)", re.IGNORECASE | re.ASCII)
_ROW = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")

Count = Annotated[int, Field(ge=0, lt=10**MOST_DIGITS)]


class ReviewVerdict(StrEnum):
    PASS = "PASS"  # noqa: S105 -- no password
    FAIL = "FAIL"


class ReviewMeta(Value):
    """As the review says it. Numbers that contradict each other are shown as they are."""

    verdict: ReviewVerdict
    issues_total: Count
    issues_critical: Count
    missing_inputs: Count

    @property
    def line(self) -> str:
        return (
            f"REVIEW: {self.verdict} | issues={self.issues_total} (critical={self.issues_critical})"
            f" | missing_inputs={self.missing_inputs}"
        )

    @property
    def block(self) -> str:
        rows = (f"{name}: {getattr(self, name)}" for name in ReviewMeta.model_fields)
        return "\n".join((MARKER, *rows, CLOSER))


_COUNTS = tuple(name for name in ReviewMeta.model_fields if name != "verdict")


def parse(text: str) -> ReviewMeta | None:
    """None unless there is exactly one whole block. No text raises, or takes more than one pass."""
    if (opening := _opening(text)) is None:
        return None
    fields = _fields(text, opening.end())
    verdict = next((one for one in ReviewVerdict if one.lower() == fields.get("verdict", "").lower()), None)
    counts = {name: _count(fields.get(name, "")) for name in _COUNTS}
    if verdict is None or None in counts.values():
        return None
    return ReviewMeta.model_validate({"verdict": verdict, **counts})


def triage_line(text: str) -> str:
    meta = parse(text)
    return meta.line if meta else UNAVAILABLE


def without_marker(text: str) -> str:
    """*text* for a review's Markdown: it looks the same there and opens no block."""
    return re.sub("@(?=@)", r"@\\", text)


def without_block(text: str) -> str:
    """*text* for people, whom the line tells the same. A block that is not closed stays."""
    if opening := _opening(text):
        for row in _ROW.finditer(text, opening.end()):
            if row[0].strip() == CLOSER:
                return f"{text[: opening.start()]}{text[row.end() :]}".strip()
    return text


def _opening(text: str) -> re.Match[str] | None:
    openings = tuple(islice(_OPENING.finditer(text), 2))
    return openings[0] if len(openings) == 1 else None


def _fields(text: str, start: int) -> Mapping[str, str]:
    """The fields of the block whose marker ends at *start*, the last of each name. None if it is not closed."""
    found: dict[str, str] = {}
    rows = _ROW.finditer(text, start)
    if next(rows)[0].strip():
        return {}
    for row in rows:
        line = row[0].strip()
        if line == CLOSER:
            return found
        key, _, value = line.partition(":")
        if (name := key.strip().lower()) in ReviewMeta.model_fields:
            found[name] = value.strip()
    return {}


def _count(value: str) -> int | None:
    """ASCII digits with an optional plus: no minus, underscore or digit of another script."""
    digits = value.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= MOST_DIGITS else None
