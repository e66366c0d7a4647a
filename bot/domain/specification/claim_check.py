"""
Whether the words of a claim rest on the lines that it quotes, by parity: the same numbers, dates and names, and no word
that turns a sentence around dropped or added.

It is a floor: it says what a quote does not say, and never that a claim is true. Its words are content
(`operators.yaml`). What it finds is shown as unchecked, with the reason.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import NamedTuple

from bot.domain.catalog.operators import DATE, Counts, Operators
from bot.domain.catalog.schema import CANONICAL_ID

HALF = Decimal("0.5")
CLAIM_CHARS = 1_000
"""Of a claim, and of the sentences around its quotes; more is not read."""
SHOWN_CHARS = 40
NO_QUOTE = "no line says this"
TOO_LONG = "it is too long to be checked"
NOT_CONFIRMED = "in other words than the quote, and no second model has confirmed it"
CUT_OUT = "only a part of what the source says, and no second model has confirmed it"
WAITING = frozenset({NOT_CONFIRMED, CUT_OUT})
"""Why a value is unchecked against which code finds nothing."""
FEWEST_SIGNS = 6
"""Of a quote that is not a whole line; in scripts with spaces, a word counts two."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")
_CLAUSE = re.compile(
    r"[.!?…;:,\n()。、「」]|(?<=\s)(?:and|but|because|und|aber|weil|et|mais|car|y|pero|porque)(?=\s)"
)
_OF_OTHERS = re.compile(r"[\"“”„«»「」『』`]|^[^\S\n]*(?:>|&gt;)|[:：][^\S\n]*$", re.MULTILINE)
"""Beside it stand words that may be another's, or one of several ideas."""
_SIGN = re.compile(r"[\u2e80-\U0010ffff]|[^\W\u2e80-\U0010ffff]+")
"""A word, or one sign of a script without spaces; the text has letters, digits and spaces."""
_TOKEN = re.compile(r"(?<![^\W\d_]{2})\d+(?:[.,:]\d+)*|[^\W\d]+(?:['-][^\W\d_]+)*|[%€$?]")
_CODE = re.compile(r"`|\w\(|\w/\w|\w_\w")
_ADDRESS = re.compile(r"[^,:]{1,80}[,:]\s")
_SYSTEM = re.compile(r"\b[A-Za-z]+(?:[a-z0-9][A-Z])\w*|\b[A-Z]{2,}\w*")
_REFERENCE = re.compile(
    rf"\[\s*t\d{{2,}}(?:\s*,\s*t\d{{2,}})*\s*\]|(?<!\w)t\d{{2,}}(?!\w)|(?<![\w-]){CANONICAL_ID.pattern}(?![\w-])"
)
_LISTED = re.compile(r"^[^\S\n]*+\d{1,3}[.)]\s", re.MULTILINE)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064]")
_LETTER = r"[^\W\d_\u2e80-\U0010ffff]"
_SIGNS = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_THINGS = re.compile(rf"[\u3005\u3400-\u9fff]+|[\u30a1-\u30ff]+|{_LETTER}+")
_GROUPED = re.compile(r"(?<=\d)[ ,.'](?=\d{3}\b)")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_DOTTED_DATE = re.compile(r"\b(\d\d?)\.(\d\d?)\.(\d{4})\b")
_ORDINAL = re.compile(r"\b0?(\d+)(?:st|nd|rd|th)?\b")
_NUMBER = re.compile(r"\d{1,18}(?:[.,:]\d{1,9})?")
_SPACELESS = "\u2e80"
_FULL_STOPS = " .!…。！"
_QUESTION, _PERCENT = "?", "%"
_STEM_CHARS = 5
"""Words that begin with the same letters are the same: `order`, `orders`."""


class Root(NamedTuple):
    """What can be quoted: the message of a person, or lines of code (*speaker* is empty)."""

    speaker: str
    text: str


def stands_in(span: str, text: str) -> bool:
    """As `is_part`, and enough of it to be a quote: three words, or a whole line, with its label or without it."""
    part, is_enough = _bare(span), not _is_short(span)
    rows = (one for row in text.split("\n") for one in (row, row.partition(":")[2]))
    return is_part(span, text) and (is_enough or part in map(_bare, rows))


