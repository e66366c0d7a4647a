"""What an elaboration came to, and how it reads."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, assert_never

from pydantic import BeforeValidator

from bot.domain.values.markdown import bullet
from bot.domain.values.text import one_line
from bot.domain.values.value import Stored

__all__ = [
    "REFS",
    "Decision",
    "Insight",
    "Objection",
    "ObjectionOutcome",
    "OpenQuestion",
    "Synthesis",
    "claims",
    "markdown",
    "one_line",
    "outcome",
    "sound",
]

SUMMARY_CHARS = 100
NONE = "None recorded."
ASSUMPTION = "*assumption*"
UNVERIFIED = "*unverified*"
REFS = re.compile(r"(?<!\s)(?<!\d\])(?:\s*+\[t\d{2,}(?:, ?t\d{2,})*+\])++\s*+\Z")
"""The turns behind a claim, as they are shown."""


def _summary(text: Any) -> Any:
    return one_line(text, SUMMARY_CHARS) if isinstance(text, str) else text


class Insight(Stored):
    """
    `by` are first names, of personas or people; nobody named means all of them. `unverified`: why the turns that it
    names do not say it.
    """

    text: str
    by: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    unverified: str = ""


class Decision(Stored):
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


class ObjectionOutcome(StrEnum):
    OPEN = "open"
    """As long as no person settles it. A model cannot say so: it has to weigh what people object to."""
    ACCEPTED = "accepted"
    """It is what the others do now, in something that they say."""
    REJECTED = "rejected"
    """For a reason."""
    DEFERRED = "deferred"
    """At a risk, until something happens."""


class Objection(Stored):
    """
    What somebody holds against the others, said in `turns`, and what became of it. It is never left out, and `text` is
    in the objector's words. `issue` is the name of what it is about, where that has one on record; `quote` is what was
    said beside the position. While it is open, `suggested` is what a model would make of it.
    """

    text: str
    issue: str = ""
    by: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    outcome: ObjectionOutcome = ObjectionOutcome.DEFERRED
    because: str = ""
    reopen_if: str = ""
    risk: str = ""
    quote: str = ""
    suggested: ObjectionOutcome | None = None

    @property
    def is_weighed(self) -> bool:
        """A yes wants what changed, a no its reason; a later wants its risk, and what would bring it back."""
        match self.outcome:
            case ObjectionOutcome.ACCEPTED | ObjectionOutcome.REJECTED:
                return _says(self.because)
            case ObjectionOutcome.OPEN:
                return True
            case ObjectionOutcome.DEFERRED:
                return _says(self.risk) and _says(self.reopen_if)
            case _:
                assert_never(self.outcome)


class Synthesis(Stored):
    """
    `summary` is one sentence for the record; a longer one is cut. `positions` are the options that people named, each
    with who is for it at the end.
    """

    insights: tuple[Insight, ...] = ()
    decisions: tuple[Decision, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    actions: tuple[str, ...] = ()
    objections: tuple[Objection, ...] = ()
    positions: tuple[str, ...] = ()
    summary: Annotated[str, BeforeValidator(_summary)]


def sound(synthesis: Synthesis, *, turns: int) -> bool:
    """Whether it says anything; a discussion that ended with its framing need not."""
    return turns <= 1 or any(
        (
            synthesis.insights,
            synthesis.decisions,
            synthesis.questions,
            synthesis.objections,
            synthesis.actions,
        )
    )


def markdown(
    synthesis: Synthesis,
    *,
    step_id: str,
    title: str,
    participants: str,
    turns: int,
    exit: str,  # noqa: A002 -- the word of the template
    cited: bool = False,
) -> str:
    """
    The summary that people read and artifacts keep (GH-21, synthesis template). *cited*: every claim names the turns
    that it rests on, and an insight that rests on none says so.
    """
    insights = (_insight(one, cited=cited) for one in synthesis.insights)
    decisions = (_decision(one) + _refs(one.turns, cited=cited) for one in synthesis.decisions)
    questions = (
        _doubted(one.unverified) + _because(one.text, one.why) + _refs(one.turns, cited=cited)
        for one in synthesis.questions
    )
    parts = [
        f"### Elaboration Insights (Step {step_id}: {bullet(title)})",
        f"**Participants**: {bullet(participants)}\n**Turns**: {turns} | **Exit**: {exit}",
        _list("Key Insights", insights),
        _list("Decisions Made", decisions),
        _list("Open Questions", questions),
    ]
    if synthesis.positions:
        parts.append(_list("Positions", map(bullet, synthesis.positions)))
    if synthesis.actions:
        parts.append(_list("Action Items", map(bullet, synthesis.actions)))
    if synthesis.objections:
        parts.append(_list("Objections", map(_objection, synthesis.objections)))
    return "\n\n".join(parts) + "\n"


def claims(synthesis: Synthesis) -> tuple[str, ...]:
    """Everything it says, line by line."""
    return (
        *(one.text for one in synthesis.insights),
        *map(_decision, synthesis.decisions),
        *(_because(one.text, one.why) for one in synthesis.questions),
        *synthesis.positions,
        *synthesis.actions,
        *map(_objection, synthesis.objections),
    )


def outcome(synthesis: Synthesis) -> str:
    """Nothing but what was decided, and who stands against it."""
    parts = (
        _list("Decisions Made", map(_decision, synthesis.decisions)) if synthesis.decisions else "",
        _list("Objections", map(_objection, synthesis.objections)) if synthesis.objections else "",
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _says(text: str) -> bool:
    """Whether there is a word in it: a dash in a form is none."""
    return any(letter.isalnum() for letter in text)


def _insight(insight: Insight, *, cited: bool) -> str:
    assumed = f"{ASSUMPTION}: " if cited and not insight.turns else _doubted(insight.unverified)
    return f"[{_names(insight.by)}] {assumed}{bullet(insight.text)}{_refs(insight.turns, cited=cited)}"


def _doubted(why: str) -> str:
    return f"{UNVERIFIED} ({bullet(why)}): " if why else ""


def _refs(turns: tuple[str, ...], *, cited: bool) -> str:
    return f" [{', '.join(turns)}]" if cited and turns else ""


def _objection(objection: Objection) -> str:
    why = f" because {bullet(objection.because)}" if _says(objection.because) else ""
    more = {"risk": objection.risk, "reopen if": objection.reopen_if}
    said = "; ".join(f"{name}: {bullet(text)}" for name, text in more.items() if _says(text))
    outcome = (
        f"{objection.outcome}; suggested: {objection.suggested}" if objection.suggested else objection.outcome
    )
    became = f"{outcome}{why}{f'; {said}' if said else ''}"
    text, refs = bullet(objection.text).rstrip("."), _refs(objection.turns, cited=True)
    text += f" (“{bullet(objection.quote)}”)" if objection.quote else ""
    return f"[{_names(objection.by)}] {text}: {became}{refs}"


def _list(heading: str, lines: Iterable[str]) -> str:
    bullets = "\n".join(f"- {line}" for line in lines)
    return f"#### {heading}\n{bullets or f'- {NONE}'}"


def _decision(decision: Decision) -> str:
    said = _because(decision.text, decision.rationale)
    return f"{said} ({bullet(decision.by)})" if decision.by else said


def _because(text: str, why: str) -> str:
    return f"{bullet(text)}: {bullet(why)}" if why.strip() else bullet(text)


def _names(by: tuple[str, ...]) -> str:
    names = (bullet(one_line(name)).translate({ord("["): None, ord("]"): None}) for name in by)
    return "/".join(filter(None, names)) or "All"
