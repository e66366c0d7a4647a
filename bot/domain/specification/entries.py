"""
The specification of an item: entries, folded from the lines of its transcript.

A line's `meta.entries` is a list of patches. `claims.py` has what an entry is made of, `fold.py` how lines change it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TypeVar

from bot.domain.catalog.schema import NOTE, Kind
from bot.domain.specification.claim_check import is_part
from bot.domain.specification.claims import (
    Claim,
    Entry,
    EntryState,
    How,
    Party,
    PartyKind,
    Stale,
)
from bot.domain.specification.fold import (
    Fold,
    HeardWords,
    Patch,
    is_heard,
    party_of,
    patches_of,
    stands_in,
)
from bot.domain.transcript.lines import CHANGING_ENTRIES, ENTRIES, Line
from bot.domain.values.text import sentences_in
from bot.domain.values.value import Stored

DISCUSSION, POSITION, OPTION = "discussion", "position", "option"
DECISION, OBJECTION = "decision", "objection"
OF_DISCUSSIONS = frozenset({DISCUSSION, POSITION})
"""Kinds that record what happened. Such entries need no acceptance."""
NOT_LISTED = OF_DISCUSSIONS | {NOTE}
"""Kinds that no list of what was recorded shows."""
CONFIRMED_BY_AUTHOR = frozenset({DECISION, OBJECTION})
"""Kinds that a model can only quote: whose words they are is asked."""
_Named = TypeVar("_Named", Party, Stale, HeardWords)


class Specification(Stored):
    """
    `through` is the last line that is folded in, `refused` the patches that could not be applied, as sentences.
    `count` numbers the changes. `damage` says what is wrong with the lines. `heard` are the words of people by line:
    they stand in the transcript, and no snapshot repeats them.
    """

    entries: Mapping[str, Entry] = {}
    through: str = ""
    refused: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()
    count: int = 0
    heard: Mapping[str, HeardWords] = {}

    def lives(self, id: str) -> bool:
        """A part goes with what it is part of: AC-002-01 with FR-002."""
        seen: set[str] = set()
        while (entry := self.entries.get(id)) and not entry.gone and id not in seen:
            if not entry.part_of:
                return True
            seen.add(id)
            id = entry.part_of
        return False

    def active(self, kind: str) -> tuple[Entry, ...]:
        """The living entries of *kind*, by number."""
        return self.living.get(kind, ())

    @cached_property
    def living(self) -> Mapping[str, tuple[Entry, ...]]:
        """The living entries by kind, each by number: a word asks for them in a hundred places."""
        found: dict[str, list[Entry]] = {}
        for one in self.entries.values():
            is_whole = not (one.part_of or one.withdrawn or one.superseded or one.replaced_by)
            if is_whole or self.lives(one.id):
                found.setdefault(one.kind, []).append(one)
        return {
            kind: tuple(sorted(entries, key=lambda one: numbers(one.id))) for kind, entries in found.items()
        }

    @cached_property
    def besides_notes(self) -> tuple[Entry, ...]:
        """All entries but the notes of which nothing is left to settle: there is one for nearly each message."""
        return tuple(one for one in self.entries.values() if one.kind != NOTE or not one.is_plain)

    @cached_property
    def owners(self) -> Mapping[str, tuple[Party, ...]]:
        """Who answers for the values that count, each once, by the step of the entry."""
        found: dict[str, dict[str, Party]] = {}
        for entry in self.entries.values():
            of_step = found.setdefault(entry.step, {})
            for owner in entry.owners:
                of_step.setdefault(owner.by, owner)
        return {step: tuple(parties.values()) for step, parties in found.items()}

    def accepted(self, kind: str) -> tuple[Entry, ...]:
        return tuple(one for one in self.active(kind) if one.state is EntryState.ACCEPTED)

    def notes_of(self, steps: Collection[str]) -> tuple[Entry, ...]:
        return tuple([one for one in self.active(NOTE) if one.step in steps])

    @cached_property
    def noted(self) -> Mapping[str, frozenset[int]]:
        """The numbers of the questions that the notes of each step answer."""
        found: dict[str, set[int]] = {}
        for note in self.active(NOTE):
            if "question" in note.claims and isinstance(number := note["question"], int):
                found.setdefault(note.step, set()).add(number)
        return {step: frozenset(numbers) for step, numbers in found.items()}

    def is_quoted(self, note: Entry) -> bool:
        """Whether entries quote all that *note* says: it is sorted then, though no person did it."""
        claim = note.claim("text")
        words = self.quoted.get(claim.line, ()) if claim else ()
        said = sentences_in(str(claim.value)) if claim and words else ()
        return bool(said) and all(any(is_part(one, other) for other in words) for one in said)

    @cached_property
    def quoted(self) -> Mapping[str, tuple[str, ...]]:
        """The words of each line that living entries quote."""
        found: dict[str, list[str]] = {}
        for one in self.besides_notes:
            for _, claim in one.current() if self.lives(one.id) else ():
                for quote in claim.quotes:
                    found.setdefault(quote.line, []).append(quote.words)
        return {line: tuple(words) for line, words in found.items()}

    def parts(self, owner: str, kind: str) -> tuple[Entry, ...]:
        return tuple(one for one in self.active(kind) if one.part_of == owner)

    def next_id(self, kind: Kind, owner: str = "", taken: Iterable[str] = ()) -> str:
        """A number is never used again, not even that of a withdrawn entry."""
        stem = f"{kind.prefix}-{owner.partition('-')[2]}" if owner else kind.prefix
        used = [numbers(one)[-1] for one in (*self.entries, *taken) if one.rpartition("-")[0] == stem]
        return f"{stem}-{max(used, default=0) + 1:0{2 if owner else 3}}"

    def folding(self, lines: Iterable[Line], *, foreign: Collection[str] = ()) -> "Specification":
        """With the patches of *lines*. Those of *foreign* lines (by message_id) can only propose."""
        folding, through = self._fold(), self.through
        for line in lines:
            folding.take(line, is_ours=line.message_id not in foreign)
            through = (line.message_id if is_changing(line) else "") or through
        return self.but(
            entries=folding.entries,
            through=through,
            refused=tuple(folding.refused),
            count=folding.count,
            heard=folding.heard,
        )

    def _fold(self) -> Fold:
        return Fold(self.entries, self.heard, self.count, self.refused)

    def naming(self, names: Mapping[str, str]) -> "Specification":
        """With what people are called, by id."""

        def named(one: _Named) -> _Named:
            return one.but(name=names[one.by]) if one.by in names else one

        def renamed(claim: Claim) -> Claim:
            return claim.but(
                said=claim.said and named(claim.said),
                proposed=named(claim.proposed),
                accepted=claim.accepted and named(claim.accepted),
                stale=claim.stale and named(claim.stale),
            )

        entries = {
            id: entry.but(claims={field: tuple(map(renamed, told)) for field, told in entry.claims.items()})
            for id, entry in self.entries.items()
        }
        return self.but(entries=entries, heard={line: named(one) for line, one in self.heard.items()})

    @property
    def unnamed(self) -> frozenset[str]:
        """The ids of those whose names the lines did not say."""
        return frozenset(
            party.by
            for entry in self.entries.values()
            for claim in entry.all_claims()
            for party in (claim.said, claim.proposed, claim.accepted)
            if party and party.name in {"", party.by}
        )

    def says(self, line: str, words: str) -> bool:
        """Whether a person wrote *words* in the message *line*."""
        return stands_in(self.heard.get(line), words)

    def made_by(self, line: str) -> tuple[Patch, ...]:
        """
        What the message *line* gave, as patches without values: its new entries, also where others withdrew them
        since, and others that it changed.
        """
        found = []
        for entry in self.entries.values():
            if line in entry.lines or entry.withdrawn == line:
                is_own = entry.first is not None and entry.first.line == line
                is_new = is_own and entry.withdrawn != line
                found.append(Patch(id=entry.id, kind=entry.kind, part_of=entry.part_of, new=is_new))
        return tuple(found)

    def without(self, line: str) -> "Specification":
        """As if the message *line* had said nothing: its new entries do not exist, other entries lack its claims."""
        entries = {}
        for id, entry in self.entries.items():
            kept = {
                field: tuple(one for one in known if one.line != line)
                for field, known in entry.claims.items()
            }
            if entry.first is not None and entry.first.line == line and not entry.gone:
                continue
            withdrawn = "" if entry.is_withdrawn_by(line) else entry.withdrawn
            claims = {field: known for field, known in kept.items() if known}
            entries[id] = entry.but(claims=claims, withdrawn=withdrawn)
        for id, entry in entries.items():
            if entry.replaced_by:
                entries[id] = entry.but(replaced_by=tuple(by for by in entry.replaced_by if by in entries))
        return self.but(entries=entries)

    def resting_on(self, source: str) -> tuple[tuple[str, str], ...]:
        """
        The (entry, field)s whose current value rests on *source*, a line or an entry, directly or through other
        entries; never what only refers to it.
        """
        return self._fold().resting_on(source)


def unconfirmed(specification: Specification) -> Iterator[tuple[Entry, str, Claim]]:
    """The newest values of fields that wait for a second model."""
    for entry in specification.besides_notes:
        if not entry.is_plain and specification.lives(entry.id):
            newest = ((field, entry.sealed(field)[-1:]) for field in entry.claims)
            yield from ((entry, field, one) for field, last in newest for one in last if one.is_unconfirmed)


def with_pushed(line: Line, entries: Mapping[str, Entry]) -> Line:
    """A person's *line* with what it takes over of pushed lines: it means the same when those are changed."""
    party, given = party_of(line), line.meta.get(ENTRIES)
    if not given or party.kind is not PartyKind.PERSON:
        return line
    made = [one.as_json() for patch in patches_of(line) for one in _with_pushed(patch, entries, party)]
    return line if made == given else line.but(meta={**line.meta, ENTRIES: made})


