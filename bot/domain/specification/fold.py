"""
How lines become entries. Who, when, in which step and with what authority is the line's, so a patch says only what
changes: `{"id": "FR-001", "kind": "requirement", "set": {"title": "Filter by date"}}`.

The fold needs no kinds: a transcript means the same when kinds change. Shapes are checked before a line is written;
limits and quotes are checked here, in patches of people and of models alike.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import Field, ValidationError

from bot.domain.catalog.schema import CANONICAL_ID, NOTE, VALUE_CHARS
from bot.domain.specification import claim_check
from bot.domain.specification.citations import CodeCitation
from bot.domain.specification.claims import (
    Check,
    Claim,
    Entry,
    EntryState,
    How,
    Party,
    PartyKind,
    Quote,
    Stale,
    StaleCause,
)
from bot.domain.transcript.lines import ENTRIES, HOST, Line, Source
from bot.domain.values.text import values
from bot.domain.values.value import Stored

MARK = "mark"
"""In a line's `meta`: the mark that the line is about."""
GIT_AUTHOR = "git_author"
"""In a line's `meta`: who made the changes that were read back from git, as `git:NAME@commit`."""
AGENT = "agent"
"""In the `meta` of a line that a coding agent caused: its name."""
HOW = "how"
"""In a line's `meta`: by what a person accepted, where the line does not show it."""
PUSHED = Party(kind=PartyKind.GIT, by="git", name="a pushed line")
"""Who proposed what a person took over from a line that we did not write."""
PERSONA_NAME = "persona_name"
"""In the `meta` of a line with a persona's proposals: what the persona is called."""
THE_BOT = "the bot"
"""What people read in place of the actor `HOST`."""
DECIDED_BY_PEOPLE = frozenset({"decision", "approval"})
"""What a change in git only proposes: in Slack a person says it."""
OUTCOME = "outcome"
"""Of an objection; only a person gives it."""
REPLACES, CHANGES = "replaces", "changes"
MOST_ENTRIES = 5_000
MOST_CLAIMS = 200
"""Of a field. As many entries and claims more may come from pushed lines."""
MOST_SOURCES = 20
QUOTE_CHARS = 500


class Patch(Stored):
    """
    `add` appends to lists. `accept` takes over what is proposed or stale, in the whole entry or in fields. `new` says
    that the patch made the entry, so that a changed message keeps its ids. `quotes` are the words that a value rests
    on, `unverified` why its sources do not say it, each by field. `checked` is what a review says of proposed values:
    why one stays unchecked, or nothing when it is confirmed. `note` is the id of the note that a person sorted into the
    entry: its author said the words. `pushed` values are those of a pushed line that a person takes over.
    """

    id: str = Field(pattern=rf"^{CANONICAL_ID.pattern}$")
    kind: str = ""
    part_of: str = ""
    new: bool = False
    set: Mapping[str, Any] = {}
    add: Mapping[str, tuple[Any, ...]] = {}
    state: EntryState | None = None
    replaced_by: tuple[str, ...] = ()
    accept: bool | tuple[str, ...] = False
    sources: tuple[str, ...] = ()
    quotes: Mapping[str, tuple[Quote, ...]] = {}
    unverified: Mapping[str, str] = {}
    checked: Mapping[str, str] = {}
    note: str = ""
    pushed: bool = False

    def as_json(self) -> dict[str, Any]:
        """What differs from an empty patch."""
        return self.model_dump(mode="json", exclude_defaults=True)


class HeardWords(Stored):
    """What a person wrote in the message *line*: quotes are held against it."""

    by: str
    name: str
    text: str
    line: str = ""


def patches_of(line: Line) -> tuple[Patch, ...]:
    """Of a line that we wrote; a bad one raises ValidationError."""
    return tuple(Patch.model_validate(one) for one in line.meta.get(ENTRIES) or ())


def utterance_of(line: Line) -> str:
    """The line of the message that *line* is about: a changed message is the one that it was."""
    return str(line.meta.get("amends") or line.message_id)


def is_heard(line: Line) -> bool:
    """Whether its words may be quoted."""
    return line.source is Source.USER and bool(line.person)


def letters_of(text: object) -> str:
    """What counts when words are compared: letters and digits, in either case."""
    return "".join(filter(str.isalnum, str(text).casefold()))


