"""
The engine against everything that can go wrong around it, one thing at a time and two things at a time.

`scripts/durability` tries all pairs; here it is a different tenth of them with every seed.
"""

import pytest

from tests.durability import plants
from tests.durability.campaign import quietly, tried
from tests.durability.fates import Fate
from tests.durability.simulator import STRETCHES, played, singles

SCENARIOS = 10_000


@pytest.mark.parametrize("stretch", STRETCHES)
def test_whatever_goes_wrong_everything_is_said_heard_and_saved_once(stretch: str) -> None:
    """Deaths before, while and after anything, late posts, lost answers, refusals, races, a store that forgets."""
    found = tried(stretch, scenarios=SCENARIOS // len(STRETCHES))

    assert not found.wrong, found.story
    assert found.scenarios >= SCENARIOS // len(STRETCHES)


def test_what_is_said_in_a_thread_that_is_just_being_opened_is_heard() -> None:
    """People see the first message before we have saved where it stands."""
    with quietly():
        for plan in singles("opening"):
            if plan[0][1] is Fate.SPOKEN:
                assert not played("opening", plan, excusing=False).wrong


def test_what_only_a_lost_store_knew_is_read_from_the_thread_again() -> None:
    """The store is a place for what is under way, and Slack has it, too."""
    with quietly():
        for plan in singles("step"):
            if plan[0][1] is Fate.FLUSHED:
                assert not played("step", plan, excusing=False).wrong


@pytest.mark.parametrize("name", plants.SIMULATED)
def test_a_planted_bug_is_found(name: str) -> None:
    """A simulator that finds nothing may have nothing to find, or be blind."""
    assert plants.caught_by_simulator(name)
