"""Where the files of an item are, and which paths a step may name."""

from bot.domain.values.file_names import is_plain

SHARED = "docs/common/nfr-matrix.md"
META, TRANSCRIPT = "meta.json", "planning/meeting.jsonl"
SPECIFICATION = "specification.json"
MARKDOWN = ".md"
KEPT_BY_US = frozenset({META, SPECIFICATION, "planning", "reviews"})


def safe_path(path: str) -> bool:
    """Whether *path*, relative to an item's folder, stays in it and names none of the files that are ours."""
    return path.partition("/")[0].casefold() not in KEPT_BY_US and is_plain(path)


def shared(path: str) -> bool:
    """Whether *path* is the one file that all items share, however a step names it."""
    return path in {SHARED, SHARED.rpartition("/")[2]}
