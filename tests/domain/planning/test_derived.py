"""The plan, out of the specification; nothing is read out of prose."""

from graphlib import CycleError, TopologicalSorter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.planning import plan as derived
from bot.domain.planning.plan import PlanDocument, without_circles
from bot.domain.planning.projections import PLAN, projected
from bot.domain.specification.claims import EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.files import ItemFacts
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting

ITEM = ItemFacts("Exports lose rows", "lost-rows")


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


def planned(meeting: Meeting) -> PlanDocument:
    return derived.plan(ITEM, PLAYBOOK.agenda.plan.step_id, SCHEMA, meeting.specification)


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


def test_what_is_open_is_said() -> None:
    """What nobody confirmed, what people differ about, what does not fit, and what nobody answered."""
    meeting = held()
    meeting.say("Ada", "01-08", "FR-001 priority: should")
    meeting.say("Grace", "03-01", "objection: a file is too slow")
    meeting.propose(
        {"id": "FR-004", "kind": "requirement", "new": True, "set": {"title": "Work on a watch"}},
        step="01-06",
    )
    told = {note.id: note.text for note in planned(meeting).notes if note.kind == "open_question"}

    assert (
        told["FR-004.proposed"]
        == "FR-004 Work on a watch: proposed by BusinessAnalyst (persona), not accepted"
    )
    assert told["FR-001.contested"] == "FR-001 priority: Grace says must, Ada says should. Which one counts?"
    assert "OBJ-001 a file is too slow – Grace" in told.values()
    assert "Senior Developer: What comes first, and what right after that?" in told.values()
    assert any("../../etc/passwd" in text for text in told.values())


def test_an_answered_question_is_not_open() -> None:
    meeting = Meeting()
    meeting.say("Ada", "04-05", "open question: Who pays?")
    before = notes_of(meeting)
    meeting.say("Ada", "04-05", "Q-001 answer: the accountants")

    assert "Who pays?" in before
    assert "Who pays?" not in notes_of(meeting)


def test_the_brief_says_what_the_item_is_for() -> None:
    """In the words of its problems; before there are any, in those that were said first about the plan."""
    meeting = Meeting()
    assert planned(meeting).brief == "Exports lose rows"
    meeting.say("Ada", "05-01", "The auditors are waiting.")
    assert planned(meeting).brief == "The auditors are waiting."
    assert planned(held()).brief == "the last row is lost"


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

    assert PlanDocument.model_validate_json(projected(plan)[PLAN]) == plan
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


def notes_of(meeting: Meeting) -> list[str]:
    return [one.text for one in planned(meeting).notes]


@given(st.dictionaries(st.sampled_from("abcde"), st.lists(st.sampled_from("abcde"), max_size=3).map(tuple)))
def test_a_circle_is_broken_where_it_was_closed(depends: dict[str, tuple[str, ...]]) -> None:
    """What is left can be done in some order; each that is left out would close a circle."""
    kept = without_circles(depends)
    assert {*TopologicalSorter(kept).static_order()} >= depends.keys()

    for one, others in depends.items():
        for other in {*others} - {*kept[one]}:
            with pytest.raises(CycleError):
                tuple(TopologicalSorter({**kept, one: (*kept[one], other)}).static_order())
