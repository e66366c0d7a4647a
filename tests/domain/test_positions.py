"""Where somebody stands, by name: written in another way, it is the same position."""

import pytest

from bot.domain.discussion import positions
from bot.domain.discussion.elaboration import Contribution, Elaboration, Stance


def debate(*said: tuple[str, str, str]) -> Elaboration:
    """Who, in which words, with which position on the terms."""
    found = Elaboration(step_id="01-01", lead="maya", topic="Terms", max_turns=9)
    for by, text, position in said:
        stances = (Stance(issue="terms", position=position),)
        found = found.spoken(Contribution(persona=by, text=text, stances=stances), name=by.title())
    return found


@pytest.mark.parametrize("said", ["Fourteen days", "14 days", " fourteen  DAYS "])
def test_a_number_in_words_is_the_same_position(said: str) -> None:
    """Who comes over in digits is noticed to have come over."""
    held = positions.sides(debate(("maya", "Soon.", "fourteen days"), ("alex", "Fine.", said)))["terms"]

    assert [one.holders for one in held] == [("maya", "alex")]
