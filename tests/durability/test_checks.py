"""What the checks of the crash tests take for right, and what they find."""

from collections.abc import Sequence

import pytest

from tests.durability.checks import CountedTurn, turns_unlike

LIMIT = 7


@pytest.mark.parametrize(
    ("recorded", "turns"),
    [
        pytest.param([3], [1, 2, 3], id="one discussion"),
        pytest.param([2, 3], [1, 2, 1, 2, 3], id="two discussions"),
        pytest.param([2, 5], [1, 2, 5, 1, 2, 3, 4], id="a late message before its discussion's first turn"),
        pytest.param([1, 2], [1, 2], id="one that people ended before anything was said"),
        pytest.param([1, 2], [1, 1, 2], id="one with a single turn"),
        pytest.param([2], [1, 2, 1], id="one that goes on"),
    ],
)
def test_turns_that_agree(recorded: Sequence[int], turns: Sequence[int]) -> None:
    """A record that is right is not called wrong, whatever was delivered late."""
    assert not list(turns_unlike(recorded, [CountedTurn(one, one) for one in turns], LIMIT))


def test_what_people_say_together_uses_one_turn() -> None:
    turns = [CountedTurn(1, 1), CountedTurn(2, 2), CountedTurn(3, 2), CountedTurn(1, 1)]

    assert not list(turns_unlike([2, 1], turns, LIMIT))
    assert list(turns_unlike([3, 1], turns, LIMIT))


@pytest.mark.parametrize(
    ("recorded", "turns"),
    [
        pytest.param([3], [1, 3], id="a turn is missing"),
        pytest.param([3], [1, 2, 2, 3], id="a turn is there twice"),
        pytest.param([2, 2], [1, 2], id="a discussion is missing"),
        pytest.param([], [1, 2, 1], id="a discussion that nobody recorded"),
        pytest.param([8], [1, 2, 3, 4, 5, 6, 7, 8], id="more turns than allowed"),
    ],
)
def test_turns_that_do_not_agree(recorded: Sequence[int], turns: Sequence[int]) -> None:
    """Nothing that is lost, repeated or too much goes unnoticed."""
    assert list(turns_unlike(recorded, [CountedTurn(one, one) for one in turns], LIMIT))
