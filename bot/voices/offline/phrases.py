"""What can be told about a text from its letters alone: sentences, questions, small talk, a brief quote."""

import re
import unicodedata
from collections.abc import Iterator

from bot.domain.values.text import clean, one_line
from bot.voices.offline.lexicon import NUMBERS, SMALL_TALK, SMALL_TALK_UNSPACED

QUOTE_LIMIT = 80
SMALL_TALK_WORDS_MAX = 6
LONGEST_ABBREVIATION = 12
SENTENCE_WORDS = 4
"""Fewer words than this are no sentence, and so many are still one item of a list."""

STEM_LETTERS = 5
"""Words that begin with the same letters are about the same thing, near enough: "fails" and "failing"."""

_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]]*+(?=\s)|[。！？]++[」』]*")
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|vs|approx|ca|bzw|z\.\s?b|d\.h|u\.a|dr|mr|mrs|ms|nr|fig|incl|excl|max|min)\.$",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"\s*(?:(?:[-*+•◦▪‣–—]|>+|\(?\d{1,3}[.)])\s+)+")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_EMOJI_NAME = re.compile(r":[a-z0-9_+'-]+:(?::skin-tone-\d:)?")
_VOTE = re.compile(r"(?<!\S)[+-]1(?!\S)")
_FILLER = re.compile(
    r"""(?:
        (?:yes|yeah|yep|no|nope|nah|right|sure|well|ok(?:ay)?|also|so|actually|honestly)\b\s*[,;:!–—-]+\s*
      | (?:so\s+basically|basically|hm+|um+|uh+|btw|tbh|fyi|imho|imo|i\s+mean|oh|ah|but|and)\b[\s,;:–—-]+
      | ok(?:ay)?\s+(?=(?:but|so|and|then|we|i|let)\b)
    )+""",
    re.IGNORECASE | re.VERBOSE,
)
_LABEL = re.compile(r"[^\s:=]+(?:\s[^\s:=]+){0,3}\s?[:=](?=\s|$)")
_ITEM_END = re.compile(r"[,;、，]|\band\b", re.IGNORECASE)
_DOUBLE_QUOTES = re.compile('["“”„«»]')
_UNSPACED = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+(?:['’](?![{_UNSPACED}])[^\W_]+)*")
_ASKS = re.compile(r"[?？؟][\s\"'”’)\]*_~`」』]*$|か。?$")


def sentences(text: str) -> tuple[str, ...]:
    """Without list marks; a line end always ends a sentence."""
    parts = (part for line in text.splitlines() for part in _cut(without_mark(line)))
    return tuple(sentence for part in parts if (sentence := part.strip()))


def is_question(sentence: str) -> bool:
    return _ASKS.search(_EMOJI_NAME.sub("", sentence).strip()) is not None


def is_small_talk(text: str) -> bool:
    """Whether nothing is said but a greeting, thanks, a yes or no, an emoji."""
    bare = _VOTE.sub(" ", _EMOJI_NAME.sub(" ", text))
    if bare.strip(" .!,。！、~") in SMALL_TALK_UNSPACED:
        return True
    found = words(bare)
    return len(found) <= SMALL_TALK_WORDS_MAX and all(word in SMALL_TALK for word in found)


def words(text: str) -> list[str]:
    """In lower case. In scripts without spaces every letter counts as a word: nobody is taken for terse."""
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def has_number(text: str) -> bool:
    """In any script, or as a word: "under two seconds" holds one; "the one we have" does not."""
    return any(unicodedata.numeric(letter, None) is not None for letter in text) or any(
        word in NUMBERS and word != "one" for word in words(text)
    )


def without_mark(line: str) -> str:
    return _LIST_MARK.sub("", line, count=1) if _LIST_MARK.match(line) else line


def without_code(text: str) -> str:
    return _FENCED.sub("\n", text)


def gist(text: str, limit: int = QUOTE_LIMIT) -> str:
    """The first sentence that says something, without its full stop; empty if none does."""
    for sentence in sentences(without_code(clean(text))):
        if words(sentence) and not is_small_talk(sentence):
            return one_line(without_filler(sentence).rstrip(" .!。！"), limit)
    return ""


def without_filler(sentence: str) -> str:
    """Without the "ok, so basically" that people begin with, where more than that is said."""
    filler = _FILLER.match(sentence)
    rest = sentence[filler.end() :] if filler else ""
    return rest if len(words(rest)) > 1 else sentence


def is_fragment(text: str) -> bool:
    """Whether *text* is a note ("Scope: medium", "cache, queue and outbox", "a -> b") more than a sentence."""
    if len(words(text)) < SENTENCE_WORDS or _LABEL.match(text) or "->" in text or "→" in text:
        return True
    items = _ITEM_END.split(text)
    return len(items) > 2 and all(len(words(item)) <= SENTENCE_WORDS for item in items)


def is_quotable(quote: str) -> bool:
    """Whether a question can be built around *quote*: a whole sentence that claims something."""
    said = quote.strip('"')
    return bool(said) and not said.endswith("…") and not is_question(said) and not is_fragment(said)


def only_asks(text: str) -> str:
    """The question, if *text* is nothing but one; else empty."""
    meant = [one for one in sentences(without_code(text)) if words(one) and not is_small_talk(one)]
    return meant[0] if len(meant) == 1 and is_question(meant[0]) else ""


def capital(text: str) -> str:
    """With a capital, unless the first word has one anywhere: "iOS" is written as it is."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.islower() else text


def quoted(text: str, limit: int = QUOTE_LIMIT) -> str:
    """The gist in double quotes; quotes inside become single ones, as in print. Empty if nothing is said."""
    said = _DOUBLE_QUOTES.sub("'", gist(text, limit))
    return f'"{said}"' if said else ""


def key(text: str) -> str:
    """What two texts have in common when they say the same in the same words."""
    return " ".join(words(text)) or one_line(text)


def _cut(line: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(line):
        if not _ABBREVIATION.search(line, max(start, end.end() - LONGEST_ABBREVIATION), end.end()):
            yield line[start : end.end()]
            start = end.end()
    yield line[start:]
