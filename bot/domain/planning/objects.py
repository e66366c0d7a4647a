"""JSON objects in what a voice wrote, wherever they stand in it: in prose, or in a code fence."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bot.domain.json_file import parse

LONGEST_TEXT = 1_000_000
STARTS_TRIED = 20


def objects_in(text: str) -> Iterator[Mapping[str, Any]]:
    """Those that are whole, in order. Raises nothing, and looks at a few beginnings only."""
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