def party_of(line: Line, *, is_ours: bool = True) -> Party:
    """Who proposed what a line gives. A line that we did not write counts as pushed, whatever name stands in it."""
    id, person, name = line.message_id, line.person, line.person_name
    if not is_ours:
        named = name or person or line.text(PERSONA_NAME) or line.actor
        return Party(kind=PartyKind.GIT, by="git", name=f"a pushed line that names {named}", line=id)
    if line.source is not Source.MODEL and (author := line.text(GIT_AUTHOR)):
        name = author.removeprefix("git:").rpartition("@")[0]
        return Party(kind=PartyKind.GIT, by=author, name=name, line=id, how=How.COMMIT)
    if line.source is not Source.MODEL and person:
        return Party(kind=PartyKind.PERSON, by=person, name=name or person, line=id, how=_how(line))
    if line.source is Source.SYSTEM and (agent := line.text(AGENT)):
        return Party(kind=PartyKind.AGENT, by=f"{AGENT}:{agent}", name=agent, line=id)
    kind = PartyKind.PERSONA if line.source is Source.MODEL else PartyKind.PROGRAM
    called = THE_BOT if line.actor == HOST else line.text(PERSONA_NAME) or line.actor
    return Party(kind=kind, by=line.actor, name=called, line=id)


def stands_in(heard: HeardWords | None, words: str) -> bool:
    """As every quote does."""
    return heard is not None and claim_check.stands_in(_whole_words(words), heard.text)


class Fold:
    """
    Entries while lines are added. `count` numbers the changes, `refused` are sentences about patches that could not be
    applied. What rests on what is indexed when it is first asked for: most lines never need it.
    """

    def __init__(
        self,
        entries: Mapping[str, Entry],
        heard: Mapping[str, HeardWords],
        count: int,
        refused: Iterable[str],
    ) -> None:
        self.entries = dict(entries)
        self.heard = dict(heard)
        self.count = count
        self.refused = list(refused)
        self._resting: dict[str, dict[str, None]] | None = None
        self._pushed: set[str] | None = None

    def take(self, line: Line, *, is_ours: bool) -> None:
        party = party_of(line, is_ours=is_ours)
        is_person = party.kind is PartyKind.PERSON
        amends, retracts = (line.text(name) if is_person else "" for name in ("amends", "retracts"))
        words = self.heard.get(amends or retracts)
        self.hear(line, is_ours=is_ours)
        patches = line.meta.get(ENTRIES)
        if not (amends or retracts or patches):
            return
        self.count += is_ours  # what others push makes no number of ours another one
        change = _Change(self, line, party, amends)
        for given in patches if isinstance(patches, list | tuple) else ():
            try:
                change.apply(Patch.model_validate(given))
            except (ValidationError, ValueError, TypeError) as error:
                reason = str(error).partition("\n")[0]
                self.refused.append(f"{line.message_id}: {reason}")
        if amends:
            change.take_back()
        if retracts:
            change.retract(retracts)
        if changed := amends or retracts:
            change.hold_quotes(changed, words.text if words else None)

    def hear(self, line: Line, *, is_ours: bool) -> None:
        party = party_of(line, is_ours=is_ours)
        retracts = line.text("retracts")
        if party.kind is PartyKind.PERSON and retracts:
            self.heard.pop(retracts, None)
        elif party.kind is PartyKind.PERSON and is_heard(line):
            said = utterance_of(line)
            self.heard[said] = HeardWords(by=party.by, name=party.name, text=line.content, line=said)

    def put(self, entry: Entry) -> None:
        self.entries[entry.id] = entry
        if self._pushed is not None:
            (self._pushed.add if entry.is_pushed else self._pushed.discard)(entry.id)

    def index(self, id: str, claim: Claim) -> None:
        if self._resting is not None:
            for source in claim.grounds:
                self._resting[source][id] = None

    @property
    def pushed(self) -> set[str]:
        """The entries that no line of ours has."""
        if self._pushed is None:
            self._pushed = {id for id, entry in self.entries.items() if entry.is_pushed}
        return self._pushed

    def about(self, source: str) -> tuple[str, ...]:
        """The entries that have, or had, a claim with this line or source."""
        if self._resting is None:
            self._resting = defaultdict(dict)
            for entry in self.entries.values():
                for one in entry.all_claims():
                    self.index(entry.id, one)
        return tuple(sorted(self._resting.get(source, ())))

    def resting_on(self, source: str) -> tuple[tuple[str, str], ...]:
        """The (entry, field)s whose current value rests on *source*, directly or through other entries."""
        found: dict[tuple[str, str], None] = {}
        todo = [source]
        while todo:
            now = todo.pop()
            for id in self.about(now):
                entry = self.entries[id]
                for field, claim in () if entry.gone else entry.current():
                    if now in claim.grounds and not claim.is_pushed and (id, field) not in found:
                        found[id, field] = None
                        todo.append(id)
        return tuple(found)


