"""
What people and agents wrote into exported files, as proposals: agents edit these files, so nothing in them counts until
a person accepts it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from bot.domain.catalog.schema import CANONICAL_ID, NOTE, VALUE_CHARS, Kind, Schema
from bot.domain.specification.address import SLUG
from bot.domain.specification.claims import Entry, EntryState
from bot.domain.specification.entries import Specification
from bot.domain.specification.fold import Patch
from bot.domain.values.text import bare_words
from bot.domain.values.value import Stored

MOST_PROPOSALS = 500
"""Of one reading. The others are read once these are decided, or taken out."""
REQUIREMENT = "requirement"
_STORY = re.compile(r"As an? (?P<role>[^,]{1,200}), I want (?P<want>.+)")
_SO_THAT = (", so that ", " so that ")
WRITTEN_BY_US = "written by Roundtable"
ROW_CHARS = 20_000
"""No person writes longer rows."""
_MARK = re.compile(
    rf"<!-- (?P<item>{SLUG})/(?P<id>{CANONICAL_ID.pattern}) (?P<digest>[0-9a-f]{{8}})(?:: [^<>]*)? -->"
)
_PAGE_MARK = re.compile(rf"<!-- (?P<item>{SLUG}) {WRITTEN_BY_US} -->")
_NAME = re.compile(r"[A-Z]{1,4}-[0-9]{3}")
"""An id of a file that its entry keeps. Behind those of four digits there would be no room for more."""


def found_mark(row: str) -> re.Match[str] | None:
    """Of a block that ends there: its `item`, `id` and `digest`."""
    at = row.rfind("<!-- ")
    return _MARK.match(row, at) if at >= 0 else None


def item_of(text: str) -> str:
    """The slug in its first mark; empty for a text that is not ours."""
    rows = (row[:ROW_CHARS] for row in text.split("\n"))
    found = (found_mark(row) or _PAGE_MARK.fullmatch(row.rstrip()) for row in rows)
    return next((one["item"] for one in found if one), "")


class ExportEdit(Stored):
    """
    What the rows `line` to `last` of a file say: of an exported one since `author` changed it in `commit`, which is
    short; of one that an item begins with, by no person. `id` is the entry that they change. Without one it is a new
    entry of this `kind`, which the file calls `named`; a criterion is `part_of` a requirement, which has no id if it is
    new, too. The reader of a text knows neither `path` nor `commit`.
    """

    line: int
    last: int = 0
    text: str
    id: str = ""
    kind: str = ""
    part_of: str = ""
    named: str = ""
    path: str = ""
    author: str = ""
    commit: str = ""

    @property
    def source(self) -> str:
        lines = f"{self.line}-{self.last}" if self.last > self.line else self.line
        return f"{self.path}:{lines}@{self.commit}"


class SourceFiles(Stored):
    """
    The file or folder at `path` that an item begins with, at `commit`, which is short. `texts` are by their paths. With
    an `item`, it is an export of that one.
    """

    path: str
    commit: str
    title: str
    texts: Mapping[str, str]
    edits: tuple[ExportEdit, ...] = ()
    item: str = ""


class Heard(StrEnum):
    """What the record knows of words in a file."""

    NEW = "new"
    WAITING = "waiting"
    """They are a proposal that nobody has decided on."""
    SETTLED = "settled"


class ProposalPatches(NamedTuple):
    """`left_out` are too long for an entry, or one too many."""

    patches: tuple[Patch, ...]
    left_out: int


def heard(words: ExportEdit, specification: Specification, schema: Schema) -> Heard:
    """A text that a person replaced or withdrew since is settled."""
    if not words.id:
        kind = _kind(words, schema)
        same = [one for one in _of_kind(specification, kind) if _same(one[kind.text], words, kind)]
        if not same:
            return Heard.NEW
        return Heard.WAITING if any(one.state is EntryState.PROPOSED for one in same) else Heard.SETTLED
    entry = specification.entries.get(words.id)
    if entry is None or entry.kind not in schema.kinds:
        return Heard.SETTLED
    kind = schema.kinds[entry.kind]
    told = entry.claims.get(kind.text, ())
    if not any(_same(one.value, words, kind) for one in told):
        return Heard.NEW
    is_open = not entry.gone and not told[-1].accepted and _same(told[-1].value, words, kind)
    return Heard.WAITING if is_open else Heard.SETTLED


def patches_for(words: Iterable[ExportEdit], specification: Specification, schema: Schema) -> ProposalPatches:
    made: list[Patch] = []
    told = list(words)
    named = {one.named for one in told if _NAME.fullmatch(one.named)}
    free = named - specification.entries.keys()
    left_out, requirement = 0, ""
    for one in told:
        if len(made) == MOST_PROPOSALS or len(one.text) > VALUE_CHARS:
            left_out += 1
            requirement = "" if one.kind == REQUIREMENT else requirement
            continue
        if one.id:
            values = _values(one.text, schema.kinds[specification.entries[one.id].kind])
            made.append(Patch(id=one.id, state=EntryState.PROPOSED, set=values, sources=(one.source,)))
            continue
        kind = _kind(one, schema)
        owner = (one.part_of or requirement) if kind.part_of else ""
        if kind.part_of and not owner:
            kind = schema.kinds[NOTE]
        if one.named in free and one.named.startswith(f"{kind.prefix}-"):
            id = one.named
        else:
            id = specification.next_id(kind, owner, (*named, *(other.id for other in made)))
        free.discard(id)
        requirement = id if kind.key == REQUIREMENT else requirement
        patch = Patch(id=id, kind=kind.key, new=True, part_of=owner, sources=(one.source,))
        made.append(patch.but(state=EntryState.PROPOSED, set=_values(one.text, kind)))
    return ProposalPatches(tuple(made), left_out)


def _kind(words: ExportEdit, schema: Schema) -> Kind:
    """A note where the team has no such kind."""
    return schema.kinds.get(words.kind) or schema.kinds[NOTE]


def _values(text: str, kind: Kind) -> dict[str, Any]:
    """Of a story that is a sentence, its parts."""
    found = _STORY.fullmatch(text) if {"role", "want", "so_that"} <= kind.fields.keys() else None
    if found is None:
        return {kind.text: text}
    between = next((one for one in _SO_THAT if one in found["want"]), "\n")
    want, _, so_that = found["want"].partition(between)
    return {"want": want, "role": found["role"], **({"so_that": so_that} if so_that else {})}


def _of_kind(specification: Specification, kind: Kind) -> Iterator[Entry]:
    return (one for one in specification.entries.values() if one.kind == kind.key)


def _same(value: object, words: ExportEdit, kind: Kind) -> bool:
    return bare_words(value) == bare_words(_values(words.text, kind)[kind.text])
