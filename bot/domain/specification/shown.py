"""
Entries as they are shown outside of the bot: what counts, who said it, in which words, and where these stand in Slack.
Commands, exports and agents read nothing else, so they cannot differ.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, assert_never

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from bot.domain.catalog.schema import EXCLUSIVE, Schema
from bot.domain.messages.attribution_wording import attribution, attribution_of
from bot.domain.messages.specification_wording import unsettled_row
from bot.domain.privacy.redaction import Redact, unchanged
from bot.domain.specification.address import EntryAddress, no_entry
from bot.domain.specification.claim_check import is_part
from bot.domain.specification.claims import Claim, Entry, EntryState, Party, PartyKind
from bot.domain.specification.entries import Specification, numbers
from bot.domain.specification.fold import HeardWords, party_of
from bot.domain.specification.not_settled import RowKind, not_settled
from bot.domain.transcript.lines import Line, Source, as_heard
from bot.domain.transcript.people import Names
from bot.domain.values import places
from bot.domain.values.json_files import map_texts
from bot.domain.values.text import one_line, values, visible
from bot.domain.values.value import Value
from bot.errors import UserError

QUOTE_CHARS = 300


class ShownParty(Value):
    id: str
    name: str
    kind: PartyKind


class ShownSource(Value):
    """A line that a value rests on. `quote` is empty for words that were deleted since."""

    line: str
    by: ShownParty
    at: str
    quote: str = ""
    link: str = ""


class ShownClaim(Value):
    """
    `said_by` for a person's own words, otherwise `proposed_by`; never both. `doubtful` is why the value has to be
    confirmed. Of `sources`, code is `path:lines@commit`, and another entry its address.
    """

    value: Any
    counts: bool
    said_by: ShownParty | None = None
    proposed_by: ShownParty | None = None
    accepted_by: ShownParty | None = None
    doubtful: str = ""
    sources: tuple[ShownSource | str, ...] = ()
    attribution: str = Field("", exclude=True)

    @model_serializer(mode="wrap")
    def _without_the_other(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        told: dict[str, Any] = dump(self)
        told.pop("proposed_by" if self.said_by else "said_by", None)
        return told


class ShownEntry(Value):
    """
    `fields` are the values that count, also those that nobody accepted: `claims` says which. `attribution`, `at` and
    `link` are about the value of `text`.
    """

    address: str
    kind: str
    state: EntryState
    text: str
    fields: Mapping[str, Any]
    parts: tuple[str, ...] = ()
    part_of: str = ""
    replaced_by: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    claims: Mapping[str, tuple[ShownClaim, ...]]
    attribution: str = Field("", exclude=True)
    at: str = Field("", exclude=True)
    link: str = Field("", exclude=True)

    @property
    def item(self) -> str:
        return self.address.partition("/")[0]

    @property
    def id(self) -> str:
        return self.address.partition("/")[2]

    @property
    def is_gone(self) -> bool:
        return self.state in {EntryState.SUPERSEDED, EntryState.WITHDRAWN}

    def accepted(self, field: str) -> Any:
        """The value of *field* that a person accepted; None if nobody did."""
        return next((one.value for one in self.claims.get(field, ()) if one.counts and one.accepted_by), None)


class ShownPoint(Value):
    """A point that is not settled, in the `words` of the brief. Without an `address` it is about the whole item."""

    address: str
    kind: str
    reason: RowKind
    fields: tuple[str, ...]
    words: str


class TextHistory(NamedTuple):
    """
    `changed` is when the text became another one; empty for an entry that still says what people accepted first.
    `is_doubtful`: people have to confirm it again.
    """

    changed: str
    is_doubtful: bool


@dataclass(frozen=True, eq=False)
class ShownItem:
    """
    The entries of one item. *lines* are asked for once, when an entry is shown. Links lead to the thread *permalink*;
    by default a line names it. Lines of *foreign* (by message_id) are not ours. So many lines are *unsealed* and count
    all the same.
    """

    slug: str
    specification: Specification
    lines: Callable[[], Iterable[Line]]
    _: KW_ONLY
    schema: Schema
    permalink: str | None = None
    names: Names = field(default_factory=dict)
    foreign: Callable[[], Collection[str]] = frozenset
    redact: Redact = unchanged
    unsealed: int = 0

    @property
    def kinds(self) -> Collection[str]:
        """That entries can be of."""
        return self.schema.kinds.keys()

    def ids(self, *kinds: str, states: Collection[EntryState] = frozenset(EntryState)) -> Sequence[str]:
        """Of entries of these *kinds*, or of all; in their order."""
        found = self.specification.entries.values()
        wanted = [one.id for one in found if (not kinds or one.kind in kinds) and self._state(one) in states]
        return sorted(wanted, key=lambda id: (id.partition("-")[0], numbers(id)))

    def entries(
        self, *kinds: str, states: Collection[EntryState] = frozenset(EntryState)
    ) -> Iterator[ShownEntry]:
        """Of these *kinds*, or of all; in the order of their ids."""
        return map(self.show_entry, self.ids(*kinds, states=states))

    @cached_property
    def not_settled(self) -> tuple[ShownPoint, ...]:
        """In the order of the brief."""
        return tuple(self._points())

    def _points(self) -> Iterator[ShownPoint]:
        for found in not_settled(self.schema, self.specification.naming(self.names)):
            row = found.but(text=self._hidden(found.text), facts=tuple(self._hidden(found.facts)))
            yield ShownPoint(
                address=str(EntryAddress(self.slug, row.id)) if row.id else "",
                kind=row.of,
                reason=row.kind,
                fields=row.fields,
                words=unsettled_row(row, self.schema),
            )

    def show_entry(self, id: str) -> ShownEntry:
        """Raises UserError."""
        if id not in self.specification.entries:
            raise UserError(no_entry(EntryAddress(self.slug, id)))
        one = Specification(entries={id: self.specification.entries[id]}).naming(self.names)
        entry = one.entries[id]
        kind = self.schema.kinds.get(entry.kind)
        main = self._main(entry)
        claims = {
            field: tuple(self._claim(claim, counts=entry.claim(field) is claim) for claim in told)
            for field, told in entry.claims.items()
        }
        counting = {field: one for field, told in claims.items() for one in told if one.counts}
        opened = counting.get(main) or next(iter(counting.values()), None)
        said = next((one for one in opened.sources if isinstance(one, ShownSource)), None) if opened else None
        exclusive = [name for name, field in (kind.fields if kind else {}).items() if field.type in EXCLUSIVE]
        return ShownEntry(
            address=str(EntryAddress(self.slug, id)),
            kind=entry.kind,
            state=self._state(entry),
            text=self._hidden("; ".join(values(entry[main]))),
            fields={field: one.value for field, one in counting.items()},
            parts=self._parts.get(id, ()),
            part_of=entry.part_of,
            replaced_by=entry.replaced_by,
            contested=tuple(name for name in exclusive if entry.contested(name)),
            doubtful=tuple(field for field, one in counting.items() if one.doubtful),
            claims=claims,
            attribution=self._hidden(attribution_of(entry, main)),
            at=said.at if said else "",
            link=said.link if said else "",
        )

    def text_history(self, id: str) -> TextHistory:
        entry = self.specification.entries[id]
        claims = entry.claims.get(self._main(entry), ())
        told = [one for one in claims if one.accepted]
        is_doubtful = any(one.stale for one in told[-1:])
        if len({str(one.value) for one in told}) < 2 and not any(one.edited for one in told):
            return TextHistory("", is_doubtful)
        last = told[-1]
        by = (last.line, last.edited, last.accepted.line if last.accepted else "")
        return TextHistory(
            max((self._lines[one].ts for one in by if one in self._lines), default=""), is_doubtful
        )

    def ended_by(self, id: str) -> str:
        """Who withdrew the entry, or replaced it, with the link."""
        entry = self.specification.entries[id]
        line = self._lines.get(entry.withdrawn or entry.superseded)
        if line is None:
            return ""
        by = party_of(line, is_ours=line.message_id not in self._foreign)
        return ", ".join(filter(None, (visible(by.name or by.by), self._link(line))))

    # --- states and parts ---------------------------------------------------------------------------------------------

    def _state(self, entry: Entry) -> EntryState:
        """A part goes with what it is part of."""
        seen: set[str] = set()
        above: Entry | None = entry
        while above and above.id not in seen:
            if above.gone:
                return above.state
            seen.add(above.id)
            above = self.specification.entries.get(above.part_of)
        return entry.state

    def _main(self, entry: Entry) -> str:
        kind = self.schema.kinds.get(entry.kind)
        return kind.text if kind else next(iter(entry.claims), "")

    @cached_property
    def _parts(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = defaultdict(list)
        for one in self.specification.entries.values():
            if one.part_of and not one.gone:
                found[one.part_of].append(one.id)
        return {id: tuple(sorted(parts, key=numbers)) for id, parts in found.items()}

    # --- claims and sources -------------------------------------------------------------------------------------------

    def _claim(self, claim: Claim, *, counts: bool) -> ShownClaim:
        unchecked = f"unchecked: {claim.reason}" if claim.reason else "unchecked"
        doubt = claim.stale.cause.value if claim.stale else unchecked if claim.is_unchecked else ""
        return ShownClaim(
            value=self._hidden(claim.value),
            counts=counts,
            said_by=_party(claim.said) if claim.said else None,
            proposed_by=None if claim.said else _party(claim.proposed),
            accepted_by=_party(claim.accepted) if claim.accepted else None,
            doubtful=self._hidden(doubt),
            sources=tuple(self._sources(claim)),
            attribution=self._hidden(attribution(claim)),
        )

    def _sources(self, claim: Claim) -> Iterator[ShownSource | str]:
        """The words that were quoted come before the line that gave the value, and what it cites after it."""
        words = {one.line: one.words for one in claim.quotes}
        if claim.said and claim.said.quote:
            words = {claim.said.line: claim.said.quote, **words}
        for line in dict.fromkeys((*words, claim.line, *claim.sources)):
            if line in self._lines:
                yield self._source(self._lines[line], words.get(line, ""), claim)
            else:
                is_entry = line in self.specification.entries
                yield str(EntryAddress(self.slug, line)) if is_entry else self._hidden(line)

    def _source(self, line: Line, words: str, claim: Claim) -> ShownSource:
        id = line.message_id
        return ShownSource(
            line=visible(id),
            by=_party(party_of(line, is_ours=id not in self._foreign)),
            at=line.ts,
            quote=one_line(self._hidden(words or self._words(line, claim)), QUOTE_CHARS),
            link=self._link(line),
        )

    def _words(self, line: Line, claim: Claim) -> str:
        """What a form was filled with is the value; of a long message, too, if it says that."""
        match line.source:
            case Source.MODEL:
                return line.content
            case Source.SYSTEM:
                is_own = line.message_id == claim.line and isinstance(claim.value, str)
                return str(claim.value) if is_own else ""
            case Source.USER:
                heard = self._heard.get(line.message_id)
                said = heard.text if heard else ""
                value = str(claim.value)
                return value if len(said) > QUOTE_CHARS and is_part(value, said) else said
            case _:
                assert_never(line.source)

    def _link(self, line: Line) -> str:
        """To its message; to the thread for what is in no message of its own."""
        if not self._thread:
            return ""
        channel, ts = (str(line.meta.get(name) or "") for name in ("channel_id", "message_ts"))
        return places.link_of_message(self._thread, channel, ts) or self._thread[0]

    @cached_property
    def _lines(self) -> Mapping[str, Line]:
        """A line that stands there twice counts once."""
        found: dict[str, Line] = {}
        for line in self.lines():
            found.setdefault(line.message_id, line)
        return found

    @cached_property
    def _foreign(self) -> Collection[str]:
        return self.foreign()

    @cached_property
    def _heard(self) -> Mapping[str, HeardWords]:
        """The words of people as they read now."""
        return Specification().folding(as_heard(self._lines.values()), foreign=self._foreign).heard

    @cached_property
    def _thread(self) -> re.Match[str] | None:
        if self.permalink is not None:
            return places.read_permalink(self.permalink)
        ours = (line for line in self._lines.values() if line.message_id not in self._foreign)
        named = (places.read_permalink(str(line.meta.get("permalink") or "")) for line in ours)
        return next(filter(None, named), None)

    def _hidden(self, value: Any) -> Any:
        """Without secrets and what nobody sees, wherever in *value* they stand."""
        return map_texts(value, lambda _, text: self.redact(visible(text)))


def _party(party: Party) -> ShownParty:
    return ShownParty(id=visible(party.by), name=visible(party.name or party.by), kind=party.kind)
