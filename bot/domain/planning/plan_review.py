"""
The files of a plan as edits, and what people say of it: `planning/plan-review.json` has the verdicts that they gave for
each role.

Where they disagree the most careful one counts: blocked before needs_changes before accepted. A role without a verdict
is no consent; one that people skipped does not count.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from bot.domain.catalog.schema import PLAN_PAGE, Schema
from bot.domain.item.artifacts import DerivedEdit, digest_of
from bot.domain.messages import brief_wording, specification_wording
from bot.domain.messages import plan_wording as wording
from bot.domain.planning.plan import PlanDocument, plan
from bot.domain.planning.projections import BRIEF, REVIEW, plan_json, projected
from bot.domain.planning.roles import (
    GO,
    SKIPPED,
    VERDICT,
    approvals,
    grounds,
    questions,
    roles_of,
    title_of,
    verdict_in_words,
    verdict_of,
)
from bot.domain.specification.brief import (
    WONT,
    BriefRow,
    BriefRows,
    in_order,
    issue_of,
    listed,
    row_lines,
    text,
)
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import Specification
from bot.domain.specification.files import ItemFacts
from bot.domain.specification.not_settled import CRITERION, WORK, lacking, not_settled
from bot.domain.values.json_files import pretty
from bot.domain.values.markdown import LAST_SECTION, inert_line
from bot.domain.values.text import values

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
    plan_hash = hashlib.sha256(plan_json(plan).encode()).hexdigest()
    told: dict[str, Any] = {
        "task_id": slug,
        "reviewers": [_reviewer(role, given.get(role), blocking[role]) for role in roles],
        "aggregate": {
            "ok": decision == ACCEPTED,
            "decision": decision,
            "blocking_issues": [text for role in asked if role not in given for text in blocking[role]],
        },
        "meta": {"plan_hash": plan_hash, "generator": GENERATOR},
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


# --- `planning/plan.md` ----------------------------------------------------------------------------------------------


# What is done first, by whom and until when, how each requirement is tested, and what is in the way. As in every file,
# only what people accepted is in its lists.


def plan_page(title: str, step_id: str, schema: Schema, specification: Specification) -> str:
    """*step_id* is the step of the plan."""
    return _PlanPage(step_id, schema, specification).text(title)


class _PlanPage:
    def __init__(self, step_id: str, schema: Schema, specification: Specification) -> None:
        self._step = step_id
        self._schema = schema
        self._spec = specification
        self._rows = BriefRows(schema, specification)
        self._work = in_order(self._rows.accepted(WORK))

    def text(self, title: str) -> str:
        unsettled = [
            specification_wording.unsettled_row(one, self._schema)
            for one in not_settled(self._schema, self._spec)
        ]
        sections = {
            wording.ORDER: self._order(),
            wording.BEFORE: self._bullets(map(self._task, self._rows.accepted("action"))),
            wording.TESTED: self._bullets(self._requirements()),
            wording.FILES: self._bullets(map(self._file, self._rows.accepted("file"))),
            brief_wording.RISKS: self._bullets(self._rows.risks()),
            brief_wording.DECISIONS: self._bullets(self._rows.decisions()),
            wording.ROLES: self._bullets(self._roles()),
            f"{LAST_SECTION} ({len(unsettled)})": listed(unsettled),
        }
        head = wording.readiness(lacking(self._schema, self._spec), len(unsettled))
        parts = [f"# {inert_line(wording.page_title(title))}", head]
        parts += [f"## {heading}\n\n{body}" for heading, body in sections.items() if body]
        return "\n\n".join(parts) + "\n"

    def _order(self) -> str:
        if not self._work:
            return ""
        rows = [wording.ORDER_COLUMNS, ("---",) * len(wording.ORDER_COLUMNS)]
        rows += [self._piece(number, one) for number, one in enumerate(self._work, start=1)]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def _piece(self, number: int, entry: Entry) -> tuple[str, ...]:
        named = values(entry["traces"])
        tests = (part.id for id in named for part in self._spec.parts(id, CRITERION))
        what = wording.piece(
            self._rows.words(entry), named, is_critical=entry["critical"] == "yes", issue=issue_of(entry)
        )
        said = brief_wording.with_aside(
            brief_wording.with_aside(what, brief_wording.doubt(entry)), self._rows.by(entry)
        )
        cells = (
            str(number),
            f"{entry.id} {said}",
            text(entry, "owner") or brief_wording.NO_PERSON,
            text(entry, "by_when"),
            ", ".join(values(entry["waits"])),
            ", ".join(tests) or wording.NO_TEST_NAMED,
        )
        return tuple(inert_line(cell).replace("|", "\\|") for cell in cells)

    def _task(self, entry: Entry) -> BriefRow:
        words = brief_wording.task(
            self._rows.words(entry), text(entry, "owner"), by_when=text(entry, "by_when"), after=()
        )
        return self._said(entry, words)

    def _requirements(self) -> Iterator[BriefRow]:
        for one in self._rows.ranked():
            if one["priority"] == WONT:
                continue
            tests = tuple(self._said(part, self._rows.words(part)) for part in self._rows.criteria(one))
            below = tuple(row.but(label=wording.test(row.label)) for row in tests)
            title = brief_wording.with_aside(self._rows.words(one), text(one, "priority"))
            yield self._said(one, title).but(below=below or (BriefRow(text=wording.NO_TEST),))

    def _file(self, entry: Entry) -> BriefRow:
        path, change, reason = self._rows.words(entry), text(entry, "change"), text(entry, "reason")
        return self._said(entry, wording.file(path, change, reason, values(entry["traces"])))

    def _roles(self) -> Iterator[BriefRow]:
        """The verdict of each role, and what it still asks; nothing of one that has neither."""
        given, asked = approvals(self._spec), questions(self._schema, self._spec, self._step)
        for role in roles_of(self._schema, self._step):
            below = tuple(BriefRow(text=one.ask) for one in asked if one.role == role and one.gaps)
            found = given.get(role)
            if not (found or below):
                continue
            words = verdict_in_words(found) if found else wording.NO_VERDICT
            row = BriefRow(text=f"{title_of(role)}: {words}", below=below)
            yield self._rows.row(found, row.text, found.id).but(below=below) if found else row

    def _said(self, entry: Entry, words: str) -> BriefRow:
        return self._rows.row(entry, brief_wording.with_aside(words, self._rows.by(entry)), entry.id)

    @staticmethod
    def _bullets(rows: Iterable[BriefRow]) -> str:
        return "\n".join(line for row in rows for line in row_lines(row))
