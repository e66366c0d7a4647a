"""The schemas of answers: made of each step's kinds, in the form that providers take, and read back completely."""

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
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.entries import Specification
from bot.voices import answers, proposing
from bot.voices.model import AnswerSchema
from bot.voices.prompts import schemas, wanted
from bot.voices.prompts.scene import Scene
from bot.voices.verifying import Support
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting
from tests.voices.models.published import breaches
from tests.voices.people import ADA, FEATURES, MAYA, roundtable

STEPS = tuple(PLAYBOOK.agenda.steps)
DECISION = "We leave out PDF"
ASKED = roundtable(FEATURES, (ADA, f"{DECISION}. Go with a condition."))
SAID = "C.0"
DATA = (
    schemas.turn((MAYA,)),
    schemas.review(Support),
    schemas.findings(),
)


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


def of_step(step: Step) -> AnswerSchema:
    found = schemas.assessment(wanted.kinds(scene(step)), step.step_id)
    assert found
    return found


EVERY = (*DATA, *map(of_step, STEPS))
BODIES: dict[str, Callable[[AnswerSchema], dict[str, Any]]] = {
    "/chat/completions": lambda one: {
        "response_format": {"json_schema": {"name": one.name, "schema": one.form, "strict": True}}
    },
    "/messages": lambda one: {"output_config": {"format": {"type": "json_schema", "schema": one.form}}},
    "/m:generateContent": lambda one: {
        "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": one.form}
    },
}


def test_there_is_one_for_each_of_the_24_steps() -> None:
    assert len(STEPS) == 24
    assert len({one.name for one in EVERY}) == len(EVERY)


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("schema", EVERY, ids=lambda one: one.name)
def test_every_provider_takes_it(path: str, schema: AnswerSchema) -> None:
    """Valid, and in the part of JSON schema that is published."""
    Draft202012Validator.check_schema(schema.form)

    assert breaches(path, BODIES[path](schema)) == []


def test_a_name_is_one_that_providers_take() -> None:
    """Whatever a team calls its steps."""
    schema = schemas.assessment(wanted.kinds(scene(STEPS[0])), "Größe / " * 20)

    assert schema
    assert breaches("/responses", {"text": {"format": {"name": schema.name, "schema": schema.form}}}) == []


def test_a_step_that_collects_nothing_has_none() -> None:
    assert schemas.assessment((), "01-01") is None
    assert schemas.assessment((), "01-01") is None


@pytest.mark.parametrize("step", STEPS, ids=lambda one: one.step_id)
def test_what_is_said_does_not_change_it(step: Step) -> None:
    """Providers cache a prompt together with its schema."""
    before = scene(step)
    rt = before.rt.but(answers=(), specification=Specification())

    assert of_step(step) == schemas.assessment(wanted.kinds(before._replace(rt=rt)), step.step_id)


# --- an answer in the schema is read completely ---


VALUES: dict[FieldType, Any] = {
    FieldType.LINE: "Field staff",
    FieldType.TEXT: "Edits get lost.",
    FieldType.NUMBER: 0,
    FieldType.COUNT: "10-15",
    FieldType.AMOUNT: "5 s",
    FieldType.REF: "FR-001",
    FieldType.PATH: "src/sync.py",
    FieldType.CODE: "sync(rows)",
    FieldType.PERSON: "Ada",
    FieldType.DATE: "Friday",
}


def value(field: KindField) -> Any:
    one = field.of[-1] if field.type is FieldType.CHOICE else VALUES[field.type]
    return [one] if field.many else one


def absent(field: KindField) -> Any:
    can_be_null = field.type in {FieldType.CHOICE, FieldType.NUMBER}
    return [] if field.many else None if can_be_null else ""


def fields_of(kind: Kind) -> dict[str, KindField]:
    return {name: one for name, one in kind.fields.items() if name != REMARK and not one.by_people}


