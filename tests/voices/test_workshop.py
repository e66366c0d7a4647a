"""The workshop without a model: each role counts in its own field, and the plan says where everything comes from."""

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.planning import workshop as moves
from bot.domain.planning.plan import Intent, PlanDocument
from bot.domain.planning.plan_reader import read_plan
from bot.domain.planning.projections import check, projected
from bot.domain.planning.proposal import ProposedMove
from bot.domain.planning.verdict import (
    DEVELOPER,
    ORDER,
    PRODUCT,
    RISKS,
    SYSTEM,
    TESTS,
    RoleVerdict,
)
from bot.domain.planning.workshop import Ask, DecidedBy, RequestVerdict, Workshop
from bot.domain.transcript.lines import Line, LinePhase, Source
from bot.engine.ports import NO_FACTS
from bot.voices.offline.workshop import READ, OfflineWorkshop, formalize, judge
from tests.voices.people import ADA, BEN, FEATURES, PRIORITIES, QUALITY, STORIES, roundtable, written

SAID = """- Filter the list by date
  AC: choosing May shows only entries from May
- Export as CSV
Out of scope: saved filters"""
CONTEXT = """
## 1. Business Context

**What goes wrong today?**

- Every export loses its last row — Ada

**What number moves?**

- From 12 to 0 errors a month — Ada

**Open questions**

- Who owns the numbers? — Ada
"""
IMPACT = """# Impact Analysis: Exports lose rows

## 1. Blast Radius

- change `src/export.py` for FR-002 — Ben
- a new file src/filters/dates.py, see and/or Node.js — Ben

## 3. Implementation Order

1. FR-002 waits for FR-001 — Ben
2. FR-001 after FR-002 — Ada

## 4. Risk Zones

| Risk | Area | Likelihood | Impact | Mitigation |
| --- | --- | --- | --- | --- |
| The writer is slow | export | high | medium | to be set |
| Rows come twice | export | low | low | |

**How do we get back to where we were, and how long does that take?**

- Within an hour — Ben

**Decisions**

- We stream the rows — Ada

<!-- Elaboration: 02-03 2026-03-01T09:00:00.000Z -->

### Elaboration Insights (Step 02-03: Risk Zones)

#### Key Insights
- [Ada] We assume that nobody edits exports

#### Decisions Made
- None recorded.

#### Open Questions
- What if the disk is full?: asked by Ben
"""


def files(*, context: str = CONTEXT, said: str = SAID) -> dict[str, str]:
    """As the steps of the analysis leave them."""
    before = written(roundtable(FEATURES, (ADA, said)))
    before = written(
        roundtable(STORIES, (BEN, "As a driver I want to filter so that I find May (FR-001)")), before
    )
    before = written(roundtable(PRIORITIES, (ADA, "Must: FR-001, Should: FR-002")), before)
    before["requirements-spec.md"] += context
    return {**before, "impact-analysis.md": IMPACT}


FILES = files()


def workshop(brief: str = "Every export loses its last row.") -> Workshop:
    ws = Workshop(slug="lost-rows", title="Exports lose rows", brief=brief, roles=ORDER)
    return moves.started(ws)


def verdict(role: str, found: Mapping[str, str] = FILES, ws: Workshop | None = None) -> RoleVerdict:
    return judge(ws or workshop(), role, found)


def read(ws: Workshop, found: Mapping[str, str]) -> Workshop:
    """Every role that is due speaks, in this round."""
    number = ws.round
    while isinstance(ws.due, RequestVerdict) and ws.due.round == number:
        ws = moves.judged(ws, ws.due.role, judge(ws, ws.due.role, found), line=f"L{len(ws.judgements)}")
    return ws


def answering(ws: Workshop, answers: Mapping[str, str]) -> Workshop:
    """Whoever is asked answers by the beginning of the question; a question without an answer is passed."""
    while isinstance(ws.due, Ask):
        asked = ws.due.question
        said = next((text for begins, text in answers.items() if asked.text.startswith(begins)), "skip")
        ws = moves.said(ws, said, DecidedBy(person=ADA, line=f"C.{asked.id}"))
    return ws


