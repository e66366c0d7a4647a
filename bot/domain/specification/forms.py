"""
What people say in an explicit form, as patches. Anything else is a note: their words, verbatim, under the
question that they answer. Nothing is guessed: a value that does not fit its field stays in the words it came
in.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

from bot.domain.catalog.schema import ID, NOTE, VALUE_CHARS, Kind, Schema, ids_in, only_ids
from bot.domain.messages import specification_wording as wording
from bot.domain.specification.entries import (
    OF_DISCUSSIONS,
    Entry,
    EntryState,
    Patch,
    Specification,
    numbers,
)

LABEL_CHARS = 30
"""Longer texts before a colon are the beginning of a sentence."""
TELLING_COLUMNS = 2
"""So many headings of a table have to be fields before it is read as entries."""

_BULLET = re.compile(r"[-*+•‣◦]\s+(?P<rest>\S.*)")
_NUMBERED = re.compile(r"(?P<number>\d{1,2})[.)]\s+(?P<rest>\S.*)")
_ABOUT = re.compile(
    rf"""(?:[-*+•]\s+)? \** (?P<ids>{ID} (?:\s*,\s*{ID})*) \**
    (?:\s+(?P<field>[^\W\d][\w\ ]{{1,24}}?))? \s*[:：]\** \s*(?P<value>\S.*)""",
    re.VERBOSE,
)
_LABELLED = re.compile(
    rf"""(?:[-*+•]\s+)? [*_]{{0,2}} (?P<label>[^\W\d][^:：|]{{0,{LABEL_CHARS - 2}}}?) [*_]{{0,2}}
    \s*[:：][*_]{{0,2}} \s*(?P<value>\S.*)""",
    re.VERBOSE,
)
_TRACES = re.compile(rf"(?<!\s)\s*+\((?P<ids>{ID}(?:\s*,\s*{ID})*)\)\s*+(?:\.\s*+)?\Z")
_ARROW = re.compile(r"(?<!\s)\s*+(?:->|→|=>)\s*+")
_PAIRS = re.compile(r"(?<!\s)\s*+;\s*+(?=[^\W\d][\w ]{1,24}:)")
_TELLING = re.compile(r"[^\W\d_]{2,}|\(|=>")
"""
What a sentence needs besides its fields to be more than a proposal: `I think -> we: should` has an arrow, too.
"""
MOST_PATCHES = 200
"""Of one message. Rows behind them are notes."""
_FENCE = "```"
_SEPARATORS = frozenset("|-: ")


def read(
    text: str,
    *,
    schema: Schema,
    specification: Specification,
    step_id: str,
    person: str,
    questions: Sequence[str] = (),
    open_questions: Sequence[int] = (),
    notes: bool = True,
    about: str = "",
    items: str = "",
) -> tuple[Patch, ...]:
    """
    The patches that a message of *person* (their id) makes while *step_id* is open. *questions* are the step's;
    a message without a number answers the one of *open_questions*, if there is just one. *about* is the entry
    that an `AC:` belongs to, if not the person's last, and *items* the kind of a bullet, if not the step's.
    """
    reader = _Reader(schema, specification, step_id, questions)
    reader.last = about or last_of(specification, schema, person)
    reader.items = schema.kinds.get(items) or schema.items_in(step_id)
    reader.question = open_questions[0] if len(open_questions) == 1 else None
    reader.read(text)
    return tuple(one for one in reader.patches if notes or one.kind != NOTE)


def not_taken(
    text: str, *, schema: Schema, specification: Specification, step_id: str, person: str
) -> tuple[str, ...]:
    """For each form in *text* that changes no entry, a sentence that says why."""
    reader = _Reader(schema, specification, step_id, ())
    reader.last = last_of(specification, schema, person)
    reader.read(text)
    return tuple(dict.fromkeys(reader.problems))


def numbers_in(text: str) -> frozenset[int]:
    """The numbers of the questions that *text* answers by rows such as `2. …`, which may become entries or notes."""
    rows = (_NUMBERED.fullmatch(row.strip()) for row in text.splitlines())
    return frozenset(int(row["number"]) for row in rows if row)


def reread(before: Iterable[Patch], now: Iterable[Patch]) -> tuple[Patch, ...]:
    """
    The patches of a changed message: it keeps the ids that it gave, kind by kind and in their order. The fold takes
    back what it does not say any more.
    """
    before, now = tuple(before), tuple(now)
    same: dict[str, str] = {}
    for kind in dict.fromkeys(one.kind for one in before if one.new):
        old, new = ([one.id for one in patches if one.kind == kind and one.new] for patches in (before, now))
        same |= dict(zip(new, old, strict=False))
    return tuple(_renamed(one, same) for one in now)


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


class _Reader:
    """Reads one message. `last` is the entry said last, `question` the number that the rows below answer."""

    def __init__(
        self, schema: Schema, specification: Specification, step_id: str, questions: Sequence[str]
    ) -> None:
        self.patches: list[Patch] = []
        self.problems: list[str] = []
        self.last = ""
        self.question: int | None = None
        self.items: Kind | None = None
        self._schema = schema
        self._spec = specification
        self._step = step_id
        self._questions = questions
        self._shown = schema.shown_in(step_id)
        self._notes: list[tuple[int | None, str]] = []
        self._newest: dict[str, str] = {}
        """The highest new id of each kind and owner."""
        self._current = ""
        """The row that is read, as it was said."""

    def read(self, text: str) -> None:
        written = [row.rstrip() for row in text.splitlines()]
        rows = [row.strip() for row in written]
        below, after = "", [""] * len(rows)
        for at in reversed(range(len(rows))):
            after[at], below = below, rows[at] or below
        at, is_code = 0, False
        while at < len(rows):
            row = rows[at]
            if is_code or row.startswith((_FENCE, ">")):  # what is quoted or code was not said now
                is_code ^= row.count(_FENCE) % 2 == 1
                self._notes.append((self.question, written[at]))
            elif row.startswith("|") and (size := self._table(rows, at)):
                at += size
                continue
            elif row:
                self._row(row, after[at])
            at += 1
        for question in dict.fromkeys(number for number, _ in self._notes):
            words = "\n".join(row for number, row in self._notes if number == question).strip()
            about = {"question": question, "asked": self._questions[question - 1]} if question else {}
            for start in range(0, len(words) if NOTE in self._schema.kinds else 0, VALUE_CHARS):
                self._new(self._schema.kinds[NOTE], {"text": words[start : start + VALUE_CHARS], **about})

    # --- one row ----------------------------------------------------------------------------------------------------

    def _row(self, row: str, below: str) -> None:
        numbered = _NUMBERED.fullmatch(row)
        if numbered and 0 < int(numbered["number"]) <= len(self._questions):
            self.question, row = int(numbered["number"]), numbered["rest"]
        self._current = row
        forms = (self._about, self._by_value, self._fact, self._labelled, self._sentence)
        if self._is_full:
            self._keep_row()
            return
        if any(form(row) for form in forms):
            return
        part = self._labelled_kind(below)
        owner = self._schema.kinds.get(part.part_of) if part else None
        bullet = _BULLET.fullmatch(row)
        words = bullet["rest"] if bullet else row
        if owner in self._shown and owner is not None:
            self._item(owner, words)
        elif bullet and self.items:
            self._item(self.items, words, is_proposed=True)
        else:
            self._keep_row()

    def _keep_row(self) -> None:
        """As a note, with its label; once, although several parts of it may fit nowhere."""
        note = (self.question, self._current)
        if self._notes[-1:] != [note]:
            self._notes.append(note)

    def _about(self, row: str) -> bool:
        """`FR-001: new words`, `FR-001 priority: must`, `FR-001, FR-002 priority: must`."""
        found = _ABOUT.fullmatch(row)
        patches = (
            [
                self._changed(id, found["field"] or "", found["value"])
                for id in dict.fromkeys(ids_in(found["ids"]))
            ]
            if found
            else []
        )
        if not patches or None in patches:
            return False
        self.patches += [patch for patch in patches if patch]
        self.last = self.patches[-1].id
        return True

    def _changed(self, id: str, name: str, text: str) -> Patch | None:
        kind = self._schema.of_id(id)
        field = (kind.field_named(name) if name else kind.text) if kind else ""
        if kind is None or not field or kind.key in OF_DISCUSSIONS:
            return None
        if (value := kind.fields[field].read(text)) is None:
            self.problems.append(wording.unfit(text, kind.label(field)))
            return None
        known = self._spec.entries.get(id)
        if known is None and all(one.id != id for one in self.patches):
            opened = self._opened(id, kind, value) if field == kind.text else None
            self._missed(*(() if opened else (id,)))
            return opened
        if known and not self._spec.lives(id):
            self._missed(id)
            return None
        if known and not name and _folded(text).strip(" .!") in map(_folded, self._schema.withdrawn):
            return Patch(id=id, state=EntryState.WITHDRAWN)
        if kind.fields[field].many and not isinstance(value, list):
            value = [value]
        says_it = (
            EntryState.ACCEPTED
            if field == kind.text and known and known.state is EntryState.PROPOSED
            else None
        )
        return Patch(id=id, set={field: value}, state=says_it)

    def _opened(self, id: str, kind: Kind, value: Any) -> Patch | None:
        """An id of their own choice, for what the step collects."""
        if kind not in self._shown and not kind.anywhere:
            return None
        stem, _, _ = id.rpartition("-")
        owner = f"{self._schema.kinds[kind.part_of].prefix}-{stem.partition('-')[2]}" if kind.part_of else ""
        if bool(kind.part_of) != (id.count("-") > 1) or (owner and not self._knows(owner)):
            return None
        return self._numbered(Patch(id=id, kind=kind.key, part_of=owner, new=True, set={kind.text: value}))

    def _missed(self, *ids: str) -> None:
        self.problems += (wording.not_there(id, is_known=id in self._spec.entries) for id in ids)

    def _knows(self, id: str) -> bool:
        return self._spec.lives(id) or any(one.id == id for one in self.patches)

    def _by_value(self, row: str) -> bool:
        """`Must: FR-001, FR-002`."""
        found = _LABELLED.fullmatch(row)
        ids = tuple(dict.fromkeys(only_ids(found["value"]))) if found else ()
        kind = self._schema.of_id(ids[0]) if ids else None
        value = kind.fields[kind.by_value].read(found["label"]) if found and kind and kind.by_value else None
        if kind is None or value is None or any(self._schema.of_id(id) is not kind for id in ids):
            return False
        if unknown := [id for id in ids if not self._knows(id)]:
            self._missed(*unknown)
            return False
        self.patches += [Patch(id=id, set={kind.by_value: value}) for id in ids]
        return True

    def _fact(self, row: str) -> bool:
        """`Scope: medium`, about the one entry of its kind that a step has."""
        found = _LABELLED.fullmatch(row)
        for kind in self._shown if found else ():
            field = kind.field_named(found["label"]) if found and kind.one_per_step else ""
            if found and field and (value := kind.fields[field].read(found["value"])) is not None:
                known = next((one.id for one in self._spec.active(kind.key) if one.step == self._step), "")
                known = known or next((one.id for one in self.patches if one.kind == kind.key), "")
                if known:
                    self.patches.append(Patch(id=known, set={field: value}))
                else:
                    self._new(kind, {field: value})
                return True
        return False

    def _labelled(self, row: str) -> bool:
        found, kind = _LABELLED.fullmatch(row), self._labelled_kind(row)
        if not found or kind is None:
            return False
        label = _folded(found["label"])
        meant = next((value for value, words in kind.by_label.items() if label in map(_folded, words)), "")
        extra = {kind.into: meant} if meant else {}
        parts = found["value"].split(kind.split) if kind.split else [found["value"]]
        if len(parts) > MOST_PATCHES:
            return False
        for text in parts:
            if text.strip():
                self._item(kind, text.strip(), extra=extra)
        return True

    def _sentence(self, row: str, kinds: Collection[Kind] = ()) -> bool:
        """`As a {role} I want {want} so that {so_that}`, for the kinds that the step shows."""
        words, traces = _traced(_BULLET.sub(r"\g<rest>", row))
        for kind in kinds or self._shown:
            for form in kind.sentences:
                found = _pattern(form).fullmatch(words)
                values = _values(kind, found.groupdict()) if found else None
                if values:
                    is_sure = bool(_TELLING.search(re.sub(r"{\w+}", "", form)))
                    self._new(kind, {**values, **_refs(kind, traces)}, is_proposed=not is_sure)
                    return True
        return False

    # --- tables -----------------------------------------------------------------------------------------------------

    def _table(self, rows: list[str], at: int) -> int:
        """
        How many rows a Markdown table has whose headings, in row *at*, are fields of a kind that the step shows; 0 if
        it is none.
        """
        head = _cells(rows[at])
        matches = {kind.key: [kind.field_named(cell) for cell in head] for kind in self._shown}
        best = max(self._shown, key=lambda kind: sum(map(bool, matches[kind.key])), default=None)
        if best is None or sum(map(bool, matches[best.key])) < TELLING_COLUMNS:
            return 0
        body = list(takewhile(lambda row: row.startswith("|"), islice(rows, at + 1, None)))
        for row in body:
            is_read = set(row) <= _SEPARATORS or (
                not self._is_full and self._table_row(best, matches[best.key], _cells(row))
            )
            if not is_read:
                self._notes.append((self.question, row))
        return 1 + len(body)

    def _table_row(self, kind: Kind, fields: list[str], cells: list[str]) -> bool:
        """Whether every cell fits: else the row stays as it was said."""
        known = next(iter(ids_in(cells[0] if cells else "")), "")
        if known and self._schema.of_id(known) is not kind:
            known = ""
        given = {field: cell for field, cell in zip(fields, cells, strict=False) if field and cell}
        if known:
            given = {field: re.sub(rf"^\**{ID}\**[:：]?\s*", "", cell) for field, cell in given.items()}
        given = {field: cell for field, cell in given.items() if cell}
        values = {field: kind.fields[field].read(cell) for field, cell in given.items()}
        if not values or any(value is None for value in values.values()):
            return False
        if known and self._spec.lives(known):
            self.patches.append(Patch(id=known, set=values))
        else:
            self._new(kind, values)
        return True

    @property
    def _is_full(self) -> bool:
        return len(self.patches) >= MOST_PATCHES

    # --- entries ----------------------------------------------------------------------------------------------------

    def _item(
        self, kind: Kind, text: str, *, extra: Mapping[str, Any] | None = None, is_proposed: bool = False
    ) -> None:
        """
        `main text; field: value; field: value -> arrow field (FR-001)`; what does not fit stays in the main
        text.
        """
        if not extra and self._sentence(text, [kind]):
            return
        whole, traces = _traced(text)
        values = self._pairs(kind, whole) or {kind.text: kind.fields[kind.text].read(whole)}
        if values[kind.text] is None:
            self.problems.append(wording.unfit(text, kind.name))
            self._keep_row()
            return
        self._new(kind, {**values, **(extra or {}), **_refs(kind, traces)}, is_proposed=is_proposed)

    def _pairs(self, kind: Kind, text: str) -> dict[str, Any] | None:
        segments = _PAIRS.split(text)
        if kind.arrow:
            parted = [_ARROW.split(one, maxsplit=1) for one in segments]
            segments = [one[0] for one in parted] + [
                f"{kind.arrow}: {one[1]}" for one in parted if len(one) > 1
            ]
        main, *pairs = segments
        main, traces = _traced(main)
        values: dict[str, Any] = {kind.text: kind.fields[kind.text].read(main), **_refs(kind, traces)}
        for pair in pairs:
            name, _, given = pair.partition(":")
            field = kind.field_named(name)
            if not field or (value := kind.fields[field].read(given)) is None:
                return None
            values[field] = value
        return values if values[kind.text] is not None else None

    def _labelled_kind(self, row: str) -> Kind | None:
        found = _LABELLED.fullmatch(row)
        if not found:
            return None
        label, kinds = _folded(found["label"]), self._schema.kinds.values()
        own = [kind for kind in kinds if label in map(_folded, kind.own_labels())]
        built_in = (kind for kind in kinds if label in map(_folded, kind.built_in_labels()))
        here = (kind for kind in (*self._shown, *(one for one in kinds if one.anywhere)) if kind in own)
        return next(here, None) or next(built_in, None) or next(iter(own), None)

    def _new(self, kind: Kind, values: Mapping[str, Any], *, is_proposed: bool = False) -> None:
        state = EntryState.PROPOSED if is_proposed else None
        if kind.key != NOTE and (known := self._same(kind, values)):
            rest = {field: value for field, value in values.items() if known[field] != value}
            says_it = EntryState.ACCEPTED if known.state is EntryState.PROPOSED and not is_proposed else None
            self.patches.append(Patch(id=known.id, set=rest, state=says_it))
            self.last = known.id
            return
        owner = ""
        if kind.part_of:
            owner = self._owner(self._schema.kinds[kind.part_of])
            if not owner:
                whole = self._schema.kinds[kind.part_of]
                self.problems.append(
                    wording.part_of_what(kind.name, whole.name, next(whole.own_labels(), ""))
                )
                self._keep_row()
                return
        id = self._spec.next_id(kind, owner, self._newest.values())
        self.patches.append(
            self._numbered(Patch(id=id, kind=kind.key, part_of=owner, new=True, set=values, state=state))
        )
        if not kind.part_of:
            self.last = id
        elif self.last != owner:
            self._lists_part(kind, id)

    def _numbered(self, patch: Patch) -> Patch:
        stem = patch.id.rpartition("-")[0]
        self._newest[stem] = max(self._newest.get(stem, ""), patch.id, key=numbers)
        return patch

    def _same(self, kind: Kind, values: Mapping[str, Any]) -> Entry | None:
        """What is said again in the same words is the same entry."""
        words = _folded(str(values.get(kind.text, "")))
        if not words or kind.part_of:
            return None
        return next(
            (one for one in self._spec.active(kind.key) if _folded(str(one[kind.text])) == words), None
        )

    def _owner(self, kind: Kind) -> str:
        """What was said last, or the one thing that it traces to: `AC:` below a story is its requirement's."""
        if self.last.startswith(f"{kind.prefix}-"):
            return self.last if self._knows(self.last) else ""
        said = next(
            (one.set.get("traces") for one in reversed(self.patches) if one.id == self.last and one.set), None
        )
        known = self._spec.entries.get(self.last)
        traces: Sequence[str] = said or (known["traces"] if known else None) or ()
        if len(traces) != 1 or not traces[0].startswith(f"{kind.prefix}-"):
            return ""
        return traces[0] if self._knows(traces[0]) else ""

    def _lists_part(self, part: Kind, id: str) -> None:
        """A story names the criterion of its requirement that was said below it."""
        kind = self._schema.of_id(self.last)
        for name, field in kind.fields.items() if kind else ():
            if field.to == part.key and field.many:
                self.patches.append(Patch(id=self.last, add={name: (id,)}))


