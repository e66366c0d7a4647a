"""Foreign text for prompts: without invisible characters, and of bounded length."""

import re

from bot.domain.values.text import one_line, visible

CUT = " … [cut]"
NAME_CHARS = 60
READ_AHEAD = 4
"""How much of a text is read, as a multiple of what is shown: some characters of it may be invisible."""

_NO_NAME = re.compile(r"[\[\]<>`*_\"|]")


def sanitized(text: str, limit: int | None = None) -> str:
    """*text* without invisible characters, and cut to at most *limit* characters with a mark."""
    ahead = text if limit is None else text[: READ_AHEAD * limit]
    shown = visible(ahead).strip()
    if limit is None or (len(shown) <= limit and len(ahead) == len(text)):
        return shown
    return shown[: max(limit - len(CUT), 0)].rstrip() + CUT


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
