"""Positions that mean the same option are one on the board and in the record; the words stay as they were said."""

import pytest

from bot.domain.discussion import board, elaboration, positions, words
from bot.domain.discussion.elaboration import BoardOption, Elaboration, Stance
from bot.domain.messages.message import Action
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table

OPTIONS = (
    BoardOption(letter="A", text="A token bucket in Redis"),
    BoardOption(letter="B", text="a bucket in each gateway"),
)


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("A", "A"),
        ("option A", "A"),
        ("Option b, because it is simple", "B"),
        ("(A)", "A"),
        ("A with shadow mode", "A"),
        ("I'm for A plus an alarm", "A"),
        ("token bucket in Redis.", "A"),
        ("We prefer the token bucket in Redis", "A"),
    ],
)
def test_words_that_name_an_option(said: str, letter: str) -> None:
    found = words.meant(OPTIONS, said)

    assert found is not None
    assert found.letter == letter


@pytest.mark.parametrize(
    "said",
    [
        "A, not B", "A or B", "A if Redis is there", "A with a plan B", "A without shadow mode",
        "A rate limiter in Redis", "A?", "A is too slow", "option: a bucket in each gateway",
        "token bucket in Redis with a fallback", "C", "",
    ],
)  # fmt: skip
def test_words_that_name_none(said: str) -> None:
    """A condition, a denial, two options, an article, a question, and a text that says more than the option."""
    assert words.meant(OPTIONS, said) is None


@pytest.mark.parametrize("said", ["A", "option A.", "a queue"])
def test_a_message_that_is_a_position(said: str) -> None:
    """Of a person, alone, without "for"."""
    debate = Elaboration(step_id="00-01", lead="business-analyst", topic="Edits", max_turns=10)
    found = words.position_in(
        board.with_options(debate, ["a queue", "a file"]).options, said, few_steps().schema
    )

    assert found is not None
    assert found.letter == "A"


@pytest.mark.parametrize("said", ["Fourteen days", "14 days", " fourteen  DAYS "])
def test_a_number_in_words_is_the_same_position(said: str) -> None:
    """Who comes over in digits is noticed to have come over."""
    debate = Elaboration(step_id="01-01", lead="maya", topic="Terms", max_turns=9)
    for by, position in (("maya", "fourteen days"), ("alex", said)):
        stances = (Stance(issue="terms", position=position),)
        took = elaboration.Contribution(persona=by, text="Fine.", stances=stances)
        debate = debate.spoken(took, name=by.title())

    assert [one.holders for one in positions.sides(debate)["terms"]] == [("maya", "alex")]


def test_personas_who_name_an_option_hold_that_option() -> None:
    """One side on the board, in the record with the words beside it; nobody has moved."""
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 20})
    table.elaborate().say("option: a queue").say("option: a file")
    said = {
        "business-analyst": "a queue",
        "solutions-architect": "option A",
        "system-designer": "A with shadow mode",
    }
    table.world.speech = lambda speak, _: Contribution(
        f"{speak.persona} says so.", (Stance(issue="Where", position=said[speak.persona]),)
    )
    table.say("everyone, where do you stand?")
    debate = table.rt.debate
    (side,) = positions.sides(debate)["where"]

    assert side.position == "a queue"
    assert len(side.holders) == 3
    assert len(debate.options) == 2
    newest = [one.stances[0] for one in debate.turns if one.stances]
    assert {one.position for one in newest} == set(said.values())
    assert {one.held for one in newest} == {"a queue"}
    held = table.rt.specification.active("position")
    assert {(one["issue"], one["option"]) for one in held} == {("Where", "a queue")}
    assert {one["words"] for one in held} == {None, "option A", "A with shadow mode"}


def test_a_typed_decision_by_its_letter_ends_the_question_whether_they_agree() -> None:
    table = Table(few_steps()).start().do_step()
    table.world.more = {"by_rule": True}
    table.press(Action.ELABORATE).say("option: a queue").say("option: a file")
    table.say("A", who="grace").say("option A", who="linus")
    assert "Did we agree on this?" in table.discussion.text

    table.say("decision: A with shadow mode")
    assert "Did we agree on this?" not in table.discussion.text
    assert table.rt.discussed.decisions[-1]["text"] == "A with shadow mode"