def line(message_id: str, text: str) -> Line:
    return Line(
        ts="2026-03-01T09:00:00.000Z",
        round=1,
        actor="User",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=Source.USER,
        content=text,
        meta={"message_id": message_id},
    )


def planned(found: Mapping[str, str] = FILES, *lines: Line, ws: Workshop | None = None) -> PlanDocument:
    return formalize(ws or workshop(), found, lines)


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_the_test_planner_names_the_requirement_without_a_criterion() -> None:
    """By its number, and asks how somebody would see that it is met."""
    found = verdict(TESTS)

    assert found.ok is False
    assert found.reasons == ("FR-002 (Export as CSV) has no acceptance criterion.",)
    assert found.blocking_questions == ("How would somebody see that this works: FR-002 (Export as CSV)?",)


def test_the_test_planner_asks_for_the_measure_of_a_vague_word() -> None:
    """It holds a Must up; elsewhere it is a suggestion."""
    vague = verdict(TESTS, files(said="- Filter by date\nAC: it is fast\n- Export\nAC: it is easy"))

    assert vague.reasons == ('"fast" in FR-001 has no measure.',)
    assert vague.blocking_questions == ('What number stands behind "fast" in FR-001?',)
    assert vague.suggestions == ('Give it one: "easy" in FR-002 has no measure.',)
    assert verdict(TESTS, files(said="- Filter by date\nAC: fast, in 2 seconds\n- Export\nAC: a file")).ok


def test_the_risk_planner_asks_what_is_done_about_a_risk() -> None:
    """One that is low in both ways may stay as it is; a way back is no risk."""
    found = verdict(RISKS)

    assert found.ok is False
    assert found.reasons == ('Nothing is done about "The writer is slow".',)
    assert found.blocking_questions == ('What do we do about this risk: "The writer is slow"?',)


def test_the_risk_planner_does_not_take_silence_for_safety() -> None:
    """Nobody named a risk, and nobody said that there is none: that cannot be told."""
    silent = verdict(RISKS, {})
    assert silent.ok is None
    assert silent.blocking_questions[0].startswith("What could go wrong")

    ws = answering(read(workshop(), {}), {"What could go wrong": "none"})
    assert verdict(RISKS, {}, ws).ok


def test_the_senior_developer_finds_what_is_too_big() -> None:
    """A requirement with too many criteria, and a plan with too many requirements."""
    many = "\n".join(f"AC: case {number}" for number in range(8))
    assert verdict(DEVELOPER, files(said=f"- Filter by date\n{many}")).reasons == (
        "FR-001 has 8 criteria, too many for one task.",
    )

    crowd = "\n".join(f"- Filter by column {number}" for number in range(13))
    assert verdict(DEVELOPER, files(said=crowd)).reasons == (
        "13 requirements are more than one plan can hold.",
    )


def test_the_senior_developer_asks_what_has_to_be_there_first() -> None:
    """From four requirements on, when nobody has said."""
    four = files(said="- Filter\n- Export\n- Print it\n- Send it by mail")
    without_order = {name: text for name, text in four.items() if name != "impact-analysis.md"}

    assert verdict(DEVELOPER, without_order).blocking_questions == (
        "What has to be in place first, and what waits for what?",
    )
    assert verdict(DEVELOPER, four).blocking_questions == ()


def test_the_system_designer_wants_to_know_where() -> None:
    """And which of the options it is."""
    nowhere = verdict(SYSTEM, {})
    assert nowhere.ok is None
    assert nowhere.blocking_questions == (
        "Which files or modules does this change? One path or name a line, please.",
    )

    options = "# A\n\n## 1. Architecture Options\n\n- A queue — Ada\n\n## 2. Selected Architecture\n\n"
    undecided = verdict(
        SYSTEM, {**FILES, "architecture-overview.md": options + "_Nothing was said on this step._\n"}
    )
    assert undecided.reasons == ("There are options for the architecture, and none is chosen.",)
    assert verdict(SYSTEM, {**FILES, "architecture-overview.md": options + "- The queue — Ada\n"}).ok


