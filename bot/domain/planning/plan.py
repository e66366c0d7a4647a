"""
The plan as `planning/planning.ai.json` has it: the one source, of which every other file is a projection.

The fields are the schema's. `traces` (ids of requirements) and `turns` (`message_id`s of the transcript) come on top:
they say where a task, a criterion or a file comes from.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationError

from bot.domain.catalog.schema import Schema
from bot.domain.messages import specification_wording
from bot.domain.planning.roles import approvals, questions, title_of, verdict_in_words
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.files import ItemFacts
from bot.domain.specification.not_settled import RowKind, not_settled
from bot.domain.specification.projection import Projection
from bot.domain.values.text import clean, one_line
from bot.domain.values.value import Stored

LONGEST_PATH = 300


class Intent(StrEnum):
    """What is to become of a file."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    CREATE_OR_UPDATE = "create_or_update"


def _lower(given: Any) -> Any:
    return given.strip().lower() if isinstance(given, str) else given


def _upper(given: Any) -> Any:
    return given.strip().upper() if isinstance(given, str) else given


def _words(text: str) -> str:
    if words := clean(text).strip():
        return words
    raise ValueError("has to say something")


def _inside(path: str) -> str:
    """A plan is read by people and by tools; neither should be led out of the repository."""
    parts = path.replace("\\", "/").split("/")
    if path.startswith(("/", "\\", "~")) or path[1:2] == ":" or ".." in parts or not all(parts):
        raise ValueError("has to be a path inside the repository, such as src/export.py")
    return path


Text = Annotated[str, AfterValidator(clean)]
Words = Annotated[str, AfterValidator(_words)]
Id = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
Path = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=LONGEST_PATH, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
    AfterValidator(clean),
    AfterValidator(_inside),
]
Grade = Annotated[Literal["low", "medium", "high", "unknown"], BeforeValidator(_lower)]
Texts = tuple[Words, ...]
Ids = tuple[Words, ...]


class Context(Stored):
    repository: Text = ""
    milestone: Text = ""
    priority: Annotated[Literal["P0", "P1", "P2", "P3"], BeforeValidator(_upper)] | None = None
    depends: Ids = ()
    timeline_ref: Text = ""
    notes: Text = ""


class Goal(Stored):
    id: Id
    description: Words
    success_metrics: Texts = ()


class Scope(Stored):
    in_scope: Texts = ()
    out_of_scope: Texts = ()


class Task(Stored):
    id: Id
    title: Words
    description: Text = ""
    kind: Text = "feature"
    depends: tuple[Id, ...] = ()
    eta: Text = ""
    risk_level: Grade = "unknown"
    status: Text = "todo"
    notes: Text = ""
    traces: Ids = ()
    turns: Ids = ()


class Milestone(Stored):
    id: Id
    title: Words
    description: Text = ""
    tasks: tuple[Id, ...] = ()


class Work(Stored):
    tasks: tuple[Task, ...] = ()
    milestones: tuple[Milestone, ...] = ()


class Risk(Stored):
    id: Id
    description: Words
    likelihood: Grade = "unknown"
    impact: Grade = "unknown"
    mitigations: Texts = ()


class Assumption(Stored):
    id: Id
    description: Words
    status: Text = "open"


class Criterion(Stored):
    id: Id
    description: Words
    must_have: bool = True
    traces: Ids = ()
    turns: Ids = ()


class PlannedFile(Stored):
    path: Path
    intent: Annotated[Intent, BeforeValidator(_lower)]
    role: Text = ""
    summary: Text = ""
    notes: Text = ""
    traces: Ids = ()
    turns: Ids = ()


class Note(Stored):
    id: Id
    kind: Annotated[Literal["open_question", "decision", "background"], BeforeValidator(_lower)]
    text: Words


class TestPlan(Stored):
    __test__ = False
    """For pytest: it is not a class of tests."""

    strategy: Text = ""
    cases: Texts = ()
    automation: Text = ""


