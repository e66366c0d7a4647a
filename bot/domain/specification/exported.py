"""
What people and agents wrote into exported files, as proposals: agents edit these files, so nothing in them counts until
a person accepts it.
"""

import re
from collections.abc import Iterable, Mapping
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
ROW_CHARS, MOST_ROWS = 20_000, 20_000
"""No person writes longer rows, and no export has more of them."""
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


def is_page_mark(row: str) -> bool:
    return bool(_PAGE_MARK.fullmatch(row))


def item_of(text: str) -> str:
    """The slug in its first mark; empty for a text that is not ours, as one of too many rows."""
    if text.count("\n") > MOST_ROWS:
        return ""
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

    @property
    def proposal(self) -> tuple[str, ...]:
        """What it says, wherever it stands."""
        return self.id, self.kind, self.part_of, self.named, self.text


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


class HeardBefore:
    """
    What a record knows of words in files. Its own words are folded once, however many rows are asked about. A text that
    a person replaced or withdrew since is settled.
    """

    def __init__(self, specification: Specification, schema: Schema) -> None:
        self._entries = specification.entries
        self._schema = schema
        self._known: dict[str, Mapping[str, Heard]] = {}

    def state(self, words: ExportEdit) -> Heard:
        entry = self._entries.get(words.id)
        kind = self._schema.kinds.get(entry.kind) if entry else _kind(words, self._schema)
        if kind is None or (words.id and entry is None):
            return Heard.SETTLED
        place = words.id or kind.key
        if place not in self._known:
            self._known[place] = _words_of_entry(entry, kind) if entry else self._of_kind(kind)
        return self._known[place].get(bare_words(_values(words.text, kind)[kind.text]), Heard.NEW)

    def _of_kind(self, kind: Kind) -> Mapping[str, Heard]:
        found = [one for one in self._entries.values() if one.kind == kind.key]
        waiting = (one for one in found if one.state is EntryState.PROPOSED)
        return {
            **{bare_words(one[kind.text]): Heard.SETTLED for one in found},
            **{bare_words(one[kind.text]): Heard.WAITING for one in waiting},
        }


def _words_of_entry(entry: Entry, kind: Kind) -> Mapping[str, Heard]:
    told = entry.claims.get(kind.text, ())
    found = {bare_words(one.value): Heard.SETTLED for one in told}
    if told and not entry.gone and not told[-1].accepted:
        found[bare_words(told[-1].value)] = Heard.WAITING
    return found


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
