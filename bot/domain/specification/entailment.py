"""
Whether the words of a claim stand in the sources that it names: numbers with their units, dates, how often, names,
quotations, negations, opposites, and words of commitment ("decided", "signed off").

This is a floor, and no understanding: it finds what a source does not say at all. It never says that a claim is true.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from bot.domain.catalog.schema import CANONICAL_ID


class Part(StrEnum):
    """What of a claim its sources do not say."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    QUOTATION = "quotation"
    NEGATION = "negation"
    COMMITMENT = "commitment"
    WORDS = "words"
    """Not one of its words."""


MENTIONED = frozenset(Part) - {Part.NEGATION, Part.WORDS}
"""What can be looked for in everything that was said, where a claim names no source."""


class Lack(NamedTuple):
    part: Part
    said: str

    @property
    def reason(self) -> str:
        """For people: the end of "unverified: …"."""
        match self.part:
            case Part.NEGATION:
                return f"the source and the claim disagree about “{self.said}”"
            case Part.WORDS:
                return "the source says something else"
            case Part.NUMBER | Part.DATE | Part.NAME | Part.QUOTATION | Part.COMMITMENT:
                return f"the source does not say “{self.said}”"


def lacks(claim: str, sources: Iterable[str]) -> tuple[Lack, ...]:
    """What *claim* says and none of its *sources* does, each once. Sources without words say nothing."""
    said, texts = _plain(claim), [_plain(one) for one in sources]
    found = (
        *_quotations(said, texts),
        *lacking_figures(said, map(figures, texts)),
        *_rates(said, texts),
        *_names(said, texts),
        *_commitments(said, texts),
        *_negations(said, texts),
        *_opposites(said, texts),
    )
    return tuple(dict.fromkeys(found)) or tuple(_nothing_said(said, texts))


class Figures(NamedTuple):
    """Of a text: its amounts by their dimension, its dates (month, day, year), and its days of the week."""

    amounts: frozenset[tuple[str, Decimal]]
    dates: frozenset[tuple[int, int, int]]
    weekdays: frozenset[int]


def figures(text: str) -> Figures:
    said = _plain(text)
    return Figures(
        frozenset((one.dimension, one.value) for one in _amounts(_undated(said))),
        frozenset((one.month, one.day, one.year) for one in _dates_in(said)),
        frozenset(_WEEKDAYS[one.casefold()] for one in _WEEKDAY.findall(said)),
    )


def lacking_figures(claim: str, sources: Iterable[Figures]) -> Iterator[Lack]:
    """The dates, then the numbers, that *claim* says and none of its *sources* does."""
    said, known = _plain(claim), tuple(sources)
    amounts = {amount for one in known for amount in one.amounts}
    dates = {date for one in known for date in one.dates}
    weekdays = {day for one in known for day in one.weekdays}
    days, values = {one[:2] for one in dates}, {value for _, value in amounts}
    for date in _dates_in(said):
        day = date.month, date.day
        if (*day, date.year) not in dates if date.year else day not in days:
            yield Lack(Part.DATE, date.said)
    for found in _WEEKDAY.finditer(said):
        if _WEEKDAYS[found[1].casefold()] not in weekdays:
            yield Lack(Part.DATE, found[0])
    for one in _amounts(_undated(said)):
        if (one.dimension, one.value) not in amounts if one.dimension else one.value not in values:
            yield Lack(Part.NUMBER, one.said)


def reasons(claim: str, sources: Iterable[str], *, only: Collection[Part] = frozenset(Part)) -> str:
    """The reasons why *claim* is unverified, in words; empty when there are none."""
    return "; ".join(dict.fromkeys(one.reason for one in lacks(claim, sources) if one.part in only))


def stands_in(quote: str, sources: Iterable[str]) -> bool:
    """Whether the words of *quote* stand in one of *sources*, in this order; empty words stand nowhere."""
    words = _letters(_plain(quote))
    return bool(words.strip()) and any(words in _letters(_plain(one)) for one in sources)


def unquoted(text: str) -> str:
    """Without what stands in quotation marks: these are somebody else's words."""
    return _QUOTED.sub(" ", _plain(text))


