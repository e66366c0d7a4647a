"""The schemas of answers: the same on every step, in the form that providers take, and read back completely."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bot.domain.catalog.schema import REMARK, FieldType, Kind, KindField
from bot.domain.catalog.steps import Step
from bot.domain.discussion.elaboration import Stance
from bot.domain.messages.draft_wording import NO_SUCH_VALUE
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.entries import CONFIRMED_BY_AUTHOR, Specification
from bot.voices import answers, proposing
from bot.voices.model import AnswerSchema
from bot.voices.prompts import schemas, tasks, wanted
from bot.voices.prompts.scene import Scene
from bot.voices.verifying import Support
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting
from tests.voices.models.published import breaches
from tests.voices.people import ADA, FEATURES, MAYA, roundtable

STEPS = tuple(PLAYBOOK.agenda.steps)
DECISION = "We leave out PDF"
ASKED = roundtable(FEATURES, (ADA, f"{DECISION}. Go with a condition."))
SAID = "C.0"
DATA = (schemas.turn((MAYA,)), schemas.review(Support), schemas.findings())


def specification() -> Specification:
    """What a part can be of, and a reference can name."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Keep the last row")
    meeting.press("Ada", {"id": "STR-001", "kind": "structure", "new": True, "set": {"name": "Edit"}})
    return meeting.specification


SPECIFICATION = specification()
OWNERS = {"requirement": "FR-001", "structure": "STR-001"}


def scene(step: Step) -> Scene:
    rt: Roundtable = ASKED.but(step_id=step.step_id, phase_key=step.phase_key, specification=SPECIFICATION)
    return Scene(rt, PLAYBOOK, PLAYBOOK.roster[MAYA], {})


def drafting(step: Step) -> AnswerSchema:
    found = tasks.draft(scene(step)).schema
    assert found
    return found


DRAFT = drafting(STEPS[0])
EVERY = (*DATA, DRAFT)
BODIES: dict[str, Callable[[AnswerSchema], dict[str, Any]]] = {
    "/chat/completions": lambda one: {
        "response_format": {"json_schema": {"name": one.name, "schema": one.form, "strict": True}}
    },
    "/messages": lambda one: {"output_config": {"format": {"type": "json_schema", "schema": one.form}}},
    "/m:generateContent": lambda one: {
        "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": one.form}
    },
}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("schema", EVERY, ids=lambda one: one.name)
def test_every_provider_takes_it(path: str, schema: AnswerSchema) -> None:
    """Valid, and in the part of JSON schema that is published."""
    Draft202012Validator.check_schema(schema.form)

    assert breaches(path, BODIES[path](schema)) == []


@pytest.mark.parametrize("step", STEPS, ids=lambda one: one.step_id)
def test_no_step_and_nothing_that_is_said_changes_it(step: Step) -> None:
    """Providers cache a prompt behind its schema: one of each step's own would begin every prompt anew."""
    here = scene(step)
    silent = here._replace(rt=here.rt.but(answers=(), specification=Specification()))

    assert drafting(step) == tasks.draft(silent).schema == DRAFT


# --- an answer in the schema is read completely ---


VALUES: dict[FieldType, Any] = {
    FieldType.LINE: "Field staff",
    FieldType.TEXT: "Edits get lost.",
    FieldType.NUMBER: "0",
    FieldType.COUNT: "10-15",
    FieldType.AMOUNT: "5 s",
    FieldType.REF: "FR-001",
    FieldType.PATH: "src/sync.py",
    FieldType.CODE: "sync(rows)",
    FieldType.PERSON: "Ada",
    FieldType.DATE: "Friday",
}


def value(field: KindField) -> str:
    return field.of[-1] if field.type is FieldType.CHOICE else VALUES[field.type]


def recorded(field: KindField, times: int) -> Any:
    one = 0 if field.type is FieldType.NUMBER else value(field)
    return [one] * times if field.many else one


def fields_of(kind: Kind) -> dict[str, KindField]:
    return {name: one for name, one in kind.fields.items() if name != REMARK and not one.by_people}


Rows = list[tuple[str, str]]


def entry(kind: Kind, fields: Rows, id: str = "") -> dict[str, Any]:
    owner = OWNERS[kind.part_of] if kind.part_of else ""
    quote = {"field": "", "line": SAID, "words": "Export every row"}
    rows = [{"field": name, "value": value} for name, value in fields]
    return {"kind": kind.key, "id": id, "part_of": owner, "fields": rows, "quotes": [quote]}


def main_words(kind: Kind) -> str:
    return DECISION if kind.key in CONFIRMED_BY_AUTHOR else value(kind.fields[kind.text])