def entry(kind: Kind, fields: dict[str, Any], id: str = "") -> dict[str, Any]:
    owner = {"part_of": OWNERS[kind.part_of]} if kind.part_of else {}
    quote = {"field": "", "line": SAID, "words": "Export every row"}
    return {"kind": kind.key, "id": id, **owner, "fields": fields, "quotes": [quote]}


def main_words(kind: Kind) -> Any:
    return DECISION if kind.key == "decision" else value(kind.fields[kind.text])


def read_back(step: Step, told: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Of a step's schema and its parser: what is recorded of the only entry, and what is left out."""
    form = of_step(step).form["properties"]["entries"]
    Draft202012Validator(form).validate([told])
    found = proposing.proposed([told], scene(step))
    return dict(found.patches[0].set) if found.patches else {}, found.dropped


PAIRS = [(step, kind) for step in STEPS for kind in wanted.kinds(scene(step))]
NAMES = [f"{step.step_id} {kind.key}" for step, kind in PAIRS]


@pytest.mark.parametrize(("step", "kind"), PAIRS, ids=NAMES)
def test_an_entry_with_all_of_its_fields_is_read_completely(step: Step, kind: Kind) -> None:
    fields = {name: value(field) for name, field in fields_of(kind).items()} | {kind.text: main_words(kind)}

    assert read_back(step, entry(kind, fields)) == (fields, ())


@pytest.mark.parametrize(("step", "kind"), PAIRS, ids=NAMES)
def test_what_is_absent_is_not_recorded(step: Step, kind: Kind) -> None:
    """An empty text, an empty list and null are no values."""
    fields = {name: absent(field) for name, field in fields_of(kind).items()} | {kind.text: main_words(kind)}

    assert read_back(step, entry(kind, fields)) == ({kind.text: main_words(kind)}, ())


def test_an_absent_list_empties_no_entry() -> None:
    """Of one that exists only what is said is changed."""
    kind = SCHEMA.kinds["requirement"]
    step = next(one for one in STEPS if one.step_id == "01-06")
    fields = {name: absent(field) for name, field in fields_of(kind).items()} | {"priority": "must"}

    assert read_back(step, entry(kind, fields, id="FR-001"))[0] == {"priority": "must"}


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
        "entries": [entry(kind, {name: absent(field) for name, field in fields_of(kind).items()})],
        "next": [],
        "questions": [
            {"why": "Memory", "recommended": "500", "about": 1, "to": "", "text": "How many rows?"}
        ],
        "say": [{"quotes": [], "text": "It has no limit."}],
    }
    Draft202012Validator(of_step(step).form).validate(told)

    found = answers.read(json.dumps(told))

    assert found.text == "It has no limit."
    assert found.questions == (answers.GivenQuestion("How many rows?", "", "500", "Memory", 1),)
    assert found.entries == (told["entries"][0],)


def instances(form: Any) -> st.SearchStrategy[Any]:
    """Answers that are in the schema."""
    if "anyOf" in form:
        return st.one_of([instances(one) for one in form["anyOf"]])
    if "enum" in form:
        return st.sampled_from(form["enum"])
    match form["type"]:
        case "object":
            return st.fixed_dictionaries({name: instances(one) for name, one in form["properties"].items()})
        case "array":
            return st.lists(instances(form["items"]), max_size=2)
        case "integer":
            return st.integers(-2, 9)
        case "number":
            return st.floats(-1, 2)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
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
    schema = data.draw(st.sampled_from([of_step(STEPS[0]), of_step(STEPS[10])]))
    told = data.draw(instances(schema.form))
    order = data.draw(st.permutations(range(len(told))))

    found = answers.read(shuffled(told, order))

    sentences = (one["text"].strip() for one in told["say"][: answers.MOST_SENTENCES])
    assert found.text == " ".join(filter(None, sentences)).strip()
    assert found.recorded
    assert found.declined is told["declined"]


@settings(max_examples=100)
@given(data=st.data())
def test_any_answer_in_the_schema_of_a_step_is_read(data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(STEPS))
    told = data.draw(instances(of_step(step).form))

    found = proposing.proposed(told["entries"], scene(step))

    assert len(found.patches) <= len(told["entries"])
