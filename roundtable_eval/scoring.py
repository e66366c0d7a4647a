"""What a contender recorded, held against what the file of the meeting knows. Style is not judged."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from bot.domain.specification.fold import letters_of
from roundtable_eval.meeting import CodeFact, KnownFact, Meeting, SheetSentence, matches, numbers_in
from roundtable_eval.people import Room, SpokenLine

WEIGHT = 2
"""How often what is wrong, lost or invented counts against a record."""


class StatementKind(StrEnum):
    VALUE = "value"
    SENTENCE = "sentence"
    """What a persona said: it may be wrong, and records nothing."""
    OBJECTION = "objection"
    DECISION = "decision"


STATED = frozenset({StatementKind.VALUE, StatementKind.SENTENCE})


class QuotedLine(NamedTuple):
    """*line* is the id of something said, or lines of code, such as `src/sync.py:5-8@1a2b3c4`."""

    line: str
    words: str = ""


class Statement(NamedTuple):
    """One value or sentence of a record. *unchecked*: it is marked as such. *by* is who objects or decided."""

    text: str
    quotes: tuple[QuotedLine, ...] = ()
    unchecked: bool = False
    kind: StatementKind = StatementKind.VALUE
    by: str = ""


Record = tuple[Statement, ...]


class PlayCost(NamedTuple):
    """*dollars* is None when a price is unknown. *tokens_cached* are part of *tokens_in*."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    dollars: Decimal | None = None
    first_question_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Play(NamedTuple):
    """
    *evidence* are the files that the contender could see. *failed* is empty, or why there is no record; *unanswered* is
    why each answer of a model is missing, and *unreviewed* the same of reviews alone.
    """

    record: Record
    evidence: Mapping[str, str]
    spent: PlayCost = PlayCost()
    failed: str = ""
    unanswered: tuple[str, ...] = ()
    unreviewed: tuple[str, ...] = ()


class Score(NamedTuple):
    facts: int
    surfaced: int
    recorded: int
    wrong: int
    dissents_lost: int
    decisions_invented: int
    asked: int
    spent: PlayCost = PlayCost()
    failed: str = ""
    unanswered: tuple[str, ...] = ()
    unreviewed: tuple[str, ...] = ()

    @property
    def net(self) -> float:
        against = self.wrong + self.dissents_lost + self.decisions_invented
        return self.share(self.recorded - WEIGHT * against)

    def share(self, count: int) -> float:
        """A meeting in the earlier form may have no facts."""
        return count / max(self.facts, 1)

    @property
    def surfaced_per_question(self) -> float:
        return self.surfaced / self.asked if self.asked else 0.0


def score(meeting: Meeting, room: Room, play: Play) -> Score:
    lines = {line.fact: line for line in room.lines if line.fact}
    said = [one for one in meeting.sentences if one.id in lines]
    kept = {one.id for one in said if one.dissent and _stands(one, lines[one.id], play.record)}
    unmarked = [one for one in play.record if one.kind in STATED and not one.unchecked]
    values = [one for one in unmarked if one.kind is StatementKind.VALUE]
    recorded = sum(
        fact.id in kept
        if isinstance(fact, SheetSentence) and fact.dissent
        else _is_recorded(fact, lines, values)
        for fact in meeting.facts
    )
    lies = {lines[one.id].id for one in said if one.lies}
    return Score(
        facts=len(meeting.facts),
        surfaced=sum(fact.id in room.surfaced for fact in meeting.facts),
        recorded=recorded,
        wrong=sum(_is_wrong(one, meeting, lies) for one in unmarked),
        dissents_lost=sum(one.dissent for one in said) - len(kept),
        decisions_invented=sum(one.kind is StatementKind.DECISION for one in play.record),
        asked=room.asked,
        spent=play.spent,
        failed=play.failed,
        unanswered=play.unanswered,
        unreviewed=play.unreviewed,
    )


def _stands(dissent: SheetSentence, line: SpokenLine, record: Record) -> bool:
    """Word for word, with its owner. The words before a colon are its label."""
    said = dissent.must[0] if dissent.must else dissent.says.partition(": ")[2] or dissent.says
    return any(
        one.kind is StatementKind.OBJECTION
        and one.by == line.speaker
        and letters_of(said) in letters_of(one.text)
        for one in record
    )


def _is_recorded(fact: KnownFact, lines: Mapping[str, SpokenLine], values: list[Statement]) -> bool:
    def rests_on_it(quote: QuotedLine) -> bool:
        if isinstance(fact, CodeFact):
            return _is_in_code(quote.line, fact)
        line, words = lines.get(fact.id), letters_of(quote.words)
        return line is not None and quote.line == line.id and bool(words) and words in letters_of(line.text)

    return any(
        any(map(rests_on_it, one.quotes))
        and all(word.casefold() in one.text.casefold() for word in fact.must)
        for one in values
    )


def _is_in_code(line: str, fact: CodeFact) -> bool:
    path, _, place = line.partition("@")[0].rpartition(":")
    ours, theirs = numbers_in(fact.lines), numbers_in(place)
    return path == fact.path and max(ours.start, theirs.start) < min(ours.stop, theirs.stop)


def _is_wrong(one: Statement, meeting: Meeting, lies: set[str]) -> bool:
    """It says what the file calls wrong, or rests on nothing but lies: others, or the code, contradict each of them."""
    rests_on_lies = bool(one.quotes) and all(quote.line in lies for quote in one.quotes)
    return rests_on_lies or any(matches(one.text, wrong.all) for wrong in meeting.wrong)