def test_the_product_planner_wants_a_reason_and_an_edge() -> None:
    """What is asked for and ruled out at once is a question for people."""
    bare = verdict(PRODUCT, {})
    assert bare.reasons[0] == "Nobody has said whose problem this solves."
    assert len(bare.blocking_questions) == 2

    both = verdict(PRODUCT, files(said="- Export as CSV\nAC: a file\nOut of scope: export as CSV"))
    assert both.ok is False
    assert both.blocking_questions == ("Is it in or out: FR-001 (Export as CSV)?",)


@pytest.mark.parametrize(("answer", "ids"), [("Out, for now.", []), ("In.", ["T1"])])
def test_what_was_both_in_and_out_is_what_people_say(answer: str, ids: list[str]) -> None:
    """Either way the contradiction is gone."""
    found = files(said="- Export as CSV\nAC: a file\nOut of scope: export as CSV")
    ws = answering(read(workshop(), found), {"Is it in or out": answer})

    assert not [one for one in verdict(PRODUCT, found, ws).reasons if "ruled out" in one]
    assert [task.id for task in planned(found, ws=ws).work.tasks] == ids


@pytest.mark.parametrize("role", ORDER)
def test_a_role_stays_in_its_lane(role: str) -> None:
    """What only another role looks at does not move it."""
    others = {
        PRODUCT: {"impact-analysis.md": ""},
        SYSTEM: {"user-stories.json": "[]"},
        DEVELOPER: {"nfr-matrix.md": ""},
        TESTS: {"impact-analysis.md": ""},
        RISKS: {"user-stories.json": "[]"},
    }
    assert verdict(role, {**FILES, **others[role]}) == verdict(role)


def test_a_checklist_is_surer_of_a_gap_than_of_none() -> None:
    """It cannot tell whether what is there is good."""
    assert (verdict(TESTS).confidence or 0) > (verdict(PRODUCT).confidence or 1)
    assert verdict(PRODUCT).ok


def test_a_role_without_a_checklist_says_so() -> None:
    """Somebody's own persona takes part, and cannot say anything without a model."""
    assert verdict("LawPlanner").ok is None


# --- the way to a plan ------------------------------------------------------------------------------------------------


def test_answers_close_the_gaps_that_were_asked_about() -> None:
    """After them all five agree, and a plan is proposed."""
    answers = {"How would somebody see": "AC: Excel opens it", "What do we do about": "stream the rows"}
    ws = read(answering(read(workshop(), FILES), answers), FILES)

    assert ws.proposal
    assert (ws.proposal.decision, ws.proposal.coverage) == (ProposedMove.GO, 1.0)


def test_a_brief_alone_becomes_a_plan_by_asking() -> None:
    """No analysis, only answers: requirements get numbers, and the plan traces to what was said here."""
    answers = {
        "Whose problem": "The drivers lose an hour a day.",
        "What must people": "Filter by date\nAC: May shows only May\nExport as CSV\nOut of scope: PDF",
        "Which files": "src/export.py",
        "What could go wrong": "It is slow: run it at night",
        "How would somebody see": "Excel opens it",
    }
    ws = read(answering(read(workshop(), {}), answers), {})
    assert ws.proposal
    assert ws.proposal.decision is ProposedMove.CLARIFY
    ws = moves.chosen(ws, ProposedMove.CLARIFY, DecidedBy(person=ADA, line="C.9"))
    ws = read(answering(ws, answers), {})

    assert ws.proposal
    assert ws.proposal.decision is ProposedMove.GO
    plan = planned({}, ws=ws)
    assert [(task.title, task.traces, task.turns) for task in plan.work.tasks] == [
        ("Filter by date", ("FR-001",), ("C.Q2",)),
        ("Export as CSV", ("FR-002",), ("C.Q2", "C.Q5")),
    ]
    assert [one.description for one in plan.acceptance_criteria] == ["May shows only May", "Excel opens it"]
    assert plan.scope.out_of_scope == ("PDF",)
    assert [(one.description, one.mitigations) for one in plan.risks] == [
        ("It is slow", ("run it at night",))
    ]
    assert [(one.path, one.turns) for one in plan.file_plan] == [("src/export.py", ("C.Q3",))]