def with_digits(text: str) -> str:
    """`fourteen days` as `14 days`."""
    return re.sub(r"\w+", lambda one: str(_SPELLED.get(one[0].casefold(), one[0])), text)


def speaks_of_a_decision(text: str) -> bool:
    """Whether it says that something was decided, agreed, approved or withdrawn."""
    return _COMMITS.search(_plain(text)) is not None


def content_words(text: str) -> frozenset[str]:
    """The stems of the words that say something, without numbers and their units."""
    words = (one for one in _all_words(_plain(text)) if len(one) > 2 and not one[0].isdigit())
    return frozenset(_stem(one) for one in words if one.casefold() not in {*_FILLER, *_UNITS})


def is_left_open(before: str) -> bool:
    """Whether the words *before* others in a sentence deny them, or make them a condition or a possibility."""
    return any(_NEGATES.fullmatch(word) or _HEDGES.fullmatch(word) for word in _WORD.findall(_plain(before)))


# --- what is read over --------------------------------------------------------------------------------------------

_TURNS = re.compile(r"\[\s*t\d{2,}(?:\s*,\s*t\d{2,})*\s*\]|(?<!\w)t\d{2,}(?!\w)")
_IDS = re.compile(rf"(?<![\w-])(?:{CANONICAL_ID.pattern})(?![\w-])")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064]")
_LISTED = re.compile(r"^[^\S\n]*+\d{1,3}[.)]\s", re.MULTILINE)


def _plain(text: str) -> str:
    """Without ids, references and the numbers of a list: these are not said by anybody."""
    bare = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")
    for pattern in (_TURNS, _IDS, _LISTED):
        bare = pattern.sub(" ", bare)
    return bare


# --- quotations ---------------------------------------------------------------------------------------------------

_QUOTED = re.compile(r"“([^”“]+)”|„([^“”„]+)[“”]|«([^«»]+)»|「([^「」]+)」|(?<!\w)\"([^\"\n]+)\"(?!\w)")
_SIGNS = re.compile(r"[\W_]+")
_MOST_COMPARED = 50
"""Quotations and denials of one claim: each is looked for in all sources."""


def _quotations(claim: str, sources: Sequence[str]) -> Iterator[Lack]:
    texts = [_letters(one) for one in sources]
    for found in islice(_QUOTED.finditer(claim), _MOST_COMPARED):
        quoted = next(filter(None, found.groups()))
        words = _letters(quoted)
        if words.strip() and not any(words in text for text in texts):
            yield Lack(Part.QUOTATION, quoted.strip())


def _letters(text: str) -> str:
    """For comparison, with a space at both ends: a word is not found inside another one."""
    return f" {_SIGNS.sub(' ', text).strip().casefold()} "


# --- dates --------------------------------------------------------------------------------------------------------

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero",
            "february feb februar février febrero",
            "march mar märz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug août agosto",
            "september sep sept septembre septiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)?"
_YEAR = r"(?:,?\s*(?P<year>[12]\d{3}))?"
_WRITTEN_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>[12]\d{3})-(?P<month>[01]?\d)-(?P<day>[0-3]?\d)(?!\d)",
        r"(?<![\d.])(?P<day>[0-3]?\d)\.(?P<month>[01]?\d)\.(?P<year>[12]\d{3})(?!\d)",
        rf"(?<!\w){_DAY}\s+(?:of\s+|de\s+)?{_MONTH}(?!\w){_YEAR}",
        rf"(?<!\w){_MONTH}\s+{_DAY}(?!\w){_YEAR}",
    )
)
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday montag lundi lunes",
            "tuesday dienstag mardi martes",
            "wednesday mittwoch mercredi miércoles",
            "thursday donnerstag jeudi jueves",
            "friday freitag vendredi viernes",
            "saturday samstag samedi sábado",
            "sunday sonntag dimanche domingo",
        )
    )
    for name in names.split()
}
_WEEKDAY = re.compile(rf"(?<!\w)({'|'.join(_WEEKDAYS)})s?(?!\w)", re.IGNORECASE)


