"""
What the workshop takes from the specification: the verdict of each role without a model, the plan, and the
entries that an answer to a role's question makes. Nothing is read out of prose.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from bot.domain.catalog.schema import NOTE, FieldType, Need, Schema, SectionView, ids_in
from bot.domain.messages import specification_wording
from bot.domain.planning.plan import (
    Assumption,
    Criterion,
    Goal,
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
from bot.domain.planning.verdict import MOST_QUESTIONS, MOST_REASONS, RoleVerdict, title
from bot.domain.planning.workshop import Workshop
from bot.domain.specification import forms
from bot.domain.specification.coverage import CoverageGap, coverage
from bot.domain.specification.entries import Entry, EntryState, Patch, Specification
from bot.domain.specification.not_settled import RowKind, not_settled
from bot.domain.specification.projection import Projection
from bot.domain.values.text import clean, one_line
from bot.domain.values.value import Stored

IDS_NAMED = 3
TURNS_NAMED = 20
TEXT_CHARS = 400
OPTIONAL = frozenset({"should", "could"})
LEFT_OUT = frozenset({"won't"})
"""Priorities of requirements that are not planned."""
BY_CHOICE = frozenset({FieldType.CHOICE, FieldType.NUMBER, FieldType.REF})
"""A short answer is such a value, or it is none; other fields take any text, so an answer is only proposed."""

_QUOTE_OR_TABLE = (">", "|", "`" * 3)
_BULLET = re.compile(r"\s*[-*+•]\s")
Part = TypeVar("Part", bound=Stored)


# --- verdicts ---------------------------------------------------------------------------------------------------------


def verdict(
    schema: Schema, specification: Specification, role: str, *, settled: Collection[str] = ()
) -> RoleVerdict:
    """
    What coverage says in the role's field: no with any gap, else yes. Where there is nothing to look at, or no
    need is the role's, it cannot say. *settled* are questions that people have answered or passed.

    A rule has no confidence, so none is given.
    """
    needs = [need for view in schema.views if view.steps for need in view.needs if need.lane == role]
    if not needs:
        return RoleVerdict(reasons=(f"No rule looks at the field of the {title(role)}; only a model can.",))
    gaps = [gap for gap in coverage(schema, specification, steps_of(schema)) if gap.lane == role]
    if not gaps:
        looked_at = [key for need in needs for key in (need.of, need.every, need.not_all) if key]
        if not any(specification.active(key) for key in looked_at):
            names = " or ".join(dict.fromkeys(schema.kinds[key].name.lower() for key in looked_at))
            return RoleVerdict(reasons=(f"No {names} is recorded yet.",))
        return RoleVerdict(ok=True, reasons=("No gap was found in this field.",))
    groups: dict[str, list[CoverageGap]] = defaultdict(list)
    for gap in gaps:
        groups[gap.ask.replace(gap.id, "{id}") if gap.id else gap.ask].append(gap)
    questions = (_next(group, settled) for group in groups.values())
    return RoleVerdict(
        ok=False,
        reasons=tuple(_lacking(schema, group) for group in groups.values())[:MOST_REASONS],
        blocking_questions=tuple(filter(None, questions))[:MOST_QUESTIONS],
    )


def steps_of(schema: Schema) -> tuple[str, ...]:
    return tuple(dict.fromkeys(step for view in schema.views for step in view.steps))


def _next(group: Sequence[CoverageGap], settled: Collection[str]) -> str:
    return next((gap.ask for gap in group if gap.ask not in settled), "")


def _lacking(schema: Schema, group: Sequence[CoverageGap]) -> str:
    """`FR-002, FR-004: no acceptance criterion yet.`"""
    first = group[0]
    if not first.id:
        key, found, wanted = (*first.facts, "", "")[:3]
        name = schema.kinds[key].name if key in schema.kinds else key
        return f"{name}: {found or 0} recorded, at least {wanted or 1} needed."
    names = [gap.id for gap in group]
    more = f" and {len(names) - IDS_NAMED} more" if len(names) > IDS_NAMED else ""
    return f"{', '.join(names[:IDS_NAMED])}{more}: no {_name_of(schema, first)} yet."


def _name_of(schema: Schema, gap: CoverageGap) -> str:
    part = gap.field.partition(".")[0]
    kind = schema.of_id(gap.id)
    if part in schema.kinds:
        return schema.kinds[part].name.lower()
    return kind.label(gap.field).lower() if kind else gap.field


# --- answers ----------------------------------------------------------------------------------------------------------


class AskedNeed(NamedTuple):
    """The need whose question a role put, and the entry that it is about, if it is about one."""

    view: SectionView
    need: Need
    id: str = ""


def need_of(schema: Schema, question: str) -> AskedNeed | None:
    """None for a question that a model asked."""
    for view in schema.views:
        for need in view.needs if view.steps else ():
            for id in (*ids_in(question), ""):
                if need.ask and need.ask.replace("{id}", id) == question:
                    return AskedNeed(view, need, id)
    return None


def answered(
    text: str, *, question: str, schema: Schema, specification: Specification, person: str
) -> tuple[Patch, ...]:
    """
    The patches of the line of an answer. Explicit forms count as in the step that the question belongs to. Else
    the words are the value that was asked for, verbatim and proposed; where they cannot be, they are a note
    under the question.
    """
    asked = need_of(schema, question)
    read = partial(
        forms.read,
        schema=schema,
        specification=specification,
        step_id=asked.view.steps[0] if asked else "",
        person=person,
        questions=(question,),
        open_questions=(1,),
        about=asked.id if asked else "",
    )
    patches = read(text)
    if asked is None or any(patch.kind != NOTE for patch in patches):
        return patches
    if asked.id:
        value = _value(text, asked, schema, specification)
        return (value,) if value else patches
    return read(_as_items(text), items=asked.need.of) if asked.need.of else patches


def remarked(text: str, *, schema: Schema, specification: Specification, person: str) -> tuple[Patch, ...]:
    """Explicit forms only: what else is said is in the minutes."""
    return forms.read(
        text, schema=schema, specification=specification, step_id="", person=person, notes=False
    )


def _value(text: str, asked: AskedNeed, schema: Schema, specification: Specification) -> Patch | None:
    entry, name = specification.entries.get(asked.id), asked.need.has
    kind = schema.kinds.get(entry.kind) if entry else None
    if kind is None or not name or not specification.lives(asked.id):
        return None
    if part := schema.kinds.get(name):
        value = part.fields[part.text].read(text)
        id = specification.next_id(part, asked.id)
        given = Patch(id=id, kind=part.key, part_of=asked.id, new=True, set={part.text: value})
        return None if value is None else given.but(state=EntryState.PROPOSED)
    field = kind.fields.get(name)
    value = field.read(text) if field else None
    if field is None or value is None:
        return None
    value = [value] if field.many and not isinstance(value, list) else value
    return Patch(
        id=asked.id, set={name: value}, state=None if field.type in BY_CHOICE else EntryState.PROPOSED
    )


def _as_items(text: str) -> str:
    """Each row as a bullet, which proposes an entry. Quotes, tables and code stay what they are."""
    if _QUOTE_OR_TABLE[-1] in text:
        return text
    rows = [row.strip() for row in text.splitlines()]
    return "\n".join(
        row if not row or row.startswith(_QUOTE_OR_TABLE) or _BULLET.match(row) else f"- {row}"
        for row in rows
    )


# --- the plan ---------------------------------------------------------------------------------------------------------


def plan(
    ws: Workshop, schema: Schema, specification: Specification, *, turns: Collection[str] | None = None
) -> PlanDocument:
    """
    Always valid: what does not fit its field is left out and named in a note. *turns* are the lines that may be
    named, where that is known.
    """
    return _Planner(ws, schema, specification, turns).plan()


class _Planner:
    def __init__(
        self, ws: Workshop, schema: Schema, specification: Specification, turns: Collection[str] | None
    ) -> None:
        self._ws = ws
        self._schema = schema
        self._spec = specification
        self._turns = turns
        self._lists = Projection(schema, specification).plan()
        self._unfit: list[str] = []

    def plan(self) -> PlanDocument:
        ws = self._ws
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
            id=_id(ws.slug),
            title=clean(ws.title).strip() or ws.slug,
            brief=clean(ws.brief).strip() or clean(ws.title).strip() or ws.slug,
            **made,
            notes=tuple(self._notes()),
            test_plan=TestPlan(cases=cases) if cases else None,
        )

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
            self._unfit.append(f"{row.get('id') or row.get('path')} does not fit the plan: {_shown(row)}")
            return None
        kept = {name: row[name] for name in wrong if isinstance(name, str) and name in row}
        if any(value not in (None, "", []) for value in kept.values()):
            self._unfit.append(f"{row.get('id') or row.get('path')} does not fit the plan: {_shown(kept)}")
        return made

    def _lines(self, *ids: str) -> tuple[str, ...]:
        """The lines that the values of these entries come from."""
        entries = [self._spec.entries[id] for id in ids if id in self._spec.entries]
        found = dict.fromkeys(claim.line for entry in entries for _, claim in entry.current())
        known = (line for line in found if line and (self._turns is None or line in self._turns))
        return tuple(known)[:TURNS_NAMED]

    # --- what is built ------------------------------------------------------------------------------------------------

    def _tasks(self) -> tuple[Task, ...]:
        tasks = {one.id: one for one in self._parts(Task, "work.tasks")}
        depends = {id: tuple(other for other in one.depends if other in tasks) for id, one in tasks.items()}
        if circle(depends):
            depends = _without_circles(depends)
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
        for entry in self._accepted("file"):
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

    def _accepted(self, kind: str) -> Iterator[Entry]:
        yield from (one for one in self._spec.active(kind) if one.state is EntryState.ACCEPTED)

    # --- what is open, and what was said besides ----------------------------------------------------------------------

    def _notes(self) -> Iterator[Note]:
        taken: Counter[str] = Counter()
        for id, kind, text in self._told():
            if text := clean(text).strip():
                taken[id] += 1
                unique = id if taken[id] == 1 else f"{id}.{taken[id]}"
                yield Note.model_validate({"id": unique, "kind": kind, "text": text})

    def _told(self) -> Iterator[tuple[str, str, str]]:
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
        for question in self._ws.questions:
            if not question.answered:
                yield question.id, "open_question", question.text
            elif not self._made_entries(question.line):
                yield question.id, "background", f"{question.text} {question.answer}"
        for number, remark in enumerate(self._ws.remarks, start=1):
            if not self._made_entries(remark.line):
                yield f"R{number}", "background", remark.text

    def _made_entries(self, line: str) -> bool:
        """Then its words are in the plan as what they are."""
        return bool(line) and any(patch.kind != NOTE for patch in self._spec.made_by(line))


def _without_circles(depends: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What was said first counts; coverage names the circle."""
    kept: dict[str, tuple[str, ...]] = dict.fromkeys(depends, ())
    for id, others in depends.items():
        for other in others:
            more = {**kept, id: (*kept[id], other)}
            kept = kept if circle(more) else more
    return kept