def test_what_nobody_answered_is_an_open_question_of_the_plan() -> None:
    """With those of the analysis, once each."""
    ws = answering(read(workshop(), FILES), {})

    assert [note.text for note in planned(ws=ws).notes_of("open_question")] == [
        "Who owns the numbers?",
        "What if the disk is full?: asked by Ben",
        "How would somebody see that this works: FR-002 (Export as CSV)?",
        'What do we do about this risk: "The writer is slow"?',
    ]


# --- the plan ---------------------------------------------------------------------------------------------------------


def test_every_requirement_is_a_task_with_its_stories() -> None:
    """By priority in milestones; what is not built this time is out of scope."""
    plan = planned()

    assert [(task.id, task.title, task.traces) for task in plan.work.tasks] == [
        ("T1", "Filter the list by date", ("FR-001",)),
        ("T2", "Export as CSV", ("FR-002",)),
    ]
    assert plan.work.tasks[0].description == "driver: filter, so that I find May"
    assert [(one.title, one.tasks) for one in plan.work.milestones] == [
        ("Musts", ("T1",)),
        ("Shoulds", ("T2",)),
    ]
    assert plan.context.priority == "P1"

    dropped = written(roundtable(PRIORITIES, (ADA, "Won't: FR-002")), files())
    assert [task.id for task in planned(dropped).work.tasks] == ["T1"]
    assert "FR-002: Export as CSV" in planned(dropped).scope.out_of_scope


def test_the_order_of_work_is_what_people_said_and_never_a_circle() -> None:
    """Of two lines that contradict each other the first counts."""
    assert [(task.id, task.depends) for task in planned().work.tasks] == [("T1", ()), ("T2", ("T1",))]


def test_acceptance_and_cases_are_the_criteria() -> None:
    """Those of a Should would be good to have."""
    ws = answering(read(workshop(), FILES), {"How would somebody see": "Excel opens it"})
    plan = planned(ws=ws)

    assert [(one.id, one.description, one.must_have, one.traces) for one in plan.acceptance_criteria] == [
        ("AC-001-01", "choosing May shows only entries from May", True, ("FR-001",)),
        ("AC-002-01", "Excel opens it", False, ("FR-002",)),
    ]
    assert plan.test_plan
    assert plan.test_plan.cases == (
        "AC-001-01: choosing May shows only entries from May",
        "AC-002-01: Excel opens it",
    )


def test_files_are_those_that_people_named() -> None:
    """With what is to become of them; "and/or" and "Node.js" are no paths."""
    plan = planned()

    assert [(one.path, one.intent, one.traces) for one in plan.file_plan] == [
        ("src/export.py", Intent.UPDATE, ("FR-002",)),
        ("src/filters/dates.py", Intent.CREATE, ("FR-001", "FR-002")),
    ]


def test_files_are_read_out_of_tables_and_backticks_too() -> None:
    """A path that would lead out of the repository is left out."""
    table = "| File | Module | Impact Tier | Change Type |\n| --- | --- | --- | --- |\n| src/a.py | a | 1 | delete |\n"
    page = f"# I\n\n## 1. Blast Radius\n\n{table}\n- `Makefile.am`, `deploy/run`, `fast`, ../x.py — Ben\n"

    assert [(one.path, one.intent) for one in planned({"impact-analysis.md": page}).file_plan] == [
        ("Makefile.am", Intent.CREATE_OR_UPDATE),
        ("deploy/run", Intent.CREATE_OR_UPDATE),
        ("src/a.py", Intent.DELETE),
    ]


def test_a_mere_name_is_the_file_that_was_named_whole() -> None:
    """And what only depends on a change is not part of it."""
    page = "# I\n\n## 1. Blast Radius\n\n- src/export.py changes — Ben\n- a new test in export.py — Ben\n\n"
    page += "**What depends on those without being edited?**\n\n- src/report.py — Ben\n"

    assert [one.path for one in planned({"impact-analysis.md": page}).file_plan] == ["src/export.py"]


