"""
What people type in a discussion, read: options, positions, and lines with a mark.

Words count as a position only where they are one of the phrases of the content; see `position_in`. No two texts are
ever held to be similar.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from string import ascii_uppercase
from typing import NamedTuple

from bot.domain.catalog.schema import BUILT_IN_LABELS, Schema
from bot.domain.discussion.elaboration import BoardOption, SealedPosition
from bot.domain.values.markdown import outline
from bot.domain.values.text import has_only_small_words, one_line, with_digits, without_emoji

LETTERS = tuple(letter for letter in ascii_uppercase if letter != "I")
"""An "I" is a person who speaks."""
OPTION_CHARS = 200
MOST_TAILS = 16
"""So many words and commas of a sentence are looked at: a phrase with the name of an option is short."""
MOST_OPENINGS = 3
"""So many words without content may stand before it: "ok, yes, for A"."""
MARKED_CHARS = 1_000
OPTION_LABELS = ("option", *(f"option {letter}" for letter in LETTERS))
SURE = {"very sure": "high", "fairly sure": "mid", "not sure": "low"}
"""The words of the form, and what it stores."""

_UNDECIDED = re.compile(r"(?:i'?m |i am )?undecided[.!]*", re.IGNORECASE)

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

_POSITION = re.compile(r"\s*position\s*[:\uff1a]\s*(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL)
_POSITION_LETTER = re.compile(
    r"(?:option\s+)?(?P<letter>[a-hj-z])(?=\s*(?:$|[,.;:!\u2013\u2014-]|(?:because|very sure|fairly sure|not sure)\b))",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"(?:^|[,;.\u2013\u2014-])\s*(?:i'?m |i am )?(?P<sure>(?:very|fairly|not) sure)"
    r"(?=\s*(?:$|[,;.!\u2013\u2014-]|because\b))",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"(?:^|[,;.]|(?<!\s)\s)\s*+because\b\s*+", re.IGNORECASE)
_PARTS = re.compile(
    r"(?<=[.!?…])\s|(?<=[。！？])\s?(?=\S)|(?<!\s),?\s(?=(?:but|aber|mais|pero|mas)\s)", re.IGNORECASE
)
_BUT = re.compile(r"(?:but|aber|mais|pero|mas)\s+", re.IGNORECASE)
_TAIL = re.compile(r"[,;:–—、，\uff1b\uff1a]|\s-\s|\s")
_ONLY_OPTIONS = re.compile(r"(?:[A-HJ-Z]|or|and|oder|und|[,/&\s])+")
_EDGES = " ,;:.!-\u2013\u2014"


class NamedOption(NamedTuple):
    """`letter` is empty where it was named without one."""

    text: str
    letter: str = ""


_Names = Mapping[tuple[str, ...], str]
"""The letters of options, by the `key` of their words, and by themselves."""


class Position(NamedTuple):
    """An empty `letter` is undecided; None where there is no such option, which was called `named`."""

    letter: str | None
    why: str = ""
    sure: str = ""
    named: str = ""
    condition: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """Of its entry."""
        return {"why": self.why, "sure": self.sure, "condition": self.condition}


def name(words: str) -> str:
    """The key of an issue or a position: case and spacing do not count, and `fourteen` is `14`."""
    return " ".join(with_digits(words).split()).casefold()


# --- lines with a mark ----------------------------------------------------------------------------------------------

# A line that begins with one of a few words and a colon ("decision: …", "I object: …") opens an entry. No other words
# are read as a decision or an objection.
_ENTRY_LABELS = tuple(label for kind in ("decision", "objection") for label in BUILT_IN_LABELS[kind])


def decides(text: str) -> bool:
    """Whether a line of *text* is marked as a decision."""
    return bool(marked(text, BUILT_IN_LABELS["decision"]))


def marked(text: str, labels: Iterable[str]) -> tuple[str, ...]:
    """What stands behind one of *labels* at the beginning of a line, each once; not in quotes and in code."""
    page, label = outline(text), _labelled(labels)
    found = (label.match(row) for number, row in enumerate(page.lines) if number not in page.hidden)
    texts = (one_line(one["what"], MARKED_CHARS) for one in found if one)
    return tuple(dict.fromkeys(filter(None, texts)))


def unmarked(text: str, labels: Iterable[str]) -> str:
    """The lines without a mark, and without what is quoted or code."""
    page, label = outline(text), _labelled((*_ENTRY_LABELS, *labels))
    said = (
        row
        for number, row in enumerate(page.lines)
        if number not in page.hidden and not row.lstrip().startswith(">") and not label.match(row)
    )
    return "\n".join(said).strip()


def _labelled(labels: Iterable[str]) -> re.Pattern[str]:
    label = "|".join(map(re.escape, labels))
    return re.compile(
        rf"[ \t]{{0,8}}(?:(?:[-*+•]|\d{{1,3}}[.)])[ \t]{{1,4}})?[*_]{{0,2}}(?:{label})s?[*_]{{0,2}}[ \t]{{0,4}}[:：]"
        r"[*_]{0,2}[ \t]*(?P<what>\S.*)",
        re.IGNORECASE,
    )


# --- options --------------------------------------------------------------------------------------------------------


def key(words: str) -> tuple[str, ...]:
    """The words of a position, without case, signs, articles, and "I'm for" in front of them."""
    return tuple(one for one in _WORD.findall(_bare(words).casefold()) if one not in _ARTICLES)


def meant(options: Iterable[BoardOption], words: str) -> BoardOption | None:
    """The one of *options* that *words* name, as a whole: the letter alone or with an addition, or its text."""
    known = tuple(options)
    if letter := _letter(words):
        return of_letter(known, letter)
    said = key(words)
    same = [one for one in known if said and key(one.text) == said]
    return same[0] if len(same) == 1 else None


def decided_option(options: Iterable[BoardOption], text: str) -> BoardOption | None:
    """The option that a decision names: by its letter, alone or in front, or in its words."""
    known = tuple(options)
    letter = re.match(r"\s*(?:option )?([A-HJ-Z])(?=\s*$|\s*[.,;:–—-]|\s+(?:with|because|instead)\b)", text)
    if letter and (found := of_letter(known, letter[1])):
        return found
    said_so = name(text)
    return next((one for one in known if name(one.text) in said_so), None)


def is_letter(words: str) -> bool:
    """Whether *words* name an option by its letter, and say nothing else: `B`, `option B.`"""
    return re.fullmatch(r"(?:option )?[A-HJ-Z][.!]?", words.strip(), re.IGNORECASE) is not None


def same_position(words: str, held: Sequence[str]) -> str:
    """The first of the positions *held* that has the same words; empty when none has."""
    said = key(words)
    return next((one for one in held if said and key(one) == said), "")


def of_letter(options: Iterable[BoardOption], letter: str) -> BoardOption | None:
    return next((one for one in options if one.letter == letter.upper()), None)


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


# --- positions ------------------------------------------------------------------------------------------------------


def labelled_position(text: str) -> str:
    """What stands behind `position:` in a message that begins so; empty for other words."""
    found = _POSITION.fullmatch(text)
    return found["rest"] if found else ""


def typed_position(words: str) -> SealedPosition:
    """`A, very sure, because it is fast`. The option is a letter, alone or in front, or in words of one's own."""
    rest = one_line(words.replace("\u2019", "'"), 2 * OPTION_CHARS)
    option = ""
    if found := _POSITION_LETTER.match(rest):
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


