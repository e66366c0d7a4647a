"""
What people changed by hand in a section that we wrote, as patches: row by row and cell by cell, by the ids in
it, against what was last written (not against what is known by now). What no form knows becomes the remark of
its entry, or a note; nothing is dropped. A section with a value that does not fit stays as people wrote it until
the value is corrected.
"""

import csv
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bot.domain.catalog.schema import (
    CANONICAL_ID,
    NOTE,
    REMARK,
    FieldType,
    Schema,
    SectionView,
    Show,
    ViewForm,
)
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.fold import Patch
from bot.domain.specification.projection import SAID_BY, UNSORTED, Projection
from bot.domain.values.value import Value

NOTHING = "_Nothing recorded yet._"
"""In sections without an entry, as earlier versions wrote them."""
MOST_NOTES = 200
"""New ones of one change; a section with more stays as it was written."""
COMPARED = 50
"""So many notes of an author are compared with other words behind the name."""
_ID = CANONICAL_ID.pattern
_MARK = re.compile(
    r" ?_\((?:open: |to be confirmed again|contradicted by |proposed by "
    r"|(?=(?:[^_\\]|\\.)*+(?<=not accepted|hich counts\?)\)_)"
    r"|(?=(?>[^_()]*? proposes: )))(?:[^_\\]|\\.)*\)_"
)
_HEADING = re.compile(rf"#{{3,6}} (?P<id>{_ID}): (?P<text>.*)")
_BULLET = re.compile(rf"(?:[-*+]|\d{{1,3}}\.) \*\*(?P<id>{_ID})\*\*:? (?P<text>.*)")
_PART = re.compile(rf"(?P<indent> *)[-*+] (?P<id>{_ID}): (?P<text>.*)")
_CODE = re.compile(rf"\*\*(?P<id>{_ID})\*\*(?: — .*)?")
_LABELLED = re.compile(r"(?P<indent> *)[-*+] (?P<label>[^:]{1,40}): (?P<value>.*)")
_FACT = re.compile(r"(?P<label>[^:|#>*_-][^:|]{0,39}): (?P<value>.*)")
_CELL = re.compile(r"(?<!\\)\|")
_GROUP = re.compile(r"\*\*[^*]+\*\*")


