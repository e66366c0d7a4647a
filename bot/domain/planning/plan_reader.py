"""
Reads a plan that a voice or a person wrote, and says what is wrong with it in sentences that can be acted on.

The same sentences go to the voice, which may mend it once, and to people after that.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from bot.domain.planning.plan import PlanDocument
from bot.domain.values.json_files import parse
from bot.domain.values.text import one_line
from bot.domain.values.value import Value

# JSON objects in what a voice wrote, wherever they stand in it: in prose, or in a code fence.


LONGEST_TEXT = 1_000_000
STARTS_TRIED = 20


def objects_in(text: str) -> Iterator[Mapping[str, Any]]:
    """Those that are whole, in order. Raises nothing, and looks at a few beginnings only."""
    text = text[:LONGEST_TEXT]
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(STARTS_TRIED):
        if start < 0:
            return
        end = start + 1
        try:
            end = decoder.raw_decode(text, start)[1]
            found = parse(text[start:end])
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            yield found
        start = text.find("{", end)


MOST_ERRORS = 20
SHOWN = 60
LONGEST_RING = 6

MISSING = {
    "id": "has no id",
    "title": "has no title",
    "brief": "has no brief",
    "description": "has no description",
    "path": "has no path",
    "intent": "has no intent: say create, update, delete or create_or_update",
    "kind": "has no kind: say open_question, decision or background",
    "text": "has no text",
}
PATTERNS = {
    "id": 'may only have letters, digits, ".", "_" and "-", and at most 60 of them',
    "path": "may not have control characters in it",
}
TYPES = {
    "tuple_type": "a list",
    "model_type": "an object",
    "string_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}


class ParsedPlan(Value):
    """A plan, or why there is none: one of the two is empty."""

    plan: PlanDocument | None = None
    errors: tuple[str, ...] = ()


class KnownIds(Value):
    """What a plan may trace to: the ids of requirements and of messages. Where there are none, nothing is compared."""

    requirements: frozenset[str] = frozenset()
    turns: frozenset[str] = frozenset()


NOTHING_KNOWN = KnownIds()


def read_plan(given: str | Mapping[str, Any], known: KnownIds = NOTHING_KNOWN) -> ParsedPlan:
    """Never raises. *given* may be a text with a plan somewhere in it."""
    if isinstance(given, str):
        try:
            given = _in_text(given)
        except ValueError as error:
            return ParsedPlan(errors=(f"The plan is not JSON: {one_line(str(error), 200)}.",))
    if not isinstance(given, Mapping):
        return ParsedPlan(errors=("The plan is not a JSON object.",))
    try:
        plan = PlanDocument.model_validate(given)
    except ValidationError as error:
        return ParsedPlan(errors=tuple(dict.fromkeys(map(_sentence, error.errors())))[:MOST_ERRORS])
    if errors := (*flaws(plan), *_unknown_ids(plan, known)):
        return ParsedPlan(errors=errors[:MOST_ERRORS])
    return ParsedPlan(plan=plan)


def _in_text(text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        for found in objects_in(text):
            if "title" in found:
                return found
        raise


def flaws(plan: PlanDocument) -> tuple[str, ...]:
    """What is wrong between the parts of a plan that are each in order; nothing, where it is valid."""
    found = (*_repeated_ids(plan), *_missing_tasks(plan), *_circle(plan))
    return tuple(dict.fromkeys(found))[:MOST_ERRORS]


def _repeated_ids(plan: PlanDocument) -> Iterator[str]:
    lists: Mapping[str, list[str]] = {
        "goals": [one.id for one in plan.goals],
        "work.tasks": [one.id for one in plan.work.tasks],
        "work.milestones": [one.id for one in plan.work.milestones],
        "risks": [one.id for one in plan.risks],
        "assumptions": [one.id for one in plan.assumptions],
        "acceptance_criteria": [one.id for one in plan.acceptance_criteria],
        "notes": [one.id for one in plan.notes],
    }
    for name, ids in lists.items():
        for id in _repeated(ids):
            yield f'{name}: the id "{id}" is there twice. Give each its own.'
    for path in _repeated([one.path for one in plan.file_plan]):
        yield f'file_plan: the path "{path}" is there twice. Make one entry of them.'


def _repeated(names: list[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _missing_tasks(plan: PlanDocument) -> Iterator[str]:
    known = {task.id for task in plan.work.tasks}
    for task in plan.work.tasks:
        for other in task.depends:
            if other not in known:
                yield f'work.tasks: {task.id} depends on "{other}", which is no task. Add it, or take it out.'
    for milestone in plan.work.milestones:
        for other in milestone.tasks:
            if other not in known:
                yield f'work.milestones: {milestone.id} has "{other}", which is no task. Add it, or take it out.'


def _unknown_ids(plan: PlanDocument, known: KnownIds) -> Iterator[str]:
    """Ids that a voice made up."""
    parts = {
        "work.tasks": [(one.id, one.traces, one.turns) for one in plan.work.tasks],
        "acceptance_criteria": [(one.id, one.traces, one.turns) for one in plan.acceptance_criteria],
        "file_plan": [(one.path, one.traces, one.turns) for one in plan.file_plan],
    }
    for name, found in parts.items():
        for part, traces, turns in found:
            for one in traces if known.requirements else ():
                if one not in known.requirements:
                    yield f'{name}: {part} traces to "{one}", which is no requirement. Name one, or take it out.'
            for one in turns if known.turns else ():
                if one not in known.turns:
                    yield f'{name}: {part} names the turn "{one}", which is not in the transcript. Take it out.'


def _circle(plan: PlanDocument) -> Iterator[str]:
    if ring := circle({task.id: task.depends for task in plan.work.tasks}):
        shown = ring if len(ring) <= LONGEST_RING else (*ring[:LONGEST_RING], "…")
        waits = " waits for ".join((*shown, ring[0]))
        yield f"work.tasks: {waits}. Take one of these out of depends."


def circle(depends: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Some that wait for each other, in the order of waiting; empty where everything can be done in some order."""
    waits = {one: {other for other in others if other in depends} for one, others in depends.items()}
    needed_by: dict[str, list[str]] = defaultdict(list)
    for one, others in waits.items():
        for other in others:
            needed_by[other].append(one)
    left = {one: len(others) for one, others in waits.items()}
    free = [one for one, count in left.items() if not count]
    while free:
        done = free.pop()
        del left[done]
        for one in needed_by[done]:
            left[one] -= 1
            if not left[one]:
                free.append(one)
    return _ring({one: next(other for other in depends[one] if other in left) for one in left})


