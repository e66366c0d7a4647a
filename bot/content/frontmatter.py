"""
The YAML between the first two `---` lines of a file, read event by event.

PyYAML's loaders cannot be trusted with strangers' files: 30,000 nested brackets crash the process, merge keys
hang it from 818 bytes on, a second key silently wins. So no loader runs here: values are built from the
parser's events, and the first event beyond what front matter needs ends the reading. Scalars stay the text
they were written as: `01-02`, `12:30:45` and `no` are no numbers, no times and no booleans.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import yaml

from bot.domain.catalog.steps import in_code

MAX_DEPTH = 16
MAX_NODES = 5_000

FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
UNCLOSED = {
    "end of stream": "a quotation mark is not closed",
    "document separator": "a quotation mark is not closed",
    "',' or ']'": "a bracket is not closed",
    "',' or '}'": "a brace is not closed",
}
HINTS = {
    "mapping values are not allowed": "a text with a colon and a space in it needs quotes around it",
    "cannot start any token": "tabs do not indent, and a text that begins with a sign needs quotes around it",
    "expected key": "a quotation mark is not closed, or a line is not indented as those above it",
    "expected <block end>": "a quotation mark is not closed, or a line is not indented as those above it",
    "node content": "a value or a closing bracket is missing",
}
"""What the parser stumbles over, and what mostly is the reason; what is not closed is where it was opened."""
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
        raise BadFrontMatter(_told(error, text)) from None
    if not isinstance(value, dict):
        raise BadFrontMatter("the front matter is not a mapping")
    return value


def _told(error: yaml.YAMLError, text: str) -> str:
    """With the line of the file: the front matter begins in its first one, with the dashes."""
    problem = str(getattr(error, "problem", "") or getattr(error, "reason", "") or error)
    unclosed = _hint(problem, UNCLOSED)
    mark = getattr(error, "context_mark" if unclosed else "problem_mark", None)
    line = mark.line if mark else text.count("\n", 0, getattr(error, "position", 0))
    return f"line {line + 1}: {unclosed or _hint(problem, HINTS) or ' '.join(problem.split())}"


def _hint(problem: str, hints: Mapping[str, str]) -> str:
    return next((hint for words, hint in hints.items() if words in problem), "")


def _at(event: yaml.Event, sentence: str) -> BadFrontMatter:
    mark = event.start_mark
    return BadFrontMatter(f"line {mark.line + 1}: {sentence}" if mark else sentence)


def _guarded(text: str) -> Iterator[yaml.Event]:
    """The parser's events, as long as they are harmless."""
    depth = nodes = 0
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.NodeEvent):
            nodes += 1
            if event.anchor is not None:
                raise _at(event, "anchors and aliases are not allowed")
            if getattr(event, "tag", None) is not None:
                raise _at(event, "tags are not allowed")
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
            raise _at(event, "a key is not a word")
        if event.value in found:
            raise _at(event, f"{event.value!r} is there twice")
        found[event.value] = _value(next(events), events)
    return found


def _sequence(events: Iterator[yaml.Event]) -> list[Any]:
    found = []
    while not isinstance(event := next(events), yaml.SequenceEndEvent):
        found.append(_value(event, events))
    return found


# The two things asked of a Markdown body: its sections, and what stands under a heading.


HEADING = re.compile(r"##\s+(.*)")
DECORATION = " #*_:："


def sections(body: str, known: Collection[str] | None = None) -> dict[str, str]:
    """
    Text by second-level heading, in lower case. Of a repeated heading the first counts.

    How a heading is set in type is its author's taste: `## **Deep Mode**:` is `## Deep mode`.

    Where only some headings are *known*, the others belong to the section they stand in. Fenced code holds no
    heading; a fence that nobody closed hides nothing. Indentation means nothing, neither here nor there.
    """
    rows = body.split("\n")
    code = in_code(rows)
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for number, line in enumerate(rows):
        heading = None if number in code else HEADING.fullmatch(line.strip())
        name = _name(heading[1]) if heading else ""
        if name and (known is None or name in known):
            lines = []
            found.setdefault(name, lines)
        else:
            lines.append(line)
    return {name: text for name, lines in found.items() if (text := "\n".join(lines).strip())}


def _name(heading: str) -> str:
    return " ".join(heading.split()).strip(DECORATION).casefold()
