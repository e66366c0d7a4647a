"""
The files of a plan as edits, and what people say of it: `planning/plan-review.json` has the verdicts that they gave for
each role.

Where they disagree the most careful one counts: blocked before needs_changes before accepted. A role without a verdict
is no consent; one that people skipped does not count.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any

from bot.domain.catalog.schema import PLAN_PAGE, Schema
from bot.domain.item.artifacts import DerivedEdit, digest_of
from bot.domain.planning.derived import plan
from bot.domain.planning.page import plan_page
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.projections import BRIEF, REVIEW, plan_json, projected
from bot.domain.planning.roles import (
    GO,
    SKIPPED,
    VERDICT,
    approvals,
    grounds,
    questions,
    roles_of,
    verdict_of,
)
from bot.domain.specification.entries import Entry, Specification
from bot.domain.specification.files import ItemFacts
from bot.domain.values.json_files import pretty

GENERATOR = "roundtable"


class PlanOpinion(StrEnum):
    """Of one role."""

    ACCEPT = "accept"
    NEEDS_CHANGES = "needs_changes"
    BLOCKED = "blocked"
    DEFER = "defer"
    """No verdict yet."""


ACCEPTED = "accepted"
TOGETHER = {
    PlanOpinion.BLOCKED: "blocked",
    PlanOpinion.NEEDS_CHANGES: "needs_changes",
    PlanOpinion.DEFER: "needs_changes",
    PlanOpinion.ACCEPT: ACCEPTED,
}
"""The most careful first: the first row that any role is in is the outcome."""
OPINIONS = {
    GO: PlanOpinion.ACCEPT,
    "go with a condition": PlanOpinion.NEEDS_CHANGES,
    "no-go": PlanOpinion.BLOCKED,
}


def plan_edits(
    item: ItemFacts, step_id: str, schema: Schema, specification: Specification
) -> tuple[DerivedEdit, ...]:
    """All files of the plan, as they follow from the entries."""
    made = plan(item, step_id, schema, specification)
    review = review_json(item.slug, made, step_id=step_id, schema=schema, specification=specification)
    page = plan_page(item.title, step_id, schema, specification)
    texts = {**projected(made), PLAN_PAGE: page, REVIEW: review, BRIEF: f"{made.brief}\n"}
    digest = digest_of("".join(texts.values()))
    return tuple(DerivedEdit(path=path, text=text, digest=digest) for path, text in texts.items())


def plan_hash(given: PlanDocument) -> str:
    return hashlib.sha256(plan_json(given).encode()).hexdigest()


def review_json(
    slug: str, plan: PlanDocument, *, step_id: str, schema: Schema, specification: Specification
) -> str:
    """The newest verdict of each role, and the hash of the plan that they are about."""
    blocking = _blocking(schema, specification, step_id)
    given = approvals(specification)
    roles = roles_of(schema, step_id)
    asked = [role for role in roles if role not in given or verdict_of(given[role]) != SKIPPED]
    opinions = {_opinion(given.get(role), blocking[role]) for role in asked} or {PlanOpinion.DEFER}
    decision = next(outcome for one, outcome in TOGETHER.items() if one in opinions)
    told: dict[str, Any] = {
        "task_id": slug,
        "reviewers": [_reviewer(role, given.get(role), blocking[role]) for role in roles],
        "aggregate": {
            "ok": decision == ACCEPTED,
            "decision": decision,
            "blocking_issues": [text for role in asked if role not in given for text in blocking[role]],
        },
        "meta": {"plan_hash": plan_hash(plan), "generator": GENERATOR},
    }
    if found := list(_checks(plan)):
        told["meta"]["checks"] = found
    return pretty(told)


def _blocking(schema: Schema, specification: Specification, step_id: str) -> Mapping[str, list[str]]:
    blocking: dict[str, list[str]] = {role: [] for role in roles_of(schema, step_id)}
    for question in questions(schema, specification, step_id):
        if question.gaps:
            blocking[question.role].append(question.text)
    return blocking


def _opinion(given: Entry | None, blocking: Collection[str]) -> PlanOpinion:
    if given is None:
        return PlanOpinion.BLOCKED if blocking else PlanOpinion.DEFER
    return OPINIONS.get(verdict_of(given), PlanOpinion.DEFER)


def _reviewer(role: str, given: Entry | None, blocking: list[str]) -> dict[str, Any]:
    claim = given.claim(VERDICT) if given else None
    told: dict[str, Any] = {
        "id": role,
        "name": role,
        "role": role,
        "decision": _opinion(given, blocking).value,
    }
    if given and claim:
        told["verdict"] = verdict_of(given) or None
        told |= grounds(given)
        told["meta"] = {"by": claim.owner.name, "message_id": claim.line, "entry": given.id}
    return told | {"blocking_issues": blocking if given is None else []}


def _checks(plan: PlanDocument) -> Iterator[str]:
    """The checks that need no opinion."""
    traced = (*(one.traces for one in plan.work.tasks), *(one.traces for one in plan.acceptance_criteria))
    if not any(traced):
        yield "REQ_EMPTY"
    if not plan.file_plan:
        yield "DRAFT_FILES_EMPTY"
    if not plan.acceptance_criteria:
        yield "ACCEPTANCE_EMPTY"
    if not (plan.test_plan and plan.test_plan.cases):
        yield "TEST_PLAN_EMPTY"
