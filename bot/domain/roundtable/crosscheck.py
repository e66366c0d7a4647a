"""
Whether the ids that are referred to exist (issue 5 §3). It is looked at before a commit, told in one line, and never a
reason not to save: people may know what they mean.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from bot.domain.item.artifacts import (
    Edit,
    ItemsEdit,
    Missing,
    RowsEdit,
    SectionEdit,
    UnreadableArtifact,
)
from bot.domain.values.json_files import parse

SPEC = "requirements-spec.md"
STORIES = "user-stories.json"

_NUMBER = r"(?:[0-9]{1,3}|[1-9][0-9]{3,5})"
_ID = re.compile(rf"(?<![\w-])(?:FR-{_NUMBER}|AC-{_NUMBER}-[0-9]{{1,3}}|US-{_NUMBER})(?![\w-])")
_DEFINED = re.compile(
    rf"^(?:#{{2,6}}[ \t]+(?=\**FR-)|[ \t]*[-*][ \t]+(?=\**AC-))\**(?P<id>FR-{_NUMBER}|AC-{_NUMBER}-[0-9]{{1,3}})\**"
    r"[ \t]*[:–—-]",
    re.MULTILINE,
)


def undefined_ids(files: Mapping[str, str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """
    The ids that *edits* of *files* mention and nobody has defined, in order. A kind of id of which there is none yet is
    not looked for: it may be numbered elsewhere.
    """
    edits = tuple(edits)
    return undefined_ids_in(_applied(files, edits), map(_text, edits))


def undefined_ids_in(files: Mapping[str, str], texts: Iterable[str]) -> tuple[str, ...]:
    """The same for *texts* that stand beside *files*. `FR-7` is FR-007."""
    defined = (found["id"] for found in _DEFINED.finditer(files.get(SPEC, "")))
    known = {_called(one) for one in (*defined, *_stories(files.get(STORIES, "")))}
    kinds = {_kind(one) for one in known}
    named = {_called(one) for text in texts for one in _ID.findall(text)}
    return tuple(sorted(one for one in named if one not in known and _kind(one) in kinds))


def _applied(files: Mapping[str, str], edits: Iterable[Edit]) -> dict[str, str]:
    after = dict(files)
    for edit in edits:
        if edit.path not in {SPEC, STORIES}:
            continue
        try:
            after[edit.path] = edit.apply(after.get(edit.path))
        except (Missing, UnreadableArtifact):
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


def _called(name: str) -> str:
    """However many zeros people write; a name that is none of ours stays as it is."""
    if not _ID.fullmatch(name):
        return name
    kind, number, *part = name.split("-")
    return "-".join((kind, f"{int(number):03}", *(f"{int(one):02}" for one in part)))


def _kind(name: str) -> str:
    return name.partition("-")[0]
