"""A workshop with its five roles, and short ways to play it."""

from collections.abc import Mapping
from typing import Any

from bot.domain.planning import workshop
from bot.domain.planning.proposal import ProposedMove
from bot.domain.planning.verdict import (
    DEVELOPER,
    ORDER,
    PRODUCT,
    RISKS,
    SYSTEM,
    TESTS,
    RoleVerdict,
)
from bot.domain.planning.workshop import REQUIRED, DecidedBy, RequestVerdict, Workshop

__all__ = [
    "ADA", "DEVELOPER", "GRACE", "NO", "ORDER", "PRODUCT", "RISKS", "SYSTEM", "TESTS", "UNKNOWN", "VALID", "YES",
    "asking", "at_the_plan", "deciding", "drafted", "read_through", "ready", "round_of", "started", "unanimous",
]  # fmt: skip

ADA, GRACE = DecidedBy(person="ada", line="C1.1"), DecidedBy(person="grace", line="C1.2")
YES = RoleVerdict(ok=True, confidence=0.9)
NO = RoleVerdict(ok=False, confidence=0.9, reasons=("It is too big.",))
UNKNOWN = RoleVerdict(reasons=("Too little is known.",))
VALID: Mapping[str, Any] = {
    "id": "lost-rows",
    "title": "Exports lose rows",
    "brief": "Every export loses its last row.",
    "work": {"tasks": [{"id": "T1", "title": "Keep the last row", "traces": ["FR-001"], "turns": ["C1.1"]}]},
}


def asking(*questions: str, ok: bool | None = False) -> RoleVerdict:
    return RoleVerdict(ok=ok, confidence=0.9, blocking_questions=questions)


def drafted(brief: str = "Every export loses its last row.") -> Workshop:
    return Workshop(slug="lost-rows", title="Exports lose rows", brief=brief, roles=ORDER)


def started(brief: str = "Every export loses its last row.") -> Workshop:
    return workshop.started(drafted(brief))


def round_of(ws: Workshop, verdict: RoleVerdict = YES, **others: RoleVerdict) -> Workshop:
    """Every role that is due in this round speaks: *others* by their name, the rest as *verdict*."""
    number = ws.round
    while isinstance(ws.due, RequestVerdict) and ws.due.round == number:
        ws = workshop.judged(ws, ws.due.role, others.get(ws.due.role, verdict), line=f"L{len(ws.judgements)}")
    return ws


def read_through(verdict: RoleVerdict = YES, **others: RoleVerdict) -> Workshop:
    """After the first reading."""
    return round_of(started(), verdict, **others)


def deciding(verdict: RoleVerdict = YES, **others: RoleVerdict) -> Workshop:
    """After the first round."""
    return round_of(read_through(), verdict, **others)


def unanimous() -> Workshop:
    """All roles have said yes, with models: what speaks against it is asked next."""
    ws = read_through().but(has_models=True)
    for role in ORDER:
        ws = workshop.judged(ws, role, YES, line=f"R{role}")
    return ws


def at_the_plan() -> Workshop:
    return workshop.chosen(deciding(), ProposedMove.GO, ADA)


def ready() -> Workshop:
    return workshop.written(workshop.formalized(at_the_plan(), VALID), *REQUIRED)
