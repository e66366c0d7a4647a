"""The files of a plan that tools read, and whether they are in step."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import NamedTuple

from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.planning.plan import PlanDocument, read_plan
from bot.domain.values.json_files import pretty

FOLDER = "planning"
PLAN = f"{FOLDER}/planning.ai.json"
PLAN_FILES = f"{FOLDER}/plan.files.json"
REVIEW = f"{FOLDER}/plan-review.json"
BRIEF = f"{FOLDER}/brief.md"
WRITTEN = frozenset({PLAN, PLAN_PAGE, PLAN_FILES, REVIEW, BRIEF})


def plan_json(plan: PlanDocument) -> str:
    return pretty(plan.model_dump(mode="json", exclude_none=True))


def files_json(plan: PlanDocument) -> str:
    """The intentions by file, for tools that want nothing else."""
    return pretty({"files": [one.model_dump(mode="json") for one in plan.file_plan]})


def projected(plan: PlanDocument) -> Mapping[str, str]:
    """The plan and the list of its files, by path."""
    return {PLAN: plan_json(plan), PLAN_FILES: files_json(plan)}


class Gap(NamedTuple):
    """Something in the file *path* that is not as the plan has it; lines count from 1."""

    path: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path} {self.sentence}"


def check(plan: PlanDocument, files: Mapping[str, str]) -> tuple[Gap, ...]:
    """
    Where *files* are not what *plan* says, each at its first line that differs; empty when they are in step.

    A difference is mended by writing `projected(plan)`: the plan is right.
    """
    found = (_difference(path, text, files.get(path)) for path, text in projected(plan).items())
    return tuple(filter(None, found))


def check_files(files: Mapping[str, str]) -> tuple[Gap, ...]:
    """The same, going by the plan among the *files*."""
    if PLAN not in files:
        return (Gap(PLAN, 1, "is missing."),)
    found = read_plan(files[PLAN])
    return (
        check(found.plan, files)
        if found.plan
        else tuple(Gap(PLAN, 1, f"is no plan: {error}") for error in found.errors)
    )


def _difference(path: str, wanted: str, found: str | None) -> Gap | None:
    if found is None:
        return Gap(path, 1, "is missing.")
    pairs = zip_longest(wanted.splitlines(), found.replace("\r\n", "\n").splitlines())
    number = next((place for place, (one, other) in enumerate(pairs, start=1) if one != other), 0)
    return Gap(path, number, f"differs from the plan in line {number}.") if number else None
