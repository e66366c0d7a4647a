"""Sentences that people read often: grammatical for none, one and many."""

import pytest

from bot.domain.item.meta import Record
from bot.domain.messages import step_wording, trouble_wording
from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits
from bot.domain.values.text import listed
from tests.domain.table import shipped


def test_a_file_is_named_once() -> None:
    """However many sections of it a step changed."""
    assert (
        step_wording.wrote("00-03", ["a.md", "b.md", "a.md"]) == "Step 00-03 is written to `a.md` and `b.md`."
    )


@pytest.mark.parametrize(
    ("items", "words"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_read_like_sentences(items: list[str], words: str) -> None:
    """With commas, and an "and" before the last."""
    assert listed(items) == words


@pytest.mark.parametrize(
    ("count", "said"), [(0, "there is nothing for"), (1, "1 message goes into"), (2, "2 messages go into")]
)
def test_adopted_messages_are_counted(count: int, said: str) -> None:
    """In the singular where there is one."""
    assert said in step_wording.adopted(count)


@pytest.mark.parametrize(
    ("summary", "inside"),
    [
        ("Identified 3 criteria.", "identified 3 criteria"),
        ("1 decision and 2 remarks", "we recorded 1 decision and 2 remarks"),
        ("API first", "API first"),
        ("I said so", "I said so"),
        ("", ""),
        ("X", "X"),
    ],
)
def test_a_summary_becomes_part_of_a_sentence(summary: str, inside: str) -> None:
    """Lower case, unless its first word is written in capitals. What only counts gets a verb."""
    record = Record(
        step_id="01-01", turn_count=3, personas_active=(), timestamp="", synthesis_summary=summary
    )

    assert f"on step 01-01 where {inside}." in step_wording.welcome_back([], "", [record])


def test_a_survey_that_ran_out_of_time_says_so() -> None:
    """What was found may not be all."""
    survey = CodeSurvey(tracked_files=9, hits=(KeywordHits(keyword="sync", count=1),), complete=False)

    assert step_wording.surveyed(survey) == (
        "I searched 9 tracked files (I ran out of time, so there may be more):\n- `sync`: 1 hit"
    )


def test_a_survey_without_words_says_so() -> None:
    """There was nothing to look for."""
    assert step_wording.surveyed(CodeSurvey(tracked_files=9)) == (
        "I searched 9 tracked files, but had no words to look for."
    )


def test_a_decision_is_quoted_without_two_full_stops() -> None:
    """Some of them are sentences already."""
    assert "menu is over: Got it. Nothing" in trouble_wording.already_decided("Got it.")


def test_a_review_of_nothing_is_honest() -> None:
    """A phase may have been closed without a single file."""
    agenda, roster = shipped().agenda, shipped().roster
    maya, phase = next(iter(roster)), agenda.phases[1]
    said = step_wording.reviewed(maya, phase, artifacts=[], titles=[], thinks=False)
    assert said.startswith("This is Maya's requirements record. ")
    assert said.endswith("Here's what I'm working with: no files yet.")