class _Change:
    """What one line does. *amends* is the message that it is the newer text of."""

    def __init__(self, fold: Fold, line: Line, party: Party, amends: str) -> None:
        self._fold = fold
        self._line = line
        self._party = party
        self._amends = amends
        self._utterance = line.message_id if party.is_pushed else utterance_of(line)
        self._renewed: Counter[tuple[str, str]] = Counter()
        """How many values of each field the newer text gives."""
        self._withdrawn: set[str] = set()

    # --- patches ------------------------------------------------------------------------------------------------------

    def apply(self, patch: Patch) -> None:
        known = self._fold.entries.get(patch.id)
        opens = known is None or (known.is_pushed and bool(patch.kind) and not self._party.is_pushed)
        entry = before = known if known and not opens else self._opened(patch, known)
        decides = self._decides(entry)
        values = self._values(entry, patch)
        _check_limits(entry, patch, values)
        accepted = decides and patch.state is not EntryState.PROPOSED
        for field, value in values.items():
            accepts = accepted and (field != OUTCOME or self._party.kind is PartyKind.PERSON)
            given = self._claiming(entry, field, value, patch, accepts=accepts)
            entry = _without_contradiction(given) if accepts and given is not entry else given
        if self._party.kind is PartyKind.PERSONA:
            entry = _with_verdicts(entry, patch.checked)
        took = entry
        if decides and patch.accept:
            fields = patch.accept if isinstance(patch.accept, tuple) else tuple(entry.claims)
            took = entry = self._accepting(entry, fields)
        if decides or self._takes_back(entry, patch):
            entry = self._stated(entry, patch, took=took is not before)
        self._fold.put(entry)
        self._follow(before, entry)

    def _decides(self, entry: Entry) -> bool:
        is_commit = self._party.how is How.COMMIT and entry.kind not in DECIDED_BY_PEOPLE
        return is_commit or self._party.kind is PartyKind.PERSON

    def _takes_back(self, entry: Entry, patch: Patch) -> bool:
        """An agent its own question, while no person has accepted any of it."""
        claims = [one for _, one in entry.current() if not one.is_pushed]
        is_own = self._party.kind is PartyKind.AGENT and all(
            one.proposed.by == self._party.by for one in claims
        )
        return is_own and patch.state is EntryState.WITHDRAWN and not any(one.accepted for one in claims)

    def _opened(self, patch: Patch, pushed: Entry | None) -> Entry:
        """The new entry. A sealed line opens one that only *pushed* lines had; their values stay as proposals."""
        if not patch.kind:
            raise ValueError(f"{patch.id} is not known, and the patch does not say what kind it is")
        values = (*patch.set, *patch.add)
        if self._party.is_pushed and not values:
            raise ValueError(f"{patch.id} has no value")
        if len(self._fold.entries) >= MOST_ENTRIES:
            of_pushed = len(self._fold.pushed)
            many = of_pushed if self._party.is_pushed else len(self._fold.entries) - of_pushed
            if many >= MOST_ENTRIES:
                raise ValueError(f"{patch.id} is one entry too many: {MOST_ENTRIES:,} are kept")
        step = self._line.text("answers_step") or self._line.text("step_id")
        known = pushed.claims if pushed else {}
        claims = {field: known.get(field, ()) for field in (*values, *known)} if pushed else {}
        return Entry(id=patch.id, kind=patch.kind, step=step, part_of=patch.part_of, claims=claims)

    def _values(self, entry: Entry, patch: Patch) -> dict[str, Any]:
        """What the patch gives each field; a list grows by what it does not have."""
        values = dict(patch.set)
        for field, more in patch.add.items():
            claims = entry.claims.get(field, ())
            own = [at for at, one in enumerate(claims) if self._amends and one.line == self._amends]
            claims = claims[: own[0]] if own else claims if self._party.is_pushed else entry.sealed(field)
            before = entry.but(claims={field: claims})[field]
            values[field] = list(dict.fromkeys([*(before if isinstance(before, list) else ()), *more]))
        return values

    def _claiming(self, entry: Entry, field: str, value: Any, patch: Patch, *, accepts: bool) -> Entry:
        """A newer text changes its own claim, in its place; the same value again changes nothing."""
        claims = entry.claims.get(field, ())
        own = [at for at, one in enumerate(claims) if self._amends and one.line == self._amends]
        nth = self._renewed[entry.id, field]
        self._renewed[entry.id, field] += 1
        at = own[nth] if nth < len(own) else None
        if at is not None and claims[at].value == value:
            return entry
        is_pushed, sealed = self._party.is_pushed, entry.sealed(field)
        if is_pushed and any(one.value == value for one in claims):
            return entry
        claim = self._claim(field, value, patch, accepts=accepts)
        self._fold.index(entry.id, claim)
        pushed = tuple(one for one in claims if one.is_pushed and one.value != value)
        if at is None and len(pushed if is_pushed else sealed) >= MOST_CLAIMS:
            raise ValueError(f"{field} of {entry.id} was given {MOST_CLAIMS} values: no more are kept")
        if at is None:
            after = (*sealed, *pushed, claim) if is_pushed else (*sealed, claim, *pushed)
            return entry.but(claims={**entry.claims, field: after})
        doubt = claims[at].stale
        is_own = doubt and doubt.cause is StaleCause.CHANGED and doubt.by == self._party.by
        edited = claim.but(edited=self._line.message_id, stale=doubt if is_own else None)
        return entry.but(claims={**entry.claims, field: (*claims[:at], edited, *claims[at + 1 :])})

    def _claim(self, field: str, value: Any, patch: Patch, *, accepts: bool) -> Claim:
        quotes = patch.quotes.get(field, ())
        takes_over = patch.pushed and self._party.kind is PartyKind.PERSON
        said = None if takes_over else self._said(patch, value, quotes)
        is_own = said is not None and not said.quote
        reason = "" if is_own else patch.unverified.get(field, "")
        check = Check.UNCHECKED if reason or takes_over or self._party.is_pushed else Check.AGREED
        if is_own or (check is Check.AGREED and self._is_verbatim(said, value, quotes)):
            check = Check.VERBATIM
        return Claim(
            value=value,
            line=self._utterance,
            quotes=quotes,
            check=check,
            reason=reason,
            said=said,
            proposed=PUSHED if takes_over else self._party,
            accepted=self._party if accepts else None,
            sources=patch.sources,
            at=0 if self._party.is_pushed else self._fold.count,
        )

    def _is_verbatim(self, said: Party | None, value: Any, quotes: Collection[Quote]) -> bool:
        """The words that were quoted and no others, or more of the same message; whole sentences, or rows of code."""
        letters, heard = letters_of(value), self._fold.heard.get(said.line) if said else None
        quoted = letters_of(said.quote) if said else ""
        if quoted and (
            quoted == letters or (heard and quoted in letters and letters in letters_of(heard.text))
        ):
            return True
        words = values(value)
        return bool(words) and all(any(self._says(one, word) for one in quotes) for word in words)

    def _says(self, quote: Quote, word: str) -> bool:
        heard = self._fold.heard.get(quote.line)
        if CodeCitation.read(quote.line):
            return claim_check.is_code(word, quote.words)
        return heard is not None and claim_check.is_whole(word, heard.text)

    def _said(self, patch: Patch, value: Any, quotes: Iterable[Quote]) -> Party | None:
        """Whose words they are: by the first quote that stands in a person's line, also in a patch of a model."""
        for one in quotes:
            heard = self._fold.heard.get(one.line)
            if heard and stands_in(heard, one.words):
                return Party(
                    kind=PartyKind.PERSON, by=heard.by, name=heard.name, line=one.line, quote=one.words
                )
        if quotes:
            return None
        if self._party.kind is PartyKind.PERSON and patch.note and isinstance(value, str):
            note = self._fold.entries.get(patch.note)
            words = note.claim("text") if note and note.kind == NOTE else None
            if words and words.said:
                return words.said.but(quote=words.said.quote or str(words.value)[:QUOTE_CHARS])
        is_commit = self._party.how is How.COMMIT and patch.state is not EntryState.PROPOSED
        is_author = self._party.kind is PartyKind.PERSON or is_commit
        return self._party.but(line=self._utterance) if is_author else None

    def _accepting(self, entry: Entry, fields: Collection[str]) -> Entry:
        """
        Proposals become accepted and keep what they rest on; what was stale is confirmed, and rests on nothing any
        more; of words that were overtaken, those that count are confirmed.
        """
        claims = dict(entry.claims)
        for field in fields:
            known = entry.sealed(field)
            now, edit = entry.claim(field), entry.overtaken(field)
            if not known or now is None:
                continue
            last = known[-1]
            after: Claim | None = None
            if not last.accepted:
                if not (last.is_unchecked and self._party.how is How.EVERYTHING):
                    now, after = last, last.but(accepted=self._party, stale=None, at=self._fold.count)
            elif now.stale:
                after = now.but(accepted=self._party, stale=None, sources=(), at=self._fold.count)
            elif edit:
                after = now.but(at=self._fold.count)
            if after:
                claims[field] = tuple(after if one is now else one for one in claims[field])
        return entry if claims == dict(entry.claims) else entry.but(claims=claims)

    def _stated(self, entry: Entry, patch: Patch, *, took: bool) -> Entry:
        line = self._line.message_id
        if patch.state is EntryState.WITHDRAWN:
            self._withdrawn.add(entry.id)
            return entry.but(withdrawn=self._utterance)
        if patch.state is EntryState.SUPERSEDED:
            return entry.but(
                superseded=line, replaced_by=tuple(dict.fromkeys((*entry.replaced_by, *patch.replaced_by)))
            )
        if patch.state is EntryState.ACCEPTED or (patch.accept and took):
            entry = entry.but(withdrawn="", superseded="", replaced_by=())
            is_whole = entry.state is EntryState.ACCEPTED or _is_answered(entry, patch)
            return entry if is_whole else self._accepting(entry, entry.claims)
        return entry

    # --- what it does to other entries --------------------------------------------------------------------------------

    def _follow(self, before: Entry, entry: Entry) -> None:
        """Whichever door the change came by."""
        if entry.withdrawn and not before.withdrawn:
            self._outdate(entry.id, self._why(StaleCause.WITHDRAWN, entry.id))
            for id in [one.id for one in self._fold.entries.values() if entry.id in one.replaced_by]:
                self._return(id, entry)
        if entry.superseded and not before.superseded:
            self._outdate(entry.id, self._why(StaleCause.REVERSED, entry.id))
        was, now = _named(before, REPLACES), _named(entry, REPLACES)
        self._replace(entry, now if before.gone else now - was)
        for id in sorted(was - now):
            self._return(id, entry)
        self._contradict(before, entry)

    def _replace(self, by: Entry, ids: Iterable[str]) -> None:
        """Only what stands itself replaces others: of two that name each other one stays."""
        for id in () if by.gone else sorted(ids):
            one = self._fold.entries.get(id)
            if one and by.id not in one.replaced_by:
                after = one.but(replaced_by=(*one.replaced_by, by.id))
                self._fold.put(after)
                self._contradict(one, after)
                self._outdate(id, self._why(StaleCause.REVERSED, id))

    def _contradict(self, before: Entry, entry: Entry) -> None:
        """While a decision stands, what it `changes` is contradicted, unless people settled that since."""
        for id in sorted(_changed_by(before) ^ _changed_by(entry)):
            if (one := self._fold.entries.get(id)) is None:
                continue
            self._fold.put(_without_contradiction(one))
            for other in tuple(self._fold.entries.values()):
                claim = other.claim(CHANGES) if id in _changed_by(other) else None
                if claim and all(known.at < claim.at for _, known in one.current()):
                    self._doubt(self._fold.entries[id], _contradiction(claim, other.id))

    def _return(self, id: str, entry: Entry) -> None:
        """What *entry* had replaced stands again, and people are asked. A note that was sorted stays sorted."""
        one = self._fold.entries.get(id)
        if one is None or entry.id not in one.replaced_by or one.kind == NOTE:
            return
        others = tuple(other for other in one.replaced_by if other != entry.id)
        after = one.but(replaced_by=others, superseded=one.superseded if others else "")
        self._fold.put(after)
        if not others:
            why = self._why(StaleCause.RETURNED, entry.id)
            self._doubt(after, why)
            self._replace(after, _named(after, REPLACES))
            self._contradict(one, after)
            self._outdate(id, why)

    def _doubt(self, entry: Entry, why: Stale) -> None:
        """People keep, change or withdraw it."""
        for field, claim in entry.current() if not entry.gone else ():
            self._mark(entry.id, field, [claim], why)

    # --- a message that was changed or deleted ------------------------------------------------------------------------

    def take_back(self) -> None:
        """The claims that the newer text does not give any more; an entry that has no others is withdrawn."""
        for id in self._fold.about(self._amends):
            before = entry = self._fold.entries[id]
            claims = {field: self._kept(id, field, known) for field, known in entry.claims.items()}
            if before.is_pushed or any(not one.is_pushed for known in claims.values() for one in known):
                entry = entry.but(claims={field: known for field, known in claims.items() if known})
            elif not entry.gone:
                entry = entry.but(withdrawn=self._amends)
            self._fold.put(entry)
            self._follow(before, entry)
            is_changed = any(one.edited == self._line.message_id for _, one in entry.current())
            if is_changed or entry.claims != before.claims:
                self._outdate(id, self._why(StaleCause.CHANGED))
            if is_changed:
                self._ask_about(entry)
        self._return_withdrawn(self._amends)

    def _ask_about(self, entry: Entry) -> None:
        """Other words for what another message withdrew or replaced since: neither wins."""
        why = self._why(StaleCause.CHANGED)
        if entry.withdrawn and entry.id not in self._withdrawn:
            self._stand_again(entry, why)
        for id in entry.replaced_by:
            self._doubt(self._fold.entries[id], why)

    def _return_withdrawn(self, message: str, why: Stale | None = None) -> None:
        """What *message* had withdrawn, and does not withdraw any more."""
        for entry in tuple(self._fold.entries.values()):
            if entry.is_withdrawn_by(message) and entry.id not in self._withdrawn:
                self._stand_again(entry, why)

    def _stand_again(self, entry: Entry, why: Stale | None) -> None:
        after = entry.but(withdrawn="")
        self._fold.put(after)
        self._follow(entry, after)
        if why:
            self._doubt(self._fold.entries[entry.id], why)

    def _kept(self, id: str, field: str, known: tuple[Claim, ...]) -> tuple[Claim, ...]:
        left = self._renewed[id, field]
        kept: list[Claim] = []
        for one in known:
            is_own = one.line == self._amends
            if not is_own or left:
                kept.append(one)
            left -= is_own and left > 0
        return tuple(kept)

    def retract(self, message: str) -> None:
        """Notes go with their message. Entries stay, and people are asked."""
        for id in self._fold.about(message):
            entry = self._fold.entries[id]
            given = [one for one in entry.all_claims() if one.line == message]
            if not given:
                continue
            if entry.kind == NOTE and entry.first in given and not entry.gone:
                after = entry.but(withdrawn=self._line.message_id)
                self._fold.put(after)
                self._follow(entry, after)
            for field in entry.claims:
                self._mark(id, field, given, self._why(self._gone_by))
            self._outdate(id, self._why(self._gone_by))
        self._return_withdrawn(message, self._why(self._gone_by))

    def hold_quotes(self, message: str, before: str | None) -> None:
        """A claim that quotes the message stands as long as the quote does; without a quote any change counts."""
        heard = self._fold.heard.get(message)
        after = heard.text if heard else ""
        if before == after:
            return
        why = self._why(StaleCause.CHANGED if self._amends else self._gone_by)
        for id in self._fold.about(message):
            entry = self._fold.entries[id]
            lost = [
                one
                for one in entry.all_claims()
                if not one.is_pushed and _loses_quote(one, message, before, after)
            ]
            for field in entry.claims if lost else ():
                self._mark(id, field, lost, why)
            if any(one is other for _, one in entry.current() for other in lost):
                self._outdate(id, why)

    @property
    def _gone_by(self) -> StaleCause:
        return StaleCause.LEFT_OUT if self._line.meta.get(MARK) else StaleCause.DELETED

    # --- what is to be confirmed again --------------------------------------------------------------------------------

    def _outdate(self, source: str, why: Stale) -> None:
        """What rests on the entry *source*."""
        for id, field in self._fold.resting_on(source):
            if id != source and (claim := self._fold.entries[id].claim(field)):
                self._mark(id, field, [claim], why)

    def _mark(self, id: str, field: str, meant: Collection[Claim], why: Stale) -> None:
        """What is not current any more is marked, too: it is no side of a dispute then."""
        entry = self._fold.entries[id]
        claims = tuple(
            one.but(stale=why) if not one.stale and any(one is other for other in meant) else one
            for one in entry.claims[field]
        )
        self._fold.put(entry.but(claims={**entry.claims, field: claims}))

    def _why(self, cause: StaleCause, source: str = "") -> Stale:
        party = self._party
        is_git = party.kind is PartyKind.GIT and cause in {StaleCause.REVERSED, StaleCause.WITHDRAWN}
        shown = StaleCause.GIT if is_git else cause
        return Stale(line=party.line, cause=shown, by=party.by, name=party.name, source=source)


