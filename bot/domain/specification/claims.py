"""
What an entry is made of: claims, each one value that a field was given.

On a claim three things are apart: whose words it is (`said`), who put it forward (`proposed`), and which person took
it over (`accepted`). `bot/domain/specification/fold.py` fills them in, from lines alone.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any

from bot.domain.specification.claim_check import WAITING, is_part
from bot.domain.values.text import values
from bot.domain.values.value import Stored


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
    CONTRADICTED = "contradicted"
    """A decision says that it changes the entry."""
    RETURNED = "returned"
    """What had replaced the entry was withdrawn."""


class PartyKind(StrEnum):
    PERSON = "person"
    PERSONA = "persona"
    PROGRAM = "program"
    """Continuous integration, or a rule of ours."""
    AGENT = "agent"
    """A coding agent that asks the team. It decides nothing."""
    GIT = "git"
    """A commit, or a line that we did not write."""


class How(StrEnum):
    """By what a person said or accepted something."""

    TYPED = "typed"
    FORM = "form"
    PRESS = "press"
    EVERYTHING = "everything"
    """*Accept all*: it never takes what is unchecked."""
    COMMIT = "commit"
    ANSWER = "answer"
    """To a question of an agent, by a form or a button: the next person may answer differently."""


class Check(StrEnum):
    """Whether a claim is what its quotes say."""

    VERBATIM = "verbatim"
    AGREED = "agreed"
    UNCHECKED = "unchecked"


class Quote(Stored):
    """`line` is a message_id, or `path:lines@commit`."""

    line: str
    words: str


class Party(Stored):
    """`quote`: the words in *line*; empty for who wrote the value in a message or a form of their own."""

    kind: PartyKind
    by: str
    name: str = ""
    line: str = ""
    quote: str = ""
    how: How | None = None

    @property
    def is_pushed(self) -> bool:
        """A line that we did not write."""
        return self.kind is PartyKind.GIT and self.how is None


class Stale(Stored):
    """The *line* that made a value doubtful. `source` is the entry that it was about, if it was about one."""

    line: str = ""
    cause: StaleCause
    by: str = ""
    name: str = ""
    source: str = ""


class Claim(Stored):
    """
    `line` is the message that gave the value, `edited` the line of its edit, `at` the number of the change that gave,
    edited or confirmed it: an edited claim keeps its place, so the newest need not be the last. `sources` are lines,
    `path:line@sha` or entries.
    """

    value: Any
    line: str
    quotes: tuple[Quote, ...] = ()
    check: Check = Check.VERBATIM
    reason: str = ""
    said: Party | None = None
    proposed: Party
    accepted: Party | None = None
    sources: tuple[str, ...] = ()
    edited: str = ""
    stale: Stale | None = None
    at: int = 0

    @property
    def is_pushed(self) -> bool:
        """Whether no line of ours has it."""
        return self.proposed.is_pushed and self.accepted is None

    @property
    def is_unchecked(self) -> bool:
        """Until a person takes it over."""
        return self.accepted is None and self.check is Check.UNCHECKED

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it waits for a second model: code finds nothing against it, and people are not asked."""
        return self.is_unchecked and self.reason in WAITING and not self.stale

    @property
    def is_reworded(self) -> bool:
        """Whether they are other words than those of who said it, or may say something else where they are cut out."""
        is_confirmed = self.check is Check.AGREED and self.proposed.kind is PartyKind.PERSONA
        said = self.said.quote if self.said and is_confirmed else ""
        return self.check is not Check.VERBATIM and not all(is_part(one, said) for one in values(self.value))

    @property
    def owner(self) -> Party:
        """Who answers for it: who said it, else who took it over, else who put it forward."""
        return self.said or self.accepted or self.proposed

    @property
    def author(self) -> Party:
        """Who said it, else who put it forward; never who only took it over."""
        return self.said or self.proposed

    @property
    def was_proposed(self) -> bool:
        """Whether it did not count from the start: it still is a proposal, or was taken over later."""
        return self.accepted is None or self.accepted.line != self.proposed.line

    @property
    def settles(self) -> bool:
        """Whether it was chosen by a press or a form, and not only said or answered."""
        return self.accepted is not None and self.accepted.how not in {How.TYPED, How.ANSWER}

    @property
    def grounds(self) -> frozenset[str]:
        """The lines, passages and entries that it rests on."""
        said = (self.said.line,) if self.said else ()
        return frozenset((self.line, *self.sources, *(one.line for one in self.quotes), *said))