def position_in(options: Sequence[BoardOption], text: str, schema: Schema) -> Position | None:
    """
    Where *text* puts its speaker: `position: A`, `undecided`, or one phrase of the content ("for A", "A for me if it
    fails open") that is all of a sentence. A condition stays with it, and the rest of the message is the reason. No
    other words are a position.
    """
    if words := labelled_position(text):
        return _labelled_as(options, typed_position(words))
    plain = " ".join(unmarked(text, OPTION_LABELS).split()).replace("\u2019", "'")
    if _UNDECIDED.fullmatch(plain):
        return Position("")
    small = schema.small_words()
    names = {key(one.text): one.letter for one in reversed(options)} | {
        (one.letter,): one.letter for one in options
    }
    parts = [(part, _stand_in(names, part, schema, small)) for part in _PARTS.split(plain)]
    found = [stand for _, stand in parts if stand]
    if len({(one.letter, one.named) for one in found}) != 1:
        return None
    rest = (
        stand.why if stand else part
        for part, stand in parts
        if stand or not has_only_small_words(part, small)
    )
    return found[-1]._replace(
        why=one_line(" ".join(filter(None, rest)), MARKED_CHARS),
        sure=next((one.sure for one in reversed(found) if one.sure), ""),
    )


def is_all_reason(text: str) -> bool:
    """Whether a position in *text* takes in all of it: nothing is quoted, and nothing cut."""
    return len(text) <= MARKED_CHARS and not any(
        row.lstrip().startswith((">", "```")) for row in text.splitlines()
    )


