"""The files of a workshop: what is written when a plan is ready, and what a redo puts aside."""

from bot.domain.planning import workshop
from bot.domain.planning.projections import check_files
from bot.domain.planning.record import PlanEdit, minutes, outputs, put_aside, taken_up
from bot.domain.planning.workshop import PLAN, PLAN_FILES, PLAN_PAGE, REQUIRED
from bot.domain.transcript.lines import LinePhase
from tests.domain.planning.seats import (
    ADA,
    GRACE,
    NO,
    VALID,
    asking,
    at_the_plan,
    deciding,
    drafted,
    read_through,
)

NAMES = {"ada": "Ada", "grace": "Grace"}
NOW = "2026-03-01T09:00:00.000Z"
TRANSCRIPT = "planning/meeting.jsonl"


def written() -> dict[str, str]:
    """The files of a plan that is valid."""
    ws = workshop.formalized(at_the_plan(), VALID)
    assert ws.plan
    return {edit.path: edit.text or "" for edit in outputs(ws, ws.plan, names=NAMES, now=NOW)}


def test_a_plan_is_written_with_all_that_belongs_to_it() -> None:
    """The plan, its projections, the minutes, the review and the brief; never the transcript."""
    files = written()

    assert set(files) == {
        *REQUIRED,
        "planning/meeting.md",
        "planning/plan-review.json",
        "planning/brief.md",
    }
    assert check_files(files) == ()


def test_a_plan_edit_replaces_the_file_or_takes_it_away() -> None:
    """Applied again it changes nothing."""
    assert PlanEdit(path=PLAN, text="new").apply("old") == "new"
    assert PlanEdit(path=PLAN, text=None).takes_away


def test_a_redo_keeps_the_version_and_the_transcript() -> None:
    """Every file of it in a folder of its own, as it was; the transcript stays where it is."""
    files = {**written(), TRANSCRIPT: "{}\n"}
    edits = {edit.path: edit.text for edit in put_aside(at_the_plan(), files, names=NAMES)}

    for path, text in written().items():
        assert edits[path] is None
        assert edits[path.replace("planning/", "planning/versions/v1/")] == text
    assert not [path for path in edits if path.endswith(".jsonl")]


def test_a_version_without_a_plan_leaves_its_minutes() -> None:
    """Nobody has to ask the transcript why it came to nothing."""
    edits = {edit.path: edit.text for edit in put_aside(deciding(NO), {}, names=NAMES)}

    assert set(edits) == {"planning/versions/v1/meeting.md", "planning/versions/v1/brief.md"}
    assert "It is too big." in (edits["planning/versions/v1/meeting.md"] or "")


def test_nothing_that_was_put_aside_is_written_over() -> None:
    """Also when the count of versions was lost with the store."""
    taken = {"planning/versions/v1/plan.md": "old", "planning/versions/v2/plan.md": "older"}
    edits = put_aside(at_the_plan(), {**written(), **taken}, names=NAMES)

    assert {edit.path.rpartition("/")[0] for edit in edits if edit.text is not None} == {
        "planning/versions/v3"
    }


def test_git_alone_says_where_a_plan_stands() -> None:
    """After the store was lost: its version, its brief, and whether it is ready; a half-written one begins again."""
    aside = put_aside(at_the_plan(), written(), names=NAMES)
    old = {edit.path: edit.text for edit in aside if edit.text is not None}
    found = taken_up(drafted("Another brief"), {**written(), **old})

    assert (found.stage, found.version) == (LinePhase.REVIEW_READY, 2)
    assert found.brief == "Every export loses its last row."
    assert taken_up(drafted(), {}) == drafted()
    torn = {**written(), PLAN: "{"}
    assert taken_up(drafted(), torn).stage is LinePhase.DRAFT


def test_the_minutes_tell_what_was_asked_judged_and_decided() -> None:
    """With names, for people who were not there."""
    ws = workshop.said(read_through(TestPlanner=asking("How is it tested?", "When?")), "By hand.", ADA)
    ws = workshop.said(workshop.passed_all(ws, GRACE), "Before May.", GRACE)
    text = minutes(ws, NAMES)

    assert "- **Q1** How is it tested? (TestPlanner)\n  - Ada: By hand." in text
    assert "- **Q2** When? (TestPlanner)\n  - _passed_" in text
    assert "- Grace: Before May." in text
    assert "## First reading\n\n- **ProductPlanner** yes, confidence 0.90" in text


def test_the_minutes_say_who_went_on_and_why() -> None:
    """What was proposed stands above it."""
    ws = workshop.formalized(at_the_plan(), VALID)
    assert "## Decision\n\n- **go** by Ada" in minutes(ws, NAMES)
    assert "- **go**, with 100% of the roles in agreement" in minutes(ws, NAMES)


def test_projections_and_plan_are_all_required() -> None:
    """Without one of them nothing is ready."""
    assert {PLAN, PLAN_PAGE, PLAN_FILES} == REQUIRED