class PlanDocument(Stored):
    id: Id
    title: Words
    brief: Words
    context: Context = Context()
    goals: tuple[Goal, ...] = ()
    scope: Scope = Scope()
    work: Work = Work()
    risks: tuple[Risk, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    acceptance_criteria: tuple[Criterion, ...] = ()
    file_plan: tuple[PlannedFile, ...] = Field(default=())
    notes: tuple[Note, ...] = ()
    test_plan: TestPlan | None = None


# --- how it follows from the specification ---------------------------------------------------------------------------


# Tasks, criteria, files and risks are those of accepted entries, and what is not settled is an open question in it.
# Nothing is read out of prose.

TURNS_NAMED = 20
TEXT_CHARS = 400
OPTIONAL = ("should", "could")
LEFT_OUT = ("won't",)
"""Priorities of requirements that are not planned."""
PROBLEM = "problem"
"""The kind of entry that says what an item is for."""

Part = TypeVar("Part", bound=Stored)


def plan(item: ItemFacts, step_id: str, schema: Schema, specification: Specification) -> PlanDocument:
    """Always valid: what does not fit its field is left out and named in a note. *step_id* is the step of the plan."""
    return _Planner(item, step_id, schema, specification).plan()


class _Planner:
    def __init__(self, item: ItemFacts, step_id: str, schema: Schema, specification: Specification) -> None:
        self._item = item
        self._step = step_id
        self._schema = schema
        self._spec = specification
        self._lists = Projection(schema, specification).plan()
        self._unfit: list[str] = []

    def plan(self) -> PlanDocument:
        title = clean(self._item.title).strip() or self._item.slug
        criteria = tuple(self._criteria())
        cases = tuple(f"{one.id}: {one.description}" for one in criteria)
        made = {
            "goals": self._parts(Goal, "goals"),
            "scope": Scope(in_scope=self._texts("scope.in_scope"), out_of_scope=self._texts("scope.out_of_scope")),
            "work": Work(tasks=self._tasks()),
            "risks": self._parts(Risk, "risks"),
            "assumptions": self._parts(Assumption, "assumptions"),
            "acceptance_criteria": criteria,
            "file_plan": tuple(self._files()),
        }  # fmt: skip
        return PlanDocument(
            id=_id(self._item.slug),
            title=title,
            brief=self._brief() or title,
            **made,
            notes=tuple(self._notes()),
            test_plan=TestPlan(cases=cases) if cases else None,
        )

    def _brief(self) -> str:
        """What the item is for; before that is recorded, what people said first about the plan."""
        found = [str(one["text"] or "") for one in self._spec.accepted(PROBLEM)]
        said = [str(one["text"] or "") for one in self._notes_of_people()]
        return clean("\n".join(found) or next(iter(said), "")).strip()

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _rows(self, path: str) -> list[Any]:
        place: Any = self._lists
        for name in path.split("."):
            place = place.get(name, {}) if isinstance(place, Mapping) else {}
        return place if isinstance(place, list) else []

    def _texts(self, path: str) -> tuple[str, ...]:
        return tuple(text for one in self._rows(path) if (text := clean(str(one or "")).strip()))

    def _parts(self, model: type[Part], path: str) -> tuple[Part, ...]:
        """Of two rows with one id, the first."""
        found: dict[str, Part] = {}
        for row in self._rows(path):
            made = self._fitting(model, row)
            if made is not None:
                found.setdefault(str(row.get("id")), made)
        return tuple(found.values())

    def _fitting(self, model: type[Part], row: Mapping[str, Any]) -> Part | None:
        """Without the fields whose values do not fit the schema of the plan."""
        try:
            return model.model_validate(row)
        except ValidationError as error:
            wrong = {one["loc"][0] for one in error.errors() if one["loc"]}
        try:
            made = model.model_validate({name: value for name, value in row.items() if name not in wrong})
        except ValidationError:
            self._leave_out(row, row)
            return None
        kept = {name: row[name] for name in wrong if isinstance(name, str) and name in row}
        if any(value not in (None, "", []) for value in kept.values()):
            self._leave_out(row, kept)
        return made

    def _leave_out(self, row: Mapping[str, Any], part: Mapping[str, Any]) -> None:
        told = "; ".join(f"{name}: {value}" for name, value in part.items() if name != "id")
        name = row.get("id") or row.get("path")
        self._unfit.append(f"{name} does not fit the plan: {one_line(told, TEXT_CHARS)}")

    def _lines(self, *ids: str) -> tuple[str, ...]:
        """The lines that the values of these entries come from."""
        entries = [self._spec.entries[id] for id in ids if id in self._spec.entries]
        found = dict.fromkeys(claim.line for entry in entries for _, claim in entry.current())
        return tuple(filter(None, found))[:TURNS_NAMED]

    # --- what is built ------------------------------------------------------------------------------------------------

    def _tasks(self) -> tuple[Task, ...]:
        tasks = {one.id: one for one in self._parts(Task, "work.tasks")}
        depends = {id: tuple(other for other in one.depends if other in tasks) for id, one in tasks.items()}
        if _has_circle(depends):
            depends = without_circles(depends)
        return tuple(
            one.but(depends=depends[id], traces=self._traces(one), turns=self._lines(id))
            for id, one in tasks.items()
        )

    def _traces(self, task: Task) -> tuple[str, ...]:
        """A requirement that is a task of its own is what the task is for."""
        own = (task.id,) if self._spec.entries[task.id].kind == "requirement" else ()
        return tuple(dict.fromkeys((*own, *task.traces)))

    def _criteria(self) -> Iterator[Criterion]:
        """Not of what is left out, or not agreed to."""
        for one in self._parts(Criterion, "acceptance_criteria"):
            owner = self._spec.entries.get(self._spec.entries[one.id].part_of)
            if owner is None or (owner.state is EntryState.ACCEPTED and owner["priority"] not in LEFT_OUT):
                must_have = owner is None or owner["priority"] not in OPTIONAL
                yield one.but(must_have=must_have, turns=self._lines(one.id))

    def _files(self) -> Iterator[PlannedFile]:
        """A path that two entries name is one file, for the requirements of both."""
        by_path: dict[str, list[str]] = defaultdict(list)
        for entry in self._spec.accepted("file"):
            by_path[str(entry["path"])].append(entry.id)
        found: dict[str, PlannedFile] = {}
        for row in self._rows("file_plan"):
            made = self._fitting(PlannedFile, row)
            if made is None:
                continue
            known = found.get(made.path)
            traces = (*known.traces, *made.traces) if known else made.traces
            ids = by_path.get(str(row.get("path")), ())
            found[made.path] = (known or made).but(
                traces=tuple(dict.fromkeys(traces)), turns=self._lines(*ids)
            )
        yield from found.values()

    # --- what is open, and what was said besides ----------------------------------------------------------------------

    def _notes(self) -> Iterator[Note]:
        taken: Counter[str] = Counter()
        for id, kind, text in self._list_notes():
            if text := clean(text).strip():
                taken[id] += 1
                unique = id if taken[id] == 1 else f"{id}.{taken[id]}"
                yield Note.model_validate({"id": unique, "kind": kind, "text": text})

    def _list_notes(self) -> Iterator[tuple[str, str, str]]:
        for row in self._rows("notes"):
            yield str(row.get("id")), str(row.get("kind")), str(row.get("text") or "")
        for row in not_settled(self._schema, self._spec):
            if row.kind is not RowKind.QUESTION:
                text = specification_wording.unsettled_row(row, self._schema)
                yield (
                    f"{row.id or 'all'}.{row.kind.name.lower()}",
                    "open_question",
                    one_line(text, TEXT_CHARS),
                )
        for number, text in enumerate(self._unfit, start=1):
            yield f"unplanned.{number}", "open_question", text
        for question in questions(self._schema, self._spec, self._step):
            if question.gaps:
                yield f"Q{question.number}", "open_question", question.text
        for role, entry in approvals(self._spec).items():
            yield entry.id, "decision", f"{title_of(role)}: {verdict_in_words(entry)}"
        for note in self._notes_of_people():
            yield note.id, "background", str(note["text"] or "")

    def _notes_of_people(self) -> tuple[Entry, ...]:
        return self._spec.notes_of([self._step])


def without_circles(depends: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What was said first counts; coverage names the circle."""
    kept: dict[str, tuple[str, ...]] = dict.fromkeys(depends, ())
    for id, others in depends.items():
        for other in others:
            more = {**kept, id: (*kept[id], other)}
            kept = kept if _has_circle(more) else more
    return kept


def _id(slug: str) -> str:
    allowed = (one if one.isascii() and (one.isalnum() or one in "._-") else "-" for one in slug)
    return "".join(allowed)[:60].lstrip("._-") or "plan"


def _has_circle(depends: Mapping[str, tuple[str, ...]]) -> bool:
    try:
        TopologicalSorter(depends).prepare()
    except CycleError:
        return True
    return False
