"""What a voice adds to what a discussion came to: insights, questions, actions, and what it proposes to record."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from bot.domain.values.text import one_line
from bot.domain.values.value import Stored

SUMMARY_CHARS = 100
NOTHING_RECORDED = "Nothing is on record"
"""The summary where there is nothing else to say: the record of a discussion always has one (seed 001)."""


def _summary(text: Any) -> Any:
    return one_line(text, SUMMARY_CHARS) if isinstance(text, str) else text


class Insight(Stored):
    """
    `by` are first names, of personas or people; nobody named means all of them. `agreed`: a second model found it in
    the turns that it names; `unverified`: why they do not say it.
    """

    text: str
    by: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    agreed: bool = False
    unverified: str = ""


class Decision(Stored):
    """What a voice takes for a decision of people: it only proposes it."""

    text: str
    rationale: str = ""
    by: str = ""
    turns: tuple[str, ...] = ()


class OpenQuestion(Stored):
    """`why` it is open, or who resolves it."""

    text: str
    why: str = ""
    turns: tuple[str, ...] = ()
    unverified: str = ""


class Objection(Stored):
    """An objection that a voice found in `turns`; in the words of its author where it is in the record."""

    text: str
    by: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()


class Synthesis(Stored):
    """`summary` is one sentence for the record; a longer one is cut. `by_rule`: no model was asked."""

    insights: tuple[Insight, ...] = ()
    decisions: tuple[Decision, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    actions: tuple[str, ...] = ()
    objections: tuple[Objection, ...] = ()
    by_rule: bool = False
    summary: Annotated[str, BeforeValidator(_summary)]

    @property
    def is_empty(self) -> bool:
        """A model was asked and says nothing."""
        said = self.insights, self.decisions, self.questions, self.actions, self.objections
        return not self.by_rule and not any(said)


def claims(synthesis: Synthesis) -> tuple[str, ...]:
    """Everything it says, line by line."""
    return (
        *(one.text for one in synthesis.insights),
        *(f"{one.text}: {one.rationale}" for one in synthesis.decisions),
        *(f"{one.text}: {one.why}" for one in synthesis.questions),
        *synthesis.actions,
        *(one.text for one in synthesis.objections),
    )
