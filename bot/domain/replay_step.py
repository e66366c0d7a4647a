"""The step that is open, and what people said about it."""

from bot.domain import words
from bot.domain.replay_line import Fields
from bot.domain.replay_points import message_id, who
from bot.domain.replay_state import Answer
from bot.domain.transcript import Part

CLARIFYING = Part.CLARIFYING.value
KEPT = 10_000
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
        elif fields["phase"] == CLARIFYING and "written_at" not in meta:
            self._said[message_id(number, meta)] = (number, fields, fields["content"])
            if len(self._said) > KEPT:
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
