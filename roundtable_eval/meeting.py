"""A meeting to be played: what everybody may see, and what each person knows and says only when asked."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from bot.domain.values.value import Value

Words = tuple[str, ...]
WordGroups = tuple[Annotated[Words, Field(min_length=1)], ...]
"""A text matches when it has a word of each group; the beginning of a word is enough."""
LONGEST_NUMBER = 6
"""Of a line, in digits."""
Text = Annotated[str, Field(min_length=1)]


class KnownFact(Value):
    """Something that a good record has. All of *must* stand in what is recorded of it."""

    id: Text
    says: Text
    must: Words = ()


class SheetSentence(KnownFact):
    """What a person says word for word, when a question *asked* for it. One that *lies* is no fact."""

    asked: WordGroups
    dissent: bool = False
    volunteers: bool = False
    lies: bool = False


class CodeFact(KnownFact):
    """*lines* of a file of the evidence, such as `3` or `3-5`."""

    path: str
    lines: str


class SimulatedPerson(Value):
    """Only what *opens* is said unasked."""

    role: str = ""
    opens: str = ""
    sheet: tuple[SheetSentence, ...] = ()


class WrongStatement(Value):
    """What must not be recorded as a fact."""

    id: Text
    all: Annotated[WordGroups, Field(min_length=1)]


class ScriptedQuestions(Value):
    """What a planted contender asks."""

    good: Annotated[Words, Field(min_length=1)]
    vague: Annotated[Words, Field(min_length=1)]


class Meeting(Value):
    """*evidence* are the files of the repository, by path; *lead* is the first name of a persona."""

    key: str
    title: Text
    lead: str = ""
    evidence: Mapping[str, str] = {}
    people: Annotated[Mapping[str, SimulatedPerson], Field(min_length=1)]
    code: tuple[CodeFact, ...] = ()
    wrong: tuple[WrongStatement, ...] = ()
    questions: ScriptedQuestions | None = None

    @property
    def sentences(self) -> tuple[SheetSentence, ...]:
        return tuple(one for person in self.people.values() for one in person.sheet)

    @property
    def facts(self) -> tuple[KnownFact, ...]:
        return (*(one for one in self.sentences if not one.lies), *self.code)

    @property
    def has_sheets(self) -> bool:
        return any(one.asked for one in self.sentences)


def matches(text: str, groups: WordGroups) -> bool:
    lower = text.casefold()
    return all(any(word.casefold() in lower for word in group) for group in groups)


def numbers_in(lines: str) -> range:
    """Of `3` or `3-5`; none for anything else."""
    first, _, last = lines.partition("-")
    ends = [one for one in (first, last or first) if one.isdecimal() and len(one) <= LONGEST_NUMBER]
    return range(int(ends[0]), int(ends[-1]) + 1) if ends[1:] else range(0)
