"""The words of `operators.yaml`: what turns a sentence around, by operator and in each language. Content, not code."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from bot.domain.values.value import Value


def _split(given: Any) -> Any:
    return tuple(given.split()) if isinstance(given, str) else given


def _of_each(given: Any) -> Any:
    """`{two zwei: 2}` as `{two: 2, zwei: 2}`."""
    if not isinstance(given, Mapping):
        return given
    return {word: value for names, value in given.items() for word in str(names).split()}


def _same(given: Any) -> Any:
    """`january januar | february` as groups of words."""
    return tuple(tuple(one.split()) for one in given.split("|")) if isinstance(given, str) else given


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""`_` joins a phrase, `*` is any beginning or end, `~` any place."""
Numbers = Annotated[Mapping[str, Annotated[Decimal, BeforeValidator(str)]], BeforeValidator(_of_each)]
Groups = Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_same)]


class Counts(StrEnum):
    """Whether an operator counts only where a claim drops it, or only where a claim adds it."""

    DROPPED = "dropped"
    ADDED = "added"


class Operator(Value):
    """`means` are its words, `like` those that may stand for them on the other side."""

    means: Words = Field(alias="is")
    like: Words = ()
    only: Counts | None = None


class Patterns:
    """Words and phrases, as they stand in the file."""

    def __init__(self, given: Iterable[str]) -> None:
        given = tuple(given)
        self._whole = frozenset(one for one in given if not {"*", "~"} & {one[0], one[-1]})
        self._begins = tuple(one[:-1] for one in given if one[-1] == "*")
        self._ends = tuple(one[1:] for one in given if one[0] == "*")
        self._within = tuple(one[1:] for one in given if one[0] == "~")

    def has(self, word: str) -> bool:
        return (
            word in self._whole
            or word.startswith(self._begins)
            or word.endswith(self._ends)
            or any(one in word for one in self._within)
        )

    def in_words(self, words: Iterable[str]) -> list[str]:
        return [word for word in words if self.has(word)]

    def without(self, word: str) -> str:
        """*word* of a script without spaces, with a space for each of these in it."""
        for one in self._within:
            word = word.replace(one, " ")
        return word


class OperatorPatterns(NamedTuple):
    name: str
    means: Patterns
    like: Patterns
    only: Counts | None


DATE = "date_"
"""What the name of a month or weekday begins with, once a text is read."""


class Operators(Value):
    """
    `units` are factors by dimension, `dates` names of the same month or weekday, `one` what means one of a unit.
    `reports` are words of saying, such as `said`; `stances` say that somebody is for or against something. A sentence
    with one of them tells what somebody said, unless a word of `asking` in it (`who`, `which`) says that this is not
    known.
    """

    operators: Mapping[str, Operator] = {}
    opposites: tuple[tuple[Words, Words], ...] = ()
    numbers: Numbers = Field({})
    scales: Numbers = Field({})
    units: Mapping[str, Numbers] = {}
    dates: Mapping[str, Groups] = {}
    passive: Words = ()
    one: Words = ()
    filler: Words = ()
    reports: Words = ()
    stances: Words = ()
    asking: Words = ()

    @cached_property
    def tables(self) -> "OperatorTables":
        return OperatorTables(self)


class OperatorTables:
    """
    What `Operators` say, ready to be looked for. Opposites stand in both directions; `dates` are one name for a month
    or weekday in every language, `months` these names; `phrases` are with spaces and as one word, the longest first.
    """

    def __init__(self, given: Operators) -> None:
        operators = given.operators.items()
        self.operators = [
            OperatorPatterns(name, Patterns(one.means), Patterns(one.like), one.only)
            for name, one in operators
        ]
        means = {one.name: one.means for one in self.operators}
        self.decided, self.question, self.denied = (
            means.get(name, Patterns(())) for name in ("decided", "asked", "not")
        )
        pairs = [(Patterns(one), Patterns(other)) for one, other in given.opposites]
        self.opposites = [*pairs, *((other, one) for one, other in pairs)]
        self.reports, self.stances, self.asking = map(Patterns, (given.reports, given.stances, given.asking))
        self.one, self.filler = frozenset(given.one), frozenset(given.filler)
        self.numbers = {word: f"{value.normalize():f}" for word, value in given.numbers.items()}
        self.scales = [(Patterns([word]), value) for word, value in given.scales.items()]
        self.units = [
            (Patterns([word]), dimension, factor)
            for dimension, of in given.units.items()
            for word, factor in of.items()
        ]
        self.dates = {name: DATE + names[0] for of in given.dates.values() for names in of for name in names}
        self.months = [names[0] for names in given.dates.get("month", ())]
        groups = (*(group for _, one in operators for group in (one.means, one.like)), given.stances)
        words = sorted(
            (word for group in groups for word in group if "_" in word), key=lambda one: (-len(one), one)
        )
        self.phrases = [(f" {one.replace('_', ' ')} ", f" {one} ") for one in words]
