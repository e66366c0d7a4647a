"""
What is missing, open or doubtful in a specification. It chooses the next question and gives the roles of the
plan their questions; it never stops anybody.
"""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any

from bot.domain.catalog.schema import (
    FieldType,
    Kind,
    KindField,
    Need,
    Schema,
    SectionView,
    ids_in,
)
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import NOT_LISTED, Specification
from bot.domain.specification.not_settled import RowKind, not_settled
from bot.domain.values.text import values
from bot.domain.values.value import Value


class GapKind(StrEnum):
    CONTESTED = "contested"
    """People gave a value that can only be one thing different values."""
    STALE = "stale"
    """What the value rests on was changed, deleted or reversed."""
    DANGLING = "dangling"
    """A reference to an entry that is not there any more, or never was."""
    CIRCLE = "circle"
    """An entry depends on itself, through others."""
    MISSING = "missing"
    """Something a view or a kind asks for."""
    ALL_ALIKE = "all alike"
    """Everything is a must."""
    UNKNOWN = "unknown"
    """A text mentions an id that no entry has."""
    OBJECTION = "objection"
    """An objection without a fate."""
    PROPOSED = "proposed"


class CoverageGap(Value):
    """
    One thing that is not settled. `ask` is the question for people where the schema has one; `facts` are the
    values that a sentence about it needs, by name.
    """

    kind: GapKind
    id: str = ""
    field: str = ""
    ask: str = ""
    lane: str = ""
    step: str = ""
    facts: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return "/".join((self.kind, self.id, self.field, self.ask, *self.facts))


def coverage(
    schema: Schema, specification: Specification, steps: Collection[str], *, proposed: bool = True
) -> tuple[CoverageGap, ...]:
    """
    The gaps of the views of *steps*, and of all entries of the item; without *proposed*, proposals are no gaps.
    The most pressing come first.
    """
    finder = _Finder(schema, specification)
    found = [*_unsettled(schema, specification), *finder.of_entries(), *finder.of_views(steps)]
    order = list(GapKind)
    kept = [gap for gap in dict.fromkeys(found) if proposed or gap.kind is not GapKind.PROPOSED]
    return tuple(sorted(kept, key=lambda gap: order.index(gap.kind)))


_OF_ROWS = {
    RowKind.CONTESTED: GapKind.CONTESTED,
    RowKind.STALE: GapKind.STALE,
    RowKind.OBJECTION: GapKind.OBJECTION,
    RowKind.PROPOSED: GapKind.PROPOSED,
    RowKind.UNCHECKED: GapKind.PROPOSED,
}


def _unsettled(schema: Schema, specification: Specification) -> Iterator[CoverageGap]:
    """What is not settled, as gaps of entries; a proposed value of an accepted entry is none."""
    for row in not_settled(schema, specification):
        if (kind := _OF_ROWS.get(row.kind)) is None or (kind is GapKind.PROPOSED and row.fields):
            continue
        facts = {GapKind.CONTESTED: row.facts, GapKind.OBJECTION: (row.text,)}.get(kind, ())
        for name in row.fields or ("",):
            yield CoverageGap(kind=kind, id=row.id, field=name, facts=facts)


def of_step(schema: Schema, specification: Specification, step_id: str) -> tuple[CoverageGap, ...]:
    """
    The gaps to talk about while the step is open: what its sections need, and what is wrong with what they
    show.
    """
    kinds = {kind.key for kind in schema.shown_in(step_id)}
    found = coverage(schema, specification, [step_id], proposed=False)
    entries = specification.entries
    return tuple(
        gap for gap in found if gap.step == step_id or (gap.id in entries and entries[gap.id].kind in kinds)
    )


