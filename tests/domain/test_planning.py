"""The step of the plan: who may call for it, what its roles ask, and what people's words and verdicts become."""

import json
from collections.abc import Callable

import pytest

from bot.domain.catalog.agenda import Agenda
from bot.domain.catalog.phases import Phase
from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.messages.message import Action
from bot.domain.planning.projections import BRIEF, PLAN, PLAN_FILES, REVIEW
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.stage import Stage
from bot.errors import NotNow
from tests.domain.books import few_steps, step
from tests.domain.card_scene import shown
from tests.domain.table import Table, played_once

STEP = "05-01"


@played_once
def table() -> Table:
    return Table(few_steps()).start()


@played_once
def analysed() -> Table:
    return table().through("02-01").press_continue()


@played_once
def planning() -> Table:
    """With all that the roles ask for."""
    return Table().start().plan()


def reviewers(at: Table) -> dict[str, str]:
    return {one["role"]: one["decision"] for one in json.loads(at.world.files[REVIEW])["reviewers"]}


# --- calling for it -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [Stage.DISCUSSING, Stage.AT_BOUNDARY, Stage.PAUSED, Stage.ANALYSED])
def test_it_can_be_called_for_wherever_people_rest(stage: Stage) -> None:
    """At a question, at a menu, after a pause and at the end; the analysis stands where it stood."""
    scenes: dict[Stage, Callable[[], Table]] = {
        Stage.DISCUSSING: table,
        Stage.AT_BOUNDARY: lambda: table().do_step(),
        Stage.PAUSED: lambda: table().stop(),
        Stage.ANALYSED: analysed,
    }
    at = scenes[stage]()
    assert at.rt.stage is stage
    before = at.rt.steps_completed, at.rt.phases_completed
    at.plan(who="grace")

    assert (at.rt.stage, at.rt.step_id) == (Stage.DISCUSSING, STEP)
    assert (at.rt.steps_completed, at.rt.phases_completed) == before
    assert "Step 05-01: Plan" in at.card.text


def test_the_first_message_keeps_the_depth_of_the_analysis() -> None:
    """The plan has no depth of its own."""
    at = table()
    before = at.world.root_edits[-1].message.card
    after = at.plan().world.root_edits[-1].message.card

    assert before
    assert after
    assert "standard depth" in str(before.foot)
    assert "standard depth" in str(after.foot)


def test_not_in_a_discussion() -> None:
    """Nor while one is only stopped: its turns stand together up to the synthesis."""
    at = table().elaborate()
    for stopped in (False, True):
        if stopped:
            at.stop()
        with pytest.raises(NotNow, match="discussion"):
            at.plan()


def test_called_for_again_it_is_asked_again() -> None:
    """The card stands below what was said since, and nothing is lost."""
    at = table().plan().say("problem: Edits get lost in tunnels.")
    first = at.rt.card
    at.plan(who="grace")

    assert at.rt.step_id == STEP
    assert first
    assert at.rt.card
    assert at.rt.card.token == first.token
    assert at.rt.specification.active("problem")


def test_called_for_after_a_stop_it_is_open_again() -> None:
    """As it was left."""
    at = table().plan().say("Test Planner: go").stop().plan()

    assert (at.rt.stage, at.rt.step_id) == (Stage.DISCUSSING, STEP)
    assert "APP-001" in at.card.text
    assert Action.FINISH_STEP in at.offered()


def test_it_asks_the_same_at_every_depth() -> None:
    """Nothing about it is kept in meta.json."""
    at = table().plan().say("deep")

    assert at.world.told[-1][1].text == "The plan asks the same at every depth."
    assert at.meta.depth_overrides == {}


def test_a_thread_can_begin_with_it() -> None:
    """The brief is a note of the plan; afterwards the analysis begins with its first step."""
    at = Table(few_steps()).start(planning=True, brief="The export loses its last row.")

    assert at.rt.step_id == STEP
    assert [str(one["text"]) for one in at.rt.specification.notes_of([STEP])] == [
        "The export loses its last row."
    ]
    at.press(Action.FINISH_STEP)
    assert at.world.files[BRIEF] == "The export loses its last row.\n"
    at.press_continue()
    assert at.rt.step_id == "00-01"


# --- questions ------------------------------------------------------------------------------------------------------


