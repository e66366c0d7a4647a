"""
The engine against everything that can go wrong around it, one thing at a time and two things at a time.

Every change tries 1,000 scenarios, `scripts/test --all` 10,000, and `scripts/durability` all pairs.
"""

import pytest

from tests.durability import plants
from tests.durability.campaign import quietly, tried
from tests.durability.fates import Fate, Kind
from tests.durability.quickly import quickly
from tests.durability.simulator import STRETCHES, Plan, pairs, played, singles, undisturbed

SCENARIOS, THOROUGH_SCENARIOS = 1_000, 10_000
TRIED_AGAIN = 6
"""So much reaches out until a post has been tried again: the wait, a save, the look, the post."""


@pytest.mark.parametrize(
    "scenarios", [SCENARIOS, pytest.param(THOROUGH_SCENARIOS, marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("stretch", STRETCHES)
def test_whatever_goes_wrong_everything_is_said_heard_and_saved_once(stretch: str, scenarios: int) -> None:
    """Deaths before, while and after anything, late posts, lost answers, refusals, races, a store that forgets."""
    each = -(-scenarios // len(STRETCHES))

    found = tried(stretch, scenarios=each)

    assert not found.wrong, found.story
    assert found.scenarios >= min(each, found.possible)


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


@pytest.mark.parametrize("refused", [Fate.REFUSED, Fate.LOST])
def test_whatever_goes_wrong_while_something_is_tried_again(refused: Fate) -> None:
    """In the wait before it, in the look for it, in the next attempt: nothing is lost or said twice."""
    with quietly(), quickly():
        undisturbed.cache_clear()
        first = next(plan for plan in singles("discussion") if plan[0][1] is refused and _is_post(plan))
        outcome = played("discussion", first)
        number = outcome.met[0].number
        again = outcome.seen[number + 1 :]
        followers = list(pairs(first, outcome.seen[: number + TRIED_AGAIN]))
        wrong = [(plan, found) for plan in followers if (found := played("discussion", plan).wrong)]
        undisturbed.cache_clear()

    assert Kind.PAUSE in again[:1]
    assert {Kind.SAVE, Kind.LOOK} <= set(again[:TRIED_AGAIN])
    assert not wrong


def _is_post(plan: Plan) -> bool:
    """Whether it is a post that meets its fate."""
    return undisturbed("discussion")[-1].seen[plan[0][0]] is Kind.POST


@pytest.mark.parametrize("name", plants.SIMULATED)
def test_a_planted_bug_is_found(name: str) -> None:
    """A simulator that finds nothing may have nothing to find, or be blind."""
    assert plants.caught_by_simulator(name)
