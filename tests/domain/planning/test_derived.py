"""Verdicts, the plan and answers, out of the specification; nothing is read out of prose."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.schema import NOTE
from bot.domain.planning import derived
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.plan_reader import read_plan
from bot.domain.planning.projections import check, projected
from bot.domain.planning.verdict import DEVELOPER, ORDER, PRODUCT, RISKS, SYSTEM, TESTS, RoleVerdict
from bot.domain.planning.workshop import WorkshopQuestion, WorkshopRemark
from bot.domain.specification.entries import EntryState, Patch, Specification
from tests.domain.planning.seats import drafted
from tests.specification.meeting import SCHEMA, Meeting

CRITERION = "How would somebody see that FR-001 works?"
MITIGATION = "What would soften RSK-001?"
WRONG = "What could go wrong?"


def held() -> Meeting:
    meeting = Meeting()
    meeting.say("Ada", "01-01", "problem: the last row is lost\nmetric: errors a month from 12 to 0")
    meeting.say(
        "Ada", "01-06", "Export all rows\nAC: 31 rows give a file of 31 rows\nrequirement: Show the number"
    )
    meeting.say("Ada", "01-06", "requirement: Export to a printer\nAC: it prints\nFR-002 depends: FR-001")
    meeting.say("Grace", "01-08", "Must: FR-001\nCould: FR-002\nWon't: FR-003")
    meeting.say(
        "Grace", "02-01", "tier 1: src/export.py (FR-001)\ntier 2: src/page.py\ntier 1: ../../etc/passwd"
    )
    meeting.say("Ada", "02-03", "risk: rows come twice; likelihood: high; impact: low -> compare the counts")
    return meeting  # fmt: skip


def verdict(meeting: Meeting, role: str, *settled: str) -> RoleVerdict:
    return derived.verdict(SCHEMA, meeting.specification, role, settled=settled)


def planned(meeting: Meeting, **more: Any) -> PlanDocument:
    return derived.plan(drafted().but(**more), SCHEMA, meeting.specification)


def answered(meeting: Meeting, question: str, text: str) -> tuple[Patch, ...]:
    return derived.answered(
        text, question=question, schema=SCHEMA, specification=meeting.specification, person="UADA"
    )


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_gaps_of_a_lane_are_its_blocking_questions() -> None:
    """One of a kind, in the words of the gap; the others are counted."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "\n".join(f"requirement: Export {name}" for name in "abcde"))
    found = verdict(meeting, TESTS)

    assert found.ok is False
    assert found.blocking_questions == (CRITERION,)
    assert found.reasons == ("FR-001, FR-002, FR-003 and 2 more: no acceptance criterion yet.",)
    assert found.confidence is None, "a rule has none"