def test_where_order_and_option_can_be_answered_in_words() -> None:
    """A module is as good as a path; an option that was chosen is a decision; an order makes tasks wait."""
    options = "# A\n\n## 1. Architecture Options\n\n- A queue — Ada\n"
    found = {
        "architecture-overview.md": options,
        **files(said="- Filter\n- Export\n- Print\n- Mail", context=""),
    }
    del found["impact-analysis.md"]
    answers = {
        "Which files": "The exporter.",
        "Which of the options": "The queue, because it is there.",
        "What has to be in place": "FR-003 needs FR-001",
    }
    ws = read(answering(read(workshop(), found), answers), found)
    ws = answering(moves.chosen(ws, ProposedMove.CLARIFY, DecidedBy(person=ADA, line="C.9")), answers)
    plan = planned(found, ws=ws)

    assert [note.text for note in plan.notes_of("decision")] == ["The queue, because it is there."]
    assert "Module: The exporter." in [note.text for note in plan.notes_of("background")]
    assert [task.depends for task in plan.work.tasks if task.depends] == [("T1",)]
    assert verdict(SYSTEM, found, ws).ok


def test_answers_to_somebody_elses_questions_and_remarks_are_background() -> None:
    """A voice with a model may have asked them."""
    ws = workshop()
    asked = RoleVerdict(ok=False, blocking_questions=("Which colour?",))
    for role in ORDER:
        ws = moves.judged(ws, role, asked)
    ws = moves.said(
        answering(ws, {"Which colour?": "Blue."}), "Soon, please.", DecidedBy(person=BEN, line="C.9")
    )

    assert [note.text for note in planned({}, ws=ws).notes_of("background")] == [
        "Which colour? Blue.",
        "Soon, please.",
    ]


def test_modules_are_what_the_design_calls_them() -> None:
    """By their headings, or line by line."""
    page = "# M\n\n## 1. Modules\n\n### Exporter\n\n"
    page += "**What is each module called?**\n\n- Reader: reads — Ada\n\n**What crosses?**\n\n- Rows — Ada\n"

    assert verdict(SYSTEM, {"module-design.md": page}).reasons == ("It lands in 2 modules.",)


def test_a_wide_reach_and_a_crowd_of_musts_are_worth_a_word() -> None:
    """Suggestions, and no more."""
    page = "# I\n\n## 1. Blast Radius\n\n" + "\n".join(f"- {area}/x.py — Ben" for area in "abcde")
    assert verdict(SYSTEM, {"impact-analysis.md": page}).suggestions == (
        "Cut it along the system: it reaches into 5 areas, a, b, c, d, e.",
    )
    four = files(said="- Filter\n- Export\n- Print\n- Mail")
    musts = written(roundtable(PRIORITIES, (ADA, "Must: FR-001, FR-002, FR-003, FR-004")), four)
    assert "Everything is a Must; say what could go if it had to." in verdict(PRODUCT, musts).suggestions


def test_many_open_questions_are_a_hole_in_what_is_known() -> None:
    """The first of them is where to begin."""
    asked = "\n".join(f"- What about part {number}? — Ben" for number in range(4))
    page = f"# D\n\n## 2. Open Questions\n\n{asked}\n"
    found = verdict(
        RISKS, {"design-summary.md": page, "impact-analysis.md": "# I\n\n## 4. Risk Zones\n\n- Slow: wait\n"}
    )

    assert found.ok is None
    assert found.reasons == ("4 questions of the analysis are still open.",)
    assert found.suggestions == ("Answer first: What about part 0?",)


