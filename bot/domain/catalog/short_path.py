"""The short path: one card per phase, each with a few questions, and the steps that its answers cover."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from bot.domain.catalog.steps import Ask, Depth, Step, StepHeading, Title, one_line
from bot.domain.values.value import Value

MOST_QUESTIONS = 6
DROP = "drop"
"""Among the kinds of `press`: what was said is not for the record."""

Line = Annotated[str, BeforeValidator(one_line), StringConstraints(min_length=1, max_length=300)]


class CardQuestion(Value):
    text: Line
    asks: Ask


class PathCard(Value):
    """
    What is asked in place of the steps of a phase. `then` is a question behind the numbered ones, `press` are the kinds
    on the buttons for what stayed a note.

    `covers`: a step counts as done once there is an entry of one of these kinds, or one with the field.
    """

    phase: str
    title: Title
    persona: str
    questions: Annotated[tuple[CardQuestion, ...], Field(min_length=1, max_length=MOST_QUESTIONS)]
    then: str = ""
    press: tuple[str, ...] = ()
    covers: Mapping[str, tuple[Ask, ...]] = {}

    def in_place_of(self, steps: Sequence[Step]) -> Step:
        """The card as a step that stands for all *steps* of the phase, under the id of the first."""
        rows = [f"{number}. {one.text}" for number, one in enumerate(self.questions, start=1)]
        asked = "\n".join(rows) + (f"\n\n{self.then}" if self.then else "")
        asks = {number: one.asks for number, one in enumerate(self.questions, start=1)}
        modes = (StepHeading.BRIEF, StepHeading.STANDARD)
        return Step(
            step_id=steps[0].step_id,
            title=self.title,
            persona=self.persona,
            depth=Depth.BRIEF,
            outputs=tuple(dict.fromkeys(output for step in steps for output in step.outputs)),
            phase_key=self.phase,
            filename=steps[0].filename,
            sections=dict.fromkeys(modes, asked),
            asks=dict.fromkeys(modes, asks),
            is_card=True,
            covers=self.covers,
            speakers=steps[0].speakers,
        )


class ShortPath(Value):
    """In the order of the phases; a phase without a card asks its steps."""

    cards: tuple[PathCard, ...] = ()

    def card_of(self, phase_key: str) -> PathCard | None:
        return next((card for card in self.cards if card.phase == phase_key), None)
