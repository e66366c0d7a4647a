"""
The plan as `planning/planning.ai.json` has it: the one source, of which every other file is a projection.

The fields are the schema's. `traces` (ids of requirements) and `turns` (`message_id`s of the transcript) come on top:
they say where a task, a criterion or a file comes from.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from bot.domain.values.text import clean
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