class _Date(NamedTuple):
    said: str
    year: int
    month: int
    day: int


def _dates_in(text: str) -> Iterator[_Date]:
    for pattern in _WRITTEN_DATES:
        for found in pattern.finditer(text):
            month = found["month"].casefold()
            number = int(month) if month.isdigit() else _MONTHS[month]
            yield _Date(found[0].strip(), int(found["year"] or 0), number, int(found["day"]))


def _undated(text: str) -> str:
    for pattern in _WRITTEN_DATES:
        text = pattern.sub(" ", text)
    return text


# --- numbers and units --------------------------------------------------------------------------------------------

_SPELLED = {
    word: number
    for number, words in {
        0: "zero", 2: "two zwei deux", 3: "three drei trois tres", 4: "four vier quatre cuatro",
        5: "five fünf cinq cinco", 6: "six sechs seis", 7: "seven sieben siete", 8: "eight acht huit ocho",
        9: "nine neun neuf nueve", 10: "ten zehn dix diez", 11: "eleven elf", 12: "twelve zwölf", 13: "thirteen",
        14: "fourteen", 15: "fifteen", 16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen",
        20: "twenty zwanzig", 24: "twenty-four", 30: "thirty dreißig", 40: "forty vierzig", 50: "fifty fünfzig",
        60: "sixty sechzig", 70: "seventy", 80: "eighty", 90: "ninety neunzig", 100: "hundred hundert",
        1000: "thousand tausend",
    }.items()
    for word in words.split()
}  # fmt: skip
_UNITS: dict[str, tuple[str, Decimal]] = {
    word: (dimension, Decimal(factor))
    for dimension, factor, words in (
        ("time", "0.001", "ms millisecond milliseconds msec"),
        ("time", "1", "s sec secs second seconds sekunde sekunden"),
        ("time", "60", "min mins minute minutes minuten"),
        ("time", "3600", "h hr hrs hour hours stunde stunden"),
        ("time", "86400", "day days tag tage tagen"),
        ("time", "604800", "week weeks woche wochen"),
        ("month", "1", "month months monat monate monaten"),
        ("month", "12", "year years jahr jahre jahren"),
        ("size", "1", "byte bytes b"),
        ("size", "1000", "kb kilobyte kilobytes"),
        ("size", "1000000", "mb megabyte megabytes"),
        ("size", "1000000000", "gb gigabyte gigabytes"),
        ("size", "1000000000000", "tb terabyte terabytes"),
        ("share", "1", "% percent prozent pct"),
        ("euro", "1", "€ eur euro euros"),
        ("dollar", "1", "$ usd dollar dollars"),
        ("pound", "1", "£ gbp"),
        ("length", "1", "km"),
    )
    for word in words.split()
}
_SCALES = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMBER = re.compile(
    rf"(?<![\w.,])(?P<before>[€$£])?\s?(?P<number>\d[\d,.' ]*(?<=\d)|(?:{'|'.join(_SPELLED)})(?![^\W_]))"
    r"(?P<scale>k(?!\w)|M(?!\w)|\s+(?:thousand|million|billion)(?!\w))?"
    r"(?:[\s-]{0,2}(?P<unit>%|€|\$|£|[^\W\d_]+))?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:-|–|to|and|or|bis|und|oder)\s*", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:[,.' ]\d{3})+")


class _Amount(NamedTuple):
    """*dimension* is empty for a number without a unit that we know."""

    said: str
    value: Decimal
    dimension: str


def _amounts(text: str) -> Iterator[_Amount]:
    """`40 to 60 %` are two percentages: the unit of the second is that of the first."""
    found = list(_NUMBER.finditer(text))
    for at, one in enumerate(found):
        unit = _unit(one)
        following = found[at + 1] if at + 1 < len(found) else None
        if not unit and following and _RANGE.fullmatch(text[one.end("number") : following.start("number")]):
            unit = _unit(following)
        value = _value(one["number"])
        if value is None:
            continue
        value *= _SCALES.get((one["scale"] or "").strip().casefold(), 1)
        dimension, factor = _UNITS[unit] if unit else ("", Decimal(1))
        said = one[0].strip() if _unit(one) else one[0][: one.end("number") - one.start()].strip()
        yield _Amount(said, (value * factor).normalize(), dimension)


def _unit(found: re.Match[str]) -> str:
    """`m` alone is a scale or a metre, and `b` in prose is a letter: only units in the table count."""
    named = (found["unit"] or found["before"] or "").casefold()
    return named if named in _UNITS else ""


def _value(written: str) -> Decimal | None:
    word = written.strip().casefold()
    if word in _SPELLED:
        return Decimal(_SPELLED[word])
    bare = word.strip(" ,.'")
    if _GROUPED.fullmatch(bare):
        bare = re.sub(r"[,.' ]", "", bare)
    parts = bare.replace(" ", "").replace("'", "").replace(",", ".").split(".")
    if not all(part.isdecimal() for part in parts):
        return None
    return Decimal(parts[0]) if len(parts) == 1 else Decimal(f"{parts[0]}.{''.join(parts[1:])}")


# --- how often ----------------------------------------------------------------------------------------------------

_PERIODS = {
    word: period
    for period, words in {
        "minute": "minute minutely",
        "hour": "hour hourly stunde stündlich",
        "day": "day daily night nightly tag täglich",
        "week": "week weekly woche wöchentlich",
        "month": "month monthly monat monatlich",
        "quarter": "quarter quarterly quartal",
        "year": "year yearly annual annually jahr jährlich",
    }.items()
    for word in words.split()
}
_COUNTS = {"once": 1, "einmal": 1, "twice": 2, "zweimal": 2, "thrice": 3}
_RATE = re.compile(
    rf"(?<!\w)(?:(?P<count>{'|'.join(_COUNTS)}|(?:\d{{1,9}}|{'|'.join(_SPELLED)})\s+times)\s+)?"
    rf"(?:(?P<each>every|each|jede[nrs]?)\s+|(?P<per>per|pro|an?|im)\s+)?(?P<period>{'|'.join(_PERIODS)})(?!\w)",
    re.IGNORECASE,
)


class _Rate(NamedTuple):
    """*times* is 0 where it is not said how many."""

    said: str
    times: int
    period: str


def _rates(claim: str, sources: Sequence[str]) -> Iterator[Lack]:
    known = {(rate.period, rate.times) for text in sources for rate in _rates_in(text)}
    for rate in _rates_in(claim):
        if rate.times and known.isdisjoint({(rate.period, rate.times), (rate.period, 0)}):
            yield Lack(Part.NUMBER, rate.said)


def _rates_in(text: str) -> Iterator[_Rate]:
    """`every month`, `monthly`, `twice a year`, and without how many times `a year` and `per year`."""
    for found in _RATE.finditer(text):
        word = found["period"].casefold()
        is_each = found["each"] or word.endswith(("ly", "lich")) or word == "annual"
        count = (found["count"] or "").casefold().removesuffix("times").strip()
        if is_each or found["per"]:
            times = _COUNTS.get(count) or int(with_digits(count) or bool(is_each))
            yield _Rate(found[0].strip(), times, _PERIODS[word])


# --- names --------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_](?:[\w'&+/.-]*[\w+])?")
_ENDS = frozenset('.!?:;•*|>(["“„«-')
_MOSTLY = 0.5
_STEM = 4
_LONGEST_STEM = 40
"""Longer words are compared by their beginning."""
_NO_NAMES = frozenset({"i", "i'm", "i'd", "i'll", "i've", "ok", "a", "ac"})


def _names(claim: str, sources: Sequence[str]) -> Iterator[Lack]:
    """
    Words with a capital inside a sentence, and words with digits or capitals inside them (`S3`, `OAuth`, `PDF`). In a
    title, and in German, capitals say nothing; there, a word counts when nothing in the sources begins like it.
    """
    heard = _Heard(sources)
    bare = _undated(claim)
    found = list(_WORD.finditer(bare))
    capitals = sum(one[0][0].isupper() for one in found[1:])
    is_title = len(found) > 2 and capitals >= _MOSTLY * (len(found) - 1)
    for before, one in zip((None, *found), found, strict=False):
        word = one[0].rstrip(".")
        if word.casefold() in {*_NO_NAMES, *_WEEKDAYS, *_MONTHS}:
            continue
        starts = _is_start(bare[before.end() if before else 0 : one.start()]) or one.start() == 0
        is_marked = _is_marked(word)
        if not is_marked and (not word[0].isupper() or starts or is_title):
            continue
        if not any(map(heard.begins_like, map(_stem, _all_words(word)))):
            yield Lack(Part.NAME, word)


def _is_start(gap: str) -> bool:
    """Whether a sentence, or a row, ends in *gap*, which stands before a word."""
    signs = gap.rstrip()
    return "\n" in gap[len(signs) :] or signs[-1:] in _ENDS


def _is_marked(word: str) -> bool:
    has_digit = any(letter.isdigit() for letter in word) and any(letter.isalpha() for letter in word)
    is_amount = bool(_NUMBER.fullmatch(word)) or bool(
        re.fullmatch(r"\d+(?:st|nd|rd|th|s|x)", word, re.IGNORECASE)
    )
    return (has_digit and not is_amount) or any(letter.isupper() for letter in word[1:])


def _all_words(text: str) -> Iterator[str]:
    """`src/sync.py` is one, and so are its parts."""
    for one in _WORD.finditer(text):
        yield one[0]
        yield from (part for part in re.split(r"[^\w]+", one[0]) if part and part != one[0])


def _stem(word: str) -> str:
    word = word.casefold()[:_LONGEST_STEM]
    return re.sub(r"(?:'s|s'|s|'|es|en|e)\Z", "", word.rstrip(".")) or word


def _as_written(stem: str, text: str) -> str:
    return next((one for one in _WORD.findall(text) if _stem(one) == stem), stem)


class _Heard:
    """The stems of all words of *sources*, to be asked for another that begins with one, or that one begins with."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._stems = {_stem(word) for text in sources for word in _all_words(text)}
        self._beginnings = {start for one in self._stems for start in _beginnings(one)}

    def begins_like(self, stem: str) -> bool:
        if stem in self._stems or stem in self._beginnings:
            return True
        return any(start in self._stems for start in _beginnings(stem))


def _beginnings(stem: str) -> Iterator[str]:
    return (stem[:end] for end in range(_STEM, len(stem) + 1))


# --- commitments --------------------------------------------------------------------------------------------------

_COMMITS = re.compile(
    r"(?<!\w)(?:decid\w+|decision|agree[ds]?|agreement|consensus|unanimous\w*|approv\w+|sign(?:ed|s)?[ -]off"
    r"|commit(?:ted|ment|s)|confirm(?:ed|s)|promis\w+|guarante\w+|accepted|withdr[ae]w\w*|retract\w+|concede[ds]?"
    r"|beschloss\w*|beschlüss\w*|entschied\w*|entscheid\w+|genehmigt\w*|zugesagt|zugestimmt|vereinbart\w*|einig"
    r"|décid\w+|validé\w*|approuv\w+|decidi\w+|aprob\w+|acord\w+)(?!\w)|決定|承認|合意",
    re.IGNORECASE,
)


def _commitments(claim: str, sources: Sequence[str]) -> Iterator[Lack]:
    """A claim that says what was decided, agreed or withdrawn, where no source has a word of that kind."""
    found = _COMMITS.search(claim)
    if found and not any(map(_COMMITS.search, sources)):
        yield Lack(Part.COMMITMENT, found[0])


# --- negations ----------------------------------------------------------------------------------------------------

_NEGATES = re.compile(
    r"not|no|never|none|nobody|nothing|neither|nor|cannot|without|\w+n't|dont|wont|cant"
    r"|nicht|kein\w*|ohne|nie|niemals|niemand|nichts|weder|pas|jamais|aucun\w*|sans|sin|nunca|ningun\w*|ningún",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"if|whether|unless|maybe|perhaps|might|could|would|wenn|falls|ob|vielleicht|könnten?|si|quizás|peut",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"drop\w*|exclud\w+|omit\w*|skip\w*|avoid\w*|reject\w*|refus\w+|forbid\w*|forbidden|prohibit\w*|prevent\w*|lack\w*"
    r"|miss|misses|missing|fail|fails|failed|failing|failure|against|remov\w+|delet\w+|stop\w*|except|leav\w+|left"
    r"|instead|unless|hardly|barely|disagree\w*|objec\w+|veto\w*|den(?:y|ies|ied)|block\w*|ban|bans|banned|lost|loses?"
    r"|out|off|offline|down|less|only|impossible|un\w{4,}|in(?:valid|complete|correct|consistent|accessible)"
    r"|\w{3,}less|weglass\w*|verzicht\w*|entf[aä]ll\w*|ausgeschlossen|abgelehnt|gegen|fehl\w+",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?;\n]")
_CLAUSE = re.compile(
    r"[:,()]|(?<!\w)(?:but|however|although|though|while|aber|sondern|mais|pero)(?!\w)", re.IGNORECASE
)
_SCOPE = 4
_AROUND = 2
"""So many words before and after a `not`."""
_FILLER = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been being by can could did do does for from had has have i in is it its "
        "of on or our she he should so than that the their them then there these they this those to us "
        "was we were what when which who will with would you your yet any all more most some very really "
        "also just still der die das den dem des ein eine einen einem einer und oder ist sind war wir ich "
        "sie es im in zu mit für auf von le la les un une des et est el los las y es ",
    )
)


class _Polarity(NamedTuple):
    """
    Stems of the words in sentences that deny nothing, of those that are denied (*first*: directly), and of the others
    in sentences with a denial or a refusal: what these say of them is not known. *refusals* are the words that refuse,
    where nothing denies them.
    """

    said: frozenset[str]
    denied: frozenset[str]
    first: frozenset[str]
    unclear: frozenset[str]
    refusals: frozenset[str]
    negates: bool


def _negations(claim: str, sources: Sequence[str]) -> Iterator[Lack]:
    ours, theirs = _polarity(claim), _polarity("\n".join(sources))
    if ours.first:
        contrary = sorted((ours.first & (theirs.said | theirs.refusals)) - theirs.denied)
        contrary = contrary or sorted(_put_in(claim, sources))
        if contrary and not ours.denied & theirs.denied:
            yield Lack(Part.NEGATION, _as_written(contrary[0], claim))
        elif not theirs.negates and not _is_turned(ours.first, theirs.said):
            yield Lack(Part.NEGATION, _as_written(min(ours.first), claim))
    elif not ours.negates:
        turned = sorted((ours.said & theirs.first) - theirs.said - theirs.unclear)
        if turned:
            yield Lack(Part.NEGATION, _as_written(turned[0], claim))


def _polarity(text: str) -> _Polarity:
    said: set[str] = set()
    denied: set[str] = set()
    first: set[str] = set()
    unclear: set[str] = set()
    refusals: set[str] = set()
    negates = False
    for sentence in _SENTENCE.split(text):
        rest, refused = set[str](), False
        for clause in _CLAUSE.split(sentence):
            reach = 0
            for word in _WORD.findall(clause):
                if _NEGATES.fullmatch(word):
                    refused, reach = True, _SCOPE
                    continue
                if _REFUSES.fullmatch(word):
                    refused = True
                    refusals.update(() if reach else {_stem(word)})
                if word.casefold() in _FILLER:
                    continue
                (denied if reach else rest).add(_stem(word))
                if reach == _SCOPE:
                    first.add(_stem(word))
                reach = max(reach - 1, 0)
        (unclear if refused else said).update(rest)
        negates = negates or refused
    return _Polarity(
        frozenset(said), frozenset(denied), frozenset(first), frozenset(unclear), frozenset(refusals), negates
    )


def _put_in(claim: str, sources: Sequence[str]) -> Iterator[str]:
    """What a claim denies by a `not` in the middle of words that a source has without it."""
    texts = [_letters(one) for one in sources]
    for before, after in islice(_denials(claim), _MOST_COMPARED):
        without = _letters(" ".join((*before, *after)))
        if any(without in text for text in texts):
            yield _stem(after[0])


def _denials(claim: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words before and after each `not` that stands in the middle of some."""
    for sentence in _SENTENCE.split(claim):
        words = _WORD.findall(sentence)
        for at, word in enumerate(words):
            before, after = words[max(0, at - _AROUND) : at], words[at + 1 : at + 1 + _AROUND]
            if before and after and len(before) + len(after) > _AROUND and _NEGATES.fullmatch(word):
                yield before, after


# --- opposites ----------------------------------------------------------------------------------------------------

_OPPOSITES = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("open opens opened", "closed closes close shut"),
        ("allowed allows allow permitted permits", "forbidden forbids forbid prohibited banned"),
        ("enabled enables", "disabled disables"),
        ("public publicly", "private privately confidential secret"),
        ("online", "offline"),
        ("required mandatory compulsory obligatory", "optional voluntary"),
        ("encrypted", "unencrypted plaintext"),
        ("synchronous synchronously", "asynchronous asynchronously"),
        ("manual manually", "automatic automatically automated"),
        ("minimum", "maximum"),
        ("increases increased rises rose grows grew", "decreases decreased falls fell shrinks shrank"),
        ("ascending", "descending"),
        ("internal internally", "external externally"),
        ("temporary temporarily", "permanent permanently"),
        ("full", "empty"),
        ("true", "false"),
        ("same identical", "different"),
        ("succeeds succeeded passes passed", "fails failed"),
        ("present", "absent missing"),
        ("free", "paid"),
        ("offen geöffnet", "geschlossen"),
        ("erlaubt", "verboten"),
        ("öffentlich", "privat vertraulich"),
        ("automatisch", "manuell"),
    )
)


