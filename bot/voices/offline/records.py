"""
What people said, in files that are not Markdown.

JSON gets an object for the step, CSV a row for each statement, both merged by their key. Of other formats we know
only how a comment looks, if at all: such a file is made once, of comments, and is people's own from then on.
"""

from collections.abc import Iterator, Sequence

from bot.domain.item.artifacts import Edit, FileEdit, ItemsEdit, RowsEdit
from bot.domain.values.text import clean
from bot.voices.offline.draft_context import Sheet
from bot.voices.offline.pages import NOTHING_SAID, SKIPPED
from bot.voices.offline.reading import Kind, Said

COLUMNS = ("Step", "Title", "By", "Statement")
COMMENTS = {
    "# ": (
        "yaml",
        "yml",
        "toml",
        "ini",
        "cfg",
        "conf",
        "env",
        "properties",
        "sh",
        "py",
        "rb",
        "tf",
        "graphql",
    ),
    "// ": (
        "js",
        "ts",
        "jsonc",
        "json5",
        "java",
        "kt",
        "go",
        "rs",
        "c",
        "cpp",
        "cs",
        "swift",
        "proto",
        "dot",
    ),
    "-- ": ("sql", "lua", "hs"),
    "' ": ("puml", "plantuml"),
    "%% ": ("mmd", "mermaid"),
    ".. ": ("rst",),
}
_COMMENT = {suffix: mark for mark, suffixes in COMMENTS.items() for suffix in suffixes}


def records(sheet: Sheet) -> Iterator[Edit]:
    suffix = sheet.output.rpartition(".")[2].lower()
    if suffix == "json":
        yield _item(sheet)
    elif suffix == "csv":
        yield _rows(sheet)
    else:
        yield FileEdit(path=sheet.output, text=_comments(sheet, _COMMENT.get(suffix, "")))


def statements(said: Sequence[Said]) -> tuple[Said, ...]:
    """All that says something; where nothing does, the nods and thanks."""
    return tuple(one for one in said if one.kind is not Kind.SMALL_TALK) or tuple(said)


def _item(sheet: Sheet) -> ItemsEdit:
    said = [{"by": one.by, "kind": one.kind.value, "text": one.whole} for one in statements(sheet.said)]
    item = {"id": sheet.step.step_id, "title": sheet.step.title, "statements": said}
    if not said and sheet.text.strip():
        item.pop("statements")
    return ItemsEdit(path=sheet.output, items=(item | ({"skipped": True} if sheet.skipped else {}),))


def _rows(sheet: Sheet) -> RowsEdit:
    step = sheet.step
    rows = [
        (f"{step.step_id}.{number}", step.title, one.by, one.whole)
        for number, one in enumerate(statements(sheet.said), start=1)
    ]
    return RowsEdit(path=sheet.output, columns=COLUMNS, rows=tuple(rows))


def _comments(sheet: Sheet, mark: str) -> str:
    nothing = (SKIPPED if sheet.skipped else NOTHING_SAID).strip("_")
    said = [f"{one.by}: {one.whole}" for one in statements(sheet.said)] or [nothing, *sheet.questions]
    lines = [f"{sheet.step.title} (step {sheet.step.step_id})", "", *said]
    rows = (row for line in lines for row in clean(line).split("\n") or [""])
    return "".join(f"{mark}{row}".rstrip() + "\n" for row in rows)