def _with_pushed(patch: Patch, entries: Mapping[str, Entry], party: Party) -> Iterator[Patch]:
    entry = entries.get(patch.id)
    accepts = patch.accept or patch.state is EntryState.ACCEPTED
    fields = patch.accept if isinstance(patch.accept, tuple) else entry.claims if entry and accepts else ()
    found = {name: entry.offered(name) for name in fields if entry and name not in patch.set}
    taken = {
        name: one.value
        for name, one in found.items()
        if one and one.is_pushed and not (one.is_unchecked and party.how is How.EVERYTHING)
    }
    opened = next(iter(entry.claims)) if entry and entry.is_pushed else ""
    what = patch.but(kind=entry.kind, part_of=entry.part_of) if entry and opened else patch
    if taken:
        made = Patch(id=patch.id, set=taken, pushed=True)
        yield made.but(kind=what.kind, part_of=what.part_of) if opened in taken else made
    yield what if opened in patch.set else patch


def author_to_ask(entry: Entry) -> Party | None:
    """The person whom a model quotes as having decided or objected, until somebody has confirmed it; then None."""
    claims = entry.claims.get("text") if entry.kind in CONFIRMED_BY_AUTHOR and not entry.gone else None
    if not claims or claims[-1].accepted or claims[-1].proposed.kind is not PartyKind.PERSONA:
        return None
    return claims[-1].said


def is_changing(line: Line) -> bool:
    return not CHANGING_ENTRIES.isdisjoint(line.meta)


def matters(line: Line) -> bool:
    """Whether it changes entries, or has words of a person that may be quoted."""
    return is_changing(line) or is_heard(line)


@lru_cache(maxsize=10_000)
def numbers(id: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", id)))
