"""
The fold of a transcript: lines go in, in order, and what the item has come to comes out, after any of them.

Nothing else is needed, and nothing else is looked at: no store, no model, no Slack. What cannot be read is reported
by its line, and the rest is still replayed. Unlike all other values a replay changes in place, because a record of a
million lines would otherwise be a million states.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bot.domain.item.meta import Record
from bot.domain.roundtable import words
from bot.domain.transcript.lines import Flaw, Part
from bot.domain.transcript.points import NAMED, SYNTHESIS, Points, message_id, position, who
from bot.domain.transcript.reading import Columns, Fields, as_line, changes, columns, flaw_of
from bot.domain.transcript.state import (
    CALL,
    CHANGE,
    Answer,
    Concluded,
    Discussion,
    Growing,
    State,
    Tally,
    Turn,
)

# The step that is open, and what people said about it.


ASKING = Part.CLARIFYING.value
SAID_KEPT = 10_000
"""So many answers, the newest."""


class OpenStep:
    def __init__(self) -> None:
        self.phase_key = self.step_id = self.depth = ""
        self._said: dict[str, tuple[int, Fields, str]] = {}

    def go_to(self, phase: object, step: object) -> bool:
        """Where a line says that it stands; one that says nothing stays where we are. True for another step."""
        if phase == self.phase_key and step == self.step_id:
            return False
        before = self.phase_key, self.step_id
        if isinstance(phase, str) and phase and phase != self.phase_key:
            self.phase_key, self.step_id, self.depth = phase, "", ""
        if isinstance(step, str) and step:
            self.step_id = step
        if before == (self.phase_key, self.step_id):
            return False
        self._said = {}
        return True

    def listen(self, number: int, fields: Fields, meta: Fields) -> None:
        """Answers, and what became of them: a change of an answer is none of its own, and late words answer nothing."""
        if "amends" in meta:
            self._amend(meta["amends"], fields["content"])
        elif "retracts" in meta:
            self._amend(meta["retracts"], None)
        elif fields["phase"] == ASKING and "written_at" not in meta:
            self._said[message_id(number, meta)] = (number, fields, fields["content"])
            if len(self._said) > SAID_KEPT:
                del self._said[next(iter(self._said))]

    def answers(self) -> tuple[Answer, ...]:
        """What was meant for a button is none."""
        return tuple(
            Answer(line=number, by=who(fields), text=text)
            for number, fields, text in sorted(self._said.values(), key=lambda said: said[0])
            if not words.is_wish(text)
        )

    def _amend(self, answer: object, text: str | None) -> None:
        """None when it was taken back."""
        if isinstance(answer, str) and (said := self._said.pop(answer, None)) and text is not None:
            self._said[answer] = (said[0], said[1], text)


# The elaboration that is open, and those that are over.


CONCLUDED_KEPT = 2_000
"""So many turns, and so many elaborations, the newest."""


class Discussing:
    def __init__(self) -> None:
        self.concluded: deque[Concluded] = deque(maxlen=CONCLUDED_KEPT)
        self._begun = self._count = 0
        self._has_first = False
        self._step_id = ""
        self._turns: deque[tuple[int, Fields]] = deque(maxlen=CONCLUDED_KEPT)
        self._amended: dict[str, str] = {}

    def speak(self, number: int, fields: Fields, meta: Fields, *, step_id: str) -> None:
        """
        Turn 1 begins a discussion, also when the one before was never concluded. A message that was delivered late, and
        is a later turn by its number, may stand before it.
        """
        is_first = meta.get("turn") == 1
        if not self._begun or (is_first and self._has_first):
            self._begun, self._count, self._step_id = number, 0, step_id
            self._turns.clear()
            self._amended = {}
            self._has_first = False
        self._has_first = self._has_first or is_first
        self._count += 1
        self._turns.append((number, fields))

    def amend(self, meta: Fields, content: str) -> None:
        """A turn stays one, also when nothing is left of it."""
        if self._begun and isinstance(turn := meta.get("amends"), str):
            self._amended[turn] = content
        if self._begun and isinstance(turn := meta.get("retracts"), str):
            self._amended[turn] = ""

    def conclude(self, number: int, text: str, *, step_id: str, record: Record | None) -> None:
        """With *text*: a synthesis, or the one sentence that had to do."""
        concluded = Concluded(
            line=number,
            step_id=record.step_id if record else step_id,
            turns=self._count if self._begun else 0,
            text=text,
            whole=text.startswith(SYNTHESIS),
            record=record,
        )
        self.concluded.append(concluded)
        self.leave()

    def leave(self) -> None:
        """Questions and answers go on: a discussion that was open is over."""
        self._begun = 0

    def discussion(self) -> Discussion | None:
        if not self._begun:
            return None
        turns = tuple(self._turn(number, fields) for number, fields in self._turns)
        return Discussion(line=self._begun, step_id=self._step_id, turns=turns, count=self._count)

    def _turn(self, number: int, fields: Fields) -> Turn:
        meta = fields["meta"]
        return Turn(
            line=number,
            id=str(meta["turn_id"]),
            by=who(fields),
            text=self._amended.get(message_id(number, meta), fields["content"]),
            human=fields["source"] == "user",
            position=position(meta),
        )


KEPT = 10_000
"""So many flaws, the newest: the state of a record of any length stays small."""

CLARIFYING, WORKSHOP, FORMALIZING = Part.CLARIFYING.value, Part.WORKSHOP.value, Part.FORMALIZING.value
REMARKABLE = NAMED | {CHANGE, "permalink", "depth", "amends", "retracts"}
TELLING = REMARKABLE | {"turn_id"}
"""A line with one of these in its `meta` says more than what somebody said."""

_NOTHING: Fields = {}


class Saying(NamedTuple):
    """When whoever writes the transcript last had somebody of ours speak."""

    round: int
    part: str
    writer: str


class Shape(NamedTuple):
    """What the names in a line's `meta` tell, whatever stands under them."""

    tells: bool
    remarks: bool
    calls: bool