def test_goals_risks_decisions_and_assumptions_come_along() -> None:
    """In people's own words."""
    plan = planned()

    assert [(one.description, one.success_metrics) for one in plan.goals] == [
        ("Every export loses its last row", ("From 12 to 0 errors a month",))
    ]
    assert [(one.description, one.likelihood, one.impact) for one in plan.risks] == [
        ("The writer is slow", "high", "medium"),
        ("Rows come twice", "low", "low"),
    ]
    assert [note.text for note in plan.notes_of("decision")] == ["We stream the rows"]
    assert [one.description for one in plan.assumptions] == ["We assume that nobody edits exports"]
    assert plan.scope.out_of_scope == ("saved filters",)


def test_a_second_reason_is_background() -> None:
    """A plan with many goals has none."""
    plan = planned(
        files(context=CONTEXT.replace("**What number", "- The audit is near — Ada\n\n**What number"))
    )

    assert [one.id for one in plan.goals] == ["G1"]
    assert "The audit is near" in [note.text for note in plan.notes_of("background")]


def test_the_plan_is_traced_to_what_people_said() -> None:
    """By their own words, wherever they stand in a message, and by the numbers they name."""
    plan = planned(
        FILES,
        line("C1.1", "I'd say:\n- filter the list by date, please"),
        line("C1.2", "FR-002 is for the office"),
        line("C1.3", "choosing May shows only entries from May"),
        line("C1.4", "src/export.py is where it happens"),
        line("C1.5", "something else"),
    )

    assert [task.turns for task in plan.work.tasks] == [("C1.1",), ("C1.2",)]
    assert plan.acceptance_criteria[0].turns == ("C1.3",)
    assert plan.file_plan[0].turns == ("C1.4",)


def test_what_a_persona_said_is_no_evidence() -> None:
    """Only people's words count."""
    spoken = line("P1", "Filter the list by date").but(source=Source.MODEL, actor="BusinessAnalyst")

    assert planned(FILES, spoken).work.tasks[0].turns == ()


def test_qualities_of_other_items_stay_out() -> None:
    """The matrix is shared; a plan has its own item's rows."""
    matrix = written(roundtable(QUALITY, (ADA, "Exports take under 2 seconds")))["nfr-matrix.md"]
    foreign = matrix.replace("lost-rows", "other").replace("Exports take", "Imports take")
    plan = planned({**FILES, "docs/common/nfr-matrix.md": matrix + foreign.partition("\n\n")[2]})

    assert [note.text for note in plan.notes_of("background")] == [
        "NFR-001 Exports take under 2 seconds: under 2 seconds"
    ]


def test_a_skipped_step_adds_nothing() -> None:
    """Its questions are the form's, and nobody's."""
    skipped = written(roundtable(FEATURES), skipped=True)

    assert planned(skipped).notes == ()
    assert planned(skipped).work.tasks == ()


TEXTS = st.text(max_size=80) | st.sampled_from(
    [
        "- FR-001: x",
        "## 4. Risk Zones\n- a: b",
        "| Risk | Impact |\n| --- | --- |\n| x | high |",
        "`../x`",
        "a/../b.py",
        "\u200b",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from(READ), st.lists(TEXTS, max_size=6).map("\n".join), max_size=6),
    st.lists(TEXTS, max_size=12),
    TEXTS,
)
def test_whatever_stands_in_the_files_and_answers_the_plan_is_valid(
    found: dict[str, str], answers: list[str], brief: str
) -> None:
    """And its projections are in step with it."""
    ws = read(workshop(f"x{brief}"), found)
    for number, answer in enumerate(answers):
        if isinstance(ws.due, Ask):
            ws = moves.said(ws, answer, DecidedBy(person=ADA, line=f"C.{number}"))
    plan = planned(found, ws=ws)

    assert read_plan(plan.model_dump_json()).plan == plan
    assert check(plan, projected(plan)) == ()


def test_the_same_is_judged_and_planned_the_same() -> None:
    """Always, also beside the event loop."""
    voices = OfflineWorkshop()

    assert asyncio.run(voices.judge(workshop(), TESTS, FILES)) == (verdict(TESTS), NO_FACTS)
    formal = asyncio.run(voices.formalize(workshop(), FILES, lines=()))
    assert read_plan(formal.plan).plan == planned()
    assert formal.requirements == {"FR-001", "FR-002"}