def _ring(after: Mapping[str, str]) -> tuple[str, ...]:
    """The circle that is reached by following *after* from its first key."""
    here = next(iter(after), "")
    path: dict[str, int] = {}
    while here and here not in path:
        path[here] = len(path)
        here = after[here]
    return tuple(path)[path[here] :] if here else ()


def _sentence(error: Mapping[str, Any]) -> str:
    *above, field = error["loc"] or ("",)
    place = _place(tuple(above)) or "The plan"
    if error["type"] == "missing":
        return f"{place} {MISSING.get(str(field), f'has no {field}')}."
    where = _place(error["loc"]) or "The plan"
    return f"{where} {_complaint(error, str(field))}."


def _complaint(error: Mapping[str, Any], field: str) -> str:
    kind, facts = str(error["type"]), error.get("ctx", {})
    shown = one_line(repr(error["input"]), SHOWN)
    if kind == "string_too_long":
        return f"is longer than {facts['max_length']} characters"
    if kind == "string_too_short":
        return "is empty"
    if kind == "string_pattern_mismatch":
        return f"is {shown}, and {PATTERNS.get(field, 'has a form that is not allowed')}"
    if kind in {"literal_error", "enum"}:
        return f"is {shown}, and has to be {str(facts['expected']).replace(chr(39), '')}"
    if kind == "value_error":
        return f"is {shown}, and {str(error['msg']).removeprefix('Value error, ')}"
    if kind in TYPES:
        return f"is {shown}, and has to be {TYPES[kind]}"
    return f"is {shown}: {str(error['msg'])[:1].lower()}{str(error['msg'])[1:]}"


def _place(location: tuple[Any, ...]) -> str:
    """`work.tasks[2].depends`, counted from 0 as JSON is."""
    place = ""
    for part in location:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place
