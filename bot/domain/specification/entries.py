"""
The specification of an item: entries, folded from the lines of its transcript.

A line's `meta.entries` is a list of patches. Who, when, in which step and with what authority is the line's, so
a patch says only what changes: `{"id": "FR-001", "kind": "requirement", "set": {"title": "Filter by date"}}`.
The fold needs no kinds: a transcript means the same when kinds change. Shapes are checked before a line is
written.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pydantic import Field, ValidationError

from bot.domain.catalog.schema import CANONICAL_ID, NOTE, Kind
from bot.domain.transcript.lines import HOST, Line, Source
from bot.domain.values.value import Stored

ENTRIES = "entries"
"""In a line's `meta`: its patches."""
MARK = "mark"
"""In a line's `meta`: the mark that the line is about."""
GIT_AUTHOR = "git_author"
"""In a line's `meta`: who made the changes that were read back from git, as `git:NAME@commit`."""
DECIDED_BY_PEOPLE = frozenset({"decision", "approval"})
"""What a change in git only proposes: in Slack a person says it."""
MOST_ENTRIES = 5_000


class EntryState(StrEnum):
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    SUPERSEDED = "superseded"
    """Another entry is in its place."""
    WITHDRAWN = "withdrawn"


GONE = frozenset({EntryState.SUPERSEDED, EntryState.WITHDRAWN})


class StaleCause(StrEnum):
    """Why values have to be confirmed again. The words are stored."""

    CHANGED = "changed"
    DELETED = "deleted"
    REVERSED = "reversed"
    WITHDRAWN = "withdrawn"
    LEFT_OUT = "left_out"
    """Of the record, by a mark."""
    GIT = "git"


class Authority(StrEnum):
    """What a line may do to entries. It comes from the line, never from a patch."""

    PERSON = "person"
    """Accepts, changes, withdraws."""
    GIT = "git"
    """Changes and withdraws; decisions, approvals and the outcomes of objections it only proposes."""
    NONE = "none"
    """Proposes: models, rules, and lines that this bot did not write."""


class Patch(Stored):
    """
    `add` appends to lists. `accept` takes over what is proposed or stale in the entry. `new` says that the
    patch made the entry, so that a changed message keeps its ids. `unverified`: by field, why the sources do not say
    what is proposed. `note` is the id of the note that a person sorted into the entry: its author said the words.
    """

    id: str = Field(pattern=rf"^{CANONICAL_ID.pattern}$")
    kind: str = ""
    part_of: str = ""
    new: bool = False
    set: Mapping[str, Any] = {}
    add: Mapping[str, tuple[Any, ...]] = {}
    state: EntryState | None = None
    replaced_by: tuple[str, ...] = ()
    accept: bool = False
    sources: tuple[str, ...] = ()
    unverified: Mapping[str, str] = {}
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """What differs from an empty patch."""
        return self.model_dump(mode="json", exclude_defaults=True)


THE_BOT = "the bot"
"""What people read in place of the actor `HOST`."""
PERSONA_NAME = "persona_name"
"""In the `meta` of a line with a persona's proposals: what the persona is called."""


class StaleReason(Stored):
    """Who made a value doubtful, and how. `source` is the entry that was reversed or withdrawn, if it was one."""

    cause: StaleCause
    by: str = ""
    name: str = ""
    source: str = ""


class Claim(Stored):
    """
    One value that a field was given: `by` is the id of the person who said it, `name` what they are called. `line` is
    the message_id of the line that made it (of a sorted note, that of who sorted it), `sources` are lines,
    `path:line@sha` or entries that it rests on. `settles`: a press chose it among others. `stale` is the line whose
    change made it doubtful, and `because` who did that; snapshots of earlier versions do not say.
    `unverified`: why its sources do not say it. A person who accepts the value says it, so the mark ends there.
    """

    value: Any
    by: str
    name: str = ""
    line: str
    sources: tuple[str, ...] = ()
    accepted: bool
    settles: bool = False
    stale: str = ""
    because: StaleReason | None = None
    unverified: str = ""


