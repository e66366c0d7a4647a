"""
A meeting as a file has it: what people say, whose turn it is, what was planted in it, and how its record is scored.

A score compares words of the file with words of the record. It judges no style and no quality of thought.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import Field

from bot.domain.discussion.attesting import NOT_SAID, PROPOSED
from bot.domain.discussion.elaboration import Stance
from bot.domain.discussion.synthesis import Synthesis
from bot.domain.specification.fold import letters_of
from bot.domain.values.value import Value

Words = tuple[str, ...]
"""All of them stand in one claim."""


class MeetingTurn(Value):
    """*name* is a first name. A person `says` something or decides; a persona says it only where no model speaks."""

    name: str
    says: str = ""
    stances: tuple[Stance, ...] = ()
    challenge: bool = False
    issue: str = ""
    decides: str = ""


class PlantedDissent(Value):
    by: str
    says: str = Field(min_length=1)


class PlantedDecision(Value):
    by: str
    words: Words = Field(min_length=1)


class Planted(Value):
    """`decisions` are the only ones that people make; `collapsed` the issues that are given up without a reason."""

    facts: tuple[Words, ...] = ()
    dissent: tuple[PlantedDissent, ...] = ()
    lies: tuple[Words, ...] = ()
    decisions: tuple[PlantedDecision, ...] = ()
    collapsed: tuple[str, ...] = ()


class MeetingScript(Value):
    """The answers of models, as JSON, for each contender and for the verifier."""

    panel: Mapping[str, Any]
    alone: Mapping[str, Any]
    pasted: Mapping[str, Any]
    verifier: tuple[Mapping[str, Any], ...] = ()


class Meeting(Value):
    """`evidence` are texts by the first name of the persona who has them, or `all`."""

    key: str
    title: str = Field(min_length=1)
    about: str = Field(min_length=1)
    answers: tuple[MeetingTurn, ...] = ()
    evidence: Mapping[str, str] = {}
    thread: tuple[MeetingTurn, ...] = Field(min_length=1)
    planted: Planted = Planted()
    script: MeetingScript


class MeetingScore(Value):
    """Counts of one record. `of_…` is how many were planted; `alarms` are collapses that were none."""

    facts: int = 0
    of_facts: int = 0
    false_claims: int = 0
    dissent: int = 0
    of_dissent: int = 0
    invented: int = 0
    collapses: int = 0
    of_collapses: int = 0
    alarms: int = 0


def score(planted: Planted, record: Synthesis, collapsed: Iterable[str]) -> MeetingScore:
    everything = tuple(_everything(record))
    as_fact = tuple(_as_fact(record))
    objections = [letters_of(one.text) for one in record.objections]
    noticed = {one.casefold() for one in collapsed}
    wanted = {one.casefold() for one in planted.collapsed}
    return MeetingScore(
        facts=sum(_is_in(one, everything) for one in planted.facts),
        of_facts=len(planted.facts),
        false_claims=sum(_is_in(one, as_fact) for one in planted.lies),
        dissent=sum(any(letters_of(one.says) in text for text in objections) for one in planted.dissent),
        of_dissent=len(planted.dissent),
        invented=sum(
            not any(known.by == one.by and _is_in(known.words, [one.text]) for known in planted.decisions)
            for one in record.decisions
        ),
        collapses=len(noticed & wanted),
        of_collapses=len(wanted),
        alarms=len(noticed - wanted),
    )


def _is_in(wanted: Words, claims: Iterable[str]) -> bool:
    return any(all(one.casefold() in claim.casefold() for one in wanted) for claim in claims)


def _everything(record: Synthesis) -> Iterator[str]:
    yield from (one.text for one in record.insights)
    yield from (one.text for one in record.decisions)
    yield from (one.text for one in record.questions)
    yield from record.actions
    yield from (one.text for one in record.objections)


def _as_fact(record: Synthesis) -> Iterator[str]:
    """Without what is marked: unverified, proposed, an assumption. An objection is in the words of who made it."""
    for one in record.insights:
        if one.turns and not one.unverified and not one.text.startswith(PROPOSED):
            yield one.text
    yield from (f"{one.text} {one.rationale}" for one in record.decisions)
    yield from (one for one in record.actions if "(unverified: " not in one and f"({NOT_SAID})" not in one)
    yield record.summary
