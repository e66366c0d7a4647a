"""Coverage finds what is missing, open or doubtful; it chooses the next question and stops nobody."""

from bot.domain.specification.coverage import of_step
from tests.specification.meeting import SCHEMA, Meeting


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
