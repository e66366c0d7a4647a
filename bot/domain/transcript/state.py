"""What a transcript comes to at a line of it: the state of an item, told by its record alone."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from bot.domain.item.meta import Change, Record, status
from bot.domain.transcript.lines import HOST, Flaw
from bot.domain.transcript.reading import Columns, Fields
from bot.domain.values.text import one_line
from bot.domain.values.value import Value

# What a line of the transcript carries of the change that is committed with it: `meta.change`.
#
# With it the lines alone say how far an item is, so that `meta.json` can be reproduced from them, and
# doubted.


CHANGE = "change"
"""The name of it in a line's `meta`."""

REPRODUCED = ("steps_completed", "phases_completed", "depth_overrides", "elaborations", "analysis_status")
"""The fields of meta.json that follow from the lines."""


class Progress(Value):
    """
    What the lines so far say about meta.json. `whole` is false for a transcript that began before lines carried
    changes: then some of the progress is not in them.
    """

    steps_completed: tuple[str, ...] = ()
    phases_completed: tuple[str, ...] = ()
    depth_overrides: Mapping[str, str] = {}
    elaborations: tuple[Record, ...] = ()
    whole: bool = False

    @property
    def analysis_status(self) -> str:
        return status(self.phases_completed)


class Carried(NamedTuple):
    steps: tuple[str, ...]
    phases: tuple[str, ...]
    depth_overrides: Mapping[str, str]
    elaborations: tuple[Record, ...]
    restart: bool
    created: bool

    @classmethod
    def of(cls, found: object) -> "Carried":
        """Raises ValueError."""
        if isinstance(found, dict):
            return cls._of(found)
        raise ValueError(CHANGE)

    @classmethod
    def _of(cls, found: Mapping[str, Any]) -> "Carried":
        return cls(
            _texts(found["steps"]) if "steps" in found else (),
            _texts(found["phases"]) if "phases" in found else (),
            _depths(found["depth_overrides"]) if "depth_overrides" in found else {},
            _records(found["elaborations"]) if "elaborations" in found else (),
            restart=found.get("restart") is True,
            created=found.get("created") is True,
        )


class Growing:
    """A progress to which changes are added: the same as `meta.apply`, at a cost that does not grow with it."""

    def __init__(self) -> None:
        self._steps: dict[str, None] = {}
        self._phases: dict[str, None] = {}
        self._depths: dict[str, str] = {}
        self._elaborations: dict[tuple[str, str], Record] = {}
        self._whole = False

    def add(self, carried: object) -> Carried:
        """Raises ValueError when *carried* is no change; then nothing of it is added."""
        change = Carried.of(carried)
        begins = change.created and not change.restart
        if begins:
            self._elaborations, self._depths = {}, {}
        if begins or change.restart:
            self._steps, self._phases = {}, {}
        self._steps.update(dict.fromkeys(change.steps))
        self._phases.update(dict.fromkeys(change.phases))
        self._depths.update(change.depth_overrides)
        for record in change.elaborations:
            self._elaborations.setdefault((record.step_id, record.timestamp), record)
        self._whole = self._whole or change.created
        return change

    def progress(self) -> Progress:
        return Progress(
            steps_completed=tuple(self._steps),
            phases_completed=tuple(self._phases),
            depth_overrides=dict(self._depths),
            elaborations=tuple(self._elaborations.values()),
            whole=self._whole,
        )


def carried(change: Change) -> dict[str, Any]:
    """Of *change*, what replaying reproduces; empty when that is nothing."""
    facts = {
        "created": change.created is not None,
        "restart": change.restart,
        "steps": list(change.steps),
        "phases": list(change.phases),
        "depth_overrides": dict(change.depth_overrides),
        "elaborations": [record.model_dump(mode="json") for record in change.elaborations],
    }
    return {name: fact for name, fact in facts.items() if fact}


def _texts(found: Any) -> tuple[str, ...]:
    if isinstance(found, list) and set(map(type, found)) <= {str}:
        return tuple(found)
    raise ValueError(CHANGE)


def _depths(found: Any) -> Mapping[str, str]:
    if isinstance(found, dict):
        return dict(zip(found, _texts([*found.values()]), strict=True))
    raise ValueError(CHANGE)


def _records(found: Any) -> tuple[Record, ...]:
    """Pydantic's errors are ValueErrors, too."""
    if isinstance(found, list):
        return tuple(Record.model_validate(one) for one in found)
    raise ValueError(CHANGE)


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


# Who spoke how often, and what the models' part of it took.


NAME_CHARS = 80
MOST_NAMES = 5_000
"""So many are told apart; a file with more is not about a meeting, and its others are counted together."""
OTHERS = "(others)"
HIGHEST_AMOUNT = 10**15

LINES, CALLS, UNRECORDED, IN = range(4)
AMOUNTS = ("tokens_in", "tokens_out", "cost", "seconds")
CALL = frozenset({"provider", "tokens_in", "tokens_out"})
"""A line with one of these says something of a call."""


