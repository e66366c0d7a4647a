"""Simulated people: they say sentences of their sheets, word for word, and only those that a question asks for."""

import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from bot.domain.values.text import sentences_in
from roundtable_eval.meeting import Meeting, SheetSentence, matches

MOST_QUESTIONS = 9
MOST_SENTENCES = 2
"""Of an answer."""
DOES_NOT_KNOW = "I don't know."

Ask = Callable[[str, Mapping[str, str]], Awaitable[Mapping[str, Any]]]
"""Asks a model for a JSON object: the task, and material by its label. An answer that cannot be read is empty."""

Sheets = Mapping[str, Sequence[SheetSentence]]
"""By person."""

_AND = re.compile(r"\s(?:and|und|et|&)\s")


class SpokenLine(NamedTuple):
    """*fact* is the id of the sentence of a sheet that it is, if it is one."""

    id: str
    speaker: str
    text: str
    fact: str = ""


class People(Protocol):
    async def chosen(self, question: str, sheets: Sheets) -> Collection[str]:
        """The ids of the sentences that *question* asks for, among those of the people whom it is put to."""
        ...


class ScriptedPeople:
    """By the words of each sentence."""

    async def chosen(self, question: str, sheets: Sheets) -> Collection[str]:
        return [
            one.id
            for sheet in sheets.values()
            for one in [one for one in sheet if one.asked and matches(question, one.asked)][:MOST_SENTENCES]
        ]


class ChoosingPeople:
    """A small model chooses the sentences; it cannot change them."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def chosen(self, question: str, sheets: Sheets) -> Collection[str]:
        known = {one.id for sheet in sheets.values() for one in sheet}
        if not known:
            return ()
        rows = [f"{one.id} ({name}): {one.says}" for name, sheet in sheets.items() for one in sheet]
        task = (
            f"People were asked this question. Which of their sentences answer it? At most {MOST_SENTENCES}, none if "
            'none answers what was asked. Give nothing but a JSON object: {"ids": ["id of a sentence"]}'
        )
        given = (await self._ask(task, {"question": question, "sentences": "\n".join(rows)})).get("ids")
        ids = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
        return [one for one in dict.fromkeys(ids) if one in known][:MOST_SENTENCES]


class Room:
    """
    One play of a meeting. *lines* are all that was said, *files* what everybody may look at. The contender asks; after
    its first round of questions people also say what they say unasked.
    """

    def __init__(self, meeting: Meeting, people: People) -> None:
        self.key, self.title, self.lead = meeting.key, meeting.title, meeting.lead
        self.files = dict(meeting.evidence)
        self.roles = {name: person.role for name, person in meeting.people.items()}
        self.lines: list[SpokenLine] = []
        self.asked = 0
        self.surfaced: set[str] = set()
        """Ids of what was said because it was asked for."""
        self.first_asked: float | None = None
        """On the clock of `time.monotonic`."""
        self._meeting = meeting
        self._people = people
        for name, person in meeting.people.items():
            self._say(name, person.opens)
        self._volunteer(lambda one: not one.asked)

    @property
    def may_ask(self) -> int:
        return MOST_QUESTIONS - self.asked

    async def ask(self, *texts: str) -> tuple[SpokenLine, ...]:
        """A round: the questions in *texts*, as many as are allowed, and what people say then."""
        before = len(self.lines)
        for text in texts:
            to = addressed(text, self.roles)
            for question in questions_in(text)[: self.may_ask]:
                self.asked += 1
                self.first_asked = self.first_asked or time.monotonic()
                await self._answer(question, to)
        self._volunteer(lambda one: one.volunteers)
        return tuple(self.lines[before:])

    async def _answer(self, question: str, to: Collection[str]) -> None:
        said = {line.fact for line in self.lines}
        sheets = {name: self._meeting.people[name].sheet for name in to or self.roles}
        unsaid = {name: [one for one in sheet if one.id not in said] for name, sheet in sheets.items()}
        chosen = await self._people.chosen(question, unsaid)
        for name, sheet in unsaid.items():
            answer = [one for one in sheet if one.id in chosen]
            for one in answer:
                self.surfaced.add(one.id)
                self._say(name, one.says, one.id)
            is_said = any(one.id in said and matches(question, one.asked) for one in sheets[name])
            if name in to and not answer and not is_said:
                self._say(name, DOES_NOT_KNOW)

    def _volunteer(self, may: Callable[[SheetSentence], bool]) -> None:
        said = {line.fact for line in self.lines}
        for name, person in self._meeting.people.items():
            for one in person.sheet:
                if may(one) and one.id not in said:
                    self._say(name, one.says, one.id)

    def _say(self, speaker: str, text: str, fact: str = "") -> None:
        if text:
            self.lines.append(SpokenLine(f"m{len(self.lines) + 1}", speaker, text, fact))


def questions_in(text: str) -> list[str]:
    """Each with the sentences before it."""
    found, words = list[str](), list[str]()
    for sentence in sentences_in(text):
        words.append(sentence)
        if sentence.endswith(("?", "？")):
            found.append(" ".join(words))
            words = []
    return found


def addressed(question: str, people: Collection[str]) -> tuple[str, ...]:
    """The people named before the first words of *question*, or after its last; none where it is put to everybody."""
    named: list[str] = []
    for part in re.split("[,:]", question):
        names = [one.strip().lstrip("@") for one in _AND.split(part)]
        if not all(one in people for one in names):
            break
        named += names
    last = re.split("[,:]", question)[-1].strip(" \n?？!.")
    return tuple(dict.fromkeys(named)) or ((last,) if last in people else ())
