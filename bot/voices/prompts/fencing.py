"""
The markers around material in a prompt (issue 5 §5). Its authors cannot end it, because they do not know the marker.

A marker is made from a seed, such as the roundtable's slug and incarnation, so that it stays the same from turn to turn
and a provider's cache stays valid. If the material contains the marker, another one is used.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from itertools import count

from bot.domain.values.text import one_line
from bot.voices.model import Prompt

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
