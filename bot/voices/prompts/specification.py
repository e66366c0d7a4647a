"""
The specification in a prompt: a line for each entry, with its id, its state and who said it. No line is ever cut. They
stand in the order in which they were recorded, so that a prompt begins like the one before it.

Where not all of it fits, the entries that the step is about come first. Others lose their further fields, and then
stand only with their ids among what was left out.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from bot.domain.catalog.schema import NOTE, FieldType, Schema
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import OF_DISCUSSIONS, Specification, numbers
from bot.domain.specification.projection import Projection
from bot.voices.prompts.fencing import sanitized

ENTRIES_CHARS, PLAN_CHARS = 40_000, 60_000
NOTHING = "Nothing is recorded yet."
LEFT_OUT = (
    "Left out, because there is no more room here. To see one, call `read_entry` with its id, or ask for it: "
)
OF_THE_STEP, NEAR, OTHER, REMARKS = range(4)
"""How close the entries of a kind are to a step."""


def lines_of(schema: Schema, spec: Specification, *, step_id: str = "", room: int = ENTRIES_CHARS) -> str:
    """
    All living entries; what *step_id* collects and refers to is kept longest. A note all of whose words an entry quotes
    is not repeated.
    """
    teller = EntryLines(schema, spec)
    entries = list(_select_entries(schema, spec))
    near = nearness(schema, step_id)
    by_nearness = sorted(entries, key=lambda one: near.get(one.kind, OTHER))
    shown: dict[str, str] = {}
    for tell in (teller.short, teller.full):
        for entry in by_nearness:
            line = tell(entry)
            cost = len(line) + 1 - len(shown.get(entry.id, "")) - (1 if entry.id in shown else 0)
            if cost <= room and (entry.id in shown or tell == teller.short):
                shown[entry.id] = line
                room -= cost
    rows = [shown[one.id] for one in entries if one.id in shown]
    if left := [one for one in entries if one.id not in shown]:
        places = {key: place for place, key in enumerate(schema.kinds)}
        left.sort(key=lambda one: (places[one.kind], numbers(one.id)))
        rows.append(LEFT_OUT + ", ".join(_runs(one.id for one in left)))
    return "\n".join(rows) or NOTHING


def ids_left_out(told: str) -> str:
    """Those that `lines_of` had no room for."""
    rows = (row.removeprefix(LEFT_OUT) for row in told.split("\n") if row.startswith(LEFT_OUT))
    return next(rows, "")


def nearness(schema: Schema, step_id: str) -> Mapping[str, int]:
    """Of each kind: what the step collects, what that refers to or is referred to by, all others, remarks."""
    own = {kind.key for kind in schema.shown_in(step_id)}
    for view in schema.of_step(step_id):
        for need in view.needs:
            own |= {need.of, need.every, need.named_by.partition(".")[0], need.has, need.not_all}
        own |= {key for show in view.show for key in (show.kind, *show.kinds)}
    own = own & set(schema.kinds) - {NOTE}
    found = dict.fromkeys(schema.kinds, OTHER)
    for key, kind in schema.kinds.items():
        targets = {field.to for field in kind.fields.values() if field.type is FieldType.REF} | {kind.part_of}
        if kind.anywhere or targets & own:
            found[key] = NEAR
        if key in own:
            for target in targets & found.keys():
                found[target] = NEAR
    return found | dict.fromkeys(own, OF_THE_STEP) | {NOTE: REMARKS}


class EntryLines:
    def __init__(self, schema: Schema, spec: Specification) -> None:
        self._schema = schema
        self._spec = spec
        self._projection = Projection(schema, spec)

    def short(self, entry: Entry) -> str:
        """`FR-003 requirement [accepted, Grace C1.12] Sync within 60 s`"""
        kind = self._schema.kinds[entry.kind]
        claim = entry.claim(kind.text)
        by = " ".join(filter(None, (claim.author.name, claim.author.line))) if claim else ""
        state = ", ".join(
            filter(None, (entry.state.value, by, "to be confirmed again" if entry.stale else ""))
        )
        return _row(f"{entry.id} {kind.key} [{state}] {self._projection.shown(entry, kind.text)}")

    def full(self, entry: Entry) -> str:
        """With its further fields, the number of its parts, and what names it as open."""
        kind = self._schema.kinds[entry.kind]
        told = [
            f"{name}: {self._projection.shown(entry, name)}"
            for name in kind.fields
            if name != kind.text and entry[name] not in (None, "", [])
        ]
        told += [
            f"{part.name.lower()}: {len(parts)}"
            for part in self._schema.kinds.values()
            if part.part_of == kind.key and (parts := self._spec.parts(entry.id, part.key))
        ]
        return _row(" · ".join((self.short(entry), *told)))


def _row(text: str) -> str:
    return " ".join(sanitized(text).split())


def _select_entries(schema: Schema, spec: Specification) -> Iterator[Entry]:
    for one in spec.entries.values():
        is_shown = one.kind in schema.kinds and one.kind not in OF_DISCUSSIONS and spec.lives(one.id)
        if is_shown and not (one.kind == NOTE and spec.is_quoted(one)):
            yield one


def _runs(ids: Iterable[str]) -> Iterator[str]:
    """`FR-001 to FR-004, RISK-002`: ids that follow each other as one."""
    for _, found in groupby(enumerate(ids), _run_of):
        run = [id for _, id in found]
        yield run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}"


def _run_of(place_and_id: tuple[int, str]) -> tuple[str, int]:
    """The same for ids that follow each other."""
    place, id = place_and_id
    return id.rpartition("-")[0], numbers(id)[-1] - place
