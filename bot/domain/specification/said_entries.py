"""
What a message of one person makes of entries, as patches: new ones, values of known ones, and remarks. A value that
does not fit is kept in a remark, or refused with a sentence that says why.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bot.domain.catalog.schema import (
    ID,
    NOTE,
    REMARK,
    VALUE_CHARS,
    FieldType,
    Kind,
    KindField,
    Schema,
    folded,
    ids_in,
    only_ids,
)
from bot.domain.catalog.steps import Ask
from bot.domain.messages import specification_wording as wording
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import OF_DISCUSSIONS, Specification, numbers
from bot.domain.specification.fold import DECIDED_BY_PEOPLE, REPLACES, Patch

MOST_PATCHES = 200
"""Of one message. Rows behind them are notes."""
ARROW_FIELDS = ("rationale", "reason", "owner")
"""What may stand behind an arrow, in kinds that do not say so."""

_PAIR = re.compile(r"(?<!\s)\s*+(?P<sign>[;,])\s*+(?P<name>[^\W\d][\w /-]{0,24}?)[ \t]{0,2}[:：=][ \t]*+")
_TRACES = re.compile(rf"(?<!\s)\s*+\((?P<ids>{ID}(?:\s*,\s*{ID})*)\)\s*+(?:\.\s*+)?\Z")
_ARROW = re.compile(r"(?<!\s)\s*+(?:->|→|=>)\s*+")
_CELL_ID = re.compile(rf"^\**{ID}\**[:：]?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """
    Where words are said. *questions* are those of the step, *asks* what their answers become, *open_questions* the
    numbers without an answer. *about* is the entry that an `AC:` belongs to, if not the person's last. *name* is what
    `owner: me` means.
    """

    schema: Schema
    specification: Specification
    step_id: str
    person: str
    name: str = ""
    questions: Sequence[str] = ()
    asks: Mapping[int, Ask] = field(default_factory=dict)
    open_questions: Sequence[int] = ()
    about: str = ""
    is_discussion: bool = False


class SaidEntries:
    """`last` is the entry said last. What returns False changed nothing, and its words are to be kept."""

    def __init__(self, here: Here) -> None:
        self.patches: list[Patch] = []
        self.problems: list[str] = []
        self.last = here.about or last_of(here.specification, here.schema, here.person)
        self._person, self._name = here.person, here.name
        self._schema = here.schema
        self._spec = here.specification
        self._step = here.step_id
        self._newest: dict[str, str] = {}
        """The highest new id of each kind and owner."""
        self._fields: dict[tuple[str, str], str] = {}
        self._said: dict[tuple[str, str], str] = {}
        """By kind and words: the new entry that says them."""

    @property
    def is_full(self) -> bool:
        return len(self.patches) >= MOST_PATCHES

    def knows(self, id: str) -> bool:
        return self._spec.lives(id) or any(one.id == id for one in self.patches)

    def field_named(self, kind: Kind, name: str) -> str:
        """As the kind's own, looked up once: a long text may have thousands of pairs."""
        if (kind.key, name) not in self._fields:
            self._fields[kind.key, name] = kind.field_named(name)
        return self._fields[kind.key, name]

    # --- new entries ------------------------------------------------------------------------------------------------

    def add(self, kind: Kind, text: str, extra: Mapping[str, Any] | None = None) -> bool:
        """`main text; field: value, field: value -> arrow field (FR-001)`"""
        values = self._pairs(kind, text, kind.text)
        if values[kind.text] is None:
            self.problems.append(wording.unfit(text, kind.name))
            return False
        return self.put(kind, {**values, **(extra or {})})

    def put(self, kind: Kind, values: Mapping[str, Any], *, is_proposed: bool = False) -> bool:
        words = folded(str(values.get(kind.text, "")))
        has_name = kind.key != NOTE and bool(words) and not kind.part_of
        if has_name and (id := self._said.get((kind.key, words), "")):
            self.patches.append(Patch(id=id, set={k: v for k, v in values.items() if k != kind.text}))
            self.last = id
            return True
        if has_name and (known := self._same(kind, values, words)):
            self._said_again(kind, known, values, is_proposed=is_proposed)
            return True
        owner = self._owner(self._schema.kinds[kind.part_of]) if kind.part_of else ""
        if kind.part_of and not owner:
            whole = self._schema.kinds[kind.part_of]
            label = next(whole.own_labels(), "")
            self.problems.append(wording.part_of_what(kind.name, whole.name, label))
            return False
        id = self._spec.next_id(kind, owner, self._newest.values())
        state = EntryState.PROPOSED if is_proposed else None
        new = Patch(id=id, kind=kind.key, part_of=owner, new=True, set=values, state=state)
        self.patches.append(self._numbered(new))
        if has_name:
            self._said[kind.key, words] = id
        if not kind.part_of:
            self.last = id
        elif self.last != owner:
            self._lists_part(kind, id)
        return True

    def put_fact(self, kind: Kind, values: Mapping[str, Any]) -> None:
        """About the one entry of its kind that a step has; a second reason is added to the first of the message."""
        known = next((one.id for one in self._spec.active(kind.key) if one.step == self._step), "")
        known = known or next((one.id for one in self.patches if one.kind == kind.key), "")
        if not known:
            self.put(kind, values)
            return
        if "reason" in values and self.extend(known, "reason", str(values["reason"])):
            values = {name: value for name, value in values.items() if name != "reason"}
        self.patches += [Patch(id=known, set=values)] if values else []

    def put_row(self, kind: Kind, fields: Sequence[str], cells: Sequence[str]) -> bool:
        """A row of a table: every cell has to fit."""
        known = next(iter(ids_in(cells[0] if cells else "")), "")
        if known and self._schema.of_id(known) is not kind:
            known = ""
        given = {name: cell for name, cell in zip(fields, cells, strict=False) if name and cell}
        if known:
            given = {name: _CELL_ID.sub("", cell) for name, cell in given.items()}
        values = {name: kind.fields[name].read(cell) for name, cell in given.items() if cell}
        if not values or any(value is None for value in values.values()):
            return False
        if known and self._spec.lives(known):
            self.patches.append(Patch(id=known, set=values))
            return True
        return self.put(kind, values)

    def extend(self, id: str, name: str, text: str) -> bool:
        """A further line of what this message said."""
        for at in reversed(range(len(self.patches))):
            patch = self.patches[at]
            if patch.id == id and name in patch.set:
                words = f"{patch.set[name]}\n{text}"
                if len(words) <= VALUE_CHARS:
                    self.patches[at] = patch.but(set={**patch.set, name: words})
                    return True
        return False

    # --- known entries ----------------------------------------------------------------------------------------------

    def change(self, ids: Sequence[str], name: str, text: str) -> bool:
        """`FR-001: new words`, `FR-001, FR-002 priority: must`"""
        patches = [self._changed(id, name, text) for id in ids]
        if None in patches:
            return False
        self.patches += filter(None, patches)
        self.last = self.patches[-1].id
        return True

    def rank(self, kind: Kind, value: Any, text: str) -> bool:
        """`Must: FR-001, FR-002`"""
        ids = tuple(dict.fromkeys(only_ids(text)))
        unknown = [id for id in ids if not self.knows(id)]
        self._missed(*unknown)
        if not ids or unknown or any(self._schema.of_id(id) is not kind for id in ids):
            return False
        self.patches += [Patch(id=id, set={kind.by_value: value}) for id in ids]
        return True

    def remark(self, id: str, text: str) -> bool:
        if self.extend(id, REMARK, text):
            return True
        words = self._with_remarks(id, text)
        if len(words) <= VALUE_CHARS:
            self.patches.append(Patch(id=id, set={REMARK: words}))
        return len(words) <= VALUE_CHARS

    def _with_remarks(self, id: str, text: str) -> str:
        known = self._spec.entries.get(id)
        return f"{(known[REMARK] if known else '') or ''}\n{text}".strip()

    def _changed(self, id: str, name: str, text: str) -> Patch | None:
        kind = self._schema.of_id(id)
        given = (kind.field_named(name) if name else kind.text) if kind else ""
        if kind is None or not given or kind.key in OF_DISCUSSIONS:
            return None
        known, lives = self._spec.entries.get(id), self._spec.lives(id)
        if not name and folded(text).strip(" .!") in map(folded, self._schema.withdrawn):
            self._missed(*(() if lives else (id,)))
            return Patch(id=id, state=EntryState.WITHDRAWN) if lives else None
        values = self._pairs(kind, text, given)
        if values[given] is None:
            self.problems.append(wording.unfit(text, kind.label(given)))
            return None
        if known is None and all(one.id != id for one in self.patches):
            opened = self._opened(id, kind, values) if given == kind.text else None
            self._missed(*(() if opened else (id,)))
            return opened
        if known and not lives:
            self._missed(id)
            return None
        if kind.fields[given].many and not isinstance(values[given], list):
            values[given] = [values[given]]
        if REMARK in values and given != REMARK:
            values[REMARK] = self._with_remarks(id, values[REMARK])
        is_new = given == kind.text and known and known[given] != values[given]
        if is_new and known and REPLACES in kind.fields and known.state is EntryState.ACCEPTED:
            return self._decided_anew(id, kind, values)
        accepts = given == kind.text and known and known.state is EntryState.PROPOSED
        return Patch(id=id, set=values, state=EntryState.ACCEPTED if accepts else None)

    def _decided_anew(self, id: str, kind: Kind, values: Mapping[str, Any]) -> Patch:
        """What was decided keeps its words: new ones are a decision that replaces it."""
        new = self._spec.next_id(kind, "", self._newest.values())
        return self._numbered(Patch(id=new, kind=kind.key, new=True, set={**values, REPLACES: [id]}))

    def _opened(self, id: str, kind: Kind, values: Mapping[str, Any]) -> Patch | None:
        """An id of their own choice, for what the step collects. `DEC-009: …` means a decision that there is."""
        is_shown = kind in self._schema.shown_in(self._step) or kind.anywhere
        if not is_shown or kind.key in DECIDED_BY_PEOPLE:
            return None
        stem, _, _ = id.rpartition("-")
        owner = f"{self._schema.kinds[kind.part_of].prefix}-{stem.partition('-')[2]}" if kind.part_of else ""
        if bool(kind.part_of) != (id.count("-") > 1) or (owner and not self.knows(owner)):
            return None
        return self._numbered(Patch(id=id, kind=kind.key, part_of=owner, new=True, set=values))

    def _missed(self, *ids: str) -> None:
        for id in ids:
            known = self._spec.entries.get(id)
            by = known.replaced_by if known else ()
            self.problems.append(wording.not_there(id, is_known=known is not None, by=by))

    # --- the same words, and parts ----------------------------------------------------------------------------------

    def _said_again(self, kind: Kind, known: Entry, values: Mapping[str, Any], *, is_proposed: bool) -> None:
        """The same words are one entry, and whoever says them stands behind them, too."""
        claims = known.claims.get(kind.text, ())
        joins = not is_proposed and all(one.owner.by != self._person for one in claims)
        rest = {
            name: value
            for name, value in values.items()
            if known[name] != value or (name == kind.text and joins)
        }
        accepts = known.state is EntryState.PROPOSED and not is_proposed
        self.patches.append(Patch(id=known.id, set=rest, state=EntryState.ACCEPTED if accepts else None))
        self.last = known.id

    def _same(self, kind: Kind, values: Mapping[str, Any], words: str) -> Entry | None:
        """Another choice about the same, as a verdict, is the same entry, too."""
        known = self._spec.active(kind.key)
        if kind.into and kind.fields[kind.text].type is FieldType.CHOICE:
            about = values.get(kind.into)
            known = tuple(one for one in known if one[kind.into] == about)
            if about:
                return next(iter(known), None)
        return next((one for one in known if folded(str(one[kind.text])) == words), None)

    def _numbered(self, patch: Patch) -> Patch:
        stem = patch.id.rpartition("-")[0]
        self._newest[stem] = max(self._newest.get(stem, ""), patch.id, key=numbers)
        return patch

    def _owner(self, kind: Kind) -> str:
        """What was said last, or the one thing that it traces to: `AC:` below a story is its requirement's."""
        if self.last.startswith(f"{kind.prefix}-"):
            return self.last if self.knows(self.last) else ""
        said = next(
            (one.set.get("traces") for one in reversed(self.patches) if one.id == self.last and one.set), None
        )
        known = self._spec.entries.get(self.last)
        traces: Sequence[str] = said or (known["traces"] if known else None) or ()
        if len(traces) != 1 or not traces[0].startswith(f"{kind.prefix}-"):
            return ""
        return traces[0] if self.knows(traces[0]) else ""

    def _lists_part(self, part: Kind, id: str) -> None:
        """A story names the criterion of its requirement that was said below it."""
        kind = self._schema.of_id(self.last)
        for name, one in kind.fields.items() if kind else ():
            if one.to == part.key and one.many:
                self.patches.append(Patch(id=self.last, add={name: (id,)}))

    # --- values -----------------------------------------------------------------------------------------------------

    def _pairs(self, kind: Kind, text: str, main: str) -> dict[str, Any]:
        """The value of the field *main*, and the pairs behind it. A pair that does not fit is kept as a remark."""
        whole, traces = traced(text)
        words, *pairs = self._split(kind, whole)
        words, arrow = self._before_arrow(kind, words)
        words, more = traced(words.rstrip(" ,;"))
        values = {main: self._read_field(kind.fields[main], words), **references(kind, (*traces, *more))}
        left: list[str] = []
        for label, said in pairs:
            given, behind = self._before_arrow(kind, said) if not arrow else (said, "")
            arrow = arrow or behind
            name = self.field_named(kind, label)
            value = self._value(kind, name, given) if name and name not in values else None
            if value is None:
                left.append(f"{label}: {given}")
            else:
                values[name] = value
        name = self._arrow_of(kind, arrow)
        if name and name not in values:
            values[name] = self._value(kind, name, arrow)
        elif arrow:
            left.append(f"-> {arrow}")
        return {**values, REMARK: "; ".join(left)} if left else values

    def _split(self, kind: Kind, text: str) -> Iterator[Any]:
        """The main text, then the pairs of names and values behind `;`, or behind `,` where the name is known."""
        pairs = _PAIR.finditer(text)
        marks = [one for one in pairs if one["sign"] == ";" or self.field_named(kind, one["name"])]
        ends = [*(mark.start() for mark in marks), len(text)]
        yield text[: ends[0]]
        for mark, (_, end) in zip(marks, pairwise(ends), strict=True):
            yield mark["name"].strip(), text[mark.end() : end].strip()

    def _before_arrow(self, kind: Kind, text: str) -> tuple[str, str]:
        """*text* up to its first arrow, and what stands behind it, where that fits a field."""
        before, *behind = _ARROW.split(text, maxsplit=1)
        return (before, behind[0]) if behind and self._arrow_of(kind, behind[0]) else (text, "")

    def _arrow_of(self, kind: Kind, text: str) -> str:
        """The field that *text* behind an arrow fits."""
        is_free = not kind.arrow or kind.fields[kind.arrow].type is FieldType.REF
        names = (*filter(None, [kind.arrow]), *(ARROW_FIELDS if is_free else ()))
        known = (name for name in names if name in kind.fields)
        return next((name for name in known if self._value(kind, name, text) is not None), "")

    def _read_field(self, one: KindField, text: str) -> Any:
        is_own = one.type is FieldType.PERSON and folded(text) in self._schema.myself
        return one.read(self._name or text if is_own else text)

    def _value(self, kind: Kind, name: str, text: str) -> Any:
        """A reference may also be the exact name of an entry."""
        one = kind.fields[name]
        value = self._read_field(one, text)
        if value is not None or one.type is not FieldType.REF or one.to not in self._schema.kinds:
            return value
        names = [part.strip() for part in re.split("[,;]", text) if part.strip()]
        ids = [self._id_named(self._schema.kinds[one.to], part) for part in names]
        if not ids or not all(ids) or (len(ids) > 1 and not one.many):
            return None
        return ids if one.many else ids[0]

    def _id_named(self, kind: Kind, words: str) -> str:
        if said := self._said.get((kind.key, folded(words)), ""):
            return said
        entries = self._spec.active(kind.key)
        return next((one.id for one in entries if folded(str(one[kind.text])) == folded(words)), "")