def _check_limits(entry: Entry, patch: Patch, values: Mapping[str, Any]) -> None:
    """Raises ValueError: nothing is cut to fit."""
    if len(patch.sources) > MOST_SOURCES:
        raise ValueError(f"{entry.id} names {len(patch.sources)} sources: {MOST_SOURCES} are kept")
    for field, value in values.items():
        words = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(one, Mapping | list | tuple) for one in words):
            raise ValueError(f"{field} of {entry.id} is neither one value nor a list of values")
        if any(isinstance(one, str) and len(one) > VALUE_CHARS for one in words):
            raise ValueError(f"{field} of {entry.id} is longer than {VALUE_CHARS:,} characters")
    if any(len(one.words) > QUOTE_CHARS for quotes in patch.quotes.values() for one in quotes):
        raise ValueError(f"{entry.id} has a quote longer than {QUOTE_CHARS} characters")


def _with_verdicts(entry: Entry, checked: Mapping[str, str]) -> Entry:
    """Only of what waited for a second model, and that no person has taken over."""
    claims = dict(entry.claims)
    for field, why in checked.items():
        last = next(iter(entry.sealed(field)[-1:]), None)
        if last and last.is_unconfirmed:
            after = last.but(check=Check.UNCHECKED if why else Check.AGREED, reason=why)
            claims[field] = tuple(after if one is last else one for one in claims[field])
    return entry.but(claims=claims)


