"""A workshop with its five roles, and short ways to play it."""

from collections.abc import Mapping
from typing import Any

from bot.domain.planning import workshop
from bot.domain.planning.proposal import Decision
from bot.domain.planning.verdict import DEVELOPER, ORDER, PRODUCT, RISKS, SYSTEM, TESTS, Verdict
from bot.domain.planning.workshop import REQUIRED, By, Judge, Workshop

__all__ = [
    "ADA", "DEVELOPER", "GRACE", "NO", "ORDER", "PRODUCT", "RISKS", "SYSTEM", "TESTS", "UNKNOWN", "VALID", "YES",
    "asking", "at_the_plan", "deciding", "drafted", "read_through", "ready", "round_of", "started",
]  # fmt: skip

ADA, GRACE = By(person="ada", line="C1.1"), By(person="grace", line="C1.2")
YES = Verdict(ok=True, confidence=0.9)
NO = Verdict(ok=False, confidence=0.9, reasons=("It is too big.",))
UNKNOWN = Verdict(reasons=("Too little is known.",))
VALID: Mapping[str, Any] = {
    "id": "lost-rows",
    "title": "Exports lose rows",
    "brief": "Every export loses its last row.",
    "work": {"tasks": [{"id": "T1", "title": "Keep the last row", "traces": ["FR-001"], "turns": ["C1.1"]}]},
}


def asking(*questions: str, ok: bool | None = False) -> Verdict:
    return Verdict(ok=ok, confidence=0.9, blocking_questions=questions)


def drafted(brief: str = "Every export loses its last row.") -> Workshop:
    return Workshop(slug="lost-rows", title="Exports lose rows", brief=brief, roles=ORDER)


def started(brief: str = "Every export loses its last row.") -> Workshop:
    return workshop.started(drafted(brief))


def round_of(ws: Workshop, verdict: Verdict = YES, **others: Verdict) -> Workshop:
    """Every role that is due in this round speaks: *others* by their name, the rest as *verdict*."""
    number = ws.round
    while isinstance(ws.due, Judge) and ws.due.round == number:
        ws = workshop.judged(ws, ws.due.role, others.get(ws.due.role, verdict), line=f"L{len(ws.judgements)}")
    return ws


def read_through(verdict: Verdict = YES, **others: Verdict) -> Workshop:
    """After the first reading."""
    return round_of(started(), verdict, **others)


def deciding(verdict: Verdict = YES, **others: Verdict) -> Workshop:
    """After the first round."""
    return round_of(read_through(), verdict, **others)


def at_the_plan() -> Workshop:
    return workshop.chosen(deciding(), Decision.GO, ADA)


def ready() -> Workshop:
    return workshop.written(workshop.formalized(at_the_plan(), VALID), *REQUIRED)
