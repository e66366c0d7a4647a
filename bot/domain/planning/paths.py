"""Where the workshop keeps its files, relative to the item's folder. The transcript is never one of them."""

import re

FOLDER = "planning"
PLAN = f"{FOLDER}/planning.ai.json"
PLAN_PAGE = f"{FOLDER}/plan.md"
PLAN_FILES = f"{FOLDER}/plan.files.json"
MINUTES = f"{FOLDER}/meeting.md"
REVIEW = f"{FOLDER}/plan-review.json"
BRIEF = f"{FOLDER}/brief.md"

PROJECTIONS = (PLAN_PAGE, PLAN_FILES)
REQUIRED = frozenset({PLAN, *PROJECTIONS})
"""Without these a plan is not ready for review."""
VERSIONED = (PLAN, PLAN_PAGE, PLAN_FILES, MINUTES, REVIEW, BRIEF)
"""What a redo puts aside."""


TRANSCRIPT = f"{FOLDER}/meeting.jsonl"

_OURS = re.compile(rf"{FOLDER}/(?:versions/v[1-9][0-9]{{0,5}}/)?(?P<name>[a-z-]+(?:\.[a-z]+)+)")


def is_planned(path: str) -> bool:
    """Whether a workshop may write to *path*: one of its files, or one that a redo has put aside."""
    found = _OURS.fullmatch(path)
    return found is not None and f"{FOLDER}/{found['name']}" in VERSIONED


def version_folder(version: int) -> str:
    return f"{FOLDER}/versions/v{version}"