def is_part(value: str, quote: str) -> bool:
    """Whether *quote* has the words of *value*, one after the other. Case and punctuation do not count."""
    part = _bare(value)
    return bool(part) and f" {part} " in f" {_bare(quote)} "


def is_whole(value: str, text: str) -> bool:
    """
    Whether *value* is one or more whole sentences of *text*, so that no word of theirs is cut off that turns it around.
    A sentence that is too short to be a quote belongs to the one beside it. Case and spaces do not count.
    """
    part, whole = ("\n".join(map(_plain, _statements(one))) for one in (value, text))
    return bool(_bare(value)) and f"\n{part}\n" in f"\n{whole}\n"


def is_code(value: str, text: str) -> bool:
    """Whether *value* is one or more whole rows of code, sign by sign. Spaces around a row do not count."""
    rows, whole = (
        "".join(f"{' '.join(row.split())}\n" for row in one.split("\n")) for one in (value.strip(), text)
    )
    return bool(value.strip()) and f"\n{rows}" in f"\n{whole}"


def is_clause(span: str, text: str) -> bool:
    """Whether *span* is one or more whole clauses of *text*: what a second model gives with its yes."""
    part, whole = (
        [bare for one in _CLAUSE.split(unicodedata.normalize("NFKC", words)) if (bare := _bare(one))]
        for words in (span, text)
    )
    return bool(part) and f"|{'|'.join(part)}|" in f"|{'|'.join(whole)}|"


def is_changed(span: str, before: str | None, after: str) -> bool:
    """Whether *span* stood in *before*, and does not stand in *after*, or not in the same sentence."""
    if before is None or not is_part(span, after):
        return not is_part(span, after) and (before is None or is_part(span, before))
    was, now = ([*map(_plain, _holding(span, _statements(one)))] for one in (before, after))
    return is_part(span, before) and was != now