def last_of(specification: Specification, schema: Schema, person: str) -> str:
    """The newest entry of *person* that can have parts: what their next `AC:` belongs to."""
    owners = {kind.part_of for kind in schema.kinds.values() if kind.part_of}
    for entry in reversed(tuple(specification.entries.values())):
        if (
            entry.kind in owners
            and not entry.gone
            and any(claim.owner.by == person for _, claim in entry.current())
        ):
            return entry.id
    return ""


def reread(
    before: Sequence[Patch], now: Sequence[Patch], known: Specification, schema: Schema
) -> tuple[Patch, ...]:
    """
    The patches of a changed message: what it still says keeps its id, and new words take the ids of those that went,
    kind by kind and in their order, or free ones. The fold takes back what it does not say any more.
    """
    same: dict[str, str] = {}
    for kind in dict.fromkeys(one.kind for one in before if one.new):
        old = [one.id for one in before if one.kind == kind and one.new]
        new = [one for one in now if one.kind == kind and one.new]
        for patch in new:
            opened = next(iter(patch.set), "")
            if kept := next((id for id in old if known.entries[id][opened] == patch.set[opened]), ""):
                same[patch.id] = kept
                old.remove(kept)
        left = (one.id for one in new if one.id not in same)
        same |= dict(zip(left, old, strict=False))
    for one in now:
        if one.new and one.id not in same and one.id in known.entries:
            owner, taken = same.get(one.part_of, one.part_of), (*same.values(), *(each.id for each in now))
            same[one.id] = known.next_id(schema.kinds[one.kind], owner, taken)
    return tuple(_renamed(one, same) for one in now)


def traced(text: str) -> tuple[str, tuple[str, ...]]:
    """*text* without the ids in parentheses at its end, and those."""
    found = _TRACES.search(text)
    if found is None:
        return text, ()
    return text[: found.start()].rstrip(), ids_in(found["ids"])


def references(kind: Kind, ids: Sequence[str]) -> dict[str, Any]:
    name = next((name for name in ("traces", "about") if name in kind.fields), "")
    return {name: list(ids)} if name and ids else {}


def _renamed(patch: Patch, same: Mapping[str, str]) -> Patch:
    def known(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(known, value))
        return same.get(value, value) if isinstance(value, str) else value

    return patch.but(
        id=same.get(patch.id, patch.id),
        part_of=same.get(patch.part_of, patch.part_of),
        set={name: known(value) for name, value in patch.set.items()},
        add={name: known(value) for name, value in patch.add.items()},
    )
