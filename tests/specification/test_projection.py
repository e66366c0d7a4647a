"""Files are made of entries, so no two of them can say different things about one."""

import csv
import io
import json
import re

import pytest

from bot.domain.specification.claims import EntryState
from tests.specification.meeting import SCHEMA, Meeting, make_entry

REQUIREMENTS = """Edit without a network
AC: the edit is kept
Show conflicts
AC: both versions are shown
Out of scope: tablets"""


@pytest.fixture
def meeting() -> Meeting:
    meeting = Meeting()
    meeting.say("Ada", "01-06", REQUIREMENTS)
    meeting.say("Ada", "01-07", "As a driver I want to edit in tunnels so that nothing is lost (FR-001)")
    meeting.say("Grace", "01-08", "Must: FR-001\nShould: FR-002")
    return meeting


def test_every_file_says_the_same_of_every_requirement(meeting: Meeting) -> None:
    rows = list(csv.DictReader(io.StringIO(meeting.section("traceability-matrix.csv"), newline="")))
    stories = json.loads(meeting.section("user-stories.json"))

    assert {row["FR_ID"]: (row["Title"], row["Priority"]) for row in rows} == {
        "FR-001": ("Edit without a network", "must"),
        "FR-002": ("Show conflicts", "should"),
    }
    assert [row["User_Stories"] for row in rows] == ["US-001", ""]
    assert stories[0]["traces"] == ["FR-001"]
    assert "- Priority: must" in meeting.section("Functional Requirements")
    assert "| FR-001 | Edit without a network | must |" in meeting.section("MoSCoW Prioritization")


def test_nothing_empty_claims_anything() -> None:
    """`Nothing was ruled out.` was written of a section that nobody had filled in."""
    meeting = Meeting()
    texts = {meeting.projection.view(view) for view in SCHEMA.views if view.section}

    assert texts == {""}
    assert json.loads(meeting.section("user-stories.json")) == []


def test_work_is_listed_in_the_order_of_doing(meeting: Meeting) -> None:
    """Below one number each, so that it is one list where Markdown is rendered."""
    meeting.say("Ada", "02-02", "task: the pilot -> WRK-002\ntask: the outbox; owner: Grace")

    assert meeting.section("Implementation Order") == (
        "1. **WRK-002** the outbox — Ada\n   - Owner: Grace\n"
        "1. **WRK-001** the pilot — Ada\n   - Waits for: WRK-002"
    )


def test_what_is_proposed_is_in_no_list_of_results(meeting: Meeting) -> None:
    """It stands under *Not settled* until a person accepts it."""
    meeting.propose(make_entry("FR-003", {"title": "Work on a watch"}), step="01-06")

    assert meeting.specification.entries["FR-003"].state is EntryState.PROPOSED
    assert "FR-003" not in meeting.section("Functional Requirements")
    assert "FR-003" not in meeting.section("traceability-matrix.csv")


def test_the_matrix_traces_decisions_work_and_state(meeting: Meeting) -> None:
    """A decision that changes a criterion is about its requirement."""
    meeting.say("Ada", "01-06", "AC-001-01: it works in a tunnel")
    meeting.say("Ada", "03-02", "decision: Queue edits; changes: AC-001-01")
    meeting.say("Ada", "02-02", "task: The queue; traces: FR-002")
    rows = list(csv.DictReader(io.StringIO(meeting.section("traceability-matrix.csv"), newline="")))

    assert list(rows[0])[:5] == ["FR_ID", "Title", "AC_Count", "Priority", "User_Stories"]
    assert [(row["Decisions"], row["Work"], row["State"]) for row in rows] == [
        ("DEC-001", "", "contradicted"),
        ("", "WRK-001", "said"),
    ]


def test_what_people_disagree_on_says_so_wherever_it_is_shown(meeting: Meeting) -> None:
    meeting.say("Linus", "01-08", "FR-001 priority: could")

    for name in ("Functional Requirements", "MoSCoW Prioritization"):
        assert "could _(open: Grace says must, Linus says could)_" in meeting.section(name)


def test_a_models_other_value_is_shown_as_its_proposal(meeting: Meeting) -> None:
    meeting.propose({"id": "FR-001", "set": {"priority": "could"}})

    assert "Priority: must _(could: proposed by BusinessAnalyst (persona), not accepted)_" in meeting.section(
        "Functional Requirements"
    )


def test_who_said_it_stands_with_every_entry(meeting: Meeting) -> None:
    assert "_Said by Ada and Grace._" in meeting.section("Functional Requirements")
    assert "**OUT-001** tablets — Ada" in meeting.section("Out of Scope")
    assert "_Said by Ada and Grace: FR-001, FR-002._" in meeting.section("MoSCoW Prioritization")


