"""
The YAML between the first two `---` lines of a file, read event by event.

PyYAML's loaders cannot be trusted with strangers' files: 30,000 nested brackets crash the process, merge keys
hang it from 818 bytes on, a second key silently wins. So no loader runs here: values are built from the
parser's events, and the first event beyond what front matter needs ends the reading. Scalars stay the text
they were written as: `01-02`, `12:30:45` and `no` are no numbers, no times and no booleans.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

MAX_DEPTH = 16
MAX_NODES = 5_000

FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
NULL = {"", "~", "null", "Null", "NULL"}
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BadFrontMatter(ValueError):
    """There is none, or it is not the plain YAML mapping it should be."""


class Plain(str):
    """A scalar that was written without quotes, so YAML may have meant a number or a boolean."""

    __slots__ = ()


def split(text: str) -> tuple[dict[str, Any], str]:
    """Front matter and body. The very first line opens, the next `---` closes."""
    opened = FENCE.match(text)
    closed = FENCE.search(text, opened.end()) if opened else None
    if not opened or not closed:
        raise BadFrontMatter("the lines with --- around the front matter are missing")
    return parse(text[opened.end() : closed.start()]), text[closed.end() :].strip("\n")


def parse(text: str) -> dict[str, Any]:
    events = _guarded(text)
    try:
        value = _document(events)
    except yaml.YAMLError as error:
        raise BadFrontMatter(" ".join(str(error).split())) from None
    if not isinstance(value, dict):
        raise BadFrontMatter("the front matter is not a mapping")
    return value


def _guarded(text: str) -> Iterator[yaml.Event]:
    """The parser's events, as long as they are harmless."""
    depth = nodes = 0
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.NodeEvent):
            nodes += 1
            if event.anchor is not None:
                raise BadFrontMatter("anchors and aliases are not allowed")
            if getattr(event, "tag", None) is not None:
                raise BadFrontMatter("tags are not allowed")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise BadFrontMatter("nested too deep or too large")
        yield event


def _document(events: Iterator[yaml.Event]) -> Any:
    _start_of_stream, start = next(events), next(events)
    if isinstance(start, yaml.StreamEndEvent):
        return None

    value = _value(next(events), events)
    _end_of_document, end = next(events), next(events)
    if not isinstance(end, yaml.StreamEndEvent):
        raise BadFrontMatter("more than one document")
    return value


def _value(event: yaml.Event, events: Iterator[yaml.Event]) -> Any:
    match event:
        case yaml.MappingStartEvent():
            return _mapping(events)
        case yaml.SequenceStartEvent():
            return _sequence(events)

    assert isinstance(event, yaml.ScalarEvent), "aliases are refused before they come here"
    is_plain, _ = event.implicit
    if is_plain:
        return None if event.value in NULL else Plain(event.value)
    return event.value


def _mapping(events: Iterator[yaml.Event]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        if not isinstance(event, yaml.ScalarEvent):
            raise BadFrontMatter("a key is not a word")
        if event.value in found:
            raise BadFrontMatter(f"{event.value!r} is there twice")
        found[event.value] = _value(next(events), events)
    return found


def _sequence(events: Iterator[yaml.Event]) -> list[Any]:
    found = []
    while not isinstance(event := next(events), yaml.SequenceEndEvent):
        found.append(_value(event, events))
    return found
