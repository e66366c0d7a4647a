"""What a transcript comes to at a line of it: the state of an item, told by its record alone."""

from collections.abc import Mapping

from bot.domain.progress import Record
from bot.domain.replay_change import Progress
from bot.domain.transcript import Flaw
from bot.domain.value import Value


class Answer(Value):
    """Something a person said about the open step, as they last left it."""

    line: int
    by: str
    text: str


class Turn(Value):
    """One contribution to an elaboration. `position` is empty where the line records none."""

    line: int
    id: str
    by: str
    text: str
    human: bool = False
    position: str = ""


class Point(Value):
    """A decision, a question or an objection; nobody named means all of them."""

    line: int
    step_id: str
    text: str
    by: str = ""


class Move(Value):
    """Somebody took a position, or another one than before (`was`)."""

    line: int
    by: str
    position: str
    was: str = ""


class Discussion(Value):
    """An elaboration that is still open, or was left without a synthesis."""

    line: int
    step_id: str
    turns: tuple[Turn, ...] = ()
    count: int = 0

    @property
    def positions(self) -> Mapping[str, str]:
        """Where everybody stands by now."""
        return {turn.by: turn.position for turn in self.turns if turn.position}


class Concluded(Value):
    """An elaboration that is over. `turns` are those that the lines before it hold."""

    line: int
    step_id: str
    turns: int
    text: str
    whole: bool
    """False when no more came of it than a sentence: then no file has a section of it."""
    record: Record | None = None
    """What the line says of it itself; lines of older versions say nothing."""


class Speaker(Value):
    """Somebody with a voice in the record. `key` tells two people of one name apart."""

    key: str
    name: str
    kind: str
    """`person`, `persona` or `host`."""
    lines: int
    first: int
    last: int


class Spent(Value):
    """What was recorded of calls of models: `unrecorded` lines are a model's and say nothing of the call."""

    lines: int = 0
    calls: int = 0
    unrecorded: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class Totals(Value):
    all: Spent = Spent()
    by_actor: Mapping[str, Spent] = {}
    by_provider: Mapping[str, Spent] = {}


class State(Value):
    """
    `line` is the last one that was looked at, `lines` how many of them could be replayed. `answers`, `flaws` and
    the like are the newest of `…_count`, so that a record of any length has a state of some length.
    """

    line: int = 0
    lines: int = 0
    round: int = 0
    part: str = ""
    ts: str = ""
    began: str = ""
    actor: str = ""
    phase_key: str = ""
    step_id: str = ""
    depth: str = ""
    permalink: str = ""
    progress: Progress = Progress()
    answers: tuple[Answer, ...] = ()
    discussion: Discussion | None = None
    concluded: tuple[Concluded, ...] = ()
    decisions: tuple[Point, ...] = ()
    questions: tuple[Point, ...] = ()
    objections: tuple[Point, ...] = ()
    moves: tuple[Move, ...] = ()
    speakers: tuple[Speaker, ...] = ()
    totals: Totals = Totals()
    flaws: tuple[Flaw, ...] = ()
    flaw_count: int = 0

    @property
    def people(self) -> tuple[Speaker, ...]:
        return tuple(one for one in self.speakers if one.kind == "person")

    @property
    def personas(self) -> tuple[Speaker, ...]:
        return tuple(one for one in self.speakers if one.kind == "persona")
