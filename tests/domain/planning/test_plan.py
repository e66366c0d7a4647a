"""A plan in the schema of planning.ai.json."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from bot.domain.planning.plan import PlanDocument

VALID: Mapping[str, Any] = {"id": "lost-rows", "title": "Rows", "brief": "They are lost."}


def test_a_whole_plan_is_read_as_it_is_written() -> None:
    """The fields of the schema, with what each traces to. Unknown ones are let through, and not kept."""
    plan = PlanDocument.model_validate(
        {
            **VALID,
            "owner": "Ada",
            "context": {"repository": "exports", "priority": "p1", "depends": ["other-item"]},
            "risks": [
                {"id": "R1", "description": "It is slow", "likelihood": "High", "mitigations": ["stream it"]}
            ],
            "acceptance_criteria": [{"id": "AC1", "description": "Excel opens it", "traces": ["FR-001"]}],
            "notes": [{"id": "N1", "kind": "open_question", "text": "Who tests it?"}],
        }
    )

    assert (plan.context.priority, plan.risks[0].likelihood) == ("P1", "high")
    assert plan.acceptance_criteria[0].must_have
    assert [note.text for note in plan.notes if note.kind == "open_question"] == ["Who tests it?"]
    assert PlanDocument.model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize("path", ["/etc/x", "~/x", "C:/x", "a/../b", "a//b", "..\\x", "a/"])
def test_no_path_leads_out_of_the_repository(path: str) -> None:
    """Plans are read by tools, too."""
    with pytest.raises(ValidationError):
        PlanDocument.model_validate({**VALID, "file_plan": [{"path": path, "intent": "create"}]})