class ReadBack(Value):
    """`unread` are rows with a value that does not fit: while there are any, the section is left alone."""

    patches: tuple[Patch, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return bool(self.patches or self.unread)


class SectionRow(NamedTuple):
    """A row of a section with the entry that it is about: its own id, or that of the block it stands in."""

    text: str
    id: str = ""
    owner: str = ""


def read_back(
    view: SectionView, schema: Schema, specification: Specification, *, written: str, found: str
) -> ReadBack:
    """
    What has to be recorded so that the section, rendered again, says what *found* says where *written* said
    something else.
    """
    if view.is_data:
        return _Data(view, schema, specification).read(written, found)
    return _Section(view, schema, specification).read(written, found)


class _Reading:
    def __init__(self, view: SectionView, schema: Schema, specification: Specification) -> None:
        self._view = view
        self._schema = schema
        self._spec = specification
        self._set: dict[str, dict[str, Any]] = {}
        self._gone: list[str] = []
        self._notes: list[str] = []
        self._unread: list[str] = []

    def _result(self) -> ReadBack:
        patches = [Patch(id=id, set=values) for id, values in self._set.items() if values]
        patches += [Patch(id=id, state=EntryState.WITHDRAWN) for id in dict.fromkeys(self._gone)]
        kind = self._schema.kinds.get(NOTE)
        self._unread += self._notes[MOST_NOTES:]
        for text in self._notes[:MOST_NOTES] if kind else ():
            assert kind, "there are notes"
            id = self._spec.next_id(kind, "", (one.id for one in patches))
            patches.append(Patch(id=id, kind=NOTE, new=True, set={"text": text}))
        return ReadBack(patches=tuple(patches), unread=tuple(self._unread))

    def _put(self, entry: Entry, field: str, text: str, row: str) -> None:
        """A value that was changed; none is one that was removed."""
        kind = self._schema.kinds[entry.kind]
        value = kind.fields[field].read(text) if text else None
        if text and value is None:
            self._unread.append(row)
            return
        self._set.setdefault(entry.id, {})[field] = value

    def _known(self, id: str) -> Entry | None:
        entry = self._spec.entries.get(id)
        return entry if entry and entry.kind in self._schema.kinds else None


class _WrittenNote(NamedTuple):
    """A note as we wrote it; the `prefix` says whose it is."""

    id: str
    prefix: str
    text: str


class _Section(_Reading):
    def read(self, written: str, found: str) -> ReadBack:
        before, after = map(tuple, map(_rows, self._read_notes(written, found)))
        left = Counter(row.text for row in before)
        kept = Counter(row.text for row in after)
        pairs = {(row.id, self._shape(row)): row for row in before if row.id}
        for row in after:
            if left[row.text] > 0:
                left[row.text] -= 1
            elif not _is_ours(row.text):
                self._changed(row, pairs)
        remaining = {row.id for row in after if row.id}
        for row in before:
            if row.id and row.id not in remaining:
                self._gone.append(row.id)
            elif not row.id and kept[row.text] < 1:
                self._removed(row, remaining)
        return self._result()

    def _read_notes(self, written: str, found: str) -> tuple[str, str]:
        """
        What is left of both without our notes. One that is gone is withdrawn; if other words stand behind its author,
        they are its words now.
        """
        blocks = _blocks(written)
        ours = dict(self._notes_in(blocks))
        kept = Counter(map(_bare, _blocks(found)))
        gone = defaultdict[str, list[_WrittenNote]](list)
        for one in ours.values():
            kept[one.text] -= 1
            gone[one.prefix] += [one] if kept[one.text] < 0 else []
        same = Counter(one.text for one in ours.values())
        rest: list[str] = []
        for block in _blocks(found):
            bare = _bare(block)
            same[bare] -= 1
            meant = gone.get(f"{bare.partition(': ')[0]}: ", [])
            if meant and same[bare] < 0:
                words = frozenset(bare.split())
                note = max(meant[:COMPARED], key=lambda one: len(words.intersection(one.text.split())))
                meant.remove(note)
                rows = (_MARK.sub("", row).removeprefix("  ") for row in block.splitlines())
                text = "\n".join(rows).removeprefix(note.prefix)
                self._put(self._spec.entries[note.id], "text", text.strip(), block)
            elif same[bare] < 0:
                rest.append(block)
        self._gone += [one.id for some in gone.values() for one in some]
        return "\n".join(one for at, one in enumerate(blocks) if at not in ours), "\n".join(rest)

    def _notes_in(self, blocks: Sequence[str]) -> Iterator[tuple[int, "_WrittenNote"]]:
        """By place: those of the same author with the same words, else with the same words."""
        projection = Projection(self._schema, self._spec)
        known = defaultdict[str, list[tuple[str, str]]](list)
        for note in reversed(self._spec.active(NOTE)):
            text = _bare(projection.note(note))
            words = text.removeprefix(f"- {projection.who(note)}: ")
            for key in (words, text) if words else ():
                known[key].append((note.id, words))
        taken = set[str]()
        texts = [_bare(block) for block in blocks]
        for is_exact in (True, False):
            for at, text in enumerate(texts):
                found = known.get(text if is_exact else text.partition(": ")[2], [])
                while text.startswith("- ") and found and found[-1][0] in taken:
                    found.pop()
                if text.startswith("- ") and found:
                    id, words = found.pop()
                    taken.add(id)
                    texts[at] = ""
                    yield at, _WrittenNote(id, text.removesuffix(words), text)

    def _shape(self, row: SectionRow) -> str:
        return "|" if row.text.startswith("|") else "#" if row.text.startswith("#") else "-"

    def _changed(self, row: SectionRow, pairs: Mapping[tuple[str, str], SectionRow]) -> None:
        entry = self._known(row.id)
        if entry and row.text.startswith("|"):
            self._table_row(entry, row, pairs.get((row.id, "|")))
        elif entry:
            was = pairs.get((row.id, self._shape(row)))
            who = (
                Projection(self._schema, self._spec).who(entry),
                _MARK.sub("", was.text).rpartition(" — ")[2] if was else "",
            )
            text = _words(row.text, who)
            if was is None or text != _words(was.text, who):
                self._put(entry, self._schema.kinds[entry.kind].text, text, row.text)
        elif (owner := self._known(row.owner)) and (label := _LABELLED.fullmatch(row.text)):
            kind = self._schema.kinds[owner.kind]
            if field := kind.field_named(label["label"]):
                self._put(owner, field, _MARK.sub("", label["value"]).strip(), row.text)
            else:
                self._remark(owner, row.text)
        elif fact := self._fact(row.text):
            self._put(*fact, row.text)
        elif owner:
            self._remark(owner, row.text)
        else:
            self._notes.append(row.text.strip().removeprefix("- "))

    def _removed(self, row: SectionRow, remaining: set[str]) -> None:
        """A labelled value that people took away."""
        owner = self._known(row.owner)
        label = _LABELLED.fullmatch(row.text)
        if owner and row.owner in remaining and label:
            kind = self._schema.kinds[owner.kind]
            field = kind.field_named(label["label"])
            if field and field not in self._set.get(owner.id, {}):
                self._set.setdefault(owner.id, {})[field] = None

    def _remark(self, owner: Entry, text: str) -> None:
        told = self._set.setdefault(owner.id, {})
        before = told.get(REMARK, owner[REMARK] or "")
        told[REMARK] = f"{before}\n{text}".strip()

    def _fact(self, text: str) -> tuple[Entry, str, str] | None:
        """A row `Scope: medium` of the one entry that the step has."""
        found = _FACT.fullmatch(text)
        for show in self._view.show if found else ():
            if show.form is ViewForm.FACTS and found:
                kind = self._schema.kinds[show.kind]
                field = kind.field_named(found["label"])
                entry = next(
                    (one for one in self._spec.active(kind.key) if self._view.has_said(one.step)), None
                )
                if field and entry:
                    return entry, field, _MARK.sub("", found["value"]).strip()
        return None

    def _table_row(self, entry: Entry, row: SectionRow, was: SectionRow | None) -> None:
        show = next(
            (one for one in self._view.show if one.form is ViewForm.TABLE and one.kind == entry.kind), None
        )
        if show is None:
            self._notes.append(row.text)
            return
        now, before = _cells(row, show), _cells(was, show) if was else []
        for at, field in enumerate(show.fields):
            cell = now[at] if at < len(now) else ""
            if at >= len(before) or cell != before[at]:
                self._put(entry, field, cell, row.text)


class _Data(_Reading):
    """JSON and CSV, record by record; records without an id of ours stay where they are and are not ours to read."""

    def read(self, written: str, found: str) -> ReadBack:
        show = self._view.show[0]
        parse = _json_records if show.form is ViewForm.JSON else _csv_records
        try:
            before, after = parse(written, show), parse(found, show)
        except ValueError:
            return ReadBack(unread=(f"{self._view.file} cannot be read",))
        for id, record in after.items():
            entry = self._known(id)
            for key, value in record.items() if entry and id in before else ():
                if entry and value != before[id].get(key):
                    self._record_field(entry, show.fields.get(key, ""), value, f"{id} {key}: {value}")
        self._gone += [id for id in before if id not in after]
        return self._result()

    def _record_field(self, entry: Entry, field: str, value: Any, row: str) -> None:
        kind = self._schema.kinds[entry.kind]
        if field not in kind.fields:
            self._unread.append(row)  # what is counted or looked up is not the file's to say
            return
        text = ";".join(map(str, value)) if isinstance(value, list) else str(value or "")
        if kind.fields[field].type is FieldType.REF:
            text = text.replace(";", ", ")
        self._put(entry, field, text, row)


def _rows(text: str) -> Iterator[SectionRow]:
    """Rows that are not blank, with what they belong to; the lines of a block of code are one row."""
    owner, is_code = "", False
    for raw in text.splitlines():
        row = raw.rstrip()
        if row.lstrip().startswith("```"):
            is_code = not is_code
            continue
        if not row or is_code:
            continue
        heading = _HEADING.fullmatch(row)
        bullet = _BULLET.fullmatch(row) or _CODE.fullmatch(row)
        part = _PART.fullmatch(row)
        if heading or (bullet and not row.startswith(" ")):
            owner = (heading or bullet or {"id": ""})["id"]
            yield SectionRow(row, owner, owner)
        elif part:
            yield SectionRow(row, part["id"], owner)
        elif row.startswith("|"):
            found = re.match(rf"\|\s*\**(?P<id>{_ID})\b", row)
            yield SectionRow(row, found["id"] if found else "")
        else:
            if row.startswith("#") or _GROUP.fullmatch(row):
                owner = ""
            yield SectionRow(row, "", owner)


def _is_ours(text: str) -> bool:
    """What says nothing of its own: it is written again anyway."""
    bare = text.strip()
    return (
        bare in {NOTHING, UNSORTED}
        or bare.startswith(SAID_BY)
        or set(bare) <= set("|-: ")
        or bool(_GROUP.fullmatch(bare))
    )


def _words(row: str, who: Iterable[str]) -> str:
    """The text of an entry's row, without its id, its marks, and who stands behind it, as we write them."""
    row = _MARK.sub("", row)
    found = _HEADING.fullmatch(row) or _BULLET.fullmatch(row) or _PART.fullmatch(row)
    text = str(found["text"]) if found else ""
    ends = [] if row.startswith("#") else [f" — {one}" for one in who]
    end = next((one for one in ends if text.endswith(one)), "")
    return text.removesuffix(end).strip()


def _blocks(text: str) -> list[str]:
    """Each row of a list with what is indented below it; every other row by itself."""
    found: list[list[str]] = []
    blank: list[str] = []
    for row in text.splitlines():
        if not row.strip():
            blank.append(row)
            continue
        if found and found[-1][0].startswith("- ") and row.startswith("  "):
            found[-1] += [*blank, row]
        else:
            found += [*([one] for one in blank), [row]]
        blank = []
    return ["\n".join(rows) for rows in found]


def _bare(block: str) -> str:
    """Without marks and blank rows."""
    return "\n".join(_MARK.sub("", row).rstrip() for row in block.splitlines() if row.strip())


def _cells(row: SectionRow, show: Show) -> list[str]:
    """In the order of the fields: the id has a column of its own, or stands in the first."""
    cells = [
        one.strip().replace("\\|", "|") for one in _CELL.split(_MARK.sub("", row.text).strip().strip("|"))
    ]
    if show.id_column:
        return cells[1:]
    return [re.sub(rf"^\**{_ID}\**:?\s*", "", cells[0]), *cells[1:]]


def _json_records(text: str, show: Show) -> dict[str, dict[str, Any]]:
    rows = json.loads(text) if text.strip() else []
    objects = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {str(row[show.key]): row for row in objects if show.key in row}


def _csv_records(text: str, show: Show) -> dict[str, dict[str, Any]]:
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    return {
        row[show.key]: {name: cell for name, cell in row.items() if name and isinstance(cell, str)}
        for row in rows
        if row.get(show.key)
    }
