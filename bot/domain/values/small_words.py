"""Words without content: "thanks!", "+1", an emoji."""

import re
from collections.abc import Collection

BETWEEN_WORDS = re.compile(r"[\s,.!…;()、。！–—]+")
PHRASE_WORDS = 4
"""The longest phrase of small words."""
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d\u2b50\u2b55]|:[a-z_+0-9-]{1,40}:|(?<!\\w)[:;]-?[)(DP]|<@\\w{1,20}>|@\\w{1,40}"
)


def without_emoji(text: str) -> str:
    """Nor names of people and personas that are mentioned."""
    return _EMOJI.sub(" ", text)


def is_small(text: str, known: Collection[str]) -> bool:
    """Whether *text* has no words but those *known* to have no content: "thanks!", "+1", an emoji."""
    words = [one for one in BETWEEN_WORDS.split(without_emoji(text).replace("’", "'").casefold()) if one]
    at = 0
    while at < len(words):
        size = next(
            (
                n
                for n in range(PHRASE_WORDS, 0, -1)
                if " ".join(words[at : at + n]) in known and at + n <= len(words)
            ),
            0,
        )
        if not size:
            return False
        at += size
    return True
