"""
An elaboration: a bounded discussion of one finished step, in which personas and people argue as equals.

A turn is one contribution: the lead's framing, a persona's, or a person's. What the host says is none. The limit is
for personas with a model: what people say between two of their turns counts as one turn.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import groupby

from bot.domain.specification.claims import Quote
from bot.domain.values.value import Stored

# Where a persona stands on an open issue, and what made it stand there.


class Stance(Stored):
    """`because` are ids of turns, `option` the position that is meant where `position` has other words."""

    issue: str
    position: str
    option: str = ""
    because: tuple[str, ...] = ()

    @property
    def held(self) -> str:
        """What its speaker is for."""
        return self.option or self.position


WARNING_TURNS_BEFORE_END = 2
SILENT_ROUNDS_BEFORE_PROMPT = 3
ENOUGH_SILENT = 2
"""Personas, one after the other, that have nothing new."""


class EndReason(StrEnum):
    """Why an elaboration was over; the words stand in its block."""

    BY_PEOPLE = "user-initiated"
    TURN_LIMIT = "turn-limit"
    BUDGET = "budget"
    QUIET = "quiet"
    """No turns were left, everybody was heard, and then the thread was quiet."""
    DUE = "due-time"
    """No turns were left, and the time came at which answers were due."""


class Turn(Stored):
    """
    `id` is t01, t02, … in the order of speaking; `by` a persona's key or a person's id; `ts` is for people only.

    `line` is the `message_id` of its line, `posted` where Slack shows what a persona said. A voice may put on record
    where it stands; `unrecorded` says that one with a model did not. It was `blind` if its speaker had not heard the
    others who answered the framing. `by_rule`: its speaker has no model, or not now. `quotes` are words of people and
    code that it rests on.
    """

    id: str
    by: str
    name: str
    text: str
    human: bool = False
    ts: str = ""
    line: str = ""
    posted: str = ""
    stances: tuple[Stance, ...] = ()
    unrecorded: bool = False
    blind: bool = False
    by_rule: bool = False
    quotes: tuple[Quote, ...] = ()


class BoardOption(Stored):
    """
    What one can be for: `letter` is A, B, …; `issue` is empty for the topic of the discussion. `entry` is its id in the
    specification, where people named it, and `names` are what it was called.
    """

    letter: str
    text: str
    issue: str = ""
    entry: str = ""
    names: tuple[str, ...] = ()


class Fate(StrEnum):
    """What became of an objection. The words are public: buttons carry them."""

    OPEN = "open"
    ACCEPTED = "accepted"
    """Something is changed because of it."""
    REJECTED = "rejected"
    RISK = "risk"
    """It is kept as a risk."""
    WITHDRAWN = "withdrawn"
    """By its owner."""


class SealedPosition(Stored):
    """`option` is a letter; without one, `words` are an option of one's own. `change` would change their mind."""

    option: str = ""
    words: str = ""
    sure: str = ""
    why: str = ""
    change: str = ""


class SealedRound(Stored):
    """`given` by person: not shown until all of `asked` have answered, or a person shows them."""

    asked: tuple[str, ...]
    given: Mapping[str, SealedPosition] = {}


class Dispute(Stored):
    """An issue on which personas disagree; `options` are their positions."""

    issue: str
    options: tuple[str, ...]


class UnansweredMessage(Stored):
    """What a person said when too much was waiting for an answer already: it is on record, and is no turn."""

    by: str
    name: str
    text: str
    ts: str


class EndedDiscussion(Stored):
    """What the next discussion of the same step starts from; `turns` are those that no model has read since the end."""

    options: tuple[BoardOption, ...] = ()
    turns: tuple[Turn, ...] = ()