def test_what_was_passed_is_not_asked_again() -> None:
    """The next of its kind is."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Export\nrequirement: Print")
    second = CRITERION.replace("001", "002")

    assert verdict(meeting, TESTS, CRITERION).blocking_questions == (second,)
    assert verdict(meeting, TESTS, CRITERION, second).blocking_questions == ()
    assert verdict(meeting, TESTS, CRITERION, second).ok is False


def test_without_a_gap_it_is_a_yes() -> None:
    meeting = held()

    assert verdict(meeting, RISKS).ok is True
    assert verdict(meeting, PRODUCT).ok is True


@pytest.mark.parametrize("role", ORDER)
def test_an_empty_item_has_no_yes(role: str) -> None:
    """Nothing recorded is nothing to agree to."""
    found = verdict(Meeting(), role)

    assert found.ok is (None if role == TESTS else False)
    assert found.reasons


def test_a_role_without_a_lane_cannot_say() -> None:
    assert verdict(held(), "Astrologer").ok is None


def test_roles_ask_for_what_their_step_would_ask() -> None:
    """In a workshop that begins with a brief these are the first questions."""
    asked = [verdict(Meeting(), role).blocking_questions for role in (PRODUCT, SYSTEM, DEVELOPER, RISKS)]

    assert [one[0] for one in asked] == [
        "Who had this problem last, and what happened to them?",
        "Which file would you open first?",
        "What comes first, and what right after that?",
        WRONG,
    ]


# --- answers ----------------------------------------------------------------------------------------------------------


def test_an_answer_in_a_form_is_what_it_says() -> None:
    meeting = held()

    assert answered(meeting, WRONG, "FR-002 priority: must") == (
        Patch(id="FR-002", set={"priority": "must"}),
    )


def test_an_answer_about_a_field_is_its_value() -> None:
    """Verbatim, and proposed: the words were an answer, and no form."""
    meeting = Meeting()
    meeting.say("Ada", "02-03", "risk: rows come twice")
    (patch,) = answered(meeting, MITIGATION, "Compare the counts, I'd say.")

    assert (patch.id, patch.set) == ("RSK-001", {"mitigation": "Compare the counts, I'd say."})
    assert patch.state is EntryState.PROPOSED


def test_an_answer_about_a_choice_is_one_of_its_values_or_a_note() -> None:
    meeting = held()
    question = "How likely is RSK-001?"

    assert answered(meeting, question, "medium") == (Patch(id="RSK-001", set={"likelihood": "medium"}),)
    (note,) = answered(meeting, question, "it happens")
    assert (note.kind, note.set["asked"], note.set["text"]) == (NOTE, question, "it happens")


def test_an_answer_about_a_part_is_a_proposed_part() -> None:
    """With its label it is meant as one: of the entry that was asked about, whatever was said last."""
    meeting = held()
    question = CRITERION.replace("001", "002")
    (words,) = answered(meeting, question, "the page shows 31")
    (form,) = answered(meeting, question, "AC: the page shows 31")

    assert (words.id, words.part_of, words.state) == ("AC-002-01", "FR-002", EntryState.PROPOSED)
    assert (form.id, form.part_of, form.state) == ("AC-002-01", "FR-002", None)


def test_an_answer_to_a_question_for_entries_proposes_them() -> None:
    """A line each; what stands in quotes was said before."""
    patches = answered(Meeting(), WRONG, "The import is slow -> run it at night\nRows come twice")

    assert [(one.id, one.set["text"], one.state) for one in patches] == [
        ("RSK-001", "The import is slow", EntryState.PROPOSED),
        ("RSK-002", "Rows come twice", EntryState.PROPOSED),
    ]
    assert patches[0].set["mitigation"] == "run it at night"
    assert [one.kind for one in answered(Meeting(), WRONG, "> The import is slow")] == [NOTE]


def test_an_answer_to_a_models_question_is_a_note_under_it() -> None:
    (note,) = answered(held(), "Who pays for it?", "The accountants")

    assert (note.kind, note.set["asked"]) == (NOTE, "Who pays for it?")


def test_every_question_of_a_role_is_known_again() -> None:
    """By its words alone, so that nothing has to be kept beside them."""
    for role in ORDER:
        for meeting in (Meeting(), held()):
            for question in verdict(meeting, role).blocking_questions:
                assert derived.need_of(SCHEMA, question)


# --- the plan ---------------------------------------------------------------------------------------------------------


def test_the_plan_is_the_specification() -> None:
    """A risk is a risk, and its mitigation its mitigation; the order is as people gave it."""
    plan = planned(held())

    assert [(one.id, one.title, one.depends, one.traces) for one in plan.work.tasks] == [
        ("FR-001", "Export all rows", (), ("FR-001",)),
        ("FR-002", "Show the number", ("FR-001",), ("FR-002",)),
    ]
    assert [(one.description, one.likelihood, one.mitigations) for one in plan.risks] == [
        ("rows come twice", "high", ("compare the counts",))
    ]
    assert [(one.id, one.must_have, one.traces) for one in plan.acceptance_criteria] == [
        ("AC-001-01", True, ("FR-001",))
    ]
    assert [(one.path, one.traces) for one in plan.file_plan] == [("src/export.py", ("FR-001",))]
    assert [(one.description, one.success_metrics) for one in plan.goals] == [("errors a month", ("0",))]
    assert plan.scope.in_scope == ("Export all rows", "Show the number")


def test_every_part_names_the_lines_it_comes_from() -> None:
    meeting = held()
    plan = planned(meeting)
    heard = {line.message_id for line in meeting.lines}

    named = [*(one.turns for one in plan.work.tasks), *(one.turns for one in plan.file_plan)]
    assert all(turns and set(turns) <= heard for turns in named)
    assert derived.plan(drafted(), SCHEMA, meeting.specification, turns=()).work.tasks[0].turns == ()


def test_what_is_open_is_said() -> None:
    """What nobody confirmed, what people differ about, what does not fit, and what nobody answered."""
    meeting = held()
    meeting.say("Ada", "01-08", "FR-001 priority: should")
    meeting.say("Ben", "01-06", "- Work on a watch")
    asked = WorkshopQuestion(id="Q1", text="Who pays?", by=(PRODUCT,))
    told = {note.id: note.text for note in planned(meeting, questions=(asked,)).notes_of("open_question")}

    assert told["FR-004.proposed"] == "FR-004 Work on a watch: Ben, not accepted"
    assert told["FR-001.contested"] == "FR-001 priority: Grace says must, Ada says should. Which one counts?"
    assert told["Q1"] == "Who pays?"
    assert any("../../etc/passwd" in text for text in told.values())


def test_an_answered_question_is_not_open() -> None:
    meeting = Meeting()
    meeting.say("Ada", "04-05", "open question: Who pays?")
    before = planned(meeting).notes_of("open_question")
    meeting.say("Ada", "04-05", "Q-001 answer: the accountants")

    assert [note.text for note in before] == ["Who pays?"]
    assert planned(meeting).notes_of("open_question") == ()


def test_a_plan_of_an_older_workshop_has_what_was_said_in_it() -> None:
    """Its lines carry no entries: the words are background."""
    answer = WorkshopQuestion(
        id="Q1", text="Who is it for?", by=(PRODUCT,), answer="Accountants", line="C1.1"
    )
    remark = WorkshopRemark(text="Until Friday.", person="U1", line="C1.2")
    plan = planned(Meeting(), questions=(answer,), remarks=(remark,))

    assert [note.text for note in plan.notes_of("background")] == [
        "Who is it for? Accountants",
        "Until Friday.",
    ]


def test_a_circle_is_cut_where_it_closes() -> None:
    meeting = held()
    meeting.say("Ada", "01-06", "FR-001 depends: FR-002")

    assert [one.depends for one in planned(meeting).work.tasks] == [("FR-002",), ()]


# --- never a contradiction --------------------------------------------------------------------------------------------

TITLES = st.sampled_from(
    ["Export rows", "Show the number", "Print", "Import", "<b>x</b> | y", "a\u202eb", "Über"]
)
NUMBERS = st.integers(1, 5)
SAID = st.one_of(
    TITLES.map(lambda title: f"requirement: {title}"),
    TITLES.map(lambda title: f"requirement: {title}\nAC: it shows"),
    TITLES.map(lambda title: f"- {title}"),
    st.tuples(NUMBERS, TITLES).map(lambda pair: f"FR-{pair[0]}: {pair[1]}"),
    st.tuples(NUMBERS, NUMBERS).map(lambda pair: f"FR-{pair[0]} depends: FR-{pair[1]}"),
    st.tuples(st.sampled_from(["Must", "Should", "Could", "Won't"]), NUMBERS).map(
        lambda pair: f"{pair[0]}: FR-{pair[1]}"
    ),
    st.tuples(TITLES, NUMBERS).map(lambda pair: f"task: {pair[0]} (FR-{pair[1]})"),
    st.tuples(NUMBERS, NUMBERS).map(lambda pair: f"WRK-{pair[0]} waits: WRK-{pair[1]}"),
    st.tuples(TITLES, TITLES).map(lambda pair: f"risk: {pair[0]}; impact: low -> {pair[1]}"),
    st.tuples(NUMBERS, st.sampled_from(["src/a.py", "src//b", "/etc/x", "src/a.py"])).map(
        lambda pair: f"tier 1: {pair[1]} (FR-{pair[0]})"
    ),
)
PLACES = st.sampled_from(["01-06", "01-08", "02-01", "02-02", "02-03"])
PEOPLE = st.sampled_from(["Ada", "Grace"])
GONE = st.tuples(st.sampled_from(["FR-001", "FR-002", "WRK-001", "RSK-001"]), st.sampled_from(["withdrawn"]))


@given(st.lists(st.tuples(PEOPLE, PLACES, SAID), max_size=14), st.lists(GONE, max_size=2))
def test_the_plan_never_contradicts_the_specification(
    said: list[tuple[str, str, str]], gone: list[tuple[str, str]]
) -> None:
    """Ids, titles, priorities, order and traces are the entries', after whatever was said; and it is valid."""
    meeting = Meeting()
    for who, step, text in said:
        meeting.say(who, step, text)
    for id, state in gone:
        if id in meeting.specification.entries:
            meeting.press("Ada", {"id": id, "state": state})
    spec = meeting.specification
    plan = planned(meeting)

    assert derived.contradictions(plan, SCHEMA, spec) == ()
    assert read_plan(plan.model_dump_json()).plan == plan
    assert check(plan, projected(plan)) == ()
    check_against(plan, spec)


