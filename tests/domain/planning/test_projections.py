"""What is derived from a plan is the same for the same plan, and is found out when it is not."""

import json

from hypothesis import given

from bot.domain.planning.plan import PlanDocument, read_plan
from bot.domain.planning.projections import PLAN, PLAN_FILES, check, check_files, projected
from tests.domain.planning.plans import PLANS, VALID

PLAIN = PlanDocument.model_validate(VALID)


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


def test_a_projection_that_differs_is_named_with_its_line() -> None:
    """The plan is right; writing it again mends the file."""
    files = dict(projected(PLAIN))
    files[PLAN_FILES] = files[PLAN_FILES].replace("[", "{")

    assert [(str(gap), gap.line) for gap in check(PLAIN, files)] == [
        ("planning/plan.files.json differs from the plan in line 2.", 2)
    ]
    del files[PLAN_FILES]
    assert [str(gap) for gap in check(PLAIN, files)] == ["planning/plan.files.json is missing."]
    assert check(PLAIN, {**files, **projected(PLAIN)}) == ()


def test_line_ends_are_no_difference() -> None:
    """A checkout may have others."""
    files = {path: text.replace("\n", "\r\n") for path, text in projected(PLAIN).items()}

    assert check_files(files) == ()


def test_without_a_plan_there_is_nothing_to_compare_with() -> None:
    """It says so, also when the plan has errors."""
    assert [str(gap) for gap in check_files({})] == ["planning/planning.ai.json is missing."]
    assert str(check_files({PLAN: "{}"})[0]) == "planning/planning.ai.json is no plan: id: Field required"
