"""What a review says of a specification without a model: a sentence for each gap, for the persona who leads there."""

import pytest

from bot.domain.messages.specification_wording import finding
from bot.domain.reviews import coverage as of_reviews
from bot.domain.specification.coverage import coverage
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting

STEPS = [step.step_id for step in PLAYBOOK.agenda.steps]


def test_each_gap_goes_to_the_persona_who_leads_its_step() -> None:
    """By the step of the gap, or the one that shows its entry; every gap has its sentence somewhere."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Keep it\nrisk: FR-009 is late")
    meeting.press("Ada", {"id": "MOD-001", "kind": "module", "new": True, "set": {"title": "Sync"}})
    found = of_reviews.gaps_by_lead(PLAYBOOK, meeting.specification, STEPS)

    gaps = coverage(SCHEMA, meeting.specification, STEPS)
    said = {one for told in found.values() for one in told}
    assert said == {finding(gap, SCHEMA, meeting.specification) for gap in gaps}
    assert set(found) <= {persona.key for persona in PLAYBOOK.roster}
    assert len(found) > 1
    about_it = [key for key, told in found.items() if any("FR-001" in one for one in told)]
    assert about_it == [step.persona for step in PLAYBOOK.agenda.steps if step.step_id == "01-06"]


def test_the_summary_counts() -> None:
    """Only what is there; nothing recorded is said as that."""
    meeting = Meeting()
    assert of_reviews.summary(PLAYBOOK, meeting.specification) == of_reviews.NOTHING
    meeting.say("Ada", "01-06", "requirement: Keep the last row\nAC: 500 of 500 rows")
    meeting.say("Ada", "01-06", "requirement: Print\nrisk: paper")

    told = of_reviews.summary(PLAYBOOK, meeting.specification)
    assert told == "1 of 2 requirements has a test, 1 risk, 3 points are not settled."


@pytest.mark.parametrize(
    ("left", "sentence"),
    [
        (0, ""),
        (1, "1 unfinished step was not reviewed."),
        (3, "3 unfinished steps were not reviewed."),
    ],
)
def test_what_was_not_reviewed_is_said(left: int, sentence: str) -> None:
    assert of_reviews.unfinished(PLAYBOOK, STEPS[left:]) == sentence
