"""The files of a plan that tools read."""

from collections.abc import Mapping

from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.planning.plan import PlanDocument
from bot.domain.values.json_files import pretty

FOLDER = "planning"
PLAN = f"{FOLDER}/planning.ai.json"
PLAN_FILES = f"{FOLDER}/plan.files.json"
REVIEW = f"{FOLDER}/plan-review.json"
BRIEF = f"{FOLDER}/brief.md"
WRITTEN = frozenset({PLAN, PLAN_PAGE, PLAN_FILES, REVIEW, BRIEF})


def plan_json(plan: PlanDocument) -> str:
    return pretty(plan.model_dump(mode="json", exclude_none=True))


def projected(plan: PlanDocument) -> Mapping[str, str]:
    """The plan and the list of its files, by path."""
    files = [one.model_dump(mode="json") for one in plan.file_plan]
    return {PLAN: plan_json(plan), PLAN_FILES: pretty({"files": files})}
