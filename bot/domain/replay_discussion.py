"""The elaboration that is open, and those that are over."""

from collections import deque

from bot.domain.progress import Record
from bot.domain.replay_line import Fields
from bot.domain.replay_points import SYNTHESIS, message_id, position, who
from bot.domain.replay_state import Concluded, Discussion, Turn

KEPT = 2_000
"""So many turns, and so many elaborations, the newest."""


class Discussing:
    def __init__(self) -> None:
        self.concluded: deque[Concluded] = deque(maxlen=KEPT)
        self._begun = self._count = 0
        self._has_first = False
        self._step_id = ""
        self._turns: deque[tuple[int, Fields]] = deque(maxlen=KEPT)
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
