"""`user-stories.json`: records of stories and notes. What is in the file by equal words keeps its id."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.domain.values.json_files import parse
from bot.voices.offline.lexicon import TOO_COMMON
from bot.voices.offline.numbering import Requirement
from bot.voices.offline.phrases import key as same
from bot.voices.offline.phrases import words
from bot.voices.offline.requirements import fr_id
from bot.voices.offline.stories import Note, Story, Told

FILE = "user-stories.json"
NOTE = "NOTE"
STORY = "US"
MOST_IN_COMMON = 2
"""Words a story must share with the title of a requirement, at least, to be traced to it."""

Record = dict[str, Any]


def records(told: Told, existing: str, requirements: Sequence[Requirement]) -> tuple[Record, ...]:
    """In the order of the FR numbers; notes, and stories that trace to nothing, come last."""
    merged = _by_id(existing)
    ids = _Ids(tuple(merged.values()))
    found: dict[str, Record] = {}
    for record in (
        *(_story(one, ids, requirements) for one in told.stories),
        *(_note(one, ids) for one in told.notes),
    ):
        found[record["id"]] = merged[record["id"]] = _together(merged.get(record["id"], {}), record)
    return tuple(sorted(found.values(), key=_order))


def _by_id(existing: str) -> dict[str, Record]:
    """Of records that people gave the same id, only the first is known by it: that is the one which is merged."""
    found: dict[str, Record] = {}
    for one in _read(existing):
        if isinstance(one.get("id"), str):
            found.setdefault(one["id"], one)
    return found


def stories_of(requirement: str, text: str) -> tuple[str, ...]:
    """The ids of the stories in the file that trace to *requirement*."""
    found = (one for one in _read(text) if requirement in _strings(one.get("traces")))
    return tuple(str(one["id"]) for one in found if str(one.get("id") or NOTE).partition("-")[0] != NOTE)


class _Ids:
    """Gives the same words the same id, in the file and in what is said now, and other words no id of theirs."""

    def __init__(self, known: Sequence[Record]) -> None:
        self._known = {_identity(one): str(one["id"]) for one in reversed(known)}
        self._taken = {str(one["id"]) for one in known}

    def of(self, record: Record, prefix: str) -> str:
        identity = _identity(record)
        if identity not in self._known:
            new = f"{prefix}-{max(self._numbers(prefix), default=0) + 1:03}"
            self._known[identity] = new
            self._taken.add(new)
        return self._known[identity]

    def _numbers(self, prefix: str) -> Iterator[int]:
        for one in self._taken:
            if found := re.fullmatch(rf"{prefix}-0*([0-9]{{1,6}})", one, re.IGNORECASE):
                yield int(found[1])


def _story(story: Story, ids: _Ids, requirements: Sequence[Requirement]) -> Record:
    said = {"role": story.role, "want": story.want, "so_that": story.so_that}
    traces = [fr_id(number) for number in story.traces] or _by_words(story, requirements)
    return {
        "id": ids.of(said, STORY),
        **said,
        "acceptance_criteria": story.criteria,
        "traces": traces,
        "by": story.by,
    }


def _note(note: Note, ids: _Ids) -> Record:
    said = {"role": "", "want": "", "so_that": "", "note": note.text}
    traces = [fr_id(number) for number in note.traces]
    return {"id": ids.of(said, NOTE), **said, "acceptance_criteria": [], "traces": traces, "by": note.by}


def _together(before: Record, record: Record) -> Record:
    """What somebody added to a list by hand stays in it."""
    lists = {
        name: list(dict.fromkeys((*_strings(before.get(name)), *record[name])))
        for name in ("acceptance_criteria", "traces")
    }
    return {
        **record,
        **lists,
        "so_that": record["so_that"] or before.get("so_that", ""),
        "by": before.get("by") or record["by"],
    }


def _by_words(story: Story, requirements: Sequence[Requirement]) -> list[str]:
    """The one requirement whose title shares most words with the story, if that is plain."""
    told = _telling(f"{story.want} {story.so_that}")
    shared = sorted(((len(told & _telling(one.title)), one.id) for one in requirements), reverse=True)
    best, second = (*shared, (0, ""), (0, ""))[:2]
    return [best[1]] if best[0] >= MOST_IN_COMMON and best[0] > second[0] else []


def _telling(text: str) -> set[str]:
    return {word.rstrip("s") for word in words(text) if len(word) > 2 and word not in TOO_COMMON}


def _order(record: Record) -> tuple[bool, str]:
    return record["id"].startswith(NOTE), min(record["traces"], default="~")


def _identity(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(same(str(record.get(name) or "")) for name in ("role", "want", "note"))


def _read(text: str) -> list[Record]:
    """The objects of the file; nothing when it is not what it should be."""
    try:
        found = parse(text) if text.strip() else []
    except ValueError:
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