class Entry(Stored):
    id: str
    kind: str
    step: str = ""
    state: EntryState = EntryState.PROPOSED
    part_of: str = ""
    replaced_by: tuple[str, ...] = ()
    claims: Mapping[str, tuple[Claim, ...]] = {}

    def claim(self, field: str) -> Claim | None:
        """The one that counts: the last accepted, else the last proposed."""
        told = self.claims.get(field)
        if not told or told[-1].accepted:  # nearly always
            return told[-1] if told else None
        return next((one for one in reversed(told) if one.accepted), told[-1])

    def __getitem__(self, field: str) -> Any:
        found = self.claim(field)
        return found.value if found else None

    def current(self) -> Iterator[tuple[str, Claim]]:
        for field in self.claims:
            if found := self.claim(field):
                yield field, found

    def pending(self, field: str) -> Claim | None:
        """A proposal for a field that has an accepted value already."""
        told = self.claims.get(field, ())
        return told[-1] if told and not told[-1].accepted and self.claim(field) is not told[-1] else None

    def contested(self, field: str) -> tuple[Claim, ...]:
        """
        The different values that people gave since a press last settled the field; only for fields whose values
        exclude each other.
        """
        by: dict[str, Claim] = {}
        for one in self.claims.get(field, ()):
            if one.accepted and not one.stale:
                by = {one.by: one} if one.settles else {**by, one.by: one}
        return tuple(by.values()) if len({str(one.value) for one in by.values()}) > 1 else ()

    @property
    def gone(self) -> bool:
        return self.state in GONE

    @property
    def stale(self) -> tuple[str, ...]:
        """The fields that have to be confirmed again."""
        return tuple(field for field, claim in self.current() if claim.stale)

    @property
    def unverified(self) -> str:
        """Why the sources of what is proposed do not say it; empty when they do, and when people accepted it."""
        found = (claim.unverified for _, claim in self.current())
        return "; ".join(dict.fromkeys(filter(None, found)))

    def author_of(self, field: str) -> str:
        """Who said the value that counts, such as the entry's text; others may have sorted, settled or answered it."""
        claim = self.claim(field)
        return (claim.name or claim.by) if claim else self.said_by

    @property
    def said_by(self) -> str:
        """All who gave a value that counts, whichever field it is."""
        return ", ".join(dict.fromkeys(claim.name or claim.by for _, claim in self.current()))


class Specification(Stored):
    """`through` is the last line that is folded in, `refused` the patches that could not be applied, as sentences."""

    entries: Mapping[str, Entry] = {}
    through: str = ""
    refused: tuple[str, ...] = ()

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
        found = (one for one in self.entries.values() if one.kind == kind and self.lives(one.id))
        return tuple(sorted(found, key=lambda one: numbers(one.id)))

    def notes_of(self, steps: Collection[str]) -> tuple[Entry, ...]:
        return tuple(one for one in self.active(NOTE) if one.step in steps)

    def parts(self, owner: str, kind: str) -> tuple[Entry, ...]:
        return tuple(one for one in self.active(kind) if one.part_of == owner)

    def next_id(self, kind: Kind, owner: str = "", taken: Iterable[str] = ()) -> str:
        """A number is never used again, not even that of a withdrawn entry."""
        stem = f"{kind.prefix}-{owner.partition('-')[2]}" if owner else kind.prefix
        used = [numbers(one)[-1] for one in (*self.entries, *taken) if one.rpartition("-")[0] == stem]
        return f"{stem}-{max(used, default=0) + 1:0{2 if owner else 3}}"

    def folding(self, lines: Iterable[Line], *, foreign: Collection[str] = ()) -> "Specification":
        """With the patches of *lines*. Those of *foreign* lines (by message_id) can only propose."""
        folding = _Folding(self)
        for line in lines:
            folding.take(line, is_ours=line.message_id not in foreign)
        return folding.result()

    def naming(self, person: str, name: str) -> "Specification":
        """With what *person* is called in the claims that had only their id."""

        def named(claim: Claim) -> Claim:
            why = claim.because
            if why and why.by == person and why.name in {"", person}:
                claim = claim.but(because=why.but(name=name))
            return claim.but(name=name) if claim.by == person and claim.name in {"", person} else claim

        return self.but(
            entries={
                id: entry.but(claims={field: tuple(map(named, told)) for field, told in entry.claims.items()})
                for id, entry in self.entries.items()
            }
        )

    def made_by(self, line: str) -> tuple[Patch, ...]:
        """What the message *line* gave, as patches without values: its new entries, and others that it changed."""
        found = []
        for entry in self.entries.values():
            told = [claim for claims in entry.claims.values() for claim in claims]
            if any(claim.line == line for claim in told):
                is_new = not entry.gone and all(
                    claims[0].line == line for claims in list(entry.claims.values())[:1]
                )
                found.append(Patch(id=entry.id, kind=entry.kind, part_of=entry.part_of, new=is_new))
        return tuple(found)

    def resting_on(self, source: str) -> tuple[tuple[str, str], ...]:
        """
        The (entry, field)s whose current value rests on *source*, a line or an entry, directly or through other
        entries; never what only refers to it.
        """
        return _Folding(self).resting_on(source)


