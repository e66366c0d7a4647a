"""
`planning/plan-review.json`: what each role makes of the plan, and what that comes to together.

Where they disagree the most careful one counts: blocked before needs_changes before accepted. A role that could not say
is no consent. That people went on all the same is recorded beside it and changes no verdict.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any

from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.projections import plan_json
from bot.domain.planning.verdict import Judgement, RoleVerdict
from bot.domain.planning.workshop import PLAN, PLAN_PAGE, Chosen, Workshop
from bot.domain.values.json_files import pretty
from bot.domain.values.value import Stored, Value

GENERATOR = "roundtable"


class PlanOpinion(StrEnum):
    """Of one reviewer."""

    ACCEPT = "accept"
    NEEDS_CHANGES = "needs_changes"
    BLOCKED = "blocked"
    DEFER = "defer"
    """Not enough to go by."""


class PlanOutcome(StrEnum):
    """Of all of them."""

    ACCEPTED = "accepted"
    NEEDS_CHANGES = "needs_changes"
    BLOCKED = "blocked"


TOGETHER = {
    PlanOpinion.BLOCKED: PlanOutcome.BLOCKED,
    PlanOpinion.NEEDS_CHANGES: PlanOutcome.NEEDS_CHANGES,
    PlanOpinion.DEFER: PlanOutcome.NEEDS_CHANGES,
    PlanOpinion.ACCEPT: PlanOutcome.ACCEPTED,
}
"""The most careful first: the first row that any reviewer is in is the outcome."""


class PlanRemark(Value):
    """What code sees by itself: an error stops a plan, a warning is told."""

    code: str
    sentence: str
    error: bool = False


class PlanAggregate(Stored):
    """`confidence` is the least that a role named; None where none did."""

    ok: bool
    decision: PlanOutcome
    confidence: float | None = None
    reasons: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    blocking_issues: tuple[str, ...] = ()


def opinion(verdict: RoleVerdict) -> PlanOpinion:
    """A role with a blocking question blocks, even if it says yes."""
    if verdict.blocking_questions:
        return PlanOpinion.BLOCKED
    return {True: PlanOpinion.ACCEPT, False: PlanOpinion.NEEDS_CHANGES, None: PlanOpinion.DEFER}[verdict.ok]


def aggregate(verdicts: Mapping[str, RoleVerdict], remarks: Collection[PlanRemark] = ()) -> PlanAggregate:
    """Without a verdict nothing is accepted."""
    opinions = {opinion(one) for one in verdicts.values()} or {PlanOpinion.DEFER}
    blocking = [f"{role}: {text}" for role, one in verdicts.items() for text in one.blocking_questions]
    blocking += [remark.sentence for remark in remarks if remark.error]
    decision = next(outcome for one, outcome in TOGETHER.items() if one in opinions)
    if any(remark.error for remark in remarks):
        decision = PlanOutcome.BLOCKED
    reasons = (f"{role}: {reason}" for role, one in verdicts.items() if not one.ok for reason in one.reasons)
    suggestions = [f"{role}: {text}" for role, one in verdicts.items() for text in one.suggestions]
    suggestions += [remark.sentence for remark in remarks if not remark.error]
    return PlanAggregate(
        ok=decision is PlanOutcome.ACCEPTED,
        decision=decision,
        confidence=min(
            (one.confidence for one in verdicts.values() if one.confidence is not None), default=None
        ),
        reasons=tuple(reasons),
        suggestions=tuple(suggestions),
        blocking_issues=tuple(blocking),
    )


def remarks(plan: PlanDocument | None, *, has_page: bool = True) -> tuple[PlanRemark, ...]:
    """The checks that need no opinion."""
    if plan is None:
        return (PlanRemark(code="PLANNING_MISSING", sentence=f"There is no {PLAN}.", error=True),)
    return tuple(_remarks(plan, has_page=has_page))


def _remarks(plan: PlanDocument, *, has_page: bool) -> Iterator[PlanRemark]:
    if not has_page:
        yield PlanRemark(code="PLAN_MD_MISSING", sentence=f"There is no {PLAN_PAGE}.", error=True)
    traced = (*(one.traces for one in plan.work.tasks), *(one.traces for one in plan.acceptance_criteria))
    if not any(traced):
        yield PlanRemark(code="REQ_EMPTY", sentence="Nothing in the plan traces to a requirement.")
    if not plan.file_plan:
        yield PlanRemark(code="DRAFT_FILES_EMPTY", sentence="The plan names no files.")
    if not plan.acceptance_criteria:
        yield PlanRemark(code="ACCEPTANCE_EMPTY", sentence="The plan has no acceptance criteria.")
    if not (plan.test_plan and plan.test_plan.cases):
        yield PlanRemark(code="TEST_PLAN_EMPTY", sentence="The plan has no test cases.")


def plan_hash(plan: PlanDocument) -> str:
    return hashlib.sha256(plan_json(plan).encode()).hexdigest()


def review_json(ws: Workshop, plan: PlanDocument, *, now: str) -> str:
    """The last verdict of each role, on the plan as it is."""
    found = remarks(plan)
    told: dict[str, Any] = {
        "task_id": ws.slug,
        "plan_version": ws.version,
        "reviewers": [_reviewer(one) for one in _last(ws)],
        "aggregate": aggregate(ws.verdicts, found).model_dump(mode="json"),
        "meta": {"created_at": now, "updated_at": now, "plan_hash": plan_hash(plan), "generator": GENERATOR},
    }
    if found:
        told["meta"]["checks"] = [remark.code for remark in found]
    if ws.overridden and ws.chosen:
        told["meta"]["override"] = _override(ws.chosen)
    return pretty(told)


def _last(ws: Workshop) -> tuple[Judgement, ...]:
    return tuple({one.role: one for one in ws.judgements}.values())


def _reviewer(one: Judgement) -> dict[str, Any]:
    verdict = one.verdict
    meta: dict[str, Any] = {"round": one.round, "source": "voice"}
    return {
        "id": one.role,
        "name": one.role,
        "role": one.role,
        "ok": verdict.ok,
        "decision": opinion(verdict).value,
        "confidence": verdict.confidence,
        "strengths": list(verdict.reasons) if verdict.ok else [],
        "weaknesses": [] if verdict.ok else list(verdict.reasons),
        "suggestions": list(verdict.suggestions),
        "blocking_issues": list(verdict.blocking_questions),
        "meta": meta | ({"message_id": one.line} if one.line else {}),
    }


def _override(chosen: Chosen) -> dict[str, Any]:
    return {
        "by": chosen.person,
        "proposed": chosen.proposed.value if chosen.proposed else None,
        "reason": chosen.reason,
        "message_id": chosen.line,
    }
