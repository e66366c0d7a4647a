"""
The markers around material (issue 5 §5): nobody who writes some can end it, because nobody knows what ends it.

A marker is made of a roundtable's own name for itself, so that it stays the same from turn to turn and a provider can
keep what it has read. Whoever found it out and writes it gains nothing: then it is another one.
"""

import hashlib
import unicodedata
from collections.abc import Iterable
from itertools import count

from bot.domain.values.text import one_line
from bot.voices.model import Prompt

FENCE = "\x00"
"""Stands for the marker until it is known what the material says. Text that was `seen` has no such character."""

MARKER_CHARS = 16
LABEL_CHARS = 200
NOT_HEX = bytes({*range(256)} - {*b"0123456789abcdef"})


def fenced(label: str, text: str) -> str:
    """Also what was not `seen`, an id or a name of a file, cannot become a marker."""
    return f"<<<{FENCE} {one_line(label, LABEL_CHARS)}\n{text.replace(FENCE, '')}\n>>>{FENCE}"


def sealed(stable: Iterable[str], moving: str, *, seed: str) -> Prompt:
    """The prompt with a marker that is nowhere in it."""
    stable = tuple(stable)
    marker = marker_for(seed, (*stable, moving))
    return Prompt(tuple(part.replace(FENCE, marker) for part in stable), moving.replace(FENCE, marker))


def marker_for(seed: str, texts: Iterable[str]) -> str:
    """The first of *seed* that *texts* do not hold, however it is spelled there."""
    said = b"\n".join(map(_folded, texts))
    candidates = (
        hashlib.sha256(f"{seed}/{number}".encode()).hexdigest()[:MARKER_CHARS] for number in count()
    )
    return next(marker for marker in candidates if marker.encode() not in said)


def _folded(text: str) -> bytes:
    """Letters and digits that look alike are alike, and what stands between them is nothing."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return plain.casefold().encode(errors="replace").translate(None, NOT_HEX)