def check_against(plan: PlanDocument, spec: Specification) -> None:
    tasks = {one.id for one in plan.work.tasks}
    kinds = {spec.entries[id].kind for id in tasks}
    assert kinds <= {"work"} or kinds <= {"requirement"}
    agreed = {
        one.id
        for kind in kinds
        for one in spec.active(kind)
        if one.state is EntryState.ACCEPTED and one["priority"] != "won't"
    }
    assert tasks == agreed, "all that people agreed to is planned, and nothing else"
    for task in plan.work.tasks:
        assert all(spec.lives(id) for id in task.traces)
    for criterion in plan.acceptance_criteria:
        owner = spec.entries[spec.entries[criterion.id].part_of]
        assert criterion.must_have is (owner["priority"] not in {"should", "could"})
        assert owner["priority"] != "won't"
    for risk in plan.risks:
        known = spec.entries[risk.id]
        assert risk.impact == (known["impact"] or "unknown")
        assert len(risk.mitigations) == (1 if known["mitigation"] else 0)


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ({"work": {"tasks": [{"id": "FR-001", "title": "Export some rows"}]}}, "the title of FR-001 is"),
        ({"work": {"tasks": [{"id": "FR-003", "title": "Export to a printer"}]}}, "left out on purpose"),
        (
            {"work": {"tasks": [{"id": "FR-001", "title": "Export all rows", "depends": ["FR-002"]},
                                {"id": "FR-002", "title": "Show the number"}]}},
            'depends on "FR-002", which nobody said',
        ),
        ({"risks": [{"id": "RSK-001", "description": "rows vanish"}]}, "the description of RSK-001 is"),
    ],
)  # fmt: skip
def test_a_plan_of_a_model_is_held_against_the_entries(part: Mapping[str, Any], sentence: str) -> None:
    given = {"id": "x", "title": "X", "brief": "X", **part}
    found = read_plan(json.dumps(given)).plan
    assert found

    assert any(sentence in one for one in derived.contradictions(found, SCHEMA, held().specification))


