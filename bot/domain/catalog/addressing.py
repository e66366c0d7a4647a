"""
Who is spoken to in a text, and who is only spoken about.

A name is an address when it is set off by `,` `:` `?`, when it opens a sentence that goes on to somebody
("Alex can you …", "Maya what …"), when it closes the text after a comma, or when it has an @ before it.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

TEXTS_REMEMBERED = 4_000

# White space in a text from `_tidy` is a single character, so that no pattern goes through runs of it.
_SENTENCE = r"(?:^|[.!?…。！？\n])[\s>\"'“‘(-]{0,12}"
_GREETING = (
    r"(?:(?:hey|hi|hello|ok|okay|so|and|but|well|yes|no|thanks|thank\syou|right|good\spoint),?\s){0,2}"
)
_TO_SOMEBODY = r"""(?:
    (?:can|could|would|will|should|might|shall)\s(?:you|we|i|it|this|that|these|those|they|there|the|our|my)
  | (?:do|did|have|are|were)\syou | (?:do|did)\swe | is\s(?:it|there)
  | what | how | why | where | when | which | who | please | your | you | thoughts | any\s | let['’]?s
  | tell | explain | show | give | help | describe | walk | think
)\b"""
_GOES_ON = rf"\s?(?:[-–—]++\s?)?{_TO_SOMEBODY}"
_SET_OFF = r"\s?[,:?，：、？]"
_JOINED = r"\s?(?:,\s?and\b|,|&|\+|/|\band\b|\bor\b)\s?"
_SPOKEN_ABOUT = "".join(
    rf"(?<!\b{word}\s)" for word in ("and", "by", "from", "like", "of", "per", "than", "via", "with")
)
_EMPHASIS = re.compile(r"[*~`]|(?<!\w)_|_(?!\w)")
_FLAGS = re.IGNORECASE | re.VERBOSE

_EVERYBODY = re.compile(
    rf"""\b(?:you\sall|all\sof\syou|everyone|everybody|what\sdo\syou\s(?:all\s)?think)\b
    | {_SENTENCE}{_GREETING}team\b (?={_SET_OFF}|\s?[!.]?\s?$|{_GOES_ON})
    | \b(?:hey|hi|hello|thanks|ok|okay),?\steam\b
    | ,\s?team\s?[.!?]*+\s?$""",
    _FLAGS,
)


_ALL = r"(?<![\w./@-])@?(?:everyone|everybody|all\sof\syou|you\sall|team)\b(?!['’]\w)"
_PIECES = re.compile(r"[^?!.\n？]++[?？]*+")
_ASKED_OF_ALL = re.compile(
    rf"""{_SENTENCE}{_GREETING}{_ALL}(?:{_SET_OFF}|{_GOES_ON})
    | \b(?:do|would|can|could)\s(?:you\sall|all\sof\syou)\b""",
    _FLAGS,
)
_REQUESTED_OF_ALL = re.compile(
    rf"{_SENTENCE}{_GREETING}{_ALL}(?:{_SET_OFF})?\s?please\b | ,\s?{_ALL}\s?[?？]\s?$", _FLAGS
)


@lru_cache(maxsize=TEXTS_REMEMBERED)
def asks_all(text: str) -> bool:
    """
    Whether a question, or a request with "please", is put to everybody. "Everyone loses edits" is about
    everybody, and asks no one.
    """
    plain = _tidy(text)
    questions = (one[:-1] for one in _PIECES.findall(plain) if one.endswith(("?", "？")))
    return bool(_REQUESTED_OF_ALL.search(plain)) or any(map(_ASKED_OF_ALL.search, questions))


class NameMatcher:
    """Knows a group of people by key and full name; they answer to their first name, never to the last."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._people = {key: re.compile(_answers_to(name), _FLAGS) for key, name in names.items()}
        self._addresses = _addresses("|".join(map(_answers_to, names.values()))) if names else ()
        # A card asks this of all answers to its step again, with every input.
        self.by_name = lru_cache(maxsize=TEXTS_REMEMBERED)(self._by_name)
        self.all_together = lru_cache(maxsize=TEXTS_REMEMBERED)(self._all_together)

    def _by_name(self, text: str) -> tuple[str, ...]:
        """The keys of those addressed, in the order in which they are named."""
        text = _tidy(text)
        runs = {match.span("run") for pattern in self._addresses for match in pattern.finditer(text)}
        names = [
            (match.start(), match.end(), key)
            for start, end in runs
            for key, person in self._people.items()
            for match in person.finditer(text, start, end)
        ]
        longest = {start: end for start, end, _ in sorted(names)}
        return tuple(dict.fromkeys(key for start, end, key in sorted(names) if end == longest[start]))

    def _all_together(self, text: str) -> bool:
        return _EVERYBODY.search(_tidy(text)) is not None


def _tidy(text: str) -> str:
    """Without emphasis and long runs of white space: both mean nothing here, and make matching slow."""
    plain = _EMPHASIS.sub("", unicodedata.normalize("NFC", text))
    lines = (" ".join(line.split()) for line in plain.splitlines())
    return "\n".join(line for line in lines if line)


def _answers_to(name: str) -> str:
    """Of "Mary Ann Smith": Mary, Mary Ann, and the whole name; a name of one word is its own first name."""
    first, *more = map(re.escape, _tidy(name).split())
    tail = ""
    for word in reversed(more):
        tail = rf"(?:\s{word}{tail})?"
    return rf"(?<![\w./@-])@?{first}{tail}(?![-'’.]?\w)"


def _addresses(name: str) -> tuple[re.Pattern[str], ...]:
    run = rf"(?P<run>(?:{name})(?:{_JOINED}(?:{name})){{0,8}})"
    return tuple(
        re.compile(pattern, _FLAGS)
        for pattern in (
            rf"{_SPOKEN_ABOUT}{run}(?={_SET_OFF})",
            rf"{_SENTENCE}{_GREETING}{run}(?={_SET_OFF}|{_GOES_ON}|\s?[.!]?\s?(?:\n|$))",
            rf",\s?{run}\s?[.!]*+\s?$",
            rf"(?=@)(?P<run>{name})",
        )
    )
