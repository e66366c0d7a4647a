"""
The files of a plan: the plan itself, the page people read, the list of files, and the verdicts.

Values of the plan are text, never markup: the outline of the page is the same for every plan.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.planning.plan import PlanDocument, Task, read_plan
from bot.domain.values.json_files import pretty
from bot.domain.values.markdown import LAST_SECTION, bullet, escaped

FOLDER = "planning"
PLAN = f"{FOLDER}/planning.ai.json"
PLAN_FILES = f"{FOLDER}/plan.files.json"
PROJECTIONS = (PLAN_PAGE, PLAN_FILES)
REVIEW = f"{FOLDER}/plan-review.json"
BRIEF = f"{FOLDER}/brief.md"
WRITTEN = frozenset({PLAN, *PROJECTIONS, REVIEW, BRIEF})

NOTHING = "_Nothing yet._"
NONE = "–"


def plan_json(plan: PlanDocument) -> str:
    return pretty(plan.model_dump(mode="json", exclude_none=True))


def files_json(plan: PlanDocument) -> str:
    """The intentions by file, for tools that want nothing else."""
    return pretty({"files": [one.model_dump(mode="json") for one in plan.file_plan]})


def plan_page(plan: PlanDocument) -> str:
    sections = "\n\n".join(f"## {title}\n\n{body or NOTHING}" for title, body in _sections(plan))
    return f"# Plan: {harmless(plan.title)}\n\n> {harmless(plan.brief)}\n\n{_head(plan)}\n\n{sections}\n"


def projected(plan: PlanDocument) -> Mapping[str, str]:
    """The plan and its projections, by path."""
    return {PLAN: plan_json(plan), PLAN_PAGE: plan_page(plan), PLAN_FILES: files_json(plan)}


class Gap(NamedTuple):
    """Something in the file *path* that is not as the plan has it; lines count from 1."""

    path: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path} {self.sentence}"


def check(plan: PlanDocument, files: Mapping[str, str]) -> tuple[Gap, ...]:
    """
    Where *files* are not what *plan* says, each at its first line that differs; empty when they are in step.

    A difference is mended by writing `projected(plan)`: the plan is right.
    """
    found = (_difference(path, text, files.get(path)) for path, text in projected(plan).items())
    return tuple(filter(None, found))


def check_files(files: Mapping[str, str]) -> tuple[Gap, ...]:
    """The same, going by the plan among the *files*."""
    if PLAN not in files:
        return (Gap(PLAN, 1, "is missing."),)
    found = read_plan(files[PLAN])
    return (
        check(found.plan, files)
        if found.plan
        else tuple(Gap(PLAN, 1, f"is no plan: {error}") for error in found.errors)
    )


def _difference(path: str, wanted: str, found: str | None) -> Gap | None:
    if found is None:
        return Gap(path, 1, "is missing.")
    pairs = zip_longest(wanted.splitlines(), found.replace("\r\n", "\n").splitlines())
    number = next((place for place, (one, other) in enumerate(pairs, start=1) if one != other), 0)
    return Gap(path, number, f"differs from the plan in line {number}.") if number else None


def _head(plan: PlanDocument) -> str:
    context = plan.context
    facts = {
        "Id": plan.id,
        "Priority": context.priority or "",
        "Milestone": context.milestone,
        "Repository": context.repository,
        "Depends on": ", ".join(context.depends),
        "Timeline": context.timeline_ref,
        "Notes": context.notes,
    }
    return "\n".join(f"- **{name}:** {harmless(fact)}" for name, fact in facts.items() if fact)


def _sections(plan: PlanDocument) -> Iterator[tuple[str, str]]:
    yield "Goals", _goals(plan)
    yield "In scope", _bullets(plan.scope.in_scope)
    yield "Out of scope", _bullets(plan.scope.out_of_scope)
    yield "Tasks", _tasks(plan)
    yield "Milestones", _milestones(plan)
    yield "Acceptance criteria", _criteria(plan)
    yield "Files", _files(plan)
    yield "Tests", _tests(plan)
    yield "Risks", _risks(plan)
    yield "Assumptions", _lines((one.id, f"{one.description} ({one.status})") for one in plan.assumptions)
    yield "Decisions", _notes(plan, "decision")
    yield "Background", _notes(plan, "background")
    if unsettled := _notes(plan, "open_question"):
        yield LAST_SECTION, unsettled


def _goals(plan: PlanDocument) -> str:
    rows = []
    for goal in plan.goals:
        rows.append(_line(goal.id, goal.description))
        rows += [f"  - {harmless(metric)}" for metric in goal.success_metrics]
    return "\n".join(rows)


def _tasks(plan: PlanDocument) -> str:
    return "\n".join(row for task in plan.work.tasks for row in _task(task))


def _task(task: Task) -> Iterator[str]:
    yield _line(task.id, task.title, task.traces)
    facts = {
        "What": task.description,
        "After": ", ".join(task.depends),
        "Kind": task.kind,
        "When": task.eta,
        "Risk": "" if task.risk_level == "unknown" else task.risk_level,
        "Status": task.status,
        "Notes": task.notes,
        "Said in": ", ".join(task.turns),
    }
    yield from (f"  - {name}: {harmless(fact)}" for name, fact in facts.items() if fact)


def _milestones(plan: PlanDocument) -> str:
    return _lines(
        (one.id, f"{one.title} — {', '.join(one.tasks) or NONE}. {one.description}".strip())
        for one in plan.work.milestones
    )


def _criteria(plan: PlanDocument) -> str:
    return "\n".join(
        _line(one.id, one.description if one.must_have else f"{one.description} (would be good)", one.traces)
        for one in plan.acceptance_criteria
    )


def _files(plan: PlanDocument) -> str:
    rows = [
        (one.path, one.intent.value.replace("_", " "), one.role, one.summary, ", ".join(one.traces))
        for one in plan.file_plan
    ]
    return _table(("Path", "Intent", "Role", "What", "For"), rows) if rows else ""


def _risks(plan: PlanDocument) -> str:
    rows = [
        (one.id, one.description, one.likelihood, one.impact, "; ".join(one.mitigations) or NONE)
        for one in plan.risks
    ]
    return _table(("Id", "Risk", "Likelihood", "Impact", "Mitigation"), rows) if rows else ""


def _tests(plan: PlanDocument) -> str:
    tests = plan.test_plan
    if tests is None:
        return ""
    parts = (harmless(tests.strategy), _bullets(tests.cases), harmless(tests.automation))
    return "\n\n".join(filter(None, parts))


def _notes(plan: PlanDocument, kind: str) -> str:
    return _lines((note.id, note.text) for note in plan.notes_of(kind))


def _lines(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(_line(name, text) for name, text in rows)


def _line(name: str, text: str, traces: Iterable[str] = ()) -> str:
    ids = ", ".join(map(harmless, traces))
    return f"- **{harmless(name)}** {harmless(text)}{f' ({ids})' if ids else ''}"


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {harmless(text)}" for text in texts)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    cells = [columns, ("---",) * len(columns), *(tuple(map(harmless, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def harmless(text: str) -> str:
    """One line in which nothing acts, also at its beginning and in a table."""
    return bullet(escaped(" ".join(text.split())))