class Shapes(dict[tuple[str, ...], Shape]):
    """Lines are many, and their shapes few."""

    def __missing__(self, names: tuple[str, ...]) -> Shape:
        shape = Shape(
            tells=not TELLING.isdisjoint(names),
            remarks=not REMARKABLE.isdisjoint(names),
            calls=not CALL.isdisjoint(names),
        )
        if len(self) < KEPT:
            self[names] = shape
        return shape


class Replay:
    def __init__(self) -> None:
        self._number = self._lines = self._round = self._flaw_count = 0
        self._part = self._ts = self._began = self._actor = self._permalink = ""
        self._saying, self._mixed = Saying(-1, "", ""), -1
        self._place: tuple[object, object] = (None, None)
        self._step = OpenStep()
        self._shapes = Shapes()
        self._tally = Tally()
        self._growing = Growing()
        self._discussing = Discussing()
        self._points = Points()
        self._flaws: deque[Flaw] = deque(maxlen=KEPT)

    def take_all(self, first: int, rows: Sequence[Mapping[str, Any] | str | None]) -> None:
        """
        The rows from the number *first* on: what one says, or a sentence about why nobody knows, or None for nothing.

        The same as taking them one by one, in a third of the time where all is as it should be.
        """
        found = columns(rows) if rows else None
        if found and self._goes_on(found):
            self._take_columns(first, rows, found)
            return
        for number, row in enumerate(rows, start=first):
            if isinstance(row, str):
                self.refuse(number, row)
            elif row is not None:
                self.take(number, row)
        self._number = max(self._number, first + len(rows) - 1)

    def take(self, number: int, fields: Fields) -> None:
        self._number = number
        fields, found = as_line(fields)
        if found is None:
            self.refuse(number, flaw_of(fields))
            return
        self._in_order(number, fields)
        self._take_columns(number, [fields], found)

    def refuse(self, number: int, sentence: str) -> None:
        """A row that is no line, or not as it should be; *sentence* says why."""
        self._number = max(number, self._number)
        self._flaw_count += 1
        self._flaws.append(Flaw(number=number, sentence=sentence))

    def state(self) -> State:
        progress = self._growing.progress()
        points = self._points
        return State(
            line=self._number,
            lines=self._lines,
            round=self._round,
            part=self._part,
            ts=self._ts,
            began=self._began,
            actor=self._actor,
            phase_key=self._step.phase_key,
            step_id=self._step.step_id,
            depth=progress.depth_overrides.get(self._step.phase_key) or self._step.depth,
            permalink=self._permalink,
            progress=progress,
            answers=self._step.answers(),
            discussion=self._discussing.discussion(),
            concluded=tuple(self._discussing.concluded),
            decisions=tuple(points.decisions),
            questions=tuple(points.questions),
            objections=tuple(points.objections),
            moves=tuple(points.moves),
            speakers=self._tally.speakers(),
            totals=self._tally.totals(),
            flaws=tuple(self._flaws),
            flaw_count=self._flaw_count,
        )

    # --- order ----------------------------------------------------------------------------------------------------

    def _in_order(self, number: int, fields: Fields) -> None:
        """Seed 004 §3."""
        ts, round_ = fields["ts"], fields["round"]
        if round_ < self._round:
            self.refuse(number, f"goes back from round {self._round} to {round_}")
        if ts < self._ts:
            self.refuse(number, f"is earlier ({ts}) than the line before it ({self._ts})")
        before, self._saying = self._saying, _saying(fields)
        if fields["source"] == "user":
            self._saying = before  # people say something at any time
        elif self._saying.round == before.round and self._saying.part != before.part:
            self._transition(number, fields, before)

    def _transition(self, number: int, fields: Fields, before: "Saying") -> None:
        """
        A note of the host's may change the phase of a round. Where two meetings meet, because the store was lost or
        clones were joined, rounds of the later one are raised, and may fall together.
        """
        if fields["source"] == "system" or self._saying.writer != before.writer:
            self._mixed = before.round
        if self._mixed != before.round:
            sentence = f"is {self._saying.part} in round {before.round}, which was {before.part} before it"
            self.refuse(number, sentence)

    def _goes_on(self, found: Columns) -> bool:
        """Whether nothing in *found*, or between it and what was before, is out of order."""
        first = (found.rounds[0], found.parts[0])
        begins = not self._lines or first[0] > self._round or first == (self._round, self._part)
        spoken = first[0] > self._saying.round or first == self._saying[:2]
        return begins and spoken and found.stamps[0] >= self._ts and found.in_order

    # --- many at once ---------------------------------------------------------------------------------------------

    def _take_columns(self, first: int, rows: Sequence[Any], found: Columns) -> None:
        """Most lines only have to be counted; those that may say more are followed one by one."""
        shapes = list(map(self._shapes.__getitem__, map(tuple, found.metas)))
        self._tally.take(first, found, [at for at, shape in enumerate(shapes) if shape.calls])
        places = [(meta.get("phase_key"), meta.get("step_id")) for meta in found.metas]
        telling = {
            *[at for at, shape in enumerate(shapes) if shape.tells],
            *changes(places, self._place),
            *self._syntheses(rows, found),
        }
        asking = {at for at in changes(found.parts, self._part) if found.parts[at] == CLARIFYING}
        moved = 0
        for at in sorted(telling | asking):
            if at not in telling:
                self._discussing.leave()
            elif self._follow(first + at, rows[at], found.metas[at], remarks=shapes[at].remarks):
                moved = at
        self._listen(first, rows, found, since=moved)
        spoken = next((at for at in reversed(range(len(rows))) if found.sources[at] != "user"), None)
        self._saying = self._saying if spoken is None else _saying(rows[spoken])
        self._number, self._lines = first + len(rows) - 1, self._lines + len(rows)
        self._round, self._part, self._ts = found.rounds[-1], found.parts[-1], found.stamps[-1]
        self._actor, self._place = found.actors[-1], places[-1]
        self._began = self._began or found.stamps[0]

    def _listen(self, first: int, rows: Sequence[Any], found: Columns, *, since: int) -> None:
        """What was said about earlier steps is said about none that is open."""
        for at in range(since, len(rows)):
            if found.sources[at] == "user" or "retracts" in found.metas[at]:
                self._step.listen(first + at, rows[at], found.metas[at])

    @staticmethod
    def _syntheses(rows: Sequence[Any], found: Columns) -> list[int]:
        """Older lines with one carry no change."""
        if FORMALIZING not in found.parts:
            return []
        return [
            at
            for at, part in enumerate(found.parts)
            if part == FORMALIZING and rows[at]["content"].startswith(SYNTHESIS)
        ]

    # --- what a line says -----------------------------------------------------------------------------------------

    def _follow(self, number: int, fields: Fields, meta: Fields, *, remarks: bool) -> bool:
        """Whether another step is open by it."""
        moved = self._step.go_to(meta.get("phase_key"), meta.get("step_id"))
        part = fields["phase"]
        if part == CLARIFYING:
            self._discussing.leave()
        elif part == WORKSHOP and "turn_id" in meta:
            if meta.get("turn") == 1:
                self._points.begin()
            self._discussing.speak(number, fields, meta, step_id=self._step.step_id)
        if part == FORMALIZING or remarks:
            self._told(number, fields, meta)
        return moved

    def _told(self, number: int, fields: Fields, meta: Fields) -> None:
        content, step_id = fields["content"], self._step.step_id
        written = (
            fields["phase"] == FORMALIZING and fields["source"] != "user" and content.startswith(SYNTHESIS)
        )
        record = self._change(number, meta[CHANGE]) if CHANGE in meta else None
        if written:
            self._points.of_synthesis(number, content, step_id=step_id)
        if written or record:
            self._discussing.conclude(number, content, step_id=step_id, record=record)
        if not NAMED.isdisjoint(meta):
            self._points.of_line(number, fields, meta, step_id=step_id)
        if "permalink" in meta:
            self._permalink = str(meta["permalink"])
        if "depth" in meta:
            self._step.depth = str(meta["depth"])
        self._discussing.amend(meta, content)

    def _change(self, number: int, carried: object) -> Record | None:
        """The elaboration that is over by it."""
        try:
            change = self._growing.add(carried)
        except ValueError:
            self.refuse(number, "has a change that is none")
            return None
        return change.elaborations[-1] if change.elaborations and not change.restart else None


def _saying(fields: Fields) -> Saying:
    """Ids of ours are numbered, and what stands before the number is the roundtable's alone."""
    written = message_id(0, fields.get("meta", _NOTHING))
    return Saying(fields["round"], fields["phase"], written.rpartition(".")[0])
