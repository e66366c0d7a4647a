"""
The files a step writes, as edits: values that say what becomes of the text of one file, and nothing else.

    SectionEdit   a numbered section of a Markdown file         owned by its step
    InsightEdit   what an elaboration adds to a Markdown file   additive only
    ItemsEdit     objects of a JSON array                       merged by id
    RowsEdit      rows of a CSV file                            merged by the first column
    FileEdit      a whole file                                  only when there is none
    PlanEdit      a whole file of the planning workshop         whatever was there
"""

import re
from typing import Annotated, Literal

from pydantic import Field

from bot.domain.planning.outputs import PlanEdit
from bot.domain.sections import InsightEdit, Missing, SectionEdit, additive
from bot.domain.tables import ItemsEdit, RowsEdit, Unreadable
from bot.domain.value import Stored

__all__ = [
    "Edit",
    "FileEdit",
    "InsightEdit",
    "ItemsEdit",
    "Missing",
    "PlanEdit",
    "RowsEdit",
    "SectionEdit",
    "Unreadable",
    "additive",
    "applies_to",
    "safe_path",
    "shared",
]

SHARED = "docs/common/nfr-matrix.md"
LONGEST_PATH = 200
KEPT_BY_US = frozenset({"meta.json", "planning", "reviews"})
_SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?<!\.)")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")


class FileEdit(Stored):
    """Makes the file when there is none, and never touches one."""

    kind: Literal["file"] = "file"
    path: str
    text: str

    def apply(self, existing: str | None) -> str:
        return self.text if existing is None else existing


Edit = Annotated[
    SectionEdit | InsightEdit | ItemsEdit | RowsEdit | FileEdit | PlanEdit, Field(discriminator="kind")
]


def applies_to(path: str) -> bool:
    """Whether insights can be added to the file: a marker is a comment in Markdown, and damage anywhere else."""
    return path.lower().endswith((".md", ".markdown", ".txt"))


def safe_path(path: str) -> bool:
    """Whether *path*, relative to an item's folder, stays in it and names none of the files that are ours."""
    segments = path.split("/")
    if len(path) > LONGEST_PATH or segments[0].lower() in KEPT_BY_US:
        return False
    return all(_SEGMENT.fullmatch(one) and not _DEVICE.fullmatch(one.lower()) for one in segments)


def shared(path: str) -> bool:
    """Whether *path* is the one file that all items share, however a step names it."""
    return path in {SHARED, SHARED.rpartition("/")[2]}