def _is_answered(entry: Entry, patch: Patch) -> bool:
    """Who accepts an answer that an agent offers has not accepted the words of its question."""
    is_agents = entry.first is not None and entry.first.proposed.kind is PartyKind.AGENT
    return is_agents and isinstance(patch.accept, tuple) and patch.state is None


def _loses_quote(claim: Claim, message: str, before: str | None, after: str) -> bool:
    if claim.line == message or message not in claim.grounds:
        return False
    said = [claim.said.quote] if claim.said and claim.said.line == message and claim.said.quote else []
    quotes = [one.words for one in claim.quotes if one.line == message] or said
    return not quotes or any(claim_check.is_changed(_whole_words(one), before, after) for one in quotes)


def _whole_words(quote: str) -> str:
    """One that was cut to fit may end within a word."""
    return quote[:QUOTE_CHARS].rpartition(" ")[0] or quote if len(quote) >= QUOTE_CHARS else quote


def _named(entry: Entry, field: str) -> frozenset[str]:
    """The entries that an accepted reference names, while its entry stands."""
    claim = entry.claim(field)
    if entry.withdrawn or claim is None or not claim.accepted:
        return frozenset()
    return frozenset(values(claim.value)) - {entry.id}


def _changed_by(entry: Entry) -> frozenset[str]:
    return frozenset() if entry.gone else _named(entry, CHANGES)


def _contradiction(changes: Claim, decision: str) -> Stale:
    by = changes.owner
    return Stale(line=by.line, cause=StaleCause.CONTRADICTED, by=by.by, name=by.name, source=decision)


def _without_contradiction(entry: Entry) -> Entry:
    def settled(one: Claim) -> Claim:
        is_contradicted = one.stale and one.stale.cause is StaleCause.CONTRADICTED
        return one.but(stale=None) if is_contradicted else one

    return entry.but(claims={field: tuple(map(settled, known)) for field, known in entry.claims.items()})


def _how(line: Line) -> How:
    told = line.text(HOW)
    if told in set(How):
        return How(told)
    return How.PRESS if line.source is Source.SYSTEM else How.TYPED
