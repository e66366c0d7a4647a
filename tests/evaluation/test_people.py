"""Simulated people say sentences of their sheets, and only those that a question asks for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from roundtable_eval.people import (
    DOES_NOT_KNOW,
    MOST_QUESTIONS,
    ChoosingPeople,
    Room,
    ScriptedPeople,
    addressed,
)
from tests.evaluation.meetings import meeting_of

TEAM = "The limit counts per team."
SUPPORT = "Support may lift it once."


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(meeting_of(tmp_path), ScriptedPeople())


def said(room: Room) -> list[tuple[str, str]]:
    return [(line.speaker, line.text) for line in room.lines]


async def test_who_is_asked_answers_in_the_words_of_the_sheet(room: Room) -> None:
    """Afterwards people say unasked what they say so; nobody else says anything."""
    await room.ask("Ada, does the limit count per user?")

    assert said(room) == [("Ada", "We want a limit for payouts."), ("Ada", TEAM), ("Ada", SUPPORT)]
    assert room.surfaced == {"a1"}


async def test_an_answer_has_at_most_two_sentences_and_none_twice(room: Room) -> None:
    await room.ask("Grace, when does the day of the bank end?")
    assert [line.fact for line in room.lines if line.speaker == "Grace"] == ["g1", "g2"]
    await room.ask("Grace, when does the day of the bank end?")
    assert [line.fact for line in room.lines if line.speaker == "Grace"] == ["g1", "g2", "g3"]
    await room.ask("Grace, when does the day of the bank end?")
    assert room.lines[-1].fact == "g3"


async def test_who_is_asked_for_what_another_knows_does_not_know_it(room: Room) -> None:
    await room.ask("Ada, when does the bank close?")

    assert ("Ada", DOES_NOT_KNOW) in said(room)
    assert "Grace" not in {line.speaker for line in room.lines}


async def test_a_question_to_everybody_is_answered_by_who_knows(room: Room) -> None:
    await room.ask("What worries you?")

    assert [line.fact for line in room.lines] == ["", "g4", "a2"]


async def test_nine_questions_are_allowed(room: Room) -> None:
    """Questions count one by one, in however many messages they come."""
    await room.ask("Is it so? And so? Or so?", *["Really?"] * 8)

    assert (room.asked, room.may_ask) == (MOST_QUESTIONS, 0)
    await room.ask("Grace, when does the bank close?")
    assert room.surfaced == set()


async def test_without_a_question_people_say_only_what_they_say_unasked(room: Room) -> None:
    await room.ask("This is clear.")

    assert said(room)[1:] == [("Ada", SUPPORT)]
    assert (room.asked, room.surfaced, room.first_asked) == (0, set(), None)


@pytest.mark.parametrize(
    ("question", "people"),
    [
        ("Ada, why?", ("Ada",)),
        ("@Grace: why?", ("Grace",)),
        ("Ada and Grace, why?", ("Ada", "Grace")),
        ("Ada, Grace: why?", ("Ada", "Grace")),
        ("Why so late, Grace?", ("Grace",)),
        ("Ada, what does Grace say?", ("Ada",)),
        ("What does Grace say?", ()),
        ("Maya, why?", ()),
        ("", ()),
    ],
)
def test_a_question_is_put_to_those_whom_it_names_first_or_last(
    question: str, people: tuple[str, ...]
) -> None:
    assert addressed(question, {"Ada", "Grace"}) == people


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ({"ids": ["g1", "g4", "g2"]}, ["g1", "g4"]),
        ({"ids": ["a1", "g9", "Our bank never closes.", 7, "g2"]}, ["g2"]),
        ({"ids": "g1"}, [""]),
        ({"says": "Our bank never closes."}, [""]),
        ({}, [""]),
    ],
)
async def test_a_model_chooses_among_the_sentences_and_adds_none(
    answer: Mapping[str, Any], facts: list[str], tmp_path: Path
) -> None:
    """It sees those of the person who is asked, and the sentences that come are those of the file."""
    shown: list[Mapping[str, str]] = []

    async def ask(task: str, material: Mapping[str, str]) -> Mapping[str, Any]:
        assert "ids" in task
        shown.append(material)
        return answer

    meeting = meeting_of(tmp_path)
    room = Room(meeting, ChoosingPeople(ask))
    await room.ask("Grace, what is it about the bank?")

    of_grace = [line for line in room.lines if line.speaker == "Grace"]
    sheet = {one.says for one in meeting.people["Grace"].sheet} | {DOES_NOT_KNOW}
    assert [line.fact for line in of_grace] == facts
    assert {line.text for line in of_grace} <= sheet
    assert "g1 (Grace): Our bank closes at 16:00." in shown[0]["sentences"]
    assert "a1" not in shown[0]["sentences"]
