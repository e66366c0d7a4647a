"""
The YAML between the first two `---` lines of a file, read event by event.

PyYAML's loaders are not safe with files of others: 30,000 nested brackets crash the process, merge keys hang it
from 818 bytes on, and a repeated key silently replaces the first. So no loader runs here. Values are built from the
parser's events, and the first event that front matter does not need is an error. Scalars stay text: `01-02`,
`12:30:45` and `no` do not become a number, a time or a boolean.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import yaml

MAX_DEPTH = 16
MAX_NODES = 5_000

SECTION = 2
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
"""The parser's complaint, and its usual cause."""
NULL = {"", "~", "null", "Null", "NULL"}
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BadFrontMatter(ValueError):
    """It is missing, or is not a plain YAML mapping."""


class PlainScalar(str):
    """A scalar without quotes: in YAML it could be a number or a boolean."""

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
    """The parser's events. Raises BadFrontMatter at the first one that is not allowed."""
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
        return None if event.value in NULL else PlainScalar(event.value)
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


DECORATION = " #*_:："


def sections(body: str, known: Collection[str] | None = None) -> dict[str, str]:
    """
    Text by second-level heading, in lower case and without emphasis or colon. Of a repeated heading the first counts.

    Where only some headings are *known*, the others belong to the section they stand in. Indentation is ignored.
    """
    from bot.domain.values.markdown import outline  # noqa: PLC0415 -- its parser is not needed for front matter

    rows = body.split("\n")
    page = outline("\n".join(row.strip() for row in rows))
    named = [(one, one.text.strip(DECORATION).casefold()) for one in page.headings if one.level == SECTION]
    wanted = [(one, name) for one, name in named if name and (known is None or name in known)]
    ends = [*(one.line for one, _ in wanted[1:]), len(rows)]
    found: dict[str, str] = {}
    for (heading, name), end in zip(wanted, ends, strict=False):
        found.setdefault(name, "\n".join(rows[heading.body : end]).strip())
    return {name: text for name, text in found.items() if text}
