"""A position as people write it behind its label: `position: A, very sure, because it survives tunnels`."""

import re

from bot.domain.discussion.elaboration import SealedPosition
from bot.domain.values.text import one_line

TEXT_CHARS = 200
SURE = {"very sure": "high", "fairly sure": "mid", "not sure": "low"}
"""The words of the form, and what it stores."""

_LABELLED = re.compile(r"\s*position\s*[:\uff1a]\s*(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL)
_LETTER = re.compile(
    r"(?:option\s+)?(?P<letter>[a-hj-z])(?=\s*(?:$|[,.;:!\u2013\u2014-]|(?:because|very sure|fairly sure|not sure)\b))",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"(?:^|[,;.\u2013\u2014-])\s*(?:i'?m |i am )?(?P<sure>(?:very|fairly|not) sure)"
    r"(?=\s*(?:$|[,;.!\u2013\u2014-]|because\b))",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"(?:^|[,;.]|(?<!\s)\s)\s*+because\b\s*+", re.IGNORECASE)
_EDGES = " ,;:.!-\u2013\u2014"


def labelled(text: str) -> str:
    """What stands behind `position:` in a message that begins so; empty for other words."""
    found = _LABELLED.fullmatch(text)
    return found["rest"] if found else ""


def read(words: str) -> SealedPosition:
    """The option is a letter, alone or in front, or in words of one's own."""
    rest = one_line(words.replace("\u2019", "'"), 2 * TEXT_CHARS)
    option = ""
    if found := _LETTER.match(rest):
        option, rest = found["letter"].upper(), rest[found.end() :].strip(_EDGES)
    sure = ""
    if found := _SURE.search(rest):
        sure, rest = SURE[found["sure"].lower()], rest[: found.start()] + " , " + rest[found.end() :]
    said, *why = _BECAUSE.split(rest, maxsplit=1)
    said = _trimmed(said)
    reason = _trimmed(" ".join(why))
    if option:
        return SealedPosition(option=option, sure=sure, why=", ".join(filter(None, (said, reason))))
    return SealedPosition(words=said, sure=sure, why=reason)


def _trimmed(text: str) -> str:
    return one_line(text.replace(" ,", ",").strip(_EDGES), TEXT_CHARS)
