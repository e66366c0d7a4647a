"""What is derived from a plan is the same for the same plan, and is found out when it is not."""

import json

from hypothesis import given

from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.planning.plan import PlanDocument, read_plan
from bot.domain.planning.projections import PLAN, PLAN_FILES, check, check_files, plan_page, projected
from bot.domain.values.markdown import LAST_SECTION, outline
from tests.domain.planning.plans import PLANS, VALID

PLAIN = PlanDocument.model_validate(VALID)
HEADINGS = [(one.level, one.text) for one in outline(plan_page(PLAIN)).headings][1:]


@given(PLANS)
def test_every_valid_plan_makes_the_round_trip(plan: PlanDocument) -> None:
    """The plan out of its file is the plan, its projections are in step, and the list of files is the plan's."""
    files = projected(plan)

    assert read_plan(files[PLAN]).plan == plan
    assert check(plan, files) == ()
    assert check_files(files) == ()
    assert [one["path"] for one in json.loads(files[PLAN_FILES])["files"]] == [
        one.path for one in plan.file_plan
    ]


@given(PLANS)
def test_nothing_in_a_plan_changes_the_shape_of_its_page(plan: PlanDocument) -> None:
    """Whatever stands in it is text: the headings are the same for every plan, and none is hidden."""
    page = outline(plan_page(plan))

    unsettled = [(2, LAST_SECTION)] if plan.notes_of("open_question") else []
    assert [(one.level, one.text) for one in page.headings][1:] == HEADINGS + unsettled
    assert not page.hidden
    assert "<!--" not in plan_page(plan)


def test_the_page_shows_what_a_task_is_for_and_where_it_was_said() -> None:
    """With the ids of requirements and of messages."""
    page = plan_page(PLAIN)

    assert "- **T1** Keep the last row (FR-001)" in page
    assert "  - Said in: C1.1" in page


def test_a_projection_that_differs_is_named_with_its_line() -> None:
    """The plan is right; writing it again mends the file."""
    files = dict(projected(PLAIN))
    files[PLAN_PAGE] = files[PLAN_PAGE].replace("Keep", "Drop")
    del files[PLAN_FILES]

    lines = files[PLAN_PAGE].splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if "Drop" in line)
    assert [(str(gap), gap.line) for gap in check(PLAIN, files)] == [
        (f"planning/plan.md differs from the plan in line {number}.", number),
        ("planning/plan.files.json is missing.", 1),
    ]
    assert check(PLAIN, {**files, **projected(PLAIN)}) == ()


def test_line_ends_are_no_difference() -> None:
    """A checkout may have others."""
    files = {path: text.replace("\n", "\r\n") for path, text in projected(PLAIN).items()}

    assert check_files(files) == ()


def test_without_a_plan_there_is_nothing_to_compare_with() -> None:
    """It says so, also when the plan has errors."""
    assert [str(gap) for gap in check_files({})] == ["planning/planning.ai.json is missing."]
    assert str(check_files({PLAN: "{}"})[0]) == "planning/planning.ai.json is no plan: id: Field required"
