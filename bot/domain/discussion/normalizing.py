"""
Positions that mean the same option: named by its letter ("A", "option A", "A with shadow mode"), or in its words with
nothing else around them ("I'm for the token bucket").

The words stay as they were said. A condition, a denial or a second option makes another position of it, and no two
texts are ever held to be similar.
"""

import re
from collections.abc import Iterable, Sequence

from bot.domain.discussion.elaboration import BoardOption

_LEADS = re.compile(
    r"(?:(?:i'?m|i am|we'?re|we are)\s+|(?:i|we)\s+(?:still\s+)?)?"
    r"(?:for|with|in favou?r of|prefer|support|choose|pick|take|use|back|go (?:for|with)|"
    r"let'?s (?:use|take|go with))\s+",
    re.IGNORECASE,
)
_BY_LETTER = re.compile(
    r"(?:(?i:(?:option|variant)\s+)\(?(?P<named>[A-HJ-Za-hj-z])|\(?(?P<alone>[A-HJ-Z]))\)?"
    r"(?=\s*$|\s*[.,;:!–—(]|\s+[-+]|\s+(?:with|plus|and|because|since|including)\b)(?P<rest>.*)",
    re.DOTALL,
)
_OTHER = re.compile(
    r"(?<![\w'-])(?:[A-HJ-Z]\b(?![\w'’-])|(?i:option)\s+[A-Za-z]\b)"
    r"|(?i:\b(?:not?|nor|never|neither|without|instead|unless|until|if|once|provided|but|however|except|only|or|versus|"
    r"against|rather|\w+n't)\b)|\?"
)
_ARTICLES = frozenset({"a", "an", "the"})
_WORD = re.compile(r"[\w%]+(?:[.'’/-][\w%]+)*")


def key(words: str) -> tuple[str, ...]:
    """The words of a position, without case, signs, articles, and "I'm for" in front of them."""
    return tuple(one for one in _WORD.findall(_bare(words).casefold()) if one not in _ARTICLES)


def meant(options: Iterable[BoardOption], words: str) -> BoardOption | None:
    """The one of *options* that *words* name, as a whole: the letter alone or with an addition, or its text."""
    known = tuple(options)
    if letter := _letter(words):
        return next((one for one in known if one.letter == letter), None)
    said = key(words)
    same = [one for one in known if said and key(one.text) == said]
    return same[0] if len(same) == 1 else None


def same_position(words: str, held: Sequence[str]) -> str:
    """The first of the positions *held* that has the same words; empty when none has."""
    said = key(words)
    return next((one for one in held if said and key(one) == said), "")


def _letter(words: str) -> str:
    plain = _bare(words)
    named = _BY_LETTER.match(plain)
    if named is None or _OTHER.search(named["rest"]):
        return ""
    return str(named["named"] or named["alone"]).upper()


def _bare(words: str) -> str:
    plain = words.replace("’", "'").strip()
    lead = _LEADS.match(plain)
    return plain[lead.end() :] if lead else plain
