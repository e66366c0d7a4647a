"""A record is held against what people said and what the code says."""

from pathlib import Path

import pytest

from roundtable_eval.people import Room, ScriptedPeople
from roundtable_eval.scoring import Play, QuotedLine, Record, Statement, StatementKind, score
from tests.evaluation.meetings import meeting_of

FACTS = 7  # six sentences that are no lie, and one of code
OBJECTION, DECISION, SENTENCE = StatementKind.OBJECTION, StatementKind.DECISION, StatementKind.SENTENCE


def quoting(line: str, words: str = "Our bank closes") -> tuple[QuotedLine, ...]:
    return (QuotedLine(line, words),)


NOTHING = {"recorded": 0, "wrong": 0, "dissents_lost": 1, "decisions_invented": 0}
BANK, FRIDAY, DISSENT, LIE = "g1", "g3", "g4", "g5"
"""Lines, by what is said in them."""


@pytest.mark.parametrize(
    ("record", "changes"),
    [
        ((), {}),
        ((Statement("The bank's day ends at 16:00", quoting(BANK)),), {"recorded": 1}),
        ((Statement("It closes", quoting(BANK)), Statement("At 16:00", quoting(BANK))), {"recorded": 1}),
        ((Statement("It closes", quoting(BANK), unchecked=True),), {}),
        ((Statement("It closes", quoting(BANK, "words that are not there")),), {}),
        ((Statement("It closes", quoting(BANK, "")),), {}),
        ((Statement("It closes", quoting("g2")),), {}),
        ((Statement("At noon on Fridays", quoting(FRIDAY, "closes at noon")),), {"recorded": 1}),
        ((Statement("At noon", quoting(FRIDAY, "closes at noon")),), {}),
        ((Statement("5,000 a day", quoting("src/payouts.py:2@1a2b3c4", "LIMIT")),), {"recorded": 1}),
        ((Statement("5,000 a day", quoting("src/payouts.py:3-9", "LIMIT")),), {}),
        ((Statement("5,000 a day", quoting("src/payouts.py", "LIMIT")),), {}),
        ((Statement("It resets at midnight"),), {"wrong": 1}),
        ((Statement("It resets at midnight", unchecked=True),), {}),
        ((Statement("All well", quoting(LIE, "ever paid twice")),), {"wrong": 1}),
        (
            (Statement("Or not", (*quoting(LIE, "paid twice"), *quoting(BANK))),),
            {"recorded": 1},
        ),
        (
            (Statement("An alert is missing.", kind=OBJECTION, by="Grace"),),
            {"recorded": 1, "dissents_lost": 0},
        ),
        ((Statement("An alert is missing.", kind=OBJECTION, by="Ada"),), {}),
        ((Statement("An alert would be nice.", kind=OBJECTION, by="Grace"),), {}),
        ((Statement("An alert is missing.", quoting(DISSENT, "an alert is missing")),), {}),
        ((Statement("It resets at midnight.", kind=SENTENCE),), {"wrong": 1}),
        ((Statement("It resets at midnight.", unchecked=True, kind=SENTENCE),), {}),
        ((Statement("It never happens.", quoting(LIE, "ever paid twice"), kind=SENTENCE),), {"wrong": 1}),
        ((Statement("It closes at 16:00.", quoting(BANK), kind=SENTENCE),), {}),
        ((Statement("Limit it", kind=DECISION, by="Ada"),), {"decisions_invented": 1}),
    ],
)
async def test_each_statement_counts_for_what_it_rests_on(
    record: Record, changes: dict[str, int], tmp_path: Path
) -> None:
    """A dissent that was said and is not there word for word, with its owner, is lost."""
    meeting = meeting_of(tmp_path)
    room = Room(meeting, ScriptedPeople())
    for question in (
        "when does the bank close?",
        "and when else, the bank?",
        "what worries you? Who was paid twice?",
    ):
        await room.ask(f"Grace, {question}")
    lines = {line.fact: line.id for line in room.lines}
    told = tuple(
        one._replace(
            quotes=tuple(quote._replace(line=lines.get(quote.line, quote.line)) for quote in one.quotes)
        )
        for one in record
    )
    found = score(meeting, room, Play(told, room.files))
    counts = {name: getattr(found, name) for name in NOTHING}

    assert counts == {**NOTHING, **changes}
    against = found.wrong + found.dissents_lost + found.decisions_invented
    assert found.net == pytest.approx((found.recorded - 2 * against) / FACTS)
    assert (found.facts, found.surfaced, found.asked) == (FACTS, 4, 4)


async def test_a_dissent_that_nobody_asked_for_is_not_lost(tmp_path: Path) -> None:
    meeting = meeting_of(tmp_path)
    room = Room(meeting, ScriptedPeople())
    found = score(meeting, room, Play((), room.files))

    assert (found.dissents_lost, found.net, found.surfaced_per_question) == (0, 0.0, 0.0)