class Elaboration(Stored):
    """
    `waiting` are the personas who have the floor, next speaker first; `unheard` had it, and said nothing, since a
    persona last spoke. `silent_rounds` counts the rounds of personas since a person last said something.
    `from_phase_menu` remembers which menu to return to. `named` are the personas that people asked to speak.

    `first_round` is the turn count when the personas' first round was over, 0 until then; `resumed` says that people
    stopped in the middle and came back. `had_floor` is the turn count when a persona last had the floor and said
    nothing. `put` are the disputes that people were asked to decide. `besides` is what people said beyond what can be
    answered, and after the last turn.

    `options` are on the card; who is for which, and all else that it came to, is in the record (`board`). `acted` is
    the turn count when a person last decided or took a position. `not_agreed` are the positions for which a person said
    that there is no agreement yet, `more_turns` what people added to the limit, `asks_all` who asked everybody last.
    `silent` are the personas that had nothing new since anybody last spoke. `entry` is the id of the discussion in the
    specification.
    """

    step_id: str
    lead: str
    topic: str
    max_turns: int
    from_phase_menu: bool = False
    turns: tuple[Turn, ...] = ()
    waiting: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    silent_rounds: int = 0
    ending: EndReason | None = None
    first_round: int = 0
    resumed: bool = False
    had_floor: Mapping[str, int] = {}
    put: tuple[Dispute, ...] = ()
    besides: tuple[UnansweredMessage, ...] = ()
    named: tuple[str, ...] = ()
    options: tuple[BoardOption, ...] = ()
    acted: int = 0
    not_agreed: tuple[str, ...] = ()
    sealed: SealedRound | None = None
    revealed_at: str = ""
    more_turns: int = 0
    asks_all: str = ""
    opened_at: str = ""
    silent: tuple[str, ...] = ()
    entry: str = ""

    @property
    def turn_count(self) -> int:
        return len(self.turns)

    @property
    def turns_used(self) -> int:
        """Of `max_turns`. Personas without a model use none, so without a model nothing is at its limit."""
        return _used(self.turns)

    @property
    def turns_recorded(self) -> int:
        """Seed 001 counts from 1, also when the framing never came."""
        return max(self.turns_used, 1)

    @property
    def is_limited(self) -> bool:
        """Whether a persona with a model takes part."""
        return any(not (turn.human or turn.by_rule) for turn in self.turns)

    @property
    def _next_id(self) -> str:
        return f"t{self.turn_count + 1:02}"

    @property
    def framed(self) -> bool:
        """Whether a persona has opened the discussion; people may speak before that."""
        return any(not turn.human for turn in self.turns)

    @property
    def only_framed(self) -> bool:
        return not any(turn.human for turn in self.turns) and self.turn_count <= 1

    @property
    def exhausted(self) -> bool:
        return self.turns_used >= self.max_turns

    @property
    def takes_people(self) -> bool:
        """Whether what a person says now is a turn: at the limit it is, if a person had the last one."""
        return not self.exhausted or self.turns[-1].human

    @property
    def nearly_over(self) -> bool:
        """When it is time to say so."""
        return self.max_turns - WARNING_TURNS_BEFORE_END <= self.turns_used < self.max_turns

    @property
    def turns_left(self) -> int:
        return max(0, self.max_turns - self.turns_used)

    @property
    def personas_rest(self) -> bool:
        """After the opening personas take at most half of what is left, but for those whom people ask."""
        if not self.first_round:
            return False
        opening, since = self.turns[: self.first_round], self.turns[self.first_round :]
        return sum(not turn.human for turn in since) >= (self.max_turns - _used(opening)) // 2

    @property
    def unanswered(self) -> tuple[Turn, ...]:
        """What people said since a persona last did, oldest first."""
        spoke = max((place for place, turn in enumerate(self.turns, start=1) if not turn.human), default=0)
        return self.turns[spoke:]

    @property
    def asks_for_people(self) -> bool:
        return (
            self.silent_rounds >= SILENT_ROUNDS_BEFORE_PROMPT
            and not self.silent_rounds % SILENT_ROUNDS_BEFORE_PROMPT
        )

    @property
    def has_nothing_new(self) -> bool:
        """Whether personas have nothing more to say; a person who speaks begins it all anew."""
        return len(self.silent) >= ENOUGH_SILENT

    def answers_people(self, persona: str) -> bool:
        """Whether a person has spoken since *persona* had the floor."""
        return any(turn.human for turn in self.turns[max(0, self.last_had_floor(persona)) :])

    def has_new_quote(self, quotes: Iterable[Quote]) -> bool:
        """Whether one of *quotes* is of a line, or of code, that nobody has quoted here yet."""
        used = {quote.line for turn in self.turns for quote in turn.quotes}
        return any(quote.line not in used for quote in quotes)

    def is_blind(self, persona: str) -> bool:
        """Whether *persona* is about to answer the framing, which it is to do alone: in the first round, once."""
        if self.first_round or self.resumed or self.last_had_floor(persona) >= 0:
            return False
        if persona == self.lead:
            return False
        spoken = [turn.by for turn in self.turns if not turn.human]
        others = {by for by in spoken if by != self.lead}
        return spoken.count(self.lead) == 1 and len(others) == len(spoken) - 1

    def spoken(
        self,
        *,
        by: str,
        name: str,
        text: str,
        stances: tuple[Stance, ...] = (),
        unrecorded: bool = False,
        by_rule: bool = False,
        quotes: tuple[Quote, ...] = (),
    ) -> "Elaboration":
        """With one more turn of a persona, who no longer waits. Never more than `max_turns`."""
        assert by_rule or not self.exhausted, "the limit is checked before a persona speaks"
        turn = Turn(
            id=self._next_id,
            by=by,
            name=name,
            text=text,
            stances=stances,
            unrecorded=unrecorded,
            blind=self.is_blind(by),
            by_rule=by_rule,
            quotes=quotes,
        )
        waiting, named = _without(self.waiting, by), _without(self.named, by)
        return self.but(turns=(*self.turns, turn), waiting=waiting, named=named, unheard=(), silent=())

    def heard(self, *, by: str, name: str, text: str, ts: str, line: str = "") -> "Elaboration":
        """With one more turn of a person, where the discussion `takes_people`."""
        assert self.takes_people, "what is said after the last turn is kept besides"
        turn = Turn(id=self._next_id, by=by, name=name, text=text, human=True, ts=ts, line=line)
        return self.but(turns=(*self.turns, turn), silent_rounds=0, silent=())

    def amended(self, ts: str, text: str) -> "Elaboration":
        """What a person changed afterwards; it stays one turn, also when nothing is left of it."""
        turns = tuple(turn.but(text=text) if turn.ts == ts else turn for turn in self.turns)
        besides = tuple(one.but(text=text) if one.ts == ts else one for one in self.besides)
        return self.but(turns=turns, besides=besides)

    def met(self, person: str, name: str) -> "Elaboration":
        """What *person* said, by *name*."""
        return self.but(
            turns=tuple(one.but(name=name) if one.by == person else one for one in self.turns),
            besides=tuple(one.but(name=name) if one.by == person else one for one in self.besides),
        )

    def written(self, line: str) -> "Elaboration":
        """The newest turn is in the transcript as *line*."""
        *before, newest = self.turns
        return self.but(turns=(*before, newest.but(line=line)))

    def shown(self, line: str, ts: str) -> "Elaboration":
        """Slack shows the turn of *line* as message *ts*; the very same object if there is none."""
        if not any(turn.line == line and not turn.human for turn in self.turns):
            return self
        return self.but(
            turns=tuple(turn.but(posted=ts) if turn.line == line else turn for turn in self.turns)
        )

    def passed_over(self, persona: str) -> "Elaboration":
        """*persona* had the floor and said nothing."""
        waiting, named = _without(self.waiting, persona), _without(self.named, persona)
        had_floor = {**self.had_floor, persona: self.turn_count}
        return self.but(waiting=waiting, named=named, unheard=(*self.unheard, persona), had_floor=had_floor)

    def round_over(self) -> "Elaboration":
        """No persona waits for the floor any more. A round before the framing is not the first one."""
        first = self.first_round or (self.turn_count if self.framed else 0)
        return self.but(first_round=first, silent_rounds=self.silent_rounds + 1)

    def back(self, max_turns: int) -> "Elaboration":
        """After a pause: no persona waits for the floor, and what has no answer yet may be asked again."""
        return self.but(
            max_turns=max_turns + self.more_turns,
            waiting=(),
            named=(),
            put=(),
            resumed=self.framed,
        )

    def asked(self, *personas: str) -> "Elaboration":
        """*personas* get the floor, after those who have it already."""
        return self.but(waiting=tuple(dict.fromkeys((*self.waiting, *personas))))

    def last_had_floor(self, persona: str) -> int:
        """The turn count when *persona* last had the floor; -1 if it never had."""
        spoke = max(
            (number for number, turn in enumerate(self.turns, start=1) if turn.by == persona), default=-1
        )
        return max(spoke, self.had_floor.get(persona, -1))


def _used(turns: Iterable[Turn]) -> int:
    counted = (turn.human for turn in turns if turn.human or not turn.by_rule)
    return sum(1 if human else len(list(run)) for human, run in groupby(counted))


def _without(keys: tuple[str, ...], key: str) -> tuple[str, ...]:
    return tuple(one for one in keys if one != key)