class ClaimCheck:
    """*people* are called so in the thread; *personas* take part, too."""

    def __init__(self, words: Operators, people: Iterable[str], personas: Iterable[str] = ()) -> None:
        self._words = _Words(words)
        people = tuple(people)
        self._persons = {part.lower() for one in people for part in one.split()}
        self._people = {part.lower(): part for one in (*people, *personas) for part in one.split()}
        self._names = _names_in_prose(one for one in self._people if one not in words.tables.filler)

    def flaws(self, claim: str, quotes: Sequence[tuple[Root, str]]) -> tuple[str, ...]:
        """Why *claim* is unchecked, for people; nothing where no word speaks against it."""
        if not quotes:
            return (NO_QUOTE,)
        if lost := self.lost(quotes):
            return lost
        said = " ".join(_around(span, root.text) for root, span in quotes)
        if max(len(claim), len(said)) > CLAIM_CHARS:
            return (TOO_LONG,)
        ours, theirs = self._words.read_words(claim), self._words.read_words(said)
        speakers = {part for root, _ in quotes for part in root.speaker.lower().replace(",", " ").split()}
        found = (
            *self._unsaid(claim, ours, theirs, said, speakers),
            *self._words.parity(ours, theirs),
            *self._words.order(ours, theirs),
        )
        return tuple(dict.fromkeys(found))

    def lost(self, quotes: Iterable[tuple[Root, str]]) -> tuple[str, ...]:
        """For people, the quotes that do not stand where they say."""
        missing = ((root, span) for root, span in quotes if not stands_in(span, root.text))
        return tuple(
            f"“{span[:SHOWN_CHARS]}” is not in {f'{root.speaker}’s line' if root.speaker else 'the code'}"
            for root, span in missing
        )

    def why_unchecked(self, sentence: str, quotes: Sequence[tuple[Root, str]]) -> str:
        """For people, of a sentence in prose; empty where it needs no quote, or one of *quotes*, or all, say it."""
        if not self.needs_quote(sentence):
            return ""
        told = self._without_address(sentence)
        found = [
            self.flaws(told, some) or self._unlike(told, some)
            for some in (*([one] for one in quotes), quotes)
        ]
        return "; ".join(found[-1]) if all(found) else ""

    def needs_quote(self, sentence: str) -> bool:
        """
        True for a sentence that tells what somebody said or decided, that names a person, a number, a date, a path or
        a symbol, or that is too long to be read. A question needs a quote only if it tells what was said. The names at
        the beginning of those to whom the sentence is said do not count.
        """
        bare = self._without_address(_without_references(sentence[:CLAIM_CHARS]))
        words = self._words.read_words(bare)
        if self._words.reports(words) or len(sentence) > CLAIM_CHARS:
            return True
        if self._words.is_question(words):
            return False
        is_fact = any(one[0].isdigit() or one.startswith(DATE) for one in words) or self._is_about_a_person(
            bare
        )
        return is_fact or any(one.search(bare) for one in (_CODE, _SYSTEM))

    def _is_about_a_person(self, text: str) -> bool:
        return not self._persons.isdisjoint(self._named_in(text))

    def _named_in(self, text: str) -> set[str]:
        return {(one or other).lower() for one, other in self._names.findall(text)}

    def _unlike(self, sentence: str, quotes: Sequence[tuple[Root, str]]) -> tuple[str, ...]:
        """
        The first word of a sentence about people that the quoted lines do not have. No second model reads prose, so
        other words than those of the speaker are not allowed in it.
        """
        bare = _without_references(sentence)
        ours = self._words.read_words(self._names.sub(self._without_name, bare))
        if not self._words.reports(ours) and not self._is_about_a_person(bare):
            return ()
        theirs = self._words.read_words(" ".join(_around(span, root.text) for root, span in quotes))
        return tuple(map(_not_said, self._words.retold(ours, theirs)))[:1]

    def _without_name(self, found: re.Match[str]) -> str:
        """Who said it is checked elsewhere."""
        return " " if (found[1] or found[2]).lower() in self._persons else found[0]

    def _without_address(self, sentence: str) -> str:
        """Without the names at its beginning of those to whom it is said."""
        found = _ADDRESS.match(sentence)
        named = re.findall(r"\w+", found[0].lower()) if found else []
        return sentence[found.end() :] if found and named and {*named} <= self._people.keys() else sentence

    def _unsaid(
        self, claim: str, ours: Sequence[str], theirs: Sequence[str], said: str, speakers: Collection[str]
    ) -> Iterator[str]:
        known, heard, lower = self._words.amounts(theirs), {*theirs}, said.lower()
        missing = [told for one, told in self._words.amounts(ours).items() if one not in known]
        dates = (one for one in ours if one.startswith(DATE) and one not in heard)
        missing += [one.removeprefix(DATE).capitalize() for one in dates]
        missing += [one for one in _SYSTEM.findall(_without_references(claim)) if one.lower() not in lower]
        absent = self._named_in(_without_references(claim)) - self._named_in(said) - {*speakers}
        missing += [self._people[one] for one in sorted(absent)]
        return map(_not_said, missing)


