"""
Whether the ids that a synthesis mentions exist (issue 5 §3). People read about missing ones in one line; they never
stop a commit, since people may know what they mean.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

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


def undefined_ids(files: Mapping[str, str], texts: Iterable[str]) -> tuple[str, ...]:
    """
    The ids that *texts* mention and *files* do not define, in order. `FR-7` is FR-007. Ids of a kind that the files do
    not use at all are left out: they may be numbered in another document.
    """
    defined = (found["id"] for found in _DEFINED.finditer(files.get(SPEC, "")))
    known = {_called(one) for one in (*defined, *_stories(files.get(STORIES, "")))}
    kinds = {_kind(one) for one in known}
    named = {_called(one) for text in texts for one in _ID.findall(text)}
    return tuple(sorted(one for one in named if one not in known and _kind(one) in kinds))


def _stories(text: str) -> Iterator[str]:
    try:
        found = parse(text) if text.strip() else []
    except ValueError:
        return
    yield from (
        (str(one.get("id")) for one in found if isinstance(one, dict)) if isinstance(found, list) else ()
    )


def _called(name: str) -> str:
    """However many zeros people write; a name that is none of ours stays as it is."""
    if not _ID.fullmatch(name):
        return name
    kind, number, *part = name.split("-")
    return "-".join((kind, f"{int(number):03}", *(f"{int(one):02}" for one in part)))


def _kind(name: str) -> str:
    return name.partition("-")[0]
