"""Text that other people wrote, made fit to be kept: whole characters, nothing invisible that acts, one line."""

import re
import unicodedata
from collections.abc import Collection, Sequence

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")
SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
_INVISIBLE = re.compile(
    f"({_FLAG})|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\u3164"
    "\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_MARKS = re.compile("([\u0300-\u036f\u20d0-\u20f0]{4})[\u0300-\u036f\u20d0-\u20f0]+")
_LINES = str.maketrans("", "", "\n\t")
_LONG_WORDS = re.compile(r"[^\W\d_]{4,}")
_STEM_CHARS = 5
_SMALL = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPELLED = {
    **{word: str(number) for number, word in enumerate(_SMALL.split(), start=2)},
    **{word: f"{number}0" for number, word in enumerate(_TENS.split(), start=2)},
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_TAGS = range(0xE0020, 0xE0080)


def clean(text: str) -> str:
    """
    *text* without control characters, bidirectional overrides and broken characters; lines end as in Unix.

    Joiners and variation selectors stay: emoji and several scripts are made with them.
    """
    return _UNWANTED.sub("", _LINE_ENDS.sub("\n", _SURROGATE.sub("\ufffd", text)))


def visible(text: str) -> str:
    """
    *text* as `clean` leaves it, without characters that nobody sees: they can hide instructions from people who read
    the text, and words from programs that search it.
    """
    if text.isascii() and text.translate(_LINES).isprintable():
        return text  # most texts are
    return _MARKS.sub(r"\1", _INVISIBLE.sub(lambda found: found[1] or "", clean(text)))


def value_text(value: object) -> str:
    """A value of a field, which may be a list."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def values(value: object) -> tuple[str, ...]:
    """Of a field that may have several."""
    return (
        tuple(map(str, value))
        if isinstance(value, list | tuple)
        else ()
        if value in (None, "")
        else (str(value),)
    )


def one_line(text: str, limit: int = 100) -> str:
    """*text* in a single line of at most *limit* characters, cut between words where there are any."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    room = max(limit - 1, 0)
    space = line.rfind(" ", room // 2, room + 1)
    cut = space if space > 0 else _between_characters(line, room)
    return line[:cut].rstrip() + "…"


def csv_cell(text: str) -> str:
    """*text* as a cell of a CSV file that no spreadsheet takes for a formula (OWASP, CSV injection)."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def counted(number: int, thing: str, things: str = "") -> str:
    """`1 step`, `2 steps`; *things* where an s is not all that more of them take."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def paragraphs(*parts: str) -> str:
    """The parts that are not empty, with an empty line between them."""
    return "\n\n".join(filter(None, parts))


def sentences_in(text: str) -> list[str]:
    """Each without space around it; a line end is an end, too."""
    return [sentence for part in SENTENCE_ENDS.split(text) if (sentence := part.strip())]


def continues(line: str, place: int) -> bool:
    """Whether the character at *place* belongs to the one before it."""
    here = line[place]
    if here in _FLAG_LETTERS:
        before = line[:place]
        return (place - len(before.rstrip(_FLAG_LETTERS))) % 2 == 1
    return (
        here == _JOINER
        or line[place - 1] == _JOINER
        or ord(here) in _SKIN_TONES
        or ord(here) in _TAGS
        or unicodedata.category(here).startswith("M")
    )


def _between_characters(line: str, cut: int) -> int:
    """The last place up to *cut* where what people see as one character is not torn; *cut* if there is none."""
    return next((place for place in range(cut, 0, -1) if not continues(line, place)), cut)


def with_digits(text: str) -> str:
    """`fourteen days` as `14 days`."""
    return re.sub(r"[a-z]+", lambda one: _SPELLED.get(one[0].lower(), one[0]), text, flags=re.IGNORECASE)


def content_words(text: str) -> frozenset[str]:
    """The beginnings of longer words, which say what a text is about; no numbers."""
    return frozenset(one[:_STEM_CHARS] for one in _LONG_WORDS.findall(text.casefold()))


def bare_words(text: object) -> str:
    """For comparing: in one case, and with single spaces."""
    return " ".join(str(text).split()).casefold()


def word_set(text: str) -> frozenset[str]:
    """The words of *text*, for comparing: in one case, without punctuation."""
    return frozenset(re.findall(r"\w+", text.casefold()))


def encoding_of(content: bytes) -> str:
    """UTF-8, unless it begins with the mark of UTF-16, which is what PowerShell writes."""
    return "utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8"


def text_of(content: bytes) -> str:
    """Of a file; bytes that cannot be decoded are replaced."""
    return content.decode(encoding_of(content), "replace")


BETWEEN_WORDS = re.compile(r"[\s,.!…;()、。！–—]+")
PHRASE_WORDS = 4
"""The longest phrase of small words."""
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d\u2b50\u2b55]|:[a-z_+0-9-]{1,40}:|(?<!\\w)[:;]-?[)(DP]|<@\\w{1,20}>|@\\w{1,40}"
)


def without_emoji(text: str) -> str:
    """Nor names of people and personas that are mentioned."""
    return _EMOJI.sub(" ", text)


def has_only_small_words(text: str, known: Collection[str]) -> bool:
    """Whether *text* has no words but those *known* to have no content: "thanks!", "+1", an emoji."""
    words = [one for one in BETWEEN_WORDS.split(without_emoji(text).replace("’", "'").casefold()) if one]
    at = 0
    while at < len(words):
        size = max(
            (n for n in range(1, PHRASE_WORDS + 1) if " ".join(words[at : at + n]) in known), default=0
        )
        if not size:
            return False
        at += size
    return True
