"""
Markdown into Slack's mrkdwn.

Everything written is untrusted: it is escaped first and formatted after, so that no formatting can bring back a
`<`. Code stays as it is. What this does not know stays as it was written.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.domain.values.text import clean

# Between Slack's way of writing and ours: what comes in is made readable, what goes out can neither act nor
# ping.


MARKS_TOGETHER = 8
"""So many combining marks may sit on one character; more of them would run over the lines above and below."""

_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
_INVISIBLE = re.compile(
    f"({_FLAG})|[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_TEXT_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
_TOO_MANY_MARKS = re.compile(f"([{_TEXT_MARKS}]{{{MARKS_TOGETHER}}})[{_TEXT_MARKS}]+")

_TOKEN = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_DATE = "date^"
_GROUP = "subteam^"


def visible(text: str) -> str:
    """*text* as people see it: nothing hidden between the letters, no controls, no floods of accents."""
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


_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)")
_LANGUAGE = re.compile(r"[\w+.#-]*")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t](?P<title>.*)")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+$")
_BOLD_INSIDE = re.compile(r"\*\*([^*`]{1,500})\*\*")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_BULLET = re.compile(r"(?P<indent>\s*)[-*+][ \t]+(?P<rest>.*)")
_QUOTE = re.compile(r"(?:[ \t]*>)+[ \t]?(?P<rest>.*)")

_MARKED = re.compile(r"[`*_~\[\\]|https?:|mailto:")
_CODE = re.compile(r"(?<!`)(`{1,8})(?!`)([^`]{1,2000})\1(?!`)")
_BACKTICKS = re.compile("`{3,}")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]{1,500})\]\((https?://[^\s()]{1,2000}|mailto:[^\s()]{1,300})\)")
_AUTOLINK = re.compile(r"&lt;((?:https?://|mailto:)(?:(?!&[lg]t;)\S){1,2000})&gt;")
_URL = re.compile(r"https?://(?:(?!&[lg]t;)[^\s*\x04\x05])+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_KEPT = re.compile(r"\x04(\d+)\x05")

# Emphasis is found with its end at most this far away: text that opens and never closes costs no more than that.
_BOLD, _ITALIC, _STRIKE = "\x01", "\x02", "\x03"
_EMPHASIS = (
    (re.compile(r"\*\*\*(?=[^\s*])([^*]{1,500})(?<=\S)\*\*\*"), rf"{_BOLD}{_ITALIC}\1{_ITALIC}{_BOLD}"),
    (re.compile(r"\*\*(?=[^\s*])((?:[^*]|\*(?!\*)){1,500}?)(?<=\S)\*\*"), rf"{_BOLD}\1{_BOLD}"),
    (re.compile(r"(?<!\w)__(?=[^\s_])((?:[^_]|_(?!_)){1,500}?)(?<=\S)__(?!\w)"), rf"{_BOLD}\1{_BOLD}"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]{1,500})(?<=\S)\*(?![\w*])"), rf"{_ITALIC}\1{_ITALIC}"),
    (re.compile(r"(?<!\w)_(?=[^\s_])([^_]{1,500})(?<=\S)_(?!\w)"), rf"{_ITALIC}\1{_ITALIC}"),
    (re.compile(r"~~(?=[^\s~])([^~]{1,500})(?<=\S)~~"), rf"{_STRIKE}\1{_STRIKE}"),
)
_MARKS = str.maketrans({_BOLD: "*", _ITALIC: "_", _STRIKE: "~"})


class Piece(NamedTuple):
    """A stretch of mrkdwn; *fenced* ones are code, without the fences."""

    text: str
    fenced: bool = False

    def __str__(self) -> str:
        return f"```\n{self.text}\n```" if self.fenced else self.text


def mrkdwn(text: str) -> str:
    return "\n".join(str(piece) for piece in pieces(text))


def pieces(text: str) -> list[Piece]:
    """*text* as code and prose in turn; a piece stands on lines of its own."""
    rows = visible(text).strip("\n").split("\n")
    found: list[Piece] = []
    for fenced, run in _runs(rows):
        written = "\n".join(map(_verbatim if fenced else _line, run))
        if written.strip() or fenced:
            found.append(Piece(written, fenced))
    return found


def _runs(rows: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Stretches of code (fenced code and tables: only there do columns stand below each other) and of prose."""
    number = 0
    prose: list[str] = []
    while number < len(rows):
        end, run = _code_at(rows, number)
        if end == number:
            prose.append(rows[number])
            number += 1
            continue
        yield False, prose
        yield True, run
        prose, number = [], end
    yield False, prose


