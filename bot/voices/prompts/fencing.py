"""
Foreign text in prompts: without invisible characters, of bounded length, and between markers. Its authors cannot end
it, because they do not know the marker.

A marker is made from a seed, such as the roundtable's slug and incarnation, so that it stays the same from turn to turn
and a provider's cache stays valid. If the material contains the marker, another one is used.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from itertools import count

from bot.domain.values.text import one_line, visible
from bot.voices.model import Prompt

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


FENCE = "\x00"
"""Stands for the marker until all material is known. Text from `seen.sanitized` has no such character."""

MARKER_CHARS = 16
LABEL_CHARS = 200
_BEGINNING = re.compile(rf"^<<<([0-9a-f]{{{MARKER_CHARS}}}) ", re.MULTILINE)
NOT_HEX = bytes({*range(256)} - {*b"0123456789abcdef"})


def fenced(label: str, text: str) -> str:
    """FENCE is removed from *text*, because ids and file names are not sanitized."""
    return f"<<<{FENCE} {one_line(label, LABEL_CHARS)}\n{text.replace(FENCE, '')}\n>>>{FENCE}"


def sealed(stable: Iterable[str], moving: str, *, seed: str) -> Prompt:
    """The prompt with a marker that is nowhere in it."""
    stable = tuple(stable)
    marker = marker_for(seed, (*stable, moving))
    return Prompt(tuple(part.replace(FENCE, marker) for part in stable), moving.replace(FENCE, marker))


def with_material(prompt: Prompt, label: str, text: str) -> Prompt:
    """With *text* behind the stable parts, between the markers that the prompt has."""
    found = _BEGINNING.search("\n".join((*prompt.stable, prompt.moving)))
    marker = found[1] if found else marker_for(label, (*prompt.stable, prompt.moving, text))
    inside = text.replace(marker, "")
    block = f"<<<{marker} {one_line(label, LABEL_CHARS)}\n{inside}\n>>>{marker}"
    return prompt._replace(moving=f"{block}\n\n{prompt.moving}")


def marker_for(seed: str, texts: Iterable[str]) -> str:
    """The first marker of *seed* that is not in *texts*, in any spelling."""
    said = b"\n".join(map(_folded, texts))
    candidates = (
        hashlib.sha256(f"{seed}/{number}".encode()).hexdigest()[:MARKER_CHARS] for number in count()
    )
    return next(marker for marker in candidates if marker.encode() not in said)


def _folded(text: str) -> bytes:
    """Only the hexadecimal digits of *text*; characters that look alike count as the same."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return plain.casefold().encode(errors="replace").translate(None, NOT_HEX)
