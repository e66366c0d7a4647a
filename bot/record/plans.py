"""
The plans of an item, those that were put aside too: the page, the list of files and the review belong to the plan.

The page and the list are made again from the plan and compared; the review names the plan that it is about.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from bot.domain.planning.paths import FOLDER, PLAN, PROJECTIONS, REVIEW
from bot.domain.planning.projections import check_files
from bot.domain.planning.review import plan_hash
from bot.domain.planning.validating import read_plan
from bot.record.difference import Difference

READ = (PLAN, *PROJECTIONS, REVIEW)


def plans_in_step(item: Path) -> Iterator[Difference]:
    """Everything that is not as the plan beside it says; nothing where there is no plan. Raises OSError."""
    versions = sorted((item / FOLDER / "versions").glob("v*"))
    for folder in (item / FOLDER, *versions):
        files = dict(_files(folder))
        if files.keys() - {REVIEW}:
            yield from _differences(files, folder.relative_to(item).as_posix())


def _differences(files: Mapping[str, str], folder: str) -> Iterator[Difference]:
    for gap in check_files(files):
        yield Difference(_named(gap.path, folder), gap.line, gap.sentence)
    plan = read_plan(files.get(PLAN, "")).plan
    if plan and REVIEW in files and _reviewed(files[REVIEW]) != plan_hash(plan):
        yield Difference(_named(REVIEW, folder), 1, "is the review of another plan.")


def _reviewed(review: str) -> object:
    """The hash of the plan that *review* is about; None where it cannot be read."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        return json.loads(review)["meta"]["plan_hash"]
    return None


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """By the paths that they have while they are the newest. A byte that is no UTF-8 stands for itself."""
    for path in READ:
        found = folder / path.removeprefix(f"{FOLDER}/")
        if found.is_file():
            yield path, found.read_bytes().decode("utf-8", "surrogateescape")


def _named(path: str, folder: str) -> str:
    return f"{folder}{path.removeprefix(FOLDER)}"
