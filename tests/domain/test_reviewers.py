"""Whose lens is asked for."""

import pytest

from bot.domain.reviews.reviewers import asked_for, names_a_reviewer
from bot.engine.verbs.reviewing import reviewed
from bot.engine.verbs.table import VERBS
from bot.errors import UserError
from tests.domain.table import shipped

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("", [MAYA, ALEX, JORDAN]),
        ("Maya", [MAYA]),
        ("jordan and MAYA", [MAYA, JORDAN]),
        ("Jordan Park, Alex", [ALEX, JORDAN]),
        ("the architect", [ALEX]),
        ("risks", [ALEX]),
        ("errors and business value", [MAYA, JORDAN]),
        ("system-designer", [JORDAN]),
        ("BA", [MAYA]),
        ("the lens of feasibility, please", [ALEX]),
    ],
)
def test_people_name_them_as_they_like(words: str, keys: list[str]) -> None:
    """By name, key, role, or by what they look at; nobody in particular is everybody, in the order of the table."""
    assert [persona.key for persona in asked_for(words, shipped().roster)] == keys


def test_a_word_that_means_nobody_is_a_sentence() -> None:
    """A review by fewer than was asked for would not be noticed."""
    with pytest.raises(UserError, match="No persona covers “bob”"):
        asked_for("Maya and Bob", shipped().roster)

    assert names_a_reviewer("maya", shipped().roster)
    assert not names_a_reviewer("offline-sync", shipped().roster)
    assert not names_a_reviewer("", shipped().roster)


@pytest.mark.parametrize(
    ("rest", "asked"),
    [
        ("", ("", "")),
        ("dark-mode", ("dark-mode", "")),
        ("dark-mode by Maya and Alex", ("dark-mode", "Maya and Alex")),
        ("by Maya", ("", "Maya")),
        ("for risks", ("", "risks")),
        ("#42 with everyone", ("#42", "")),
        ("WITH Jordan", ("", "Jordan")),
        ("byline", ("byline", "")),
    ],
)
def test_a_wish_names_an_item_and_a_lens(rest: str, asked: tuple[str, str]) -> None:
    """Either, both or none."""
    assert VERBS.read_mention(f"review {rest}") == ("review", rest)
    assert reviewed(rest) == asked


@pytest.mark.parametrize("text", ["review the plan please", "review what Maya said", "reviewing is hard"])
def test_a_sentence_that_begins_like_a_wish_is_none(text: str) -> None:
    """It is words for the roundtable."""
    assert VERBS.read_mention(text) is None
