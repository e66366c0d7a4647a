"""What a meeting of 13 steps and two discussions takes: calls, tokens by our estimate, and how long people wait."""

from pathlib import Path

import pytest

from tests.meetings.counted import CountedMeeting, ModelsByRule, counted, in_sequence

MOST_CALLS = 45
MOST_TOKENS = 160_000
LEAST_KNOWN = 0.6
"""Of the characters: with which the call before of the same task began, too."""


@pytest.mark.parametrize(
    "in_other_words",
    [
        pytest.param(False, marks=pytest.mark.thorough, id="verbatim"),
        pytest.param(True, id="every draft is reviewed"),
    ],
)
async def test_a_whole_meeting_keeps_to_its_ceilings(*, in_other_words: bool, tmp_path: Path) -> None:
    """The one with a review of every draft takes more calls, and has the same ceilings."""
    meeting = await counted(tmp_path / "item", ModelsByRule(in_other_words=in_other_words))

    assert_complete(meeting)
    assert len(meeting.calls) <= MOST_CALLS
    assert meeting.tokens_in <= MOST_TOKENS
    assert meeting.known_chars >= LEAST_KNOWN * meeting.chars


def assert_complete(meeting: CountedMeeting) -> None:
    """Personas drafted on each step, spoke in each round, and people accepted what they proposed."""
    tasks = [one.task for one in meeting.calls]
    assert tasks.count("draft") >= 13
    assert tasks.count("review") >= 2
    assert (len(meeting.openings), len(meeting.rounds)) == (2, 4)
    assert all(meeting.rounds)
    assert meeting.accepted >= 25


async def test_an_opening_waits_for_one_persona_and_a_round_for_two_calls(tmp_path: Path) -> None:
    """Also with a model that looks wherever it can, and whose first answer of a round cannot be read."""
    meeting = await counted(tmp_path / "item", ModelsByRule(difficult=True))

    assert [len(calls) for calls in meeting.openings] == [6, 6]
    assert [in_sequence(calls) for calls in meeting.openings] == [2, 2]
    assert [in_sequence(calls) for calls in meeting.rounds] == [2, 2, 2, 2]