def test_each_gap_of_a_role_is_a_question_with_its_number() -> None:
    """The number stays when others are answered; a form is an entry, and closes the gap."""
    at = planning()
    assert "3. Risk Planner: What could go wrong? (`risk: …`)" in at.card.text
    at.say("risk: Two people edit one record.").say("requirement: Edit without a network")

    assert "3. Risk Planner" not in at.card.text
    assert "5. Test Planner: How would somebody see that FR-001 works?" in at.card.text
    assert [one.owner.by for _, one in at.rt.specification.entries["RSK-001"].current()] == ["ada"]


def test_words_without_a_form_are_a_note_under_their_question() -> None:
    """No answer becomes a criterion, or anything else that its author did not call it."""
    at = planning().say("3. The night jobs fail.", who="grace")

    (note,) = at.rt.specification.notes_of([STEP])
    assert (note["question"], note["text"]) == (3, "The night jobs fail.")
    assert not at.rt.specification.active("risk")
    assert "3. **Risk Planner" in at.card.text or "3. Risk Planner" in at.card.text


# --- verdicts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("go", "accept"),
        ("yes", "accept"),
        ("no gap", "accept"),
        ("no-go; because: nobody tests it", "blocked"),
        ("go with a condition; condition: a load test first", "needs_changes"),
        ("skip", "defer"),
    ],
)
def test_people_give_the_verdict_of_a_role(said: str, decision: str) -> None:
    """In a line of their own; it is an approval of theirs, and never a requirement."""
    at = table().plan().say(f"Test Planner: {said}", who="grace").press(Action.FINISH_STEP)

    (entry,) = at.rt.specification.active("approval")
    claim = entry.claim("verdict")
    assert claim
    assert (entry["role"], claim.owner.by) == ("TestPlanner", "grace")
    assert not at.rt.specification.active("requirement")
    assert reviewers(at)["TestPlanner"] == decision
    assert "Test Planner: " in at.world.files[PLAN_PAGE]


def test_who_changes_a_verdict_gives_no_second_one() -> None:
    """What was said for the earlier one is no reason of the new one."""
    at = table().plan().say("Test Planner: no-go; because: nobody tests it").say("test planner: go")

    assert reviewers(at.press(Action.FINISH_STEP))["TestPlanner"] == "accept"
    assert "Test Planner: go (Ada)" in at.world.files[PLAN_PAGE]


def test_two_people_who_differ_about_a_role_have_to_agree() -> None:
    """Neither wins by being later."""
    at = table().plan().say("Test Planner: no-go").say("Test Planner: go", who="grace")

    assert "APP-001 has more than one verdict: Ada says no-go and Grace says go." in at.card.text
    at.press(Action.FINISH_STEP)
    assert reviewers(at)["TestPlanner"] == "defer"
    assert "Test Planner: people differ" in at.world.files[PLAN_PAGE]


@pytest.mark.parametrize("verdict", ["skip", "no gap"])
def test_a_role_that_is_settled_asks_no_more(verdict: str) -> None:
    """What the others ask keeps its number."""
    at = planning().say(f"Product Planner: {verdict}")

    assert "Product Planner:" not in at.card.text
    assert "3. Risk Planner: What could go wrong?" in at.card.text


def test_a_role_without_a_verdict_is_no_consent() -> None:
    """With a gap it blocks; without one it has not said anything yet."""
    at = planning().say("task: Build the queue").press(Action.FINISH_STEP)
    review = json.loads(at.world.files[REVIEW])

    assert reviewers(at)["RiskPlanner"] == "blocked"
    assert reviewers(at)["SeniorDeveloper"] == "defer"
    assert (review["aggregate"]["ok"], review["aggregate"]["decision"]) == (False, "blocked")
    assert "Risk Planner: What could go wrong?" in review["aggregate"]["blocking_issues"]


def test_when_all_roles_say_go_the_plan_is_accepted() -> None:
    at = table().plan()
    for role in ("Product Planner", "System Designer", "Senior Developer", "Test Planner"):
        at.say(f"{role}: go")
    at.say("Risk Planner: skip").press(Action.FINISH_STEP)

    assert json.loads(at.world.files[REVIEW])["aggregate"] == {
        "ok": True,
        "decision": "accepted",
        "blocking_issues": [],
    }


