"""Coverage finds what is missing, open or doubtful; it chooses the next question and stops nobody."""

import pytest

from bot.domain.specification.coverage import GapKind, coverage, of_step
from tests.specification.meeting import SCHEMA, Meeting


@pytest.fixture
def meeting() -> Meeting:
    return Meeting()


def found(meeting: Meeting, *steps: str) -> dict[GapKind, list[str]]:
    gaps: dict[GapKind, list[str]] = {}
    for gap in coverage(SCHEMA, meeting.specification, steps):
        gaps.setdefault(gap.kind, []).append(" ".join(filter(None, (gap.id, gap.field, *gap.facts))))
    return gaps


def test_an_empty_step_asks_for_what_its_sections_need(meeting: Meeting) -> None:
    asked = [gap.ask for gap in of_step(SCHEMA, meeting.specification, "01-06")]

    assert asked == ["What can people do with it?", "What might people expect that we will not do this time?"]


def test_the_next_question_is_about_the_entry_that_lacks_something(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: Edit\nAC: it is kept\nrequirement: Sort\nOut of scope: tablets")

    (gap,) = of_step(SCHEMA, meeting.specification, "01-06")
    assert (gap.id, gap.ask, gap.lane) == (
        "FR-002",
        "How would somebody see that FR-002 works?",
        "TestPlanner",
    )


def test_a_required_field_that_is_missing(meeting: Meeting) -> None:
    meeting.say("Ada", "04-01", "module: Sync")

    assert "MOD-001 responsibility" in found(meeting)[GapKind.MISSING]


def test_references_to_what_is_gone_and_circles_are_found(meeting: Meeting) -> None:
    meeting.say(
        "Ada", "01-06", "requirement: One\nrequirement: Two\nFR-001 depends: FR-002\nFR-002 depends: FR-001"
    )
    assert found(meeting)[GapKind.CIRCLE] == ["FR-001 depends FR-001 FR-002"]

    meeting.press("Ada", {"id": "FR-002", "state": "superseded", "replaced_by": ["FR-003"]})
    assert found(meeting)[GapKind.DANGLING] == ["FR-001 depends FR-002 FR-003"]


def test_what_is_contested_stale_or_proposed(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: One")
    said = meeting.say("Ada", "01-08", "Must: FR-001")
    meeting.say("Grace", "01-08", "Should: FR-001")
    assert found(meeting)[GapKind.CONTESTED] == ["FR-001 priority Ada: must Grace: should"]

    meeting.delete("Ada", said)
    meeting.delete("Grace", "m3")
    meeting.propose(
        {"id": "FR-002", "kind": "requirement", "new": True, "set": {"title": "Two"}}, step="01-06"
    )
    gaps = found(meeting)
    assert GapKind.CONTESTED not in gaps
    assert gaps[GapKind.STALE] == ["FR-001 priority"]
    assert gaps[GapKind.PROPOSED] == ["FR-002"]


def test_a_list_in_which_everything_is_a_must(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: One\nrequirement: Two")
    meeting.say("Ada", "01-08", "Must: FR-001, FR-002")

    assert found(meeting, "01-08")[GapKind.ALL_ALIKE] == ["requirement must"]


def test_an_id_that_nothing_has(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: Show it as FR-009 does")

    assert found(meeting)[GapKind.UNKNOWN] == ["FR-001 title FR-009"]