def _code_at(rows: list[str], number: int) -> tuple[int, list[str]]:
    """The code that begins at row *number*, and the row after it; that same row when there is none."""
    if fence := _FENCE.fullmatch(rows[number]):
        end, code = _fenced(rows[number + 1 :], fence)
        return number + 1 + end, code

    end = number
    while end < len(rows) and _TABLE_ROW.fullmatch(rows[end]):
        end += 1
    return (end, rows[number:end]) if end - number > 1 else (number, [])


def _fenced(rows: list[str], fence: re.Match[str]) -> tuple[int, list[str]]:
    """
    The code in *rows*, which follow its opening *fence*, and how many rows it takes.

    People in a hurry open and close in the middle of a row, or never close: no word of theirs gets lost for that.
    """
    mark, info = fence["mark"], fence["info"].strip()
    closing = re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}\s*")
    for end, row in enumerate(rows):
        if closing.fullmatch(row):
            return end + 1, rows[:end] if _LANGUAGE.fullmatch(info) else [info, *rows[:end]]

    last = next((number for number, row in enumerate(rows, 1) if row.rstrip().endswith(mark)), len(rows))
    code = [info, *rows[:last]] if info else rows[:last]
    return last, [*code[:-1], *(row.rstrip().removesuffix(mark) for row in code[-1:])]


def _verbatim(row: str) -> str:
    """Code may not contain what would end it."""
    return _BACKTICKS.sub(_apostrophes, escape(row))


def _apostrophes(backticks: re.Match[str]) -> str:
    return "'" * len(backticks[0])


def _line(row: str) -> str:
    if quote := _QUOTE.fullmatch(row):
        return f">{_line(quote['rest'])}"
    if heading := _HEADING.fullmatch(row):
        return _bold_line(heading["title"])
    if _RULE.fullmatch(row):
        return "———"
    if bullet := _BULLET.fullmatch(row):
        return f"{bullet['indent']}• {_inline(bullet['rest'])}"
    return _inline(row)


def _bold_line(title: str) -> str:
    """Bold in bold would end it."""
    words = _BOLD_INSIDE.sub(r"\1", _CLOSING_MARKS.sub("", title.strip())).strip()
    return f"*{_inline(words)}*" if words else ""


def _inline(row: str) -> str:
    """Code, addresses and what a backslash protects are put aside while the rest is formatted around them."""
    if not _MARKED.search(row):
        return escape(row)
    aside: list[str] = []

    def keep(text: str) -> str:
        aside.append(text)
        return f"\x04{len(aside) - 1}\x05"

    text = _CODE.sub(lambda code: keep(f"`{escape(code[2]).strip() or ' '}`"), row)
    text = escape(_ESCAPED.sub(lambda escaped: keep(escape(escaped[1])), text))
    text = _AUTOLINK.sub(r"\1", _IMAGE_OR_LINK.sub(_link, _BACKTICKS.sub(_apostrophes, text)))
    text = _URL.sub(lambda url: keep(url[0]), text)
    for pattern, marked in _EMPHASIS:
        text = pattern.sub(marked, text)
    return _KEPT.sub(lambda kept: aside[int(kept[1])], text.translate(_MARKS))


def _link(found: re.Match[str]) -> str:
    label, url = found[1], found[2]
    return url if label == url else f"{label} ({url})"
