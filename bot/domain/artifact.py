"""
The files a step writes, as edits: values that say what becomes of the text of one file, and nothing else.

    SectionEdit   a numbered section of a Markdown file         owned by its step
    InsightEdit   what an elaboration adds to a Markdown file   additive only
    ItemsEdit     objects of a JSON array                       merged by id
    RowsEdit      rows of a CSV file                            merged by the first column
    FileEdit      a whole file                                  only when there is none
    PlanEdit      a whole file of the planning workshop         whatever was there
"""

from typing import Annotated, Literal

from pydantic import Field

from bot.domain.file_names import is_plain
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
KEPT_BY_US = frozenset({"meta.json", "planning", "reviews"})


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
    return path.partition("/")[0].casefold() not in KEPT_BY_US and is_plain(path)


def shared(path: str) -> bool:
    """Whether *path* is the one file that all items share, however a step names it."""
    return path in {SHARED, SHARED.rpartition("/")[2]}