def _renamed(patch: Patch, same: Mapping[str, str]) -> Patch:
    def known(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(known, value))
        return same.get(value, value) if isinstance(value, str) else value

    return patch.but(
        id=same.get(patch.id, patch.id),
        part_of=same.get(patch.part_of, patch.part_of),
        set={field: known(value) for field, value in patch.set.items()},
        add={field: known(value) for field, value in patch.add.items()},
    )


def _pattern(form: str) -> re.Pattern[str]:
    """Each field ends where the words behind it stand for the first time, and no other place is tried."""
    first, *rest = (r"(?<!\s)\s++".join(map(re.escape, part.split(" "))) for part in re.split(r"{\w+}", form))
    ends = (one or r"\.?\Z" for one in rest)
    fields = (
        rf"(?>(?P<{name}>\S.*?){end})" for name, end in zip(re.findall(r"{(\w+)}", form), ends, strict=True)
    )
    return re.compile(first + "".join(fields) + r"\.?", re.IGNORECASE)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def _values(kind: Kind, given: Mapping[str, str]) -> dict[str, Any] | None:
    values = {name: kind.fields[name].read(text.rstrip(" ,;")) for name, text in given.items()}
    return None if any(value is None for value in values.values()) else values


def _traced(text: str) -> tuple[str, tuple[str, ...]]:
    found = _TRACES.search(text)
    if found is None:
        return text, ()
    return text[: found.start()].rstrip(), ids_in(found["ids"])


def _refs(kind: Kind, ids: Sequence[str]) -> dict[str, Any]:
    field = next((name for name in ("traces", "about") if name in kind.fields), "")
    return {field: list(ids)} if field and ids else {}


def _folded(text: str) -> str:
    return " ".join(text.replace("-", " ").split()).casefold()
