"""
A model's proposals for the open step, as patches. A proposal that does not fit the kinds of the step, or names no
existing source, is left out and never repaired. A decision must be in the words of a person who is named as its source.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.domain.catalog.schema import CANONICAL_ID, NOTE, REMARK, Kind, Schema
from bot.domain.specification.entries import DECIDED_BY_PEOPLE, Patch, Specification
from bot.domain.values.json_files import parse
from bot.voices.model import Prompt
from bot.voices.prompts import tasks
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.seen import sanitized

MOST_PROPOSALS = 8
"""As many as a card shows at once."""
ENTRIES_SHOWN = 60


def prompt(scene: Scene) -> Prompt | None:
    """None when nothing was said, or the step collects nothing."""
    kinds = _kinds(scene)
    if not kinds or not scene.rt.answers:
        return None
    return tasks.propose(scene, _recorded(scene), "\n".join(map(_described, kinds)))


def patches(answer: str, scene: Scene) -> tuple[Patch, ...] | None:
    """None when the answer is no JSON array."""
    given = _array(answer)
    if given is None:
        return None
    said = {scene.rt.line_of(answer.ts): answer.text for answer in scene.rt.answers}
    reader = _Reader(scene.playbook.schema, scene.rt.specification, said)
    return tuple(reader.read(given, {kind.key for kind in _kinds(scene)}))


class _Reader:
    """`said` are people's answers by the ids of their lines."""

    def __init__(self, schema: Schema, specification: Specification, said: Mapping[str, str]) -> None:
        self._schema = schema
        self._spec = specification
        self._said = said
        self._taken: list[str] = []

    def read(self, given: Iterable[Any], allowed: set[str]) -> Iterator[Patch]:
        for one in given:
            if len(self._taken) >= MOST_PROPOSALS:
                return
            patch = self._patch(one, allowed) if isinstance(one, Mapping) else None
            if patch:
                self._taken.append(patch.id)
                yield patch

    def _patch(self, given: Mapping[str, Any], allowed: set[str]) -> Patch | None:
        named = dict.fromkeys(_texts(given.get("sources")))
        sources = tuple(one for one in named if one in self._said or self._spec.lives(one))
        if not sources:
            return None
        id = str(given.get("id") or "")
        entry = self._spec.entries.get(id)
        kind = self._schema.kinds.get(entry.kind if entry else str(given.get("kind") or ""))
        values = self._values(kind, given.get("fields")) if kind else {}
        if kind is None or not values or kind.key == NOTE:
            return None
        decided = str(values.get(kind.text, "")) if kind.key in DECIDED_BY_PEOPLE else ""
        if decided and not self._is_said(decided, sources):
            return None
        if entry:
            new = {field: value for field, value in values.items() if entry[field] != value}
            return Patch(id=id, set=new, sources=sources) if new and self._spec.lives(id) else None
        if kind.key not in allowed or kind.text not in values:
            return None
        owner = str(given.get("part_of") or "")
        if bool(kind.part_of) != self._spec.lives(owner):
            return None
        new_id = self._spec.next_id(kind, owner, self._taken)
        return Patch(id=new_id, kind=kind.key, part_of=owner, new=True, set=values, sources=sources)

    def _values(self, kind: Kind, given: Any) -> dict[str, Any]:
        """Of the fields that exist, with values of their shape; references have to exist."""
        found: dict[str, Any] = {}
        for name, value in given.items() if isinstance(given, Mapping) else ():
            field = kind.fields.get(str(name))
            if field is None or name == REMARK:
                continue
            read = field.read(sanitized(value)) if isinstance(value, str) else _sanitized(value)
            if field.many and isinstance(read, str):
                read = [read]
            ids = [one for one in _texts(read) if CANONICAL_ID.fullmatch(one)] if field.to else []
            if field.accepts(read) and all(map(self._spec.lives, ids)):
                found[str(name)] = read
        return found

    def _is_said(self, text: str, sources: Iterable[str]) -> bool:
        decided = _in_one_line(text)
        words = re.compile(rf"(?<!\w){re.escape(decided)}(?!\w)")
        said = (_in_one_line(self._said.get(source, "")) for source in sources)
        return bool(decided) and any(map(words.search, said))


def _kinds(scene: Scene) -> tuple[Kind, ...]:
    """The kinds that the step collects, and those that are recognized in every step."""
    schema, step = scene.playbook.schema, scene.step
    shown = schema.shown_in(step.step_id) if step else ()
    heard = (kind for kind in schema.kinds.values() if kind.anywhere)
    return tuple({kind.key: kind for kind in (*shown, *heard) if kind.key != NOTE}.values()) if step else ()


def _described(kind: Kind) -> str:
    owner = f", `part_of` names the {kind.part_of} it belongs to" if kind.part_of else ""
    fields = "; ".join(
        f"{name} ({', '.join(field.of) if field.of else field.type.value}{', a list' if field.many else ''})"
        for name, field in kind.fields.items()
        if name != REMARK
    )
    return f"- {kind.key} ({kind.name}{owner}): {fields}"


def _recorded(scene: Scene) -> str:
    living = [one for one in scene.rt.specification.entries.values() if one.kind != NOTE]
    rows = []
    for entry in living[-ENTRIES_SHOWN:]:
        kind = scene.playbook.schema.kinds.get(entry.kind)
        if kind and scene.rt.specification.lives(entry.id):
            rows.append(f"{entry.id} ({kind.name}, {entry.state.value}): {entry[kind.text]}")
    return "\n".join(rows)


def _array(answer: str) -> list[Any] | None:
    start, end = answer.find("["), answer.rfind("]")
    try:
        found = parse(answer[start : end + 1])
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)] if value else []


def _sanitized(value: Any) -> Any:
    if isinstance(value, list):
        return [sanitized(one) if isinstance(one, str) else one for one in value]
    return value


def _in_one_line(text: str) -> str:
    return " ".join(sanitized(text).split()).casefold().rstrip(".!")
