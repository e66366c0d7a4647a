"""
Between Slack's mrkdwn and ours: what comes in is made readable, Markdown goes out as mrkdwn.

All text is untrusted. Every span is escaped by itself, so no text can mention, ping or link.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import NamedTuple, TypeVar

from bot.domain.values.markdown import Block, Row, Span, blocks
from bot.domain.values.text import clean

TEXTS_REMEMBERED, LONGEST_REMEMBERED = 1_000, 3_000
MARKS_TOGETHER = 8
"""Combining marks on one character; more of them would cover the lines above and below."""

_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
_INVISIBLE = re.compile(
    f"({_FLAG})|[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_TEXT_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
_TOO_MANY_MARKS = re.compile(f"([{_TEXT_MARKS}]{{{MARKS_TOGETHER}}})[{_TEXT_MARKS}]+")

CALLED = re.compile(r"(?<!\w)@((?=[A-Z]*[0-9])[UW][A-Z0-9]{5,20}|p-[a-z2-7]{10})(?!\w)")
_CALLED_WITH = re.compile(rf"(?<!\s)(?:\s++with|\s*+:)(?:(?:[\s,]|\band\b)*{CALLED.pattern})+\s*\Z")
_TOKEN = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_DATE = "date^"
_GROUP = "subteam^"


def visible(text: str) -> str:
    """*text* without invisible characters, controls and piles of combining marks."""
    shown = _INVISIBLE.sub(lambda found: found[1] or "", clean(text))
    return _TOO_MANY_MARKS.sub(r"\1", shown)


def escape(text: str) -> str:
    """Slack reads `&`, `<` and `>` as markup: without them no text can mention, ping or link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def readable(text: str) -> str:
    """What a person wrote, from what Slack sends: references become words, entities become characters."""
    words = _TOKEN.sub(lambda found: _words(found[1], found[2], found[3] or ""), text)
    return visible(words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).strip()


def called(text: str) -> frozenset[str]:
    """The ids of the people that a text from `readable` mentions by id, because Slack did not say their names."""
    return frozenset(CALLED.findall(text))


def named_with(text: str) -> tuple[str, tuple[str, ...]]:
    """
    *text* without `with @Ada and @Grace` at its end, and the ids of all whom it mentions. `Limits of @Ada` stays as it
    is.
    """
    return _CALLED_WITH.sub("", text), tuple(dict.fromkeys(CALLED.findall(text)))


def calling_by_name(text: str, names: Mapping[str, str]) -> str:
    return CALLED.sub(lambda found: f"@{names.get(found[1]) or found[1]}", text)


def _words(sign: str, target: str, label: str) -> str:
    if sign == "!":
        return _special(target, label)
    if sign:
        return f"{sign}{label.removeprefix(sign) or target}"
    return _text_link(target, label)


def _special(target: str, label: str) -> str:
    """`<!here>`, `<!subteam^S1|@team>`, `<!date^…|a fallback>`."""
    if target.startswith(_DATE):
        return label
    return f"@{label.removeprefix('@') or target.removeprefix(_GROUP)}"


def _text_link(url: str, label: str) -> str:
    address = url.removeprefix("mailto:")
    if not label or label in {url, address, address.partition("://")[2]}:
        return address
    return f"{label} ({address})"


_MARKS = {"em": "_", "strong": "*", "s": "~"}
_BACKTICKS = re.compile("`{3,}")


T = TypeVar("T")


def _remembered(make: Callable[[str], T]) -> Callable[[str], T]:
    """A card is edited again and again, and most of its texts stay as they are. Long ones are made anew."""
    known = lru_cache(TEXTS_REMEMBERED)(make)

    @wraps(make)
    def made(text: str) -> T:
        return known(text) if len(text) <= LONGEST_REMEMBERED else make(text)

    return made


class Piece(NamedTuple):
    """A stretch of mrkdwn; *fenced* ones are code, without the fences."""

    text: str
    fenced: bool = False

    def __str__(self) -> str:
        return f"```\n{self.text}\n```" if self.fenced else self.text


def mrkdwn(text: str) -> str:
    return "\n".join(str(piece) for piece in pieces(text))


@_remembered
def pieces(text: str) -> tuple[Piece, ...]:
    """*text* as code and prose in turn; a piece stands on lines of its own. Tables are code, so that columns align."""
    found: list[Piece] = []
    prose: list[str] = []
    for block in blocks(visible(text).strip("\n")):
        if block.kind != "code":
            prose += (_margin(row.margin) + _shown(block, row) for row in block.rows)
            continue
        found.append(Piece("\n".join(prose)))
        prose = []
        code = "\n".join(span.text for row in block.rows for span in row.spans)
        found.append(Piece(_plain(code), fenced=True))
    found.append(Piece("\n".join(prose)))
    return tuple(piece for piece in found if piece.text.strip() or piece.fenced)


class Run(NamedTuple):
    """A stretch of text, with the names of its styles in rich text."""

    text: str
    styles: frozenset[str] = frozenset()


_STYLES = {"em": "italic", "strong": "bold", "s": "strike"}


@_remembered
def runs(line: str) -> tuple[Run, ...]:
    """*line*, one line of Markdown, as text without marks. Nothing in rich text acts, so nothing is escaped."""
    line = one_line(line)
    found: list[Run] = []
    styles: list[str] = []
    for row in (row for block in blocks(line) for row in block.rows):
        found.append(Run(row.margin))
        for span in row.spans:
            match span.kind:
                case "begin":
                    styles.append(_STYLES[span.text])
                case "end":
                    styles.remove(_STYLES[span.text])
                case "code":
                    found.append(Run(span.text, frozenset({*styles, "code"})))
                case "text":
                    found.append(Run(span.text, frozenset(styles)))
    return tuple(run for run in found if run.text) or (Run(line),)


def _margin(written: str) -> str:
    """Slack has one level of quotes, and no lists."""
    before, quote, after = written.rpartition(">")
    if quote:
        after = before.replace(">", "").lstrip() + after.removeprefix(" ")
    return quote + re.sub(r"[-*+](?=\s|\Z)", "•", after)


def _shown(block: Block, row: Row) -> str:
    if block.kind == "rule":
        return "———"
    if block.kind == "text":
        return "".join(map(_span, row.spans))
    # A heading is bold, and bold text in it would end that.
    return f"*{''.join(_span(span) for span in row.spans if span.text != 'strong' or span.kind == 'text')}*"


def _span(span: Span) -> str:
    match span.kind:
        case "text":
            return _plain(span.text)
        case "code":
            return f"`{escape(visible(span.text).replace('`', chr(39))).strip() or ' '}`"
        case "begin" | "end":
            return _MARKS[span.text]


def _plain(text: str) -> str:
    """Three backticks would begin or end code."""
    return _BACKTICKS.sub(lambda found: "'" * len(found[0]), escape(visible(text)))
