"""
Foreign text as a mind is shown it: everything in it can be seen, and it ends where it ends.

Characters that people do not see are how instructions are smuggled past them, and how words are hidden from whoever
looks for them.
"""

import re

from bot.domain.values.text import clean, one_line

CUT = " … [cut]"
NAME_CHARS = 60
READ_AHEAD = 4
"""So many times as much is looked at as is shown: some of it may not be to be seen."""

_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
_INVISIBLE = re.compile(
    f"({_FLAG})|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\u3164"
    "\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_MARKS = re.compile("([\u0300-\u036f\u20d0-\u20f0]{4})[\u0300-\u036f\u20d0-\u20f0]+")
_LINES = str.maketrans("", "", "\n\t")
_NO_NAME = re.compile(r"[\[\]<>`*_\"|]")


def sanitized(text: str, limit: int | None = None) -> str:
    """*text* without what nobody can see, and of at most *limit* characters, saying so where it was cut."""
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
    """A name that can be nothing but a name."""
    return row(_NO_NAME.sub("", name), NAME_CHARS) or "somebody"


def quoted(text: str) -> str:
    """Line by line behind a `>`, so that no line of it can be taken for one of ours."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
