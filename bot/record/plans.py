"""
The plans of an item, those that were put aside too: the page, the list of files and the review belong to the plan.

The page and the list are made again from the plan and compared; the review names the plan that it is about.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress

from bot.domain.planning.paths import FOLDER, PLAN, PROJECTIONS, REVIEW
from bot.domain.planning.projections import check_files
from bot.domain.planning.review import plan_hash
from bot.domain.planning.validating import read_plan
from bot.files import ARTIFACT_BYTES, Folder, Refused
from bot.record.difference import Difference

VERSIONS = "versions"
READ = (PLAN, *PROJECTIONS, REVIEW)


def plans_in_step(item: Folder) -> Iterator[Difference]:
    """Everything that is not as the plan beside it says; nothing where there is no plan. Raises OSError."""
    with suppress(FileNotFoundError), item.below(FOLDER) as newest:
        yield from _in_step(newest, FOLDER)
        with newest.below(VERSIONS) as versions:
            for name in versions.folders():
                with versions.below(name) as one:
                    yield from _in_step(one, f"{FOLDER}/{VERSIONS}/{name}") if name.startswith("v") else ()


def _in_step(found: Folder, path: str) -> Iterator[Difference]:
    """Files go by the paths that they have while they are the newest. A byte that is no UTF-8 stands for itself."""
    files = {}
    for name in READ:
        try:
            content = found.read(name.removeprefix(f"{FOLDER}/"), ARTIFACT_BYTES)
        except Refused as error:
            yield Difference(_named(name, path), 1, error.reason)
            return
        if content is not None:
            files[name] = content.decode("utf-8", "surrogateescape")
    if files.keys() - {REVIEW}:
        yield from _differences(files, path)


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


def _named(path: str, folder: str) -> str:
    return f"{folder}{path.removeprefix(FOLDER)}"
