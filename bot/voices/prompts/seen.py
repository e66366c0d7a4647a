"""
Foreign text for prompts: without invisible characters, and of bounded length.

Invisible characters can hide instructions from people who read the text, and words from programs that search it.
"""

import re

from bot.domain.values.text import clean, one_line

CUT = " … [cut]"
NAME_CHARS = 60
READ_AHEAD = 4
"""How much of a text is read, as a multiple of what is shown: some characters of it may be invisible."""

_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
_INVISIBLE = re.compile(
    f"({_FLAG})|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\u3164"
    "\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_MARKS = re.compile("([\u0300-\u036f\u20d0-\u20f0]{4})[\u0300-\u036f\u20d0-\u20f0]+")
_LINES = str.maketrans("", "", "\n\t")
_NO_NAME = re.compile(r"[\[\]<>`*_\"|]")


def sanitized(text: str, limit: int | None = None) -> str:
    """*text* without invisible characters, and cut to at most *limit* characters with a mark."""
    ahead = text if limit is None else text[: READ_AHEAD * limit]
    shown = _visible(ahead).strip()
    if limit is None or (len(shown) <= limit and len(ahead) == len(text)):
        return shown
    return shown[: max(limit - len(CUT), 0)].rstrip() + CUT


def _visible(text: str) -> str:
    if text.isascii() and text.translate(_LINES).isprintable():
        return text  # most texts are, and there are many in a prompt
    return _MARKS.sub(r"\1", _INVISIBLE.sub(lambda found: found[1] or "", clean(text)))


def row(text: str, limit: int) -> str:
    return one_line(sanitized(text, 4 * limit), limit)


def text_row(given: object, limit: int) -> str:
    """Of a value in the JSON of a model; empty for a value that is no text."""
    return row(given, limit) if isinstance(given, str) else ""


def named(name: str) -> str:
    """A name without characters that mean something in a prompt."""
    return row(_NO_NAME.sub("", name), NAME_CHARS) or "somebody"


def quoted(text: str) -> str:
    """Each line behind a `>`, so that none can be taken for a line of the prompt."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