@lru_cache(maxsize=10_000)
def numbers(id: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", id)))


def patches_of(line: Line) -> tuple[Patch, ...]:
    """Of a line that we wrote; a bad one raises ValidationError."""
    return tuple(Patch.model_validate(one) for one in line.meta.get(ENTRIES) or ())


def utterance_of(line: Line) -> str:
    """The line of the message that *line* is about: a changed message is the one that it was."""
    return str(line.meta.get("amends") or line.message_id)


def authority_of(line: Line) -> Authority:
    if line.source is Source.MODEL:
        return Authority.NONE
    if line.meta.get(GIT_AUTHOR):
        return Authority.GIT
    return Authority.PERSON if line.meta.get("user_id") else Authority.NONE


class _Folding:
    """
    A specification while lines are added. What rests on what is indexed, so that a change is not a search of
    everything.
    """

    def __init__(self, before: Specification) -> None:
        self._entries = dict(before.entries)
        self._through = before.through
        self._refused = list(before.refused)
        self._made_by: dict[str, set[str]] = defaultdict(set)
        """The entries that have a claim with this line or source."""
        for entry in before.entries.values():
            for told in entry.claims.values():
                self._index(entry.id, told)

    def result(self) -> Specification:
        return Specification(entries=self._entries, through=self._through, refused=tuple(self._refused))

    def take(self, line: Line, *, is_ours: bool) -> None:
        authority = authority_of(line) if is_ours else Authority.NONE
        changed = line.meta.get("amends") or line.meta.get("retracts")
        if isinstance(changed, str) and changed and authority is Authority.PERSON:
            self._outdate(changed, line.message_id, StaleReason(cause=_changed_by(line), **_who(line)))
        patches = line.meta.get(ENTRIES)
        for given in patches if isinstance(patches, list | tuple) else ():
            try:
                self._apply(Patch.model_validate(given), line, authority)
            except (ValidationError, ValueError, TypeError) as error:
                reason = str(error).partition("\n")[0]
                self._refused.append(f"{line.message_id}: {reason}")
        self._through = line.message_id or self._through

    def _apply(self, patch: Patch, line: Line, authority: Authority) -> None:
        entry = self._entries.get(patch.id) or self._opened(patch, line)
        decides = authority is Authority.PERSON or (
            authority is Authority.GIT and entry.kind not in DECIDED_BY_PEOPLE
        )
        accepted = decides and patch.state is not EntryState.PROPOSED
        for field, value in _values(entry, patch).items():
            outcome = field == "outcome" and authority is not Authority.PERSON
            entry = self._claiming(entry, field, value, patch, line, accepted=accepted and not outcome)
        if decides and patch.accept:
            entry = self._accepting(entry, patch, line)
        self._entries[entry.id] = entry
        if decides:
            self._stated(entry, patch, line, accepted=accepted)

    def _opened(self, patch: Patch, line: Line) -> Entry:
        if not patch.kind:
            raise ValueError(f"{patch.id} is not known, and the patch does not say what kind it is")
        if len(self._entries) >= MOST_ENTRIES:
            raise ValueError(f"{patch.id} is one entry too many: {MOST_ENTRIES:,} are kept")
        step = line.meta.get("answers_step") or line.meta.get("step_id")
        return Entry(
            id=patch.id, kind=patch.kind, step=step if isinstance(step, str) else "", part_of=patch.part_of
        )

    def _claiming(
        self,
        entry: Entry,
        field: str,
        value: Any,
        patch: Patch,
        line: Line,
        *,
        accepted: bool,
        sources: tuple[str, ...] | None = None,
    ) -> Entry:
        note = self._entries.get(patch.note) if authority_of(line) is Authority.PERSON else None
        said = note.claim("text") if note and note.kind == NOTE and accepted else None
        claim = Claim(
            value=value,
            **({"by": said.by, "name": said.name} if said else _who(line)),
            line=utterance_of(line),
            sources=patch.sources if sources is None else sources,
            accepted=accepted,
            settles=accepted and line.source is Source.SYSTEM,
            unverified="" if accepted else patch.unverified.get(field, ""),
        )
        self._index(entry.id, (claim,))
        return entry.but(claims={**entry.claims, field: (*entry.claims.get(field, ()), claim)})

    def _accepting(self, entry: Entry, patch: Patch, line: Line) -> Entry:
        """
        Proposals become accepted and keep what they rest on; what was stale is confirmed, and rests on the
        press.
        """
        for field, told in entry.claims.items():
            last = told[-1]
            if last.accepted and not last.stale:
                continue
            sources = () if last.stale else tuple(dict.fromkeys((*last.sources, last.line)))
            entry = self._claiming(entry, field, last.value, patch, line, accepted=True, sources=sources)
        return entry

    def _stated(self, entry: Entry, patch: Patch, line: Line, *, accepted: bool) -> None:
        if patch.state in GONE:
            self._entries[entry.id] = entry.but(state=patch.state, replaced_by=patch.replaced_by)
            reason = StaleReason(cause=_gone_by(line, patch.state), source=entry.id, **_who(line))
            self._outdate(entry.id, line.message_id, reason)
        elif patch.state is EntryState.ACCEPTED or patch.accept:
            self._entries[entry.id] = entry.but(state=EntryState.ACCEPTED, replaced_by=())
        elif accepted and patch.new and not entry.gone:
            self._entries[entry.id] = entry.but(state=EntryState.ACCEPTED)

    def _outdate(self, source: str, line: str, why: StaleReason) -> None:
        """What is not current any more is marked, too: it is no side of a dispute then."""
        for id, field in self.resting_on(source):
            current = self._entries[id].claim(field)
            meant = [claim for claim in self._entries[id].claims[field] if claim is current]
            self._mark(id, field, meant, line, why)
        for id in self._made_by.get(source, ()):
            for field, told in self._entries[id].claims.items():
                self._mark(id, field, [claim for claim in told if claim.line == source], line, why)

    def _mark(self, id: str, field: str, meant: Collection[Claim], line: str, why: StaleReason) -> None:
        entry = self._entries[id]
        told = tuple(
            one.but(stale=line, because=why)
            if not one.stale and any(one is other for other in meant)
            else one
            for one in entry.claims[field]
        )
        self._entries[id] = entry.but(claims={**entry.claims, field: told})

    def resting_on(self, source: str) -> tuple[tuple[str, str], ...]:
        found: dict[tuple[str, str], None] = {}
        todo = [source]
        while todo:
            now = todo.pop()
            for id in sorted(self._made_by.get(now, ())):
                entry = self._entries[id]
                for field, claim in () if entry.gone else entry.current():
                    if now in {claim.line, *claim.sources} and (id, field) not in found:
                        found[id, field] = None
                        todo.append(id)
        return tuple(found)

    def _index(self, id: str, claims: Iterable[Claim]) -> None:
        for claim in claims:
            for source in (claim.line, *claim.sources):
                self._made_by[source].add(id)


def _values(entry: Entry, patch: Patch) -> dict[str, Any]:
    """What the patch gives each field; a list grows by what it does not have."""
    values = dict(patch.set)
    for field, more in patch.add.items():
        before = entry[field]
        values[field] = list(dict.fromkeys([*(before if isinstance(before, list) else ()), *more]))
    return values


def _changed_by(line: Line) -> StaleCause:
    if line.meta.get("amends"):
        return StaleCause.CHANGED
    return StaleCause.LEFT_OUT if line.meta.get(MARK) else StaleCause.DELETED


def _gone_by(line: Line, state: EntryState | None) -> StaleCause:
    if authority_of(line) is Authority.GIT:
        return StaleCause.GIT
    return StaleCause.REVERSED if state is EntryState.SUPERSEDED else StaleCause.WITHDRAWN


def _who(line: Line) -> dict[str, str]:
    if author := line.meta.get(GIT_AUTHOR):
        return {"by": str(author), "name": str(author).removeprefix("git:").partition("@")[0]}
    person = line.meta.get("user_id")
    if isinstance(person, str) and person:
        return {"by": person, "name": str(line.meta.get("user_name") or person)}
    return {"by": line.actor, "name": THE_BOT if line.actor == HOST else _called(line)}


def _called(line: Line) -> str:
    """Lines of earlier versions have only the role of a persona."""
    name = line.meta.get(PERSONA_NAME)
    return name if isinstance(name, str) and name else line.actor
