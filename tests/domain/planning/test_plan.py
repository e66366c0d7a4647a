"""A plan in the schema of planning.ai.json is read, or says what is wrong with it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.planning.plan import PlanDocument, read_plan
from tests.domain.planning.plans import PLANS, VALID


def task(name: str, *depends: str) -> dict[str, Any]:
    return {"id": name, "title": f"Do {name}", "depends": list(depends)}


def test_three_fields_are_enough() -> None:
    """Everything else may come later."""
    found = read_plan('{"id": "lost-rows", "title": "Rows", "brief": "They are lost."}')

    assert found.errors == ()
    assert found.plan == PlanDocument(id="lost-rows", title="Rows", brief="They are lost.")


def test_a_whole_plan_is_read_as_it_is_written() -> None:
    """The fields of the schema, with what each traces to."""
    given_plan = {
        **VALID,
        "context": {"repository": "exports", "priority": "p1", "depends": ["other-item"]},
        "goals": [{"id": "G1", "description": "No row is lost", "success_metrics": ["0 lost rows"]}],
        "scope": {"in_scope": ["CSV"], "out_of_scope": ["PDF"]},
        "work": {
            "tasks": [task("T1"), task("T2", "T1")],
            "milestones": [{"id": "M1", "title": "First", "tasks": ["T1", "T2"]}],
        },
        "risks": [
            {"id": "R1", "description": "It is slow", "likelihood": "High", "mitigations": ["stream it"]}
        ],
        "acceptance_criteria": [{"id": "AC1", "description": "Excel opens it", "traces": ["FR-001"]}],
        "file_plan": [{"path": "src/export.py", "intent": "Update", "traces": ["FR-001"]}],
        "notes": [{"id": "N1", "kind": "open_question", "text": "Who tests it?"}],
        "test_plan": {"strategy": "By example", "cases": ["one row"], "automation": "all of it"},
    }
    found = read_plan(json.dumps(given_plan))

    assert found.errors == ()
    assert found.plan
    assert (found.plan.context.priority, found.plan.risks[0].likelihood) == ("P1", "high")
    assert found.plan.acceptance_criteria[0].must_have
    assert [note.text for note in found.plan.notes_of("open_question")] == ["Who tests it?"]


@pytest.mark.parametrize(
    "text", ["no plan", "[]", "{}", "[" * 99_999, '{"id": "a b", "title": "x", "brief": "x"}']
)
def test_what_is_no_plan_says_so(text: str) -> None:
    """Never an exception, whatever it is."""
    found = read_plan(text)

    assert found.plan is None
    assert found.errors


@pytest.mark.parametrize("path", ["/etc/x", "~/x", "C:/x", "a/../b", "a//b", "..\\x", "a/"])
def test_no_path_leads_out_of_the_repository(path: str) -> None:
    """Plans are read by tools, too."""
    found = read_plan(json.dumps({**VALID, "file_plan": [{"path": path, "intent": "create"}]}))

    assert [one.partition(":")[0] for one in found.errors] == ["file_plan.0.path"]


def test_unknown_fields_are_let_through() -> None:
    """Newer plans have some; they are not kept."""
    assert read_plan(json.dumps({**VALID, "owner": "Ada"})).plan == PlanDocument.model_validate(VALID)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*PlanDocument.model_fields, "tasks"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_comes_is_a_plan_or_sentences(found: Any) -> None:
    """One of the two."""
    reading = read_plan(json.dumps(found))

    assert bool(reading.plan) is not bool(reading.errors)


@given(PLANS)
def test_a_valid_plan_stays_valid(plan: PlanDocument) -> None:
    """As JSON and back it is the same."""
    assert read_plan(plan.model_dump_json()).plan == plan
