"""
Whether the ids that are referred to exist (issue 5 §3). It is looked at before a commit, told in one line, and never a
reason not to save: people may know what they mean.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from bot.domain.artifact import Edit, ItemsEdit, Missing, RowsEdit, SectionEdit, Unreadable
from bot.domain.json_file import parse

SPEC = "requirements-spec.md"
STORIES = "user-stories.json"

_ID = re.compile(r"(?<![\w-])(?:FR-\d{3}|AC-\d{3}-\d{2}|US-\d{3})(?![\w-])")
_DEFINED = re.compile(
    r"^(?:#{2,6}[ \t]+(?=\**FR-)|[ \t]*[-*][ \t]+(?=\**AC-))\**(?P<id>FR-\d{3}|AC-\d{3}-\d{2})\**[ \t]*[:–—-]",
    re.MULTILINE,
)


def dangling(files: Mapping[str, str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """
    The ids that *edits* of *files* mention and nobody has defined, in order. A kind of id of which there is none yet is
    not looked for: it may be numbered elsewhere.
    """
    edits = tuple(edits)
    after = _applied(files, edits)
    known = {found["id"] for found in _DEFINED.finditer(after.get(SPEC, ""))} | set(
        _stories(after.get(STORIES, ""))
    )
    kinds = {_kind(one) for one in known}
    named = dict.fromkeys(one for edit in edits for one in _ID.findall(_text(edit)))
    return tuple(sorted(one for one in named if one not in known and _kind(one) in kinds))


def _applied(files: Mapping[str, str], edits: Iterable[Edit]) -> dict[str, str]:
    after = dict(files)
    for edit in edits:
        if edit.path not in {SPEC, STORIES}:
            continue
        try:
            after[edit.path] = edit.apply(after.get(edit.path))
        except (Missing, Unreadable):
            after[edit.path] = edit.apply("")
    return after


def _stories(text: str) -> Iterator[str]:
    try:
        found = parse(text) if text.strip() else []
    except ValueError:
        return
    yield from (
        (str(one.get("id")) for one in found if isinstance(one, dict)) if isinstance(found, list) else ()
    )


def _text(edit: Edit) -> str:
    """What the edit brings."""
    if isinstance(edit, SectionEdit):
        return edit.body
    if isinstance(edit, ItemsEdit):
        return "\n".join(_strings(edit.items))
    return "\n".join(cell for row in edit.rows for cell in row) if isinstance(edit, RowsEdit) else ""


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for one in value.values() for text in _strings(one))
    elif isinstance(value, list | tuple):
        yield from (text for one in value for text in _strings(one))


def _kind(name: str) -> str:
    return name.partition("-")[0]