class _Finder:
    def __init__(self, schema: Schema, specification: Specification) -> None:
        self._schema = schema
        self._spec = specification
        self._active = specification.active

    # --- what views need ---

    def of_views(self, steps: Collection[str]) -> Iterator[CoverageGap]:
        for view in self._schema.views:
            for step in view.collecting:
                if step in steps:
                    for need in view.needs:
                        for gap in self._needed(view, need):
                            yield gap.but(step=step)
                    break

    def _needed(self, view: SectionView, need: Need) -> Iterator[CoverageGap]:
        if need.at_least:
            found = len(self._active(need.of))
            if found < need.at_least:
                counts = (need.of, str(found), str(need.at_least))
                yield CoverageGap(kind=GapKind.MISSING, ask=need.ask, lane=need.lane, facts=counts)
        for entry in self._active(need.every) if need.every else ():
            only_here = any(one.here and one.kind == need.every for one in view.show)
            if (view.has_said(entry.step) or not only_here) and not self._has(entry, need):
                field = need.has or need.named_by
                ask = need.ask.replace("{id}", entry.id)
                yield CoverageGap(kind=GapKind.MISSING, id=entry.id, field=field, ask=ask, lane=need.lane)
        if need.not_all:
            every = self._active(need.not_all)
            if len(every) > 1 and all(
                one[field] == value for one in every for field, value in need.are.items()
            ):
                facts = (need.not_all, *need.are.values())
                yield CoverageGap(kind=GapKind.ALL_ALIKE, ask=need.ask, lane=need.lane, facts=facts)

    def _has(self, entry: Entry, need: Need) -> bool:
        if need.named_by:
            kind, _, field = need.named_by.partition(".")
            return any(entry.id in _ids(one[field]) for one in self._active(kind))
        if need.has in self._schema.kinds:
            return bool(self._spec.parts(entry.id, need.has))
        return entry[need.has] not in (None, "", [])

    # --- what is wrong with entries ---

    def of_entries(self) -> Iterator[CoverageGap]:
        for key, kind in self._schema.kinds.items():
            if key in NOT_LISTED:
                continue
            checked = {
                name: field
                for name, field in kind.fields.items()
                if field.required or field.type is FieldType.REF or field.acyclic
            }
            for entry in self._active(key):
                yield from self._of_entry(entry, kind, checked)

    def _of_entry(self, entry: Entry, kind: Kind, checked: Mapping[str, KindField]) -> Iterator[CoverageGap]:
        for name, field in checked.items():
            value = entry[name]
            if field.required and value in (None, "", []):
                yield CoverageGap(kind=GapKind.MISSING, id=entry.id, field=name)
            if field.type is FieldType.REF:
                yield from self._dangling(entry, name, field.to)
            if field.acyclic and entry.id in (circle := self._reached(entry, name)):
                yield CoverageGap(
                    kind=GapKind.CIRCLE, id=min(circle), field=name, facts=tuple(sorted(circle))
                )
        yield from self._unknown(entry, kind)

    def _dangling(self, entry: Entry, name: str, to: str) -> Iterator[CoverageGap]:
        for id in _ids(entry[name]):
            known = self._spec.entries.get(id)
            if not self._spec.lives(id) or (known and to not in {"any", known.kind}):
                now = (known.replaced_by or (known.state.value,)) if known else ()
                yield CoverageGap(kind=GapKind.DANGLING, id=entry.id, field=name, facts=(id, *now))

    def _reached(self, entry: Entry, field: str) -> set[str]:
        seen: set[str] = set()
        todo = list(_ids(entry[field]))
        while todo:
            id = todo.pop()
            if id not in seen and self._spec.lives(id):
                seen.add(id)
                todo += _ids(self._spec.entries[id][field])
        return seen

    def _unknown(self, entry: Entry, kind: Kind) -> Iterator[CoverageGap]:
        for id in ids_in(str(entry[kind.text] or "")):
            if self._schema.of_id(id) and id not in self._spec.entries:
                yield CoverageGap(kind=GapKind.UNKNOWN, id=entry.id, field=kind.text, facts=(id,))


def _ids(value: Any) -> tuple[str, ...]:
    return values(value) if isinstance(value, list | tuple | str) else ()