def _stand_in(options: _Names, part: str, schema: Schema, small: frozenset[str]) -> Position | None:
    """Of one sentence. A letter alone counts where nothing else stands in it but a reason and how sure."""
    said = without_emoji(part).strip().rstrip(".!。！ ")
    if "?" in said or "？" in said:
        return None
    but = _BUT.match(said)
    said, is_whole = said[but.end() :] if but else said, but is None
    for _ in range(MOST_OPENINGS + 1):
        if found := _phrase_in(options, said, schema, is_whole=is_whole):
            return found
        opening, _, said = said.partition(" ")
        if not said or not has_only_small_words(opening, small):
            return None
        is_whole = is_whole and opening.endswith(",")
    return None


def _phrase_in(options: _Names, said: str, schema: Schema, *, is_whole: bool) -> Position | None:
    ends = [len(said), *(found.start() for found in islice(_TAIL.finditer(said), MOST_TAILS))]
    start = said[:OPTION_CHARS].casefold()
    phrases = [one for one in _ends_of(schema.positions) if start.startswith(one[0])]
    for end in ends:
        tail = said[end:].strip(_EDGES)
        named = _named_by(options, said[:end], phrases, schema.conditions)
        if named is None or _ONLY_OPTIONS.fullmatch(tail):
            continue
        sure = _SURE.search(tail)
        why = _trimmed(f"{tail[: sure.start()]} , {tail[sure.end() :]}") if sure else tail
        is_condition, is_reason = (_begins(why, one) for one in (schema.conditions, schema.reasons))
        is_all = not why or is_reason
        is_sentence = is_all or is_condition or not said[end : end + 1].isspace()  # not "for a start"
        if not (is_all and is_whole and named.letter if named.is_bare else is_sentence):
            continue
        condition = ", ".join(filter(None, (named.condition, why if is_condition else "")))
        return Position(
            named.letter,
            "" if is_condition else why,
            SURE[sure["sure"].lower()] if sure else "",
            named.name,
            one_line(condition, OPTION_CHARS),
        )
    return None


class _Named(NamedTuple):
    """The option that a phrase names, a *bare* one by nothing else; a condition is in "A with tests works for me"."""

    letter: str | None
    name: str
    is_bare: bool
    condition: str = ""


@lru_cache
def _ends_of(phrases: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """What stands before and behind `{x}`; the longest first, since "{x} works for me" is one of "{x} for me", too."""
    found = (one.partition("{x}") for one in sorted(phrases, key=len, reverse=True))
    return tuple((before, after) for before, _, after in found)


def _named_by(
    options: _Names, head: str, phrases: Iterable[tuple[str, str]], conditions: Iterable[str]
) -> _Named | None:
    if len(head) > 2 * OPTION_CHARS:
        return None
    written, said = head.strip(), head.strip().casefold()
    written = written if len(written) == len(said) else said
    for before, after in phrases:
        if len(before) + len(after) < len(said) and said.startswith(before) and said.endswith(after):
            named = written[len(before) : len(said) - len(after)]
            named = named[len("option ") :] if named.casefold().startswith("option ") else named
            first, _, condition = named.partition(" ")
            if after and first.upper() in LETTERS and _begins(condition, conditions):
                named = first
            else:
                condition = ""
            letter = named.upper() if named.upper() in LETTERS else ""
            option = options.get((letter,) if letter else key(named))
            if option or letter:
                return _Named(option, letter, not (before or after), condition)
    return None


def _begins(text: str, words: Iterable[str]) -> bool:
    return text.casefold().startswith(tuple(f"{one} " for one in words))


def _trimmed(text: str) -> str:
    return one_line(text.replace(" ,", ",").strip(_EDGES), OPTION_CHARS)


def _labelled_as(options: Sequence[BoardOption], given: SealedPosition) -> Position | None:
    """In words of one's own it is one of the options by now."""
    if not given.option and not given.words:
        return None
    said = key(given.words)
    own = next((one for one in options if key(one.text) == said), None)
    option = of_letter(options, given.option) if given.option else own
    return Position(option.letter if option else None, given.why, given.sure, given.option)