def test_an_entry_is_said_by_who_said_its_text_and_not_by_who_answered_it(meeting: Meeting) -> None:
    meeting.say("Grace", "02-04", "objection: Nobody can audit it")
    meeting.press("Linus", {"id": "OBJ-001", "set": {"outcome": "rejected", "outcome_text": "we can"}})

    row = "- **OBJ-001** Nobody can audit it — Grace\n  - Outcome: rejected\n"
    assert row in meeting.section("impact-analysis.md#Summary")


def test_a_decision_names_those_who_decided_and_who_recorded_it(meeting: Meeting) -> None:
    meeting.say("Linus", "03-04", "decision: We buy it; decided by: Ada; Grace")
    meeting.say("Linus", "03-04", "decision: We buy one; decided by: Linus")
    text = meeting.section("Architecture Summary")

    assert "We buy it — decided by Ada and Grace, recorded by Linus" in text
    assert "We buy one — decided by Linus" in text


def test_prose_is_what_people_said_under_the_question_that_it_answers(meeting: Meeting) -> None:
    meeting.say("Ada", "01-01", "1. Edits get lost.")
    meeting.say("Grace", "01-01", "By the way: hello.")
    text = meeting.section("Business Context")

    first = re.search(r"\*\*(.+)\*\*\n\n- Ada: Edits get lost\.", text)
    assert first
    assert first[1].endswith("?")
    assert text.endswith("\n\n**Also said**\n\n- Grace: By the way: hello.")
    assert "not sorted" not in text


def test_what_was_said_needs_no_heading_where_no_question_has_an_answer(meeting: Meeting) -> None:
    meeting.say("Grace", "01-01", "By the way: hello.")

    assert meeting.section("Business Context") == "- Grace: By the way: hello."


def test_elsewhere_what_nobody_sorted_is_told_apart(meeting: Meeting) -> None:
    meeting.say("Grace", "01-06", "sounds good to me")

    assert meeting.section("Functional Requirements").endswith(
        "**Said, and not sorted yet**\n\n- Grace: sounds good to me"
    )


def test_words_of_a_step_whose_only_file_is_data_are_not_lost(meeting: Meeting) -> None:
    meeting.say("Grace", "01-07", "Ask the night shift.")

    assert "- Grace: Ask the night shift." in meeting.projection.homeless("01-07")
    assert meeting.projection.homeless("01-06") == ""


def test_a_file_names_no_entry_that_is_gone(meeting: Meeting) -> None:
    meeting.press("Ada", {"id": "FR-001", "state": "withdrawn"})

    assert json.loads(meeting.section("user-stories.json"))[0]["traces"] == []
    assert "FR-001" not in meeting.section("MoSCoW Prioritization")
    assert "AC-001-01" not in meeting.section("Functional Requirements")


def test_what_people_write_cannot_act_in_a_file(meeting: Meeting) -> None:
    meeting.say("Ada", "01-06", "requirement: =HYPERLINK(1)\nrequirement: a | b <!-- Elaboration: x -->")

    assert "'=HYPERLINK(1)" in meeting.section("traceability-matrix.csv")
    assert "a \\| b &lt;!-- Elaboration" in meeting.section("MoSCoW Prioritization")


def test_a_flow_is_drawn_as_a_mermaid_diagram(meeting: Meeting) -> None:
    meeting.say("Ada", "04-03", 'phone => server: edits\nserver => phone: "merged" rows')

    text = meeting.section("Data Flow")
    assert '```mermaid\nflowchart LR\n    n1["phone"]\n    n2["server"]\n' in text
    assert "n2 -->|\"'merged' rows\"| n1" in text


def test_the_first_estimate_stays_beside_the_last(meeting: Meeting) -> None:
    meeting.say("Ada", "00-01", "Scope: small")
    meeting.say("Ada", "00-03", "Scope: large\nFile count: 40")

    assert "Scope: small" in meeting.section("Scope")
    assert "Scope: large" in meeting.section("Final Scope")


def test_the_plan_is_made_of_what_people_accepted(meeting: Meeting) -> None:
    meeting.propose(make_entry("FR-003", {"title": "Work on a watch"}), step="01-06")
    meeting.say("Ada", "02-03", "risk: rows collide; likelihood: high; impact: low -> merge them")
    plan = meeting.projection.plan()

    assert plan["scope"] == {
        "in_scope": ["Edit without a network", "Show conflicts"],
        "out_of_scope": ["tablets"],
    }
    assert plan["risks"] == [
        {
            "id": "RSK-001",
            "description": "rows collide",
            "likelihood": "high",
            "impact": "low",
            "mitigations": ["merge them"],
        }
    ]
    assert [task["id"] for task in plan["work"]["tasks"]] == ["FR-001", "FR-002"], (
        "requirements, where no work is named"
    )

    meeting.say("Ada", "02-02", "task: store edits (FR-001)\ntask: show both -> WRK-001")
    assert [task["depends"] for task in meeting.projection.plan()["work"]["tasks"]] == [[], ["WRK-001"]]
