"""
Markdown: the one place that parses it, by markdown-it-py.

`outline` says where the headings and the code of a file are, by line, so that sections can be replaced and every
other byte stays. `blocks` gives a text as rows of spans, for what renders it (Slack's mrkdwn, the page of a record).
The other functions put foreign text into a page, where it cannot act as a heading, as code or as a comment.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, fence, list_block
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from bot.domain.values.text import clean

LAST_SECTION = "Not settled"
_LAST_HEADING = re.compile(rf"(?:[0-9]{{1,6}}\. )?{LAST_SECTION}(?: \([0-9]{{1,6}}\))?")
"""The heading of the section that stays the last one of each file."""

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_ITEM_OR_BLOCK = re.compile(r"(?:#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|`{3}|~{3})")
_LANGUAGE = re.compile(r"[\w+.#-]*")
_LINK = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)
_BARE_URL = re.compile(r"://[^\s*<>\]]+")

TOP_OF_A_BODY = 3
LOWEST = 6
DEEPEST = 20
"""Levels of nested quotes and lists, a list counting two. Deeper ones are text: each level is a recursion."""


class Heading(NamedTuple):
    """A heading on the lines from `line` up to, not including, `body`."""

    line: int
    body: int
    level: int
    text: str


def is_last(heading: str) -> bool:
    """Whether *heading* is that of the last section: `9. Not settled (2)`."""
    return bool(_LAST_HEADING.fullmatch(heading))


class Outline(NamedTuple):
    """
    The lines of a text (with their ends), its headings, and the lines hidden in fenced code.

    `stray` is the mark of the first fence that is never closed.
    """

    lines: tuple[str, ...]
    headings: tuple[Heading, ...]
    hidden: frozenset[int]
    stray: str

    def end(self, heading: Heading, *, level: int) -> int:
        """The line of the next heading of *level* or above, or the number of lines."""
        after = (one.line for one in self.headings if one.line > heading.line and one.level <= level)
        return next(after, len(self.lines))


class Span(NamedTuple):
    """A stretch of text or of code, or where a mark begins or ends; a mark ends on the row that it begins on."""

    kind: Literal["text", "code", "begin", "end"]
    text: str
    """Of a mark: "em", "strong" or "s"."""


class Row(NamedTuple):
    """One row of a block: *margin* is what stands before its text (indentation, quote marks, a bullet, a number)."""

    margin: str
    spans: tuple[Span, ...] = ()


class Block(NamedTuple):
    """A "text" is a paragraph, or rows that are empty but for their margins. A table is "code"."""

    kind: Literal["text", "heading", "rule", "code"]
    rows: tuple[Row, ...]


def lines(text: str) -> tuple[str, ...]:
    """With their ends, as Markdown sees lines: fewer characters end one than for `str.splitlines`."""
    return tuple(_LINES.findall(text))


def line_end(text: str) -> str:
    """How the lines of *text* end, going by the first."""
    first = re.search(r"\r\n|\r|\n", text)
    return first[0] if first else "\n"


def outline(text: str) -> Outline:
    """Headings in code, comments, quotes and lists do not count. A fence or comment without an end hides nothing."""
    return _outline(text, comments=True)


def has_stray_fence(rows: Iterable[str]) -> bool:
    return bool(outline("".join(rows)).stray)


def blocks(text: str) -> Iterator[Block]:
    """All rows of *text*, in order. HTML and entities are text, and so is a link, followed by its address."""
    source = text.split("\n")
    done = 0
    for token, inline in _leaves(_PROSE.parse(text, {"strays": {}, "hurried": True})):
        assert token.map, "every block knows its lines"
        begin, end = token.map
        if done < begin:
            yield Block("text", tuple(map(Row, source[done:begin])))
        if token.type == "fence" and (margin := source[begin].partition(token.markup)[0]).strip(" \t>"):
            yield Block("text", (Row(margin),))
        yield _block(token, inline, source[begin:end])
        done = end
    if done < len(source):
        yield Block("text", tuple(map(Row, source[done:])))


def body(text: str, *, fences: bool = True) -> str:
    """
    *text* as part of a section: its headings are below the section's, its code is closed, its comments are
    text. Without *fences* its code is indented: where a fence stands open above, ours would close it.
    """
    text = clean(text)
    if not fences:
        text = "\n".join(f"    {row}" if _FENCE.fullmatch(row) else row for row in text.split("\n"))
    page = _outline(re.sub(r"\A(?:[ \t]*\n)+", "", text.rstrip()), comments=False)
    if page.stray:
        page = _outline("".join(page.lines) + "\n" + page.stray, comments=False)
    return "".join(_lowered(page)).rstrip()


def inert(text: str) -> str:
    """*text* with no comment in it, and so no marker."""
    return text.replace("<!--", "&lt;!--")


def inert_line(text: str) -> str:
    """Of words of others, on one line."""
    return inert(" ".join(clean(text).split()))


def bullet(text: str) -> str:
    """*text* as one line that can follow "- " without being a heading, a quote or a list of its own."""
    line = inert(" ".join(clean(text).split()))
    return f"\\{line}" if _ITEM_OR_BLOCK.match(line) else line


def escaped(text: str) -> str:
    """*text* as nothing but text."""
    return re.sub(r"([\\`*_\[\]<>#~|!])", r"\\\1", text)


def quoted(text: str) -> str:
    """A block quote: nothing in it is a heading or a marker of the page."""
    return "\n".join(f"> {row}".rstrip() for row in inert(clean(text)).strip("\n").split("\n"))


# The outline.


def _outline(text: str, *, comments: bool) -> Outline:
    kept = lines(text)
    env: dict[str, Any] = {"no_comment_before": 0 if comments else len(kept), "strays": {}, "hurried": False}
    tokens = _BLOCKS.parse(text.removeprefix("\ufeff"), env)
    hidden: set[int] = set()
    for token in tokens:
        if token.type == "fence" and token.map and _FENCE.match(kept[token.map[0]].rstrip("\r\n")):
            hidden.update(range(*token.map))
    return Outline(kept, tuple(_headings(tokens)), frozenset(hidden), env.get("stray", ""))


def _headings(tokens: Sequence[Token]) -> Iterator[Heading]:
    """A line of dashes makes a heading of one line above it; below more lines, or below a rule, it is a rule."""
    rule_ends = 0
    for number, token in enumerate(tokens):
        if token.type == "hr" and token.map:
            rule_ends = token.map[1]
        elif token.type == "heading_open" and not token.level and token.map:
            line, end = token.map
            is_underlined = not token.markup.startswith("#")
            if not is_underlined or (end - line == 2 and (not line or rule_ends != line)):
                text = " ".join(tokens[number + 1].content.split())
                yield Heading(line, end, int(token.tag[1:]), text)


def _lowered(page: Outline) -> Iterator[str]:
    """The lines of *page* with every heading below those of a section."""
    shift = max((TOP_OF_A_BODY - heading.level for heading in page.headings), default=0)
    lowered = {heading.line: heading for heading in page.headings} if shift > 0 else {}
    number = 0
    while number < len(page.lines):
        if heading := lowered.get(number):
            level = min(heading.level + shift, LOWEST)
            yield inert(f"{'#' * level} {heading.text}".rstrip()) + "\n"
            number = heading.body
            continue
        line = page.lines[number]
        yield line if number in page.hidden else inert(line)
        number += 1


# Rows and spans.


def _leaves(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token | None]]:
    """The blocks that have text of their own, with their text."""
    in_table = False
    for number, token in enumerate(tokens):
        if token.type == "table_open":
            in_table = True
            yield token, None
        elif token.type == "table_close":
            in_table = False
        elif token.type in {"paragraph_open", "heading_open"} and not in_table:
            yield token, tokens[number + 1]
        elif token.type in {"fence", "hr"}:
            yield token, None


def _block(token: Token, inline: Token | None, source: list[str]) -> Block:
    first = source[0]
    if token.type == "fence":
        info, code = token.info.strip(), token.content.removesuffix("\n").split("\n")
        return _code(code if _LANGUAGE.fullmatch(info) else [info, *code])
    if token.type == "hr":
        return Block("rule", (Row(first.rstrip(f"{token.markup[0]} \t")),))
    if inline is None:
        return _code(source)  # a table
    rows = [tuple(row) for row in _rows(inline.children or ())]
    if token.type == "heading_open":
        margin = first[: first.index("#")]
        return Block("heading", (Row(margin, rows[0]),)) if rows[0] else Block("text", (Row(first),))
    texts = (text.strip() for text in inline.content.split("\n"))
    margins = [row.rstrip()[: len(row.rstrip()) - len(text)] for row, text in zip(source, texts, strict=True)]
    return Block("text", tuple(map(Row, margins, rows)))


def _code(rows: Sequence[str]) -> Block:
    return Block("code", tuple(Row("", (Span("text", row),)) for row in rows))


def _rows(tokens: Sequence[Token]) -> list[list[Span]]:
    """A mark that goes over the end of a row is ended there and begun again; a mark in one of its kind is none."""
    rows: list[list[Span]] = [[]]
    marks: list[str] = []
    for token in _flat(tokens):
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if kind in {"softbreak", "hardbreak"}:
            rows[-1] += [Span("end", mark) for mark in reversed(marks)]
            rows.append([Span("begin", mark) for mark in marks])
        elif token.nesting > 0:
            if kind not in marks:
                rows[-1].append(Span("begin", kind))
            marks.append(kind)
        elif token.nesting < 0:
            marks.pop()
            if kind not in marks:
                rows[-1].append(Span("end", kind))
        elif token.content:
            rows[-1].append(Span("code" if kind == "code_inline" else "text", token.content))
    return rows


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    """Links and pictures as text, followed by their addresses."""
    links: list[tuple[str, int]] = []
    said = ""
    for token in tokens:
        if token.type == "link_open":
            links.append((_address(token, "href"), len(said)))
        elif token.type == "link_close":
            address, begin = links.pop()
            if said[begin:] != address:
                yield Token("text", "", 0, content=f" ({address})")
        elif token.type == "image":
            yield from _flat(token.children or ())
            yield Token("text", "", 0, content=f" ({_address(token, 'src')})")
        else:
            said += token.content
            yield token


def _address(token: Token, name: str) -> str:
    title = token.attrGet("title")
    return f'{token.attrGet(name)} "{title}"' if title else str(token.attrGet(name))


# What is not as CommonMark has it.


def _row(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] : state.eMarks[number]]


def _fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """CommonMark hides all that follows a fence without an end."""
    opening = _FENCE.fullmatch(_row(state, start))
    if silent or state.level or not opening:
        return fence(state, start, end, silent)
    mark = opening["mark"]
    strays = state.env["strays"]
    if len(mark) < strays.get(mark[0], len(mark) + 1):
        fence(state, start, end, False)
        last = _row(state, state.line - 1)
        if state.line - 1 > start and re.fullmatch(rf" {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*", last):
            return True
        state.tokens.pop()
        state.line = start
        strays[mark[0]] = len(mark)  # so it is not searched for again, nor is a longer one
    state.env.setdefault("stray", mark)
    return state.env["hurried"] and _hurried_fence(state, opening, range(start, end))


def _hurried_fence(state: StateBlock, opening: re.Match[str], rows: range) -> bool:
    """In Slack people open and close code in the middle of a row, or never close it."""
    mark, info = opening["mark"], opening["info"].strip()
    last = next((number for number in rows[1:] if _row(state, number).rstrip().endswith(mark)), rows[-1])
    code = [*([info] if info else ()), *(_row(state, number) for number in range(rows[0] + 1, last + 1))]
    if last > rows[0]:
        code[-1] = code[-1].rstrip().removesuffix(mark)
    token = state.push("fence", "code", 0)
    token.content = "".join(f"{row}\n" for row in code)
    token.markup = mark
    token.map = [rows[0], last + 1]
    state.line = last + 1
    return True


def _comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """
    Of HTML, only comments hide headings, and only without an empty line in them: a section that is added behind one
    without an end must not become a part of it.
    """
    begins = state.bMarks[start] + state.tShift[start]
    if state.level or state.is_code_block(start) or not state.src.startswith("<!--", begins):
        return False
    if start < state.env["no_comment_before"]:
        return False
    rows = range(start, end)
    last = next((number for number in rows if state.isEmpty(number) or "-->" in _row(state, number)), end)
    if last == end or state.isEmpty(last):
        state.env["no_comment_before"] = last
        return False
    if not silent:
        state.line = last + 1
    return True


def _shallow(
    rule: Callable[[StateBlock, int, int, bool], bool],
) -> Callable[[StateBlock, int, int, bool], bool]:
    return lambda state, start, end, silent: state.level < DEEPEST and rule(state, start, end, silent)


def _bare_url(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """The underscores in an address are no emphasis."""
    found = _BARE_URL.match(state.src, state.pos, state.posMax)
    if not found or not state.src[max(0, state.pos - 5) : state.pos].lower().endswith(("http", "https")):
        return False
    if not silent:
        state.pending += found[0]
    state.pos = found.end()
    return True


class _Parser(MarkdownIt):
    """Without entities, HTML and link definitions: what is written stays."""

    def __init__(self, *, enabled: Sequence[str] = (), disabled: Sequence[str] = ()) -> None:
        super().__init__("commonmark", {"maxNesting": DEEPEST + 4})
        self.enable(enabled).disable(["reference", "html_block", *disabled])
        before = ["paragraph", "reference", "blockquote", "list"]
        self.block.ruler.at("fence", _fence, {"alt": before})
        self.block.ruler.at("blockquote", _shallow(blockquote), {"alt": before})
        self.block.ruler.at("list", _shallow(list_block), {"alt": before[:3]})

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return bool(_LINK.fullmatch(url))

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


_BLOCKS = _Parser(disabled=["inline", "text_join"])
_BLOCKS.block.ruler.before("html_block", "comment", _comment, {"alt": ["paragraph", "blockquote"]})
_PROSE = _Parser(enabled=["table", "strikethrough"], disabled=["code", "entity", "html_inline", "lheading"])
_PROSE.inline.ruler.before("escape", "bare_url", _bare_url)