# --- what is not settled --------------------------------------------------------------------------------------------


def notes_of(meeting: Meeting) -> list[str]:
    return [one.text for one in planned(meeting).notes]


def test_what_people_differ_about_and_object_to_is_open_in_the_plan() -> None:
    meeting = held()
    meeting.say("Ada", "01-08", "Must: FR-002")
    meeting.say("Grace", "03-01", "objection: a file is too slow")
    told = notes_of(meeting)

    assert "FR-002 priority: Grace says could, Ada says must. Which one counts?" in told
    assert "OBJ-001 a file is too slow – Grace" in told


def test_an_answer_to_what_is_gone_is_only_what_it_says() -> None:
    """The entry was withdrawn after the question."""
    meeting = held()
    meeting.press("Ada", {"id": "RSK-001", "state": "withdrawn"})
    found = answered(meeting, MITIGATION, "compare the sums")

    assert {patch.kind for patch in found} <= {NOTE}


def test_a_table_and_a_quotation_are_no_list_of_entries() -> None:
    meeting = held()
    found = answered(meeting, WRONG, "> somebody said\n- rows vanish\n\nrows come late\n```\ncode\n```")
    plain = answered(meeting, WRONG, "> somebody said\n- rows vanish\n\nrows come late")

    assert {patch.kind for patch in found} <= {NOTE, "risk"}
    assert "rows come late" in [patch.set.get("text") for patch in plain]


def test_a_plan_may_have_tasks_and_risks_of_its_own() -> None:
    """Only what names an entry is held against it."""
    given = {
        "id": "x",
        "title": "X",
        "brief": "X",
        "work": {"tasks": [{"id": "SETUP", "title": "Set it up"}, {"id": "RSK-001", "title": "Not a task"}]},
        "risks": [{"id": "OWN-1", "description": "we are late"}],
    }
    plan = read_plan(json.dumps(given)).plan
    assert plan

    assert derived.contradictions(plan, SCHEMA, held().specification) == ()