class _Words:
    """A text is read into words once, and everything else compares these."""

    def __init__(self, given: Operators) -> None:
        self._given = given
        self._tables = given.tables

    def read_words(self, text: str) -> list[str]:
        """In lower case, with digits for spelled numbers, one name for a month in every language, phrases as one."""
        plain = _GROUPED.sub("", _without_references(text))
        plain = _DOTTED_DATE.sub(self._with_month, _ISO_DATE.sub(r"\3.\2.\1", plain))
        plain = _ORDINAL.sub(r"\1", plain)
        cased = (one if one == "May" else one.lower() for one in _TOKEN.findall(plain))  # `may` is no month
        words = (self._tables.dates.get(one, one.lower()) for one in cased)
        joined = f" {' '.join(self._tables.numbers.get(one, one) for one in words)} "
        for phrase, as_one in self._tables.phrases:
            joined = joined.replace(phrase, as_one)
        return joined.split()

    def _with_month(self, found: re.Match[str]) -> str:
        month = int(found[2])
        name = self._tables.months[month - 1] if 0 < month <= len(self._tables.months) else ""
        return f"{found[1]} {name} {found[3]}"

    def amounts(self, words: Sequence[str]) -> Mapping[tuple[str, Decimal], str]:
        """By what is counted, as people wrote it: `2 minutes` are 120 s, `half` is 50 %, `a day` is one."""
        found: dict[tuple[str, Decimal], str] = {}
        for word, after in pairwise((*words, "")):
            is_number = _NUMBER.fullmatch(word)
            if not is_number and word not in self._tables.one:
                continue
            dimension, factor = next(
                ((name, value) for one, name, value in self._tables.units if one.has(after)),
                ("", Decimal(1)),
            )
            if is_number:
                scale = next((value for one, value in self._tables.scales if one.has(after)), Decimal(1))
                value = Decimal(re.sub("[,:]", ".", word)) * scale * factor
                if value == HALF and not dimension:
                    dimension, value = _PERCENT, value * 100
                found[dimension, value] = f"{word} {after}" if dimension and after else word
            elif dimension:
                found[dimension, factor] = f"{word} {after}"
        return found

    def is_question(self, words: Sequence[str]) -> bool:
        return bool(words) and self._tables.question.has(words[-1])

    def reports(self, words: Sequence[str]) -> bool:
        """
        Whether they say what somebody said or decided. `Who said so?` only asks for it, and `Nobody said which rows`
        says that it is not known.
        """
        tables = self._tables
        told = any(one.in_words(words) for one in (tables.decided, tables.reports, tables.stances))
        asks = self.is_question(words) and bool(tables.asking.in_words(words))
        return told and not (asks or self._leaves_open(words))

    def _leaves_open(self, words: Sequence[str]) -> bool:
        """As in `Nobody says which rows`, or `you have not said what happens`."""
        denied, told, asking = self._tables.denied, self._tables.reports, self._tables.asking
        return not self._tables.decided.in_words(words) and any(
            told.has(one) and asking.has(after) and (denied.has(words[0]) or denied.has(before))
            for before, one, after in zip(words, words[1:], words[2:], strict=False)
        )

    def retold(self, ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
        """
        The words that are not *theirs*, beside those of telling; a stance is one of theirs. In Japanese and Chinese,
        the signs of things are compared, and not the letters that join them.
        """
        tables, whole, heard = self._tables, {*theirs}, "|".join(theirs)
        begun = {part for one in theirs for part in (one[:_STEM_CHARS], *_beginnings(one))}
        found = list[str]()
        for word in ours:
            if _SIGNS.search(word):
                found += (one for one in _THINGS.findall(tables.reports.without(word)) if one not in heard)
                continue
            is_told = word in tables.filler or any(
                one.has(word) for one in (tables.reports, tables.decided, tables.asking)
            )
            is_theirs = not begun.isdisjoint((word, word[:_STEM_CHARS])) or not whole.isdisjoint(
                _beginnings(word)
            )
            if word[0].isalpha() and not is_told and not is_theirs:
                found.append(word)
        return found

    def parity(self, ours: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
        """Operators and opposites that the claim drops or adds."""
        mine, heard = {*ours}, {*theirs}
        for one in self._tables.operators:
            our, their = one.means.in_words(ours), one.means.in_words(theirs)
            if one.name == "not":  # two are none
                our, their = our[: len(our) % 2], their[: len(their) % 2]
            is_dropped = their and not our and one.only is not Counts.ADDED
            if is_dropped and not {*one.like.in_words(ours)} - heard:
                yield "the line asks, and does not say so" if their[0] == _QUESTION else _says(their[0])
            is_added = our and not their and one.only is not Counts.DROPPED
            if is_added and not {*one.like.in_words(theirs)} - mine:
                yield _not_said(our[0])
        for said, other in self._tables.opposites:
            if (
                said.in_words(ours)
                and not said.in_words(theirs)
                and (turned := {*other.in_words(theirs)} - mine)
            ):
                yield _says(min(turned))

    def order(self, ours: Sequence[str], theirs: Sequence[str]) -> Iterator[str]:
        """Who does what to whom, and which number counts what."""
        mine, heard = (
            [one[:_STEM_CHARS] for one in words if one not in self._tables.filler] for words in (ours, theirs)
        )
        places = {one: at for at, one in reversed([*enumerate(mine)])}
        shared = [one for one in dict.fromkeys(heard) if one in places]
        words = _is_turned([places[one] for one in shared if not one[0].isdigit()])
        numbers = _is_turned([places[one] for one in shared if one[0].isdigit()])
        is_passive = not {*ours}.isdisjoint({*self._given.passive} - {*theirs})
        if (numbers and not words) or (words and {*mine} == {*heard} and not is_passive):
            yield "the line has it the other way round"


def _without_references(text: str) -> str:
    """Ids of entries and turns, and the numbers of a list, are no words of a speaker."""
    bare = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")
    return _LISTED.sub(" ", _REFERENCE.sub(" ", bare))


def _around(span: str, text: str) -> str:
    """The sentences around *span*, whole: it must not cut off the `not` or the `if` before it."""
    return " ".join(_holding(span, _SENTENCE.split(text))) or text


def _holding(span: str, sentences: Iterable[str]) -> list[str]:
    """Those that have words of *span*."""
    part = f" {_bare(span)} "
    read = [(one, bare) for one in sentences if (bare := _bare(one))]
    whole = f" {' '.join(bare for _, bare in read)} "
    ends = [*accumulate(len(bare) + 1 for _, bare in read)]
    found: dict[int, None] = {}
    at = whole.find(part)
    while at >= 0:
        end = at + len(part) - 1
        found |= dict.fromkeys(range(bisect_right(ends, at), bisect_left(ends, end) + 1))
        at = whole.find(part, end)
    return [read[one][0] for one in found]


def _statements(text: str) -> list[str]:
    """Sentences that say the same without the others, as far as their form tells; else the whole text is one."""
    if _OF_OTHERS.search(text):
        return [text]
    found: list[list[str]] = []
    begins_short = False
    for one in filter(str.strip, _SENTENCE.split(text)):
        if found and (begins_short or _is_short(one)):
            found[-1].append(one)
            begins_short = False
        else:
            found.append([one])
            begins_short = _is_short(one)
    return [" ".join(some) for some in found]


def _is_short(text: str) -> bool:
    return sum(1 if one > _SPACELESS else 2 for one in _bare(text).split()) < FEWEST_SIGNS


def _bare(text: str) -> str:
    """The words, with a space between each two, and around every sign of a script without spaces."""
    return " ".join(
        _SIGN.findall(" ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())))
    )


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(_FULL_STOPS)


def _is_turned(places: Sequence[int]) -> bool:
    return sum(a > b for a, b in pairwise(places)) > sum(a < b for a, b in pairwise(places))


def _beginnings(word: str) -> Iterator[str]:
    """With `keep`, `keeps` and `keeping` are the same."""
    fewest = 3 if len(word) <= _STEM_CHARS - 1 else max(_STEM_CHARS - 1, len(word) - 3)
    return (word[:end] for end in range(fewest, len(word) + 1))


def _names_in_prose(names: Iterable[str]) -> re.Pattern[str]:
    """Also as `Ada's`, and in scripts without spaces as a part of other signs. One such sign alone is no name."""
    ordered = sorted(filter(re.compile(r"[^\W\d_]").search, names), key=len, reverse=True)
    words = [re.escape(one) for one in ordered if one < _SPACELESS]
    signs = [re.escape(one) for one in ordered if one > _SPACELESS and len(one) > 1]
    in_words = rf"(?<!{_LETTER})({'|'.join(words) or '(?!)'})(?:'?s|')?(?!{_LETTER})"
    return re.compile(f"{in_words}|({'|'.join(signs) or '(?!)'})", re.IGNORECASE)


def _not_said(word: str) -> str:
    return f"the line does not say “{word.replace('_', ' ')}”"


def _says(word: str) -> str:
    return f"the line says “{word.replace('_', ' ')}”"
