"""How typed words are read: each reader says what stands behind the words, or None for other words."""

import re
from collections.abc import Callable
from enum import StrEnum

Reader = Callable[[str], str | None]

LONGEST = 200
"""A longer message asks for nothing."""
SMALL_WORDS_MAX = 5
SMALL_WORD = (
    r"(?:ok(?:ay)?|please|let'?s|let us|can we|could we|be|go|make it|do|in|a|the|more|mode|bit|now|thanks)"
)

CLOSERS = r"(?:done|exit|back|wrap(?:ping)?(?: \w+)? ?up|go back)"
POLITE = r"(?:ok(?:ay)?|thanks|thank you|great|cool|alright|all right|right|good|so|and|well|yes|yep|now|please|hey)"
WE = (
    r"(?:i'?m|i am|we'?re|we are|let'?s|let us|i think(?: we'?re| we are| i'?m)?|we can|can we|shall we|could we|"
    r"time to|we should|i want to|i'?d like to|all)"
)
TALK = r"(?:(?:our|the|this|that) (?:discussion|conversation|elaboration|roundtable|talk|topic|session|debate)\b.*)"
AFTER = (
    rf"(?:now|here|for now|please|thanks|thank you|then|everyone|folks|team|all|with this|with that|{TALK})"
)
EXIT = re.compile(rf"^(?:{POLITE} )*+(?:{WE} )*+{CLOSERS}(?: {AFTER})*$")
NOT_YET = re.compile(r"\b(?:not|isn'?t|aren'?t|never|don'?t|hardly|before|until|when|once|if|after)\b")
PERHAPS = re.compile(r"\b(?:done|exit$|wrap(?:ping)? (?:\w+ )?up)\b")
PERHAPS_WORDS_MAX = 6


def alone(*phrases: str) -> Reader:
    """One of *phrases* and nothing else, apart from punctuation."""
    return lambda text: "" if len(text) <= LONGEST and plain(text) in phrases else None


def among_small_words(*phrases: str) -> Reader:
    """One of *phrases*, with words such as "please": anything longer is an answer that happens to hold it."""
    known = "|".join(map(re.escape, phrases))
    pattern = re.compile(rf"(?:{SMALL_WORD} )*(?:{known})(?: {SMALL_WORD})*")

    def read_phrase(text: str) -> str | None:
        said = plain(text) if len(text) <= LONGEST else ""
        return "" if len(said.split()) <= SMALL_WORDS_MAX and pattern.fullmatch(said) else None

    return read_phrase


def matching(pattern: str) -> Reader:
    """The whole message; the group `value` stands behind the words."""
    compiled = re.compile(pattern, re.IGNORECASE | re.ASCII)

    def read_value(text: str) -> str | None:
        found = compiled.fullmatch(" ".join(text.split())) if len(text) <= LONGEST else None
        return (found.groupdict().get("value") or "") if found else None

    return read_value


class EndIntent(StrEnum):
    """Whether a text asks to end the discussion."""

    YES = "yes"
    UNSURE = "unsure"
    NO = "no"


def exit_wish(text: str) -> EndIntent:
    """
    Whether ending the discussion is what *text* is about: "let's wrap up our discussion of errors" is,
    "when the task is done, what happens?" and "back to the API" are not.
    """
    said = plain(text)
    if EXIT.match(said) and not text.rstrip().endswith("?"):
        return EndIntent.YES
    if NOT_YET.search(said) or not PERHAPS.search(said):
        return EndIntent.NO
    return EndIntent.UNSURE if len(said.split()) <= PERHAPS_WORDS_MAX else EndIntent.NO


def plain(text: str) -> str:
    """Lower case, straight apostrophes, without punctuation around words."""
    straight = text.lower().replace("\u2019", "'")
    return " ".join(re.sub(r"[^\w' ]+", " ", straight).split())