class Entry(Stored):
    """
    `withdrawn` and `superseded` are the messages that did it. `replaced_by` are the accepted entries that name this one
    in `replaces`, by whichever door. Claims of pushed lines stand behind the others, wherever those lines are.
    """

    id: str
    kind: str
    step: str = ""
    part_of: str = ""
    withdrawn: str = ""
    superseded: str = ""
    replaced_by: tuple[str, ...] = ()
    claims: Mapping[str, tuple[Claim, ...]] = {}

    @cached_property
    def state(self) -> EntryState:
        """Who ranks a proposal has not accepted it: what counts is the field that the entry was opened with."""
        if self.withdrawn:
            return EntryState.WITHDRAWN
        if self.superseded or self.replaced_by:
            return EntryState.SUPERSEDED
        opened = next(iter(self.claims), "")
        counts = self.claim(opened)
        return EntryState.ACCEPTED if counts and counts.accepted else EntryState.PROPOSED

    @property
    def gone(self) -> bool:
        return bool(self.withdrawn or self.superseded or self.replaced_by)

    def is_withdrawn_by(self, line: str) -> bool:
        """Whether the message *line* withdraws what another one had said."""
        return self.withdrawn == line and self.first is not None and self.first.line != line

    def claim(self, field: str) -> Claim | None:
        """The one that counts: the last accepted, else the last proposed."""
        claims = self.claims.get(field)
        if not claims or claims[-1].accepted:  # nearly always
            return claims[-1] if claims else None
        return next((one for one in reversed(claims) if one.accepted), self.offered(field))

    def __getitem__(self, field: str) -> Any:
        found = self.claim(field)
        return found.value if found else None

    def all_claims(self) -> Iterator[Claim]:
        return (claim for claims in self.claims.values() for claim in claims)

    def current(self) -> Iterator[tuple[str, Claim]]:
        for field in self.claims:
            if found := self.claim(field):
                yield field, found

    @property
    def first(self) -> Claim | None:
        """The value that the entry was opened with."""
        return next(self.all_claims(), None)

    @property
    def is_pushed(self) -> bool:
        """Whether only pushed lines say what it is."""
        return self.first is not None and self.first.is_pushed

    def sealed(self, field: str) -> tuple[Claim, ...]:
        """Without those of pushed lines."""
        return tuple(one for one in self.claims.get(field, ()) if not one.is_pushed)

    def offered(self, field: str) -> Claim | None:
        """The proposal that a person can take over: a pushed one hides none of a sealed line."""
        last = (self.sealed(field)[-1:], self.claims.get(field, ())[-1:])
        return next((one for some in last for one in some if not one.accepted), None)

    def pending(self, field: str) -> Claim | None:
        """What a person can still take over in an entry that counts."""
        last = self.offered(field)
        is_beside = last is not None and self.claim(field) is not last
        return last if is_beside or self.state is not EntryState.PROPOSED else None

    def contested(self, field: str) -> tuple[Claim, ...]:
        """
        The different values that people gave since a press last settled the field; only for fields whose values
        exclude each other.
        """
        sides: dict[str, Claim] = {}
        for one in self.claims.get(field, ()):
            if one.accepted and not one.stale:
                side = one.owner.by
                sides = {side: one} if one.settles else {**sides, side: one}
        return tuple(sides.values()) if len({str(one.value) for one in sides.values()}) > 1 else ()

    def overtaken(self, field: str) -> Claim | None:
        """An edit of words that were corrected since: neither wins by itself, people are asked."""
        claims, now = self.claims.get(field, ()), self.claim(field)
        if len(claims) < 2 or now is None:
            return None
        edits = (one for one in claims if one.edited and one.accepted and not one.stale)
        return next((one for one in edits if one.at > now.at and one.value != now.value), None)

    @cached_property
    def owners(self) -> tuple[Party, ...]:
        """Who answers for each value that counts."""
        return tuple(claim.owner for _, claim in self.current())

    @cached_property
    def stale(self) -> tuple[str, ...]:
        """The fields that have to be confirmed again."""
        return tuple(field for field, claim in self.current() if claim.stale)

    @cached_property
    def lines(self) -> frozenset[str]:
        """The messages that gave it values."""
        return frozenset(claim.line for claim in self.all_claims())

    @cached_property
    def is_plain(self) -> bool:
        """Whether each field has one value, and nobody doubts it: of its claims nothing is left to settle."""
        known = self.claims.values()
        return bool(known) and all(len(one) == 1 and one[0].accepted and not one[0].stale for one in known)

    def revision(self, field: str) -> int:
        """What a form had seen of the field: the number of the last change."""
        return max((one.at for one in self.claims.get(field, ())), default=0)
