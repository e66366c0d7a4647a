"""Who answers in a discussion: whoever was spoken to, by first name; everybody; or else the lead."""

import pytest

from tests.domain.books import few_steps
from tests.domain.table import Table


def answers_to(text: str) -> list[str]:
    table = Table(few_steps()).start().elaborate().say(text)
    return [turn.name for turn in table.rt.debate.turns[4:]]


@pytest.mark.parametrize(
    "text", ["Jordan, what about errors?", "jordan: errors?", "I wonder, Jordan, about errors"]
)
def test_a_persona_is_addressed_by_first_name(text: str) -> None:
    """Set off by a comma, a colon or a question mark."""
    assert answers_to(text) == ["Jordan"]


def test_two_personas_can_be_addressed() -> None:
    """In the order in which they were named."""
    assert answers_to("Jordan and Alex, who is right?") == ["Jordan", "Alex"]


@pytest.mark.parametrize("text", ["everyone, thoughts?", "What do you all think?", "All of you: why?"])
def test_everybody_can_be_addressed(text: str) -> None:
    """The lead first, then the others."""
    assert answers_to(text) == ["Maya", "Alex", "Jordan"]


@pytest.mark.parametrize("text", ["Jordan's earlier point was good", "I agree with what Alex said before"])
def test_speaking_about_somebody_is_not_speaking_to_them(text: str) -> None:
    """Nobody answers at once: the next round takes it up."""
    assert answers_to(text) == []


@pytest.mark.parametrize(
    "text",
    ["Architect, how?", "Rivera, how?", "Alexa, how?", "System designer: how?", "@BA: why?", "Jordon, how?"],
)
def test_what_looks_like_an_address_and_is_none_is_noted(text: str) -> None:
    """Roles, surnames and near misses address nobody; people notice and say the name (ERR-ELAB-012)."""
    table = Table(few_steps()).start().elaborate().say(text)

    assert table.rt.debate.turns[-1].human
    assert "ERR-ELAB-012" in table.codes


@pytest.mark.parametrize("text", ["Well, why?", "Yes: twice.", "Errors, for example.", "I worry."])
def test_ordinary_openings_are_not_noted(text: str) -> None:
    """Most sentences with a comma call nobody."""
    table = Table(few_steps()).start().elaborate().say(text)

    assert "ERR-ELAB-012" not in table.codes


def test_who_is_addressed_twice_answers_once() -> None:
    """While they are waiting for the floor, a second question adds nothing."""
    table = Table(few_steps()).start().elaborate().stop_paying()
    table.say("Jordan, what about errors?").say("Jordan, and retries?", who="grace").resume_paying()

    assert [turn.name for turn in table.rt.debate.turns[3:]] == ["Ada", "Grace", "Jordan"]
