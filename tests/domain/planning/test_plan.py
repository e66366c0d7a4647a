"""A plan is valid, or says what is wrong with it in sentences that a person or a voice can act on."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.plan_reader import KnownIds, circle, read_plan
from tests.domain.planning.plans import PLANS
from tests.domain.planning.seats import VALID


def task(name: str, *depends: str) -> dict[str, Any]:
    return {"id": name, "title": f"Do {name}", "depends": list(depends)}


def errors(**fields: Any) -> tuple[str, ...]:
    return read_plan({**VALID, **fields}).errors


def test_three_fields_are_enough() -> None:
    """Everything else may come later."""
    found = read_plan('{"id": "lost-rows", "title": "Rows", "brief": "They are lost."}')

    assert found.errors == ()
    assert found.plan == PlanDocument(id="lost-rows", title="Rows", brief="They are lost.")


def test_a_whole_plan_is_read_as_it_is_written() -> None:
    """The fields of the schema, with what each traces to."""
    given_plan = {
        **VALID,
        "context": {"repository": "exports", "priority": "p1", "depends": ["other-item"]},
        "goals": [{"id": "G1", "description": "No row is lost", "success_metrics": ["0 lost rows"]}],
        "scope": {"in_scope": ["CSV"], "out_of_scope": ["PDF"]},
        "work": {
            "tasks": [task("T1"), task("T2", "T1")],
            "milestones": [{"id": "M1", "title": "First", "tasks": ["T1", "T2"]}],
        },
        "risks": [
            {"id": "R1", "description": "It is slow", "likelihood": "High", "mitigations": ["stream it"]}
        ],
        "acceptance_criteria": [{"id": "AC1", "description": "Excel opens it", "traces": ["FR-001"]}],
        "file_plan": [{"path": "src/export.py", "intent": "Update", "traces": ["FR-001"]}],
        "notes": [{"id": "N1", "kind": "open_question", "text": "Who tests it?"}],
        "test_plan": {"strategy": "By example", "cases": ["one row"], "automation": "all of it"},
    }
    found = read_plan(json.dumps(given_plan))

    assert found.errors == ()
    assert found.plan
    assert (found.plan.context.priority, found.plan.risks[0].likelihood) == ("P1", "high")
    assert found.plan.acceptance_criteria[0].must_have
    assert [note.text for note in found.plan.notes_of("open_question")] == ["Who tests it?"]


@pytest.mark.parametrize(
    ("given_plan", "sentence"),
    [
        ("no plan", "The plan is not JSON: Expecting value: line 1 column 1 (char 0)."),
        ("[]", "The plan is not a JSON object."),
        ("{}", "The plan has no id."),
        ("{}", "The plan has no title."),
        ("{}", "The plan has no brief."),
    ],
)
def test_what_is_no_plan_says_so(given_plan: str, sentence: str) -> None:
    """Never an exception, whatever it is."""
    assert sentence in read_plan(given_plan).errors


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"title": " "}, "title is ' ', and has to say something."),
        (
            {"id": "a b"},
            'id is \'a b\', and may only have letters, digits, ".", "_" and "-", and at most 60 of them.',
        ),
        ({"goals": 3}, "goals is 3, and has to be a list."),
        ({"test_plan": "all"}, "test_plan is 'all', and has to be an object."),
        ({"context": {"priority": "P7"}}, "context.priority is 'P7', and has to be P0, P1, P2 or P3."),
        ({"work": {"tasks": [{"id": "T1"}]}}, "work.tasks[0] has no title."),
        (
            {"risks": [{"id": "R1", "description": "x", "impact": "huge"}]},
            "risks[0].impact is 'huge', and has to be low, medium, high or unknown.",
        ),
        (
            {"file_plan": [{"path": "a.py"}]},
            "file_plan[0] has no intent: say create, update, delete or create_or_update.",
        ),
        (
            {"file_plan": [{"path": "../a.py", "intent": "create"}]},
            "file_plan[0].path is '../a.py', and has to be a path inside the repository, such as src/export.py.",
        ),
        (
            {"file_plan": [{"path": "a.py", "intent": "create"}, {"path": "a.py", "intent": "delete"}]},
            'file_plan: the path "a.py" is there twice. Make one entry of them.',
        ),
        (
            {"work": {"tasks": [task("T1"), task("T1")]}},
            'work.tasks: the id "T1" is there twice. Give each its own.',
        ),
        (
            {"work": {"tasks": [task("T1", "T9")]}},
            'work.tasks: T1 depends on "T9", which is no task. Add it, or take it out.',
        ),
        (
            {"work": {"tasks": [], "milestones": [{"id": "M1", "title": "x", "tasks": ["T7"]}]}},
            'work.milestones: M1 has "T7", which is no task. Add it, or take it out.',
        ),
        (
            {"work": {"tasks": [task("T1", "T2"), task("T2", "T1"), task("T3", "T1")]}},
            "work.tasks: T1 waits for T2 waits for T1. Take one of these out of depends.",
        ),
        (
            {"work": {"tasks": [task("T1", "T1")]}},
            "work.tasks: T1 waits for T1. Take one of these out of depends.",
        ),
    ],
)
def test_an_error_names_the_place_and_the_way_out(fields: dict[str, Any], sentence: str) -> None:
    """Counted from 0, as JSON is; one sentence for each."""
    assert errors(**fields) == (sentence,)


@pytest.mark.parametrize("path", ["/etc/x", "~/x", "C:/x", "a/../b", "a//b", "..\\x", "a/"])
def test_no_path_leads_out_of_the_repository(path: str) -> None:
    """Plans are read by tools, too."""
    assert len(errors(file_plan=[{"path": path, "intent": "create"}])) == 1


def test_a_circle_is_shown_and_nothing_else() -> None:
    """Not what only leads into it; and none where everything can be done in some order."""
    assert circle({"a": ("b",), "b": ("c",), "c": ("b",)}) == ("b", "c")
    assert circle({"a": ("b", "c"), "b": ("c",), "c": ()}) == ()


def test_a_long_circle_is_told_in_short() -> None:
    """A sentence is for reading."""
    ring = [task(f"T{number}", f"T{(number + 1) % 50}") for number in range(50)]

    assert errors(work={"tasks": ring}) == (
        (
            "work.tasks: T0 waits for T1 waits for T2 waits for T3 waits for T4 waits for T5 waits for … waits for T0."
            " Take one of these out of depends."
        ),
    )


def test_a_plan_is_found_in_what_stands_around_it() -> None:
    """Prose and a code fence do no harm; half a plan is none."""
    assert read_plan(f"Here it is:\n```json\n{json.dumps(VALID)}\n```").plan == read_plan(VALID).plan
    assert read_plan(f"Here it is: {json.dumps(VALID)[:-1]}").errors[0].startswith("The plan is not JSON: ")


def test_a_plan_traces_to_what_there_is() -> None:
    """Ids that a voice made up are errors, as soon as it is known which there are."""
    made_up = KnownIds(requirements=frozenset({"FR-002"}), turns=frozenset({"C1.7"}))

    assert read_plan(VALID, made_up).errors == (
        'work.tasks: T1 traces to "FR-001", which is no requirement. Name one, or take it out.',
        'work.tasks: T1 names the turn "C1.1", which is not in the transcript. Take it out.',
    )
    assert read_plan(VALID, KnownIds(requirements=frozenset({"FR-001"}), turns=frozenset({"C1.1"}))).plan
    assert read_plan(VALID).plan


def test_unknown_fields_are_let_through() -> None:
    """Newer plans and chatty voices have some; they are not kept."""
    assert read_plan({**VALID, "owner": "Ada"}).plan == read_plan(VALID).plan


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*PlanDocument.model_fields, "tasks"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_comes_is_a_plan_or_sentences(found: Any) -> None:
    """One of the two, and each sentence ends as one."""
    reading = read_plan(json.dumps(found))

    assert bool(reading.plan) is not bool(reading.errors)
    assert all(sentence.endswith(".") for sentence in reading.errors)


@given(PLANS)
def test_a_valid_plan_stays_valid(plan: PlanDocument) -> None:
    """As JSON and back it is the same."""
    assert read_plan(plan.model_dump_json()).plan == plan


@given(st.dictionaries(st.sampled_from("abcde"), st.lists(st.sampled_from("abcdef"), max_size=3).map(tuple)))
def test_a_circle_is_found_exactly_where_there_is_one(depends: dict[str, tuple[str, ...]]) -> None:
    """Each in it waits for the next, and the last for the first; without one, all can be done in some order."""
    ring = circle(depends)
    done: set[str] = set()
    for _ in depends:
        done |= {one for one, others in depends.items() if {*others} & depends.keys() <= done}

    assert bool(ring) is (done != depends.keys())
    for one, other in zip(ring, (*ring[1:], *ring[:1]), strict=True):
        assert other in depends[one]
