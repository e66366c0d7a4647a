"""Contenders of planted quality, for `--scripted`: they test the evaluation, and say nothing about models."""

import random
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from roundtable_eval.meeting import CodeFact, Meeting, SheetSentence, WrongStatement
from roundtable_eval.people import Room
from roundtable_eval.scoring import Play, PlayCost, QuotedLine, Statement, StatementKind

WRONG_CHANCES = 2
"""For each wrong statement of a file, how often a contender may make it."""


class PlantedQuality(NamedTuple):
    """How often it asks well, records what it heard, says what is wrong, loses a dissent and invents a decision."""

    asks_well: float
    records: float
    wrong: float
    loses_dissent: float
    tokens: int
    asks: bool = True
    invents: float = 0.0


RIVALS = {
    "alone": PlantedQuality(0.55, 0.85, 0.10, 0.30, 9_000),
    "alone+checks": PlantedQuality(0.55, 0.85, 0.03, 0.05, 12_000),
    "alone x3 + critic": PlantedQuality(0.60, 0.88, 0.03, 0.05, 33_000),
}


class PlantedPanel(StrEnum):
    BETTER = "better"
    SAME = "same"
    WORSE = "worse"


PANELS: Mapping[PlantedPanel, PlantedQuality] = {
    PlantedPanel.BETTER: PlantedQuality(0.80, 0.88, 0.03, 0.00, 30_000),
    PlantedPanel.SAME: PlantedQuality(0.60, 0.88, 0.03, 0.05, 30_000),
    PlantedPanel.WORSE: PlantedQuality(0.35, 0.85, 0.08, 0.00, 30_000),
}


class PlantedContender:
    """It knows the *meetings*, by their keys."""

    def __init__(self, name: str, quality: PlantedQuality, meetings: Mapping[str, Meeting]) -> None:
        self.name = name
        self._quality = quality
        self._meetings = meetings

    async def play(self, room: Room, seed: str) -> Play:
        rng, meeting = random.Random(f"{seed}/{self.name}"), self._meetings[room.key]
        await self._ask(meeting, room, rng)
        took = int(self._quality.tokens * rng.uniform(0.9, 1.1))
        record = tuple(self._recorded(meeting, room, rng))
        return Play(record, room.files, PlayCost(tokens_in=took))

    async def _ask(self, meeting: Meeting, room: Room, rng: random.Random) -> None:
        if meeting.questions is None or not self._quality.asks:
            await room.ask()
            return
        good = rng.sample(meeting.questions.good, k=len(meeting.questions.good))
        for question in good[: room.may_ask]:
            asks_well = rng.random() < self._quality.asks_well
            await room.ask(question if asks_well else rng.choice(meeting.questions.vague))

    def _recorded(self, meeting: Meeting, room: Room, rng: random.Random) -> Iterator[Statement]:
        known: Mapping[str, SheetSentence | CodeFact] = {
            **{one.id: one for one in meeting.sentences},
            **{one.id: one for one in meeting.code},
        }
        for line in room.lines:
            one = known.get(line.fact)
            if isinstance(one, SheetSentence) and rng.random() < self._chance(one):
                kind = StatementKind.OBJECTION if one.dissent else StatementKind.VALUE
                yield Statement(line.text, (QuotedLine(line.id, line.text),), kind=kind, by=line.speaker)
        for fact in meeting.code:
            if rng.random() < self._quality.records:
                yield Statement(" ".join((fact.says, *fact.must)), (QuotedLine(f"{fact.path}:{fact.lines}"),))
        for wrong in meeting.wrong:
            for _ in range(WRONG_CHANCES):
                if rng.random() < self._quality.wrong:
                    yield Statement(_words_of(wrong))
        if rng.random() < self._quality.invents:
            yield Statement("This is decided.", kind=StatementKind.DECISION)

    def _chance(self, one: SheetSentence) -> float:
        if one.dissent:
            return 1 - self._quality.loses_dissent
        return self._quality.wrong if one.lies else self._quality.records


def _words_of(wrong: WrongStatement) -> str:
    return " ".join(group[0] for group in wrong.all)


def planted_contenders(panel: PlantedPanel, meetings: Iterable[Meeting]) -> tuple[PlantedContender, ...]:
    """The panel first."""
    known = {one.key: one for one in meetings}
    qualities = {f"panel: {panel}": PANELS[panel], **RIVALS}
    return tuple(PlantedContender(name, quality, known) for name, quality in qualities.items())