def _opposites(claim: str, sources: Sequence[str]) -> Iterator[Lack]:
    """A claim with one of two opposites, where the sources say the other one of the same thing."""
    ours, polarity = {word.casefold() for word in _WORD.findall(claim)}, _polarity(claim)
    heard = {word.casefold() for text in sources for word in _all_words(text)}
    both_ways = (one for pair in _OPPOSITES for one in (pair, pair[::-1]))
    wanted = [(ours & said, other) for said, other in both_ways if ours & said and heard.isdisjoint(said)]
    if polarity.denied or not wanted:
        return
    told = set(_told_of(polarity.said | polarity.unclear, sources))
    for said, other in wanted:
        if not told.isdisjoint(other):
            yield Lack(Part.NEGATION, _as_written(_stem(min(said)), claim))


def _told_of(about: frozenset[str], sources: Sequence[str]) -> Iterator[str]:
    """The words of the sentences that say something of the same, and deny nothing."""
    for sentence in (one for text in sources for one in _SENTENCE.split(text)):
        found = _polarity(sentence)
        if not found.denied and about & (found.said | found.unclear):
            yield from (word.casefold() for word in _WORD.findall(sentence))


def _is_turned(denied: frozenset[str], said: frozenset[str]) -> bool:
    """Whether the opposite of what is denied is said: what is *not public* is *private*."""
    return any(
        not denied.isdisjoint(map(_stem, one)) and not said.isdisjoint(map(_stem, other))
        for pair in _OPPOSITES
        for one, other in (pair, pair[::-1])
    )


# --- a source that is about something else ------------------------------------------------------------------------

_ENOUGH = 2
_SPACED = re.compile(r"[A-Za-zÀ-ɏ]")
_PARTS = re.compile(r"[.;:,](?:\s|\Z)|\s(?:and|but|und|aber|et|mais)\s", re.IGNORECASE)


def _nothing_said(claim: str, sources: Sequence[str]) -> Iterator[Lack]:
    """
    Not one word of a part of the claim stands in its sources. A claim of a single word, and scripts without spaces, are
    left alone.
    """
    heard = _Heard(sources)
    for part in _PARTS.split(claim) if _SPACED.search(claim) else ():
        words = {_stem(one) for one in _all_words(part) if one.casefold() not in _FILLER and len(one) > 2}
        if len(words) >= _ENOUGH and not any(map(heard.begins_like, words)):
            yield Lack(Part.WORDS, "")