def read_back(step: Step, told: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Of the schema and its parser: what is recorded of the only entry, and what is left out."""
    Draft202012Validator(DRAFT.form["properties"]["entries"]).validate([told])
    found = proposing.proposed([told], scene(step))
    return dict(found.patches[0].set) if found.patches else {}, found.dropped


PAIRS = [(step, kind) for step in STEPS for kind in wanted.kinds(scene(step))]
NAMES = [f"{step.step_id} {kind.key}" for step, kind in PAIRS]


@pytest.mark.parametrize(("step", "kind"), PAIRS, ids=NAMES)
def test_an_entry_with_all_of_its_fields_is_read_completely(step: Step, kind: Kind) -> None:
    """A list has a row for each value."""
    known = fields_of(kind)
    rows = [(name, value(field)) for name, field in known.items() if name != kind.text]
    lists = [(name, value(field)) for name, field in known.items() if name != kind.text and field.many]
    told = entry(kind, [(kind.text, main_words(kind)), *rows, *lists])
    expected = {name: recorded(field, 2) for name, field in known.items()} | {kind.text: main_words(kind)}

    assert read_back(step, told) == (expected, ())


@pytest.mark.parametrize(("step", "kind"), PAIRS, ids=NAMES)
def test_what_is_absent_is_not_recorded(step: Step, kind: Kind) -> None:
    """An empty text is no value. A field that the kind does not have is left out, and that is told."""
    rows = [(name, "") for name in fields_of(kind) if name != kind.text]
    told = entry(kind, [(kind.text, main_words(kind)), *rows, ("other", "than known")])
    left_out = {"what": "than known", "why": NO_SUCH_VALUE}

    assert read_back(step, told) == ({kind.text: main_words(kind)}, (left_out,))


def test_of_an_entry_that_exists_only_what_is_said_is_changed() -> None:
    kind = SCHEMA.kinds["requirement"]
    step = next(one for one in STEPS if one.step_id == "01-06")
    rows = [(name, "") for name in fields_of(kind) if name != "priority"]

    assert read_back(step, entry(kind, [*rows, ("priority", "must")], id="FR-001"))[0] == {"priority": "must"}


def test_fields_are_also_read_from_an_object() -> None:
    """As models give them that are not held to a schema."""
    kind = SCHEMA.kinds["requirement"]
    step = next(one for one in STEPS if one.step_id == "01-06")
    told = entry(kind, []) | {
        "fields": {"title": "Export every row", "depends": ["FR-001"], "priority": None}
    }

    found = proposing.proposed([told], scene(step))

    assert dict(found.patches[0].set) == {"title": "Export every row", "depends": ["FR-001"]}


def test_a_contribution_is_one_object() -> None:
    quote = {"line": "t01", "words": "keep both of them"}
    one: dict[str, object] = {
        "persona": MAYA,
        "say": [{"text": "Keep both.\n\nOr neither.", "quotes": [quote]}],
    }
    one |= {"issue": "conflicts", "option": "keep both", "moved_by": "", "ask": {"text": "", "to": ""}}
    told = {"declined": False, "contributions": [one]}
    Draft202012Validator(schemas.turn((MAYA,)).form).validate(told)

    [found] = answers.spoken_in(json.dumps(told), turns={"t01"}) or []

    stance = Stance(issue="conflicts", position="keep both", because=("t01",))
    assert (found.text, found.stances) == ("Keep both.\n\nOr neither.", (stance,))
    assert [one.model_dump() for one in found.quotes] == [quote]
    assert not answers.is_declined(json.dumps(told))


@pytest.mark.parametrize("step", STEPS, ids=lambda one: one.step_id)
def test_an_assessment_is_read_in_any_order(step: Step) -> None:
    """Not every provider keeps the order of the schema."""
    kind = wanted.kinds(scene(step))[0]
    told: dict[str, Any] = {
        "declined": False,
        "entries": [entry(kind, [(name, "") for name in fields_of(kind)])],
        "next": [],
        "questions": [
            {"why": "", "recommended": "500", "quotes": [], "about": 1, "to": "", "text": "How many rows?"}
        ],
        "say": [{"quotes": [], "text": "It has no limit."}],
    }
    Draft202012Validator(DRAFT.form).validate(told)

    found = answers.read_draft(json.dumps(told))

    assert found
    assert found.text == "It has no limit."
    assert found.questions == (told["questions"][0],)
    assert found.entries == (told["entries"][0],)


def instances(form: Any) -> st.SearchStrategy[Any]:
    """Answers that are in the schema."""
    if "enum" in form:
        return st.sampled_from(form["enum"])
    match form["type"]:
        case "object":
            return st.fixed_dictionaries({name: instances(one) for name, one in form["properties"].items()})
        case "array":
            return st.lists(instances(form["items"]), max_size=2)
        case "integer":
            return st.integers(-2, 9)
        case "boolean":
            return st.booleans()
        case _:
            return st.text(max_size=8) | st.sampled_from(
                ["FR-001", "C.0", "t01", "Ada?", '{"say": "x"}', "```"]
            )


def shuffled(told: dict[str, Any], order: Iterable[int]) -> str:
    ranks = dict(zip(told, order, strict=True))
    return json.dumps(dict(sorted(told.items(), key=lambda one: ranks[one[0]])))


@settings(max_examples=150)
@given(data=st.data())
def test_nobody_reads_json_in_a_thread(data: st.DataObject) -> None:
    """Of any answer in the schema, in any order of its fields, people see what is to be said and nothing else."""
    told = data.draw(instances(DRAFT.form))
    order = data.draw(st.permutations(range(len(told))))

    found = answers.read_draft(shuffled(told, order))

    sentences = (one["text"].strip() for one in told["say"][: answers.MOST_SENTENCES])
    assert found
    assert found.text == " ".join(filter(None, sentences)).strip()
    assert found.declined is told["declined"]


@settings(max_examples=100)
@given(data=st.data())
def test_any_answer_in_the_schema_of_a_step_is_read(data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(STEPS))
    told = data.draw(instances(DRAFT.form))

    found = proposing.proposed(told["entries"], scene(step))

    assert len(found.patches) <= len(told["entries"])
