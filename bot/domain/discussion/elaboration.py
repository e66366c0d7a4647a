"""
An elaboration: a bounded discussion of one finished step, in which personas and people argue as equals.

A turn is one contribution, of a persona or of a person. What the host says is none. The limit is for personas with a
model: what people say between two of their turns counts as one turn.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import groupby
from typing import Any

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
MOST_CALLS = 9
"""Of models, for one discussion."""
CALLS_AT_THE_END = 2
"""Of those, to put it together and to review that."""
MOST_IN_THE_OPENING = 5
MOST_IN_A_ROUND = 2
"""Contributions of all personas together, from one call."""


class EndReason(StrEnum):
    """Why an elaboration was over; the words stand in its block."""

    BY_PEOPLE = "user-initiated"
    TURN_LIMIT = "turn-limit"
    BUDGET = "budget"
    QUIET = "quiet"
    """No turns were left, everybody was heard, and then the thread was quiet."""
    DUE = "due-time"
    """No turns were left, and the time came at which answers were due."""


class TurnKind(StrEnum):
    """What a voice is asked for in a discussion."""

    OPENING = "opening"
    """By one persona, which does not know what the others say."""
    ASKED = "asked"
    """By the personas that people asked."""
    ROUND = "round"
    """By all personas together, where they quote what nobody has quoted here yet."""


class Contribution(Stored):
    """
    What a voice says in a discussion for *persona*. `by_rule`: no model was asked; `blends`: it spoke for another, too,
    and that was cut off.
    """

    persona: str
    text: str
    stances: tuple[Stance, ...] = ()
    quotes: tuple[Quote, ...] = ()
    by_rule: bool = False
    blends: bool = False
    facts: Mapping[str, Any] = {}
    """For its line."""


class Turn(Stored):
    """
    `id` is t01, t02, … in the order of speaking; `by` a persona's key or a person's id; `ts` is for people only.

    `line` is the `message_id` of its line, `posted` where Slack shows what a persona said. A voice may put on record
    where it stands. `by_rule`: its speaker has no model, or not now. `quotes` are words of people and code that it
    rests on.
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


class AnswerNote(Stored):
    """
    Of a call that *persona* was asked by, or several *personas* of a discussion by a *turn*: the `reason` why there is
    no answer, or after how many `looks` it was stopped. `raw` is an answer that could not be read, `left_out` counts
    what was not taken by the reason, `unseen` are the entries for which its prompt had no room.
    """

    step_id: str
    persona: str
    turn: TurnKind = TurnKind.ROUND
    personas: tuple[str, ...] = ()
    reason: str = ""
    looks: int = 0
    raw: str = ""
    left_out: Mapping[str, int] = {}
    unseen: str = ""


class Elaboration(Stored):
    """
    `calls` counts those of models. `is_round_wanted`: people have said something that no round has taken up.
    `has_nothing_new`: the last round brought nothing, and nobody has spoken since. `notes` say what was wrong with the
    answers of models since the last round. `from_phase_menu` remembers which menu to return to. `put` are the disputes
    that people were asked to decide. `besides` is what people said after the last turn.

    `options` are on the card; who is for which, and all else that it came to, is in the record (`board`). `not_agreed`
    are the positions for which a person said that there is no agreement yet, `more_turns` what people added to the
    limit, `asks_all` who asked everybody last. `entry` is the id of the discussion in the specification.
    """

    step_id: str
    lead: str
    topic: str
    max_turns: int
    from_phase_menu: bool = False
    turns: tuple[Turn, ...] = ()
    calls: int = 0
    is_round_wanted: bool = False
    has_nothing_new: bool = False
    notes: tuple[AnswerNote, ...] = ()
    ending: EndReason | None = None
    put: tuple[Dispute, ...] = ()
    besides: tuple[UnansweredMessage, ...] = ()
    options: tuple[BoardOption, ...] = ()
    not_agreed: tuple[str, ...] = ()
    sealed: SealedRound | None = None
    revealed_at: str = ""
    more_turns: int = 0
    asks_all: str = ""
    opened_at: str = ""
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
        """Seed 001 counts from 1, also when no persona opened it."""
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
        """Whether personas with a model fall silent, and only people go on."""
        return self.turns_used >= self.max_turns or self.calls_left <= 0

    @property
    def calls_left(self) -> int:
        """But for those at the end. Who gives more turns gives as many calls."""
        return MOST_CALLS - CALLS_AT_THE_END + self.more_turns - self.calls

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

    def spoken(self, said: Contribution, *, name: str) -> "Elaboration":
        """With one more turn of a persona. Never more than `max_turns`."""
        assert said.by_rule or not self.exhausted, "the limit is checked before a persona speaks"
        turn = Turn(
            id=self._next_id,
            by=said.persona,
            name=name,
            text=said.text,
            stances=said.stances,
            by_rule=said.by_rule,
            quotes=said.quotes,
        )
        return self.but(turns=(*self.turns, turn), has_nothing_new=False)

    def heard(self, *, by: str, name: str, text: str, ts: str, line: str = "") -> "Elaboration":
        """With one more turn of a person, where the discussion `takes_people`."""
        assert self.takes_people, "what is said after the last turn is kept besides"
        turn = Turn(id=self._next_id, by=by, name=name, text=text, human=True, ts=ts, line=line)
        return self.but(turns=(*self.turns, turn), has_nothing_new=False)

    def amended(self, ts: str, text: str) -> "Elaboration":
        """What a person changed afterwards; it stays one turn, also when nothing is left of it."""
        turns = tuple(turn.but(text=text) if turn.ts == ts else turn for turn in self.turns)
        besides = tuple(one.but(text=text) if one.ts == ts else one for one in self.besides)
        return self.but(turns=turns, besides=besides)

    def has(self, ts: str) -> bool:
        """Whether the message *ts* is a turn, or stands beside them."""
        return any(one.ts == ts for one in self.turns) or any(one.ts == ts for one in self.besides)

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


def has_new_quote(said: Iterable[Turn | Contribution], quotes: Iterable[Quote]) -> bool:
    """Whether one of *quotes* is of a line, or of code, that nobody has quoted in what was *said*."""
    used = {quote.line for one in said for quote in one.quotes}
    return any(quote.line not in used for quote in quotes)


def _used(turns: Iterable[Turn]) -> int:
    counted = (turn.human for turn in turns if turn.human or not turn.by_rule)
    return sum(1 if human else len(list(run)) for human, run in groupby(counted))