class Tally:
    """Lines are counted by the hundred; only those that say something more are looked at one by one."""

    def __init__(self) -> None:
        self._by_actor: dict[str, list[float]] = {}
        self._by_provider: dict[str, list[float]] = {}
        self._speakers: dict[tuple[str, str], list[Any]] = {}

    def take(self, first: int, found: Columns, calling: Iterable[int]) -> None:
        """The lines from the number *first* on; those at *calling* say something of a call."""
        heard = list(zip(found.sources, found.actors, strict=True))
        last = dict(zip(heard, range(first, first + len(heard)), strict=True))
        for (source, actor), lines in Counter(heard).items():
            spent = _of(self._by_actor, actor)
            spent[LINES] += lines
            if source == "model":
                spent[UNRECORDED] += lines
            if source != "user":
                begun = first + heard.index((source, actor))
                self._heard_of((source, actor, actor), lines, first=begun, last=last[source, actor])
        for at, source in enumerate(found.sources):
            if source == "user":
                who = named(source, found.actors[at], found.metas[at])
                self._heard_of(who, 1, first=first + at, last=first + at)
        calls: dict[tuple[str, ...], list[Fields]] = {}
        for at in calling:
            meta = found.metas[at]
            calls.setdefault((*heard[at], called(meta)), []).append(meta)
        for (source, actor, provider), metas in calls.items():
            self._called(source, actor, provider, metas=metas)

    def speakers(self) -> tuple[Speaker, ...]:
        """In the order in which they were first heard."""
        return tuple(sorted(self._as_speakers(), key=attrgetter("first")))

    def totals(self) -> Totals:
        by_actor = {_name(actor): _spent(spent) for actor, spent in self._by_actor.items()}
        by_provider = {_name(provider): _spent(spent) for provider, spent in self._by_provider.items()}
        return Totals(
            all=_spent([sum(column) for column in zip(*self._by_actor.values(), strict=True)] or [0] * 7),
            by_actor=by_actor,
            by_provider=by_provider,
        )

    def _heard_of(self, who: tuple[str, str, str], lines: int, *, first: int, last: int) -> None:
        """Somebody, with so many more *lines*; whom they call themselves by now is what they are called."""
        source, key, name = who
        speaker = self._speakers.get((source, key))
        if speaker is None:
            known = len(self._speakers) < MOST_NAMES
            name = name if known else OTHERS
            speaker = self._speakers.setdefault((source, key if known else OTHERS), [name, 0, first, 0])
        speaker[0] = name
        speaker[1] += lines
        speaker[3] = max(speaker[3], last)

    def _called(self, source: str, actor: str, provider: str, *, metas: Sequence[Fields]) -> None:
        spent = self._by_actor.get(actor) or self._by_actor[OTHERS]
        answered = _of(self._by_provider, provider)
        answered[LINES] += len(metas)
        spent[UNRECORDED] -= len(metas) if source == "model" else 0
        amounts = [total([meta.get(name, 0) for meta in metas]) for name in AMOUNTS]
        for counted in (spent, answered):
            counted[CALLS] += len(metas)
            for place, amount in enumerate(amounts, start=IN):
                counted[place] += amount

    def _as_speakers(self) -> Iterator[Speaker]:
        kinds = {"user": "person", "model": "persona"}
        for (source, key), (name, lines, first, last) in self._speakers.items():
            yield Speaker(
                key=_name(key),
                name=_name(name),
                kind=kinds.get(source, "host" if key == HOST else "persona"),
                lines=lines,
                first=first,
                last=last,
            )


def called(meta: Fields) -> str:
    """The provider, and the model where the line names one."""
    provider, model = meta.get("provider"), meta.get("model")
    if type(provider) is str and type(model) is str:
        return f"{provider}/{model}"
    return provider if type(provider) is str else model if type(model) is str else "unnamed"


def total(found: Sequence[Any]) -> float:
    """What other tools write there may be anything; only what can be added up is."""
    usual = set(map(type, found)) <= {int, float} and min(found) >= 0 and 0 <= sum(found) <= HIGHEST_AMOUNT
    if not usual:
        found = [one for one in found if type(one) in {int, float} and 0 <= one <= HIGHEST_AMOUNT]
    return float(sum(found))


def named(source: str, actor: str, meta: Fields) -> tuple[str, str, str]:
    """A person is known by an id, and called by a name; everybody else is an actor."""
    if source != "user":
        return source, actor, actor
    known, name = meta.get("user_id"), meta.get("user_name")
    name = name if type(name) is str and name else ""
    key = known if type(known) is str and known else name or actor
    return source, key, name or key


def _of(known: dict[str, list[float]], name: str) -> list[float]:
    return known.setdefault(name if name in known or len(known) < MOST_NAMES else OTHERS, [0] * 7)


def _name(found: object) -> str:
    return one_line(found, NAME_CHARS) if isinstance(found, str) else OTHERS


def _spent(counted: list[float]) -> Spent:
    lines, calls, unrecorded, tokens_in, tokens_out, cost, seconds = counted
    return Spent(
        lines=int(lines),
        calls=int(calls),
        unrecorded=int(unrecorded),
        tokens_in=int(tokens_in),
        tokens_out=int(tokens_out),
        cost=round(cost, 6),
        seconds=round(seconds, 3),
    )