def _shown(row: Mapping[str, Any]) -> str:
    return one_line("; ".join(f"{name}: {value}" for name, value in row.items() if name != "id"), TEXT_CHARS)


def _id(slug: str) -> str:
    allowed = (one if one.isascii() and (one.isalnum() or one in "._-") else "-" for one in slug)
    return "".join(allowed)[:60].lstrip("._-") or "plan"


# --- plans of models --------------------------------------------------------------------------------------------------


def contradictions(plan: PlanDocument, schema: Schema, specification: Specification) -> tuple[str, ...]:
    """Where a plan says something else than the entries that it names, as sentences for the one who wrote it."""
    return tuple(_contradictions(plan, Projection(schema, specification), specification))


def _contradictions(
    plan: PlanDocument, projection: Projection, specification: Specification
) -> Iterator[str]:
    for task in plan.work.tasks:
        entry = specification.entries.get(task.id)
        if entry is None or entry.kind not in {"requirement", "work"}:
            continue
        yield from _differs("work.tasks", task.id, "title", task.title, entry["title"])
        name = "waits" if entry.kind == "work" else "depends"
        given = set(projection.get(entry, name) or ())
        for other in task.depends:
            if other not in given:
                yield f'work.tasks: {task.id} depends on "{other}", which nobody said. Take it out.'
        if entry["priority"] in LEFT_OUT:
            yield f"work.tasks: {task.id} is left out on purpose (its priority is won't). Take it out."
    parts: Iterable[tuple[str, str, str]] = (
        *(("risks", one.id, one.description) for one in plan.risks),
        *(("acceptance_criteria", one.id, one.description) for one in plan.acceptance_criteria),
        *(("assumptions", one.id, one.description) for one in plan.assumptions),
        *(("goals", one.id, one.description) for one in plan.goals),
    )
    for name, id, text in parts:
        if entry := specification.entries.get(id):
            yield from _differs(name, id, "description", text, entry["text"])


def _differs(part: str, id: str, field: str, given: str, known: Any) -> Iterator[str]:
    if _plain(given) != _plain(known):
        wanted = one_line(str(known or ""), 120)
        yield f'{part}: the {field} of {id} is "{wanted}" in the specification. Use these words, or another id.'


def _plain(text: Any) -> str:
    return " ".join(clean(str(text or "")).split())
