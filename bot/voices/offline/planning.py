"""
A plan without a model: everything in it was said or written by somebody, and says by whom and where.

The same item and the same answers give the same plan, and it is always valid.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from bot.domain.planning.plan import (
    Assumption,
    Context,
    Criterion,
    Goal,
    Milestone,
    Note,
    PlanDocument,
    PlannedFile,
    Risk,
    Scope,
    Task,
    TestPlan,
    Work,
)
from bot.domain.planning.plan_reader import circle
from bot.domain.planning.workshop import Workshop
from bot.domain.values.text import clean, one_line
from bot.voices.offline import question_templates
from bot.voices.offline.evidence import MOST_TURNS, Evidence
from bot.voices.offline.named import Target, Wanted
from bot.voices.offline.phrases import has_number, key
from bot.voices.offline.planning_context import CaseFile
from bot.voices.offline.priorities import LISTS
from bot.voices.offline.requirements import mentioned

PRIORITY = {"Must": "P1", "Should": "P2", "Could": "P3"}
WAITS = ("after", "waits", "wait", "needs", "need", "depends", "depend", "requires", "nach", "braucht")
STRATEGY = "Every acceptance criterion is a case, and a task is done when the cases of its requirement pass."
BY_HAND = "Nobody has said yet which of these are automated."
LONGEST_PATH = 200


class Drafting:
    """Writes a plan of *found*, with the turns of *evidence* behind each part."""

    def __init__(self, ws: Workshop, found: CaseFile, evidence: Evidence) -> None:
        self._ws = ws
        self._found = found
        self._evidence = evidence
        self._task = {one.number: f"T{place}" for place, one in enumerate(found.planned, start=1)}

    def plan(self) -> PlanDocument:
        found, ws = self._found, self._ws
        given = PlanDocument(
            id=_id(ws.slug),
            title=clean(ws.title).strip() or ws.slug,
            brief=clean(ws.brief).strip() or ws.title,
            context=Context(priority=self._priority()),
            goals=tuple(self._goals()),
            scope=Scope(
                in_scope=tuple(f"{one.id}: {one.title}" for one in found.planned),
                out_of_scope=tuple(self._out()),
            ),
            work=Work(tasks=tuple(self._tasks()), milestones=tuple(self._milestones())),
            risks=tuple(self._risks()),
            assumptions=tuple(
                Assumption(id=f"A{number}", description=text)
                for number, text in enumerate(found.assumptions, start=1)
            ),
            acceptance_criteria=tuple(chain.from_iterable(map(self._criteria, found.planned))),
            file_plan=tuple(map(self._file, filter(_fits, found.targets))),
            notes=tuple(
                Note(id=f"N{number}", kind=kind, text=text)
                for number, (kind, text) in enumerate(self._notes(), start=1)
            ),
        )
        return given.but(test_plan=_test_plan(given))

    # --- what for -------------------------------------------------------------------------------------------------

    def _priority(self) -> str | None:
        return next((PRIORITY[name] for name in PRIORITY if name in self._ranks), None)

    @property
    def _ranks(self) -> set[str]:
        return {one.priority for one in self._found.planned}

    def _goals(self) -> Iterator[Goal]:
        """The first reason that was given, and what would show that it is gone; the others are background."""
        metrics = tuple(one.text for one in self._found.why if has_number(one.text))
        reason = next(iter(self._reasons()), self._ws.brief)
        if clean(reason).strip():
            yield Goal(id="G1", description=reason, success_metrics=metrics)

    def _reasons(self) -> Iterator[str]:
        return (one.text for one in self._found.why if not has_number(one.text))

    def _out(self) -> Iterator[str]:
        yield from self._found.out_of_scope
        planned = self._found.planned
        yield from (f"{one.id}: {one.title}" for one in self._found.requirements if one not in planned)

    # --- the work -------------------------------------------------------------------------------------------------

    def _tasks(self) -> Iterator[Task]:
        depends = self._depends()
        for one in self._found.planned:
            yield Task(
                id=self._task[one.number],
                title=one.title,
                description=" ".join(filter(None, (one.text, *one.stories))),
                depends=depends.get(self._task[one.number], ()),
                risk_level=self._risk_of(one),
                traces=(one.id,),
                turns=self._turns_of(one),
            )

    def _depends(self) -> dict[str, tuple[str, ...]]:
        """As people said it: "FR-002 after FR-001". What would make a circle is left out."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(self._task.values(), ())
        for line in self._found.order:
            numbers = [self._task[one] for one in mentioned(line) if one in self._task]
            waits = any(word in WAITS for word in key(line).split())
            for other in numbers[1:] if waits else ():
                more = {**found, numbers[0]: tuple(dict.fromkeys((*found[numbers[0]], other)))}
                found = found if circle(more) else more
        return found

    def _risk_of(self, one: Wanted) -> str:
        named = (danger for danger in self._found.dangers if one.number in mentioned(danger.text))
        return next((danger.impact for danger in named), "unknown")

    def _milestones(self) -> Iterator[Milestone]:
        planned = self._found.planned
        lists = [
            (f"{name}s" if name in PRIORITY else name, [one for one in planned if one.priority == name])
            for name in LISTS
        ]
        lists.append(("Not ranked yet", [one for one in planned if one.priority not in LISTS]))
        filled = [(title, wanted) for title, wanted in lists if wanted]
        for number, (title, wanted) in enumerate(filled, start=1):
            yield Milestone(
                id=f"M{number}",
                title=title if len(filled) > 1 else "All of it",
                tasks=tuple(self._task[one.number] for one in wanted),
            )

    def _criteria(self, one: Wanted) -> Iterator[Criterion]:
        for number, text in enumerate(one.criteria, start=1):
            turns = self._evidence.of([text]) or self._turns_of(one)
            yield Criterion(
                id=f"AC-{one.number:03}-{number:02}",
                description=text,
                must_have=one.priority not in {"Should", "Could"},
                traces=(one.id,),
                turns=turns,
            )

    def _file(self, target: Target) -> PlannedFile:
        """A file that nobody connected to a requirement is there for the item as a whole."""
        numbers = mentioned(target.says)
        for_these = [one for one in self._found.planned if one.number in numbers] or self._found.planned
        said = self._evidence.of([target.path])
        return PlannedFile(
            path=target.path,
            intent=target.intent,
            summary=target.says,
            traces=tuple(one.id for one in for_these),
            turns=tuple(dict.fromkeys((*target.lines, *said)))[:MOST_TURNS],
        )

    def _turns_of(self, one: Wanted) -> tuple[str, ...]:
        said = self._evidence.of([one.text or one.title, one.title], number=one.number)
        return tuple(dict.fromkeys((*one.lines, *said)))[:MOST_TURNS]

    # --- what is around it ----------------------------------------------------------------------------------------

    def _risks(self) -> Iterator[Risk]:
        for number, one in enumerate(self._found.dangers, start=1):
            yield Risk(
                id=f"R{number}",
                description=one.text,
                likelihood=one.likelihood,
                impact=one.impact,
                mitigations=one.mitigations,
            )

    def _notes(self) -> Iterator[tuple[str, str]]:
        yield from (("open_question", text) for text in self._open())
        yield from (("decision", text) for text in self._found.decisions)
        yield from (("background", text) for text in islice(self._reasons(), 1, None))
        yield from (("background", f"{one.id} {one.text}: {one.threshold}") for one in self._found.qualities)
        yield from (("background", f"Module: {name}") for name in self._found.modules)
        for one in self._ws.answered:
            if question_templates.kind_of(one.text) is None:
                yield "background", f"{one.text} {one.answer}"
        yield from (("background", one.text) for one in self._ws.remarks)

    def _open(self) -> Iterator[str]:
        unanswered = (one.text for one in self._ws.questions if not one.answered)
        yield from dict.fromkeys((*self._found.open_questions, *unanswered))


def _test_plan(plan: PlanDocument) -> TestPlan | None:
    cases = tuple(f"{one.id}: {one.description}" for one in plan.acceptance_criteria)
    return TestPlan(strategy=STRATEGY, cases=cases, automation=BY_HAND) if cases else None


def _fits(target: Target) -> bool:
    """A path that would lead out of the repository is no file of the plan."""
    parts: Sequence[str] = target.path.split("/")
    return ".." not in parts and all(parts) and len(target.path) <= LONGEST_PATH


def _id(slug: str) -> str:
    allowed = (
        letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in slug
    )
    return one_line("".join(allowed)[:60]).lstrip("._-") or "plan"


def drafted(ws: Workshop, found: CaseFile, evidence: Evidence) -> PlanDocument:
    return Drafting(ws, found, evidence).plan()
