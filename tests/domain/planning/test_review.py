"""The review of a plan: each role's verdict, and what they come to together."""

import json
from typing import Any

import pytest

from bot.domain.planning import workshop
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.plan_review import (
    PlanOpinion,
    PlanOutcome,
    aggregate,
    opinion,
    plan_hash,
    remarks,
    review_json,
)
from bot.domain.planning.proposal import ProposedMove
from bot.domain.planning.verdict import RoleVerdict
from bot.domain.planning.workshop import Workshop
from tests.domain.planning.seats import (
    ADA,
    NO,
    ORDER,
    UNKNOWN,
    VALID,
    YES,
    asking,
    deciding,
    round_of,
    started,
)

PLAN = PlanDocument.model_validate(VALID)
NOW = "2026-03-01T09:00:00.000Z"


def reviewed(ws: Workshop) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(review_json(ws, PLAN, now=NOW))
    return found


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (YES, PlanOpinion.ACCEPT),
        (NO, PlanOpinion.NEEDS_CHANGES),
        (UNKNOWN, PlanOpinion.DEFER),
        (asking("Who?", ok=True), PlanOpinion.BLOCKED),
    ],
)
def test_a_verdict_is_an_opinion(verdict: RoleVerdict, expected: PlanOpinion) -> None:
    """A question that blocks, blocks, also below a yes."""
    assert opinion(verdict) is expected


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((YES, YES), PlanOutcome.ACCEPTED),
        ((YES, UNKNOWN), PlanOutcome.NEEDS_CHANGES),
        ((YES, NO), PlanOutcome.NEEDS_CHANGES),
        ((NO, asking("Who?"), YES), PlanOutcome.BLOCKED),
        ((), PlanOutcome.NEEDS_CHANGES),
    ],
)
def test_together_the_most_careful_counts(verdicts: tuple[RoleVerdict, ...], expected: PlanOutcome) -> None:
    """One reservation is one of all; of nobody's verdict nothing is accepted."""
    together = aggregate(dict(zip(ORDER, verdicts, strict=False)))

    assert together.decision is expected
    assert together.ok is (expected is PlanOutcome.ACCEPTED)


def test_the_confidence_of_all_is_that_of_the_least_sure() -> None:
    """Who names none is taken at their word."""
    assert (
        aggregate({"a": YES, "b": RoleVerdict(ok=True, confidence=0.4), "c": RoleVerdict(ok=True)}).confidence
        == 0.4
    )


def test_the_review_has_each_role_once_with_its_last_word() -> None:
    """And where in the transcript it said so."""
    ws = round_of(workshop.another_round(deciding(NO)), YES, RiskPlanner=NO)
    reviewers = reviewed(ws)["reviewers"]

    assert [one["role"] for one in reviewers] == list(ORDER)
    assert {one["meta"]["round"] for one in reviewers} == {2}
    assert [one["decision"] for one in reviewers] == ["accept"] * 4 + ["needs_changes"]
    assert reviewers[-1]["weaknesses"] == ["It is too big."]
    assert reviewers[-1]["meta"]["message_id"] == "L14"


def test_the_review_belongs_to_one_plan() -> None:
    """It has its hash, its version and the time."""
    found = reviewed(deciding())

    assert (found["task_id"], found["plan_version"]) == ("lost-rows", 1)
    assert found["meta"]["plan_hash"] == plan_hash(PLAN)
    assert found["meta"]["created_at"] == NOW
    assert plan_hash(PLAN.but(title="Another")) != plan_hash(PLAN)


def test_going_on_against_the_roles_is_recorded_and_changes_no_verdict() -> None:
    """The aggregate stays what it is; who went on, and why, stands beside it."""
    ws = workshop.chosen(deciding(TestPlanner=NO), ProposedMove.GO, ADA)
    found = reviewed(workshop.said(ws, "The fair is in May.", ADA))

    assert found["aggregate"]["ok"] is False
    assert found["meta"]["override"] == {
        "by": "ada",
        "proposed": "hold",
        "reason": "The fair is in May.",
        "message_id": "C1.1",
    }


def test_what_code_sees_by_itself_needs_no_opinion() -> None:
    """Warnings for what is thin, errors for what is missing."""
    assert [one.code for one in remarks(PLAN)] == ["DRAFT_FILES_EMPTY", "ACCEPTANCE_EMPTY", "TEST_PLAN_EMPTY"]
    bare = PlanDocument(id="x", title="x", brief="x")
    assert remarks(bare)[0].code == "REQ_EMPTY"
    assert [(one.code, one.error) for one in remarks(None)] == [("PLANNING_MISSING", True)]
    assert [one.code for one in remarks(PLAN, has_page=False) if one.error] == ["PLAN_MD_MISSING"]


def test_an_error_blocks_whatever_the_roles_say() -> None:
    """A warning is only a suggestion."""
    broken = aggregate(dict.fromkeys(ORDER, YES), remarks(None))
    thin = aggregate(dict.fromkeys(ORDER, YES), remarks(PLAN))

    assert (broken.ok, broken.decision) == (False, PlanOutcome.BLOCKED)
    assert thin.ok
    assert "The plan names no files." in thin.suggestions


def test_a_plan_with_everything_has_no_remark() -> None:
    """Nor has its review a list of them."""
    whole = PLAN.model_dump(mode="json") | {
        "file_plan": [{"path": "src/sync.py", "intent": "create_or_update"}],
        "acceptance_criteria": [{"id": "AC-1", "description": "It syncs", "traces": ["FR-001"]}],
        "test_plan": {"cases": ["Sync twice"]},
    }
    plan = PlanDocument.model_validate(whole)

    assert remarks(plan) == ()
    assert "checks" not in json.loads(review_json(round_of(started()), plan, now=NOW))["meta"]