def test_words_that_are_no_verdict_are_told_and_kept() -> None:
    at = table().plan().say("Test Planner: perhaps", who="grace")

    assert "“perhaps” does not fit as approval" in at.world.told[-1][1].text
    assert [one["text"] for one in at.rt.specification.notes_of([STEP])] == ["Test Planner: perhaps"]


# --- finishing ------------------------------------------------------------------------------------------------------


def test_finishing_it_writes_the_plan_and_is_no_progress_of_the_analysis() -> None:
    """One commit with all files, under the name of the step; meta.json does not know it."""
    at = table().plan().say("task: Build the queue\nrequirement: Edit without a network")
    at.press(Action.FINISH_STEP)

    assert at.subjects[-1] == "step 05-01 Plan"
    assert {PLAN, PLAN_PAGE, PLAN_FILES, REVIEW, BRIEF} <= at.world.files.keys()
    assert at.meta.steps_completed == at.meta.phases_completed == ()
    assert [one["title"] for one in json.loads(at.world.files[PLAN])["work"]["tasks"]] == ["Build the queue"]
    assert "Plan – saved" in shown(at.card)
    assert "Not ready: " in at.card.text


@pytest.mark.parametrize("begun", [table, analysed])
def test_afterwards_the_analysis_goes_on_where_it_stood(begun: Callable[[], Table]) -> None:
    at = begun()
    before = at.rt.stage, at.rt.step_id
    at.plan().press(Action.FINISH_STEP).press_continue()

    assert (at.rt.stage, at.rt.step_id) == before
    assert STEP not in at.meta.steps_completed


def test_people_can_leave_it_without_a_plan() -> None:
    """And come back to what was said."""
    at = table().plan().say("Test Planner: go").press(Action.SKIP)
    assert (at.rt.stage, at.rt.step_id) == (Stage.DISCUSSING, "00-01")
    assert PLAN not in at.world.files

    assert "APP-001" in at.plan().card.text


def test_once_written_the_plan_follows_what_is_recorded() -> None:
    """In whichever step that is, with the same commit."""
    at = table().plan().press(Action.FINISH_STEP).press_continue()
    at.say("risk: The disk is full.").press(Action.FINISH_STEP)

    assert "The disk is full." in at.world.files[PLAN_PAGE]
    written = [one for one in at.world.commits[-1].edits if one.path == PLAN]
    assert isinstance(at.world.commits[-1], Commit)
    assert len(written) == 1


def test_it_can_be_opened_again() -> None:
    at = table().plan().press(Action.FINISH_STEP).say("reopen")
    assert (at.rt.stage, at.rt.step_id) == (Stage.DISCUSSING, STEP)
    at.say("task: Build the queue").press(Action.FINISH_STEP)

    assert "Build the queue" in at.world.files[PLAN_PAGE]
    assert at.meta.steps_completed == ()


def test_it_can_be_discussed_like_any_step() -> None:
    """The discussion goes into the notes, since the plan is made of entries."""
    at = table().plan().say("Who carries the pager?").press(Action.FINISH_STEP).press(Action.ELABORATE)
    at.say("decision: We ship in two steps").say("done")

    assert at.rt.stage is Stage.AT_BOUNDARY
    assert "We ship in two steps" in at.world.files[PLAN_PAGE]
    assert "We ship in two steps" in at.world.files["notes.md"]


def test_a_lost_store_leads_back_to_the_open_plan() -> None:
    """What was said is in git since the pause."""
    at = table().plan().say("Test Planner: go").stop().forget()

    assert (at.rt.stage, at.rt.step_id) == (Stage.DISCUSSING, STEP)
    assert [one["role"] for one in at.rt.specification.active("approval")] == ["TestPlanner"]


def test_a_lost_store_does_not_open_a_plan_that_is_written() -> None:
    at = table().plan().say("Test Planner: go").press(Action.FINISH_STEP).forget()

    assert at.rt.step_id == "00-01"
    assert at.rt.has_finished(STEP)


def test_a_team_with_further_phases_has_the_plan_behind_them() -> None:
    further = step("00-01").but(step_id="05-01", phase_key="05-rollout")
    agenda = Agenda((Phase.of_folder("05-rollout"),), (further,))

    assert agenda.plan.step_id == "06-01"
    assert agenda.get("05-01") == further
    assert agenda.plan not in agenda.steps
