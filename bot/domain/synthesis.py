"""What an elaboration came to, and how it reads."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator

from bot.domain.markdown import bullet
from bot.domain.text import one_line
from bot.domain.value import Stored

__all__ = ["Decision", "Insight", "Question", "Synthesis", "markdown", "one_line", "sound"]

SUMMARY_CHARS = 100
NONE = "None recorded."


def _summary(text: Any) -> Any:
    return one_line(text, SUMMARY_CHARS) if isinstance(text, str) else text


class Insight(Stored):
    """`by` are first names, of personas or people; nobody named means all of them."""

    text: str
    by: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()


class Decision(Stored):
    text: str
    rationale: str = ""
    by: str = ""
    turns: tuple[str, ...] = ()


class Question(Stored):
    """`why` it is open, or who resolves it."""

    text: str
    why: str = ""
    turns: tuple[str, ...] = ()


class Synthesis(Stored):
    """`summary` is one sentence for the record; a longer one is cut."""

    insights: tuple[Insight, ...] = ()
    decisions: tuple[Decision, ...] = ()
    questions: tuple[Question, ...] = ()
    actions: tuple[str, ...] = ()
    summary: Annotated[str, BeforeValidator(_summary)]


def sound(synthesis: Synthesis, *, turns: int) -> bool:
    """Whether it says anything; a discussion that ended with its framing need not."""
    return bool(synthesis.insights) or turns <= 1


def markdown(
    synthesis: Synthesis,
    *,
    step_id: str,
    title: str,
    participants: str,
    turns: int,
    exit: str,  # noqa: A002 -- the word of the template
) -> str:
    """The summary that people read and artifacts keep (GH-21, synthesis template)."""
    parts = [
        f"### Elaboration Insights (Step {step_id}: {bullet(title)})",
        f"**Participants**: {bullet(participants)}\n**Turns**: {turns} | **Exit**: {exit}",
        _list("Key Insights", (f"[{_names(one.by)}] {bullet(one.text)}" for one in synthesis.insights)),
        _list("Decisions Made", map(_decision, synthesis.decisions)),
        _list("Open Questions", (_because(one.text, one.why) for one in synthesis.questions)),
    ]
    if synthesis.actions:
        parts.append(_list("Action Items", map(bullet, synthesis.actions)))
    return "\n\n".join(parts) + "\n"


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
