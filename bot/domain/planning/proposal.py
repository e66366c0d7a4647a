"""
What the verdicts come to: signals, and from them a proposal. People decide; this only proposes.

There were two rules for this, and they differ. This is the one of the orchestrator (consensus, signals, rounds), with
what is stricter in the one of the meeting: errors of the plan itself, a no from the role that plans the tests, a sure
no from the role that plans the risks. Where the signals differ, each counts in its graded, stricter form:

    commitment_readiness   medium, and high above two roles    (not: always medium)
    user_uncertainty       uncertain, unclear, unsure, ambiguous    (not: the first two only)

What the brief is unsure about is settled once people have answered a question. A confidence that is not named counts
as 1. There is no chair who may outvote the rule: that is what people are for.
"""

import re
from collections.abc import Mapping
from enum import IntEnum, StrEnum

from bot.domain.planning.verdict import RISKS, TESTS, RoleVerdict, title, titles
from bot.domain.values.text import counted
from bot.domain.values.value import Stored

COVERAGE_TO_GO = 0.75
COVERAGE_TO_HOLD = 0.5
CONFIDENCE = 0.6
CONFIDENCE_OF_A_RISK = 0.8
MAX_ROUNDS = 2
MAX_SESSIONS = 3
"""Of questions to the people; the first one, before anybody judges, is one of them."""
MANY_ROLES = 2
MANY_QUESTIONS = 3
HIGH_SIGNALS_TO_CLARIFY = 2

_UNSURE = re.compile(r"\b(?:uncertain|unclear|unsure|ambiguous)\b", re.IGNORECASE)


class ProposedMove(StrEnum):
    GO = "go"
    """Write the plan."""
    HOLD = "hold"
    """Leave it as it is for now; nothing is lost, and people may go on at any time."""
    REDO = "redo"
    """Begin again from the brief, as the next version."""
    CLARIFY = "clarify"
    """Put the open questions to the people, and hear the roles again."""


class Level(IntEnum):
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3


class Signal(Stored):
    name: str
    level: Level
    sentence: str


class RoundResult(Stored):
    """
    How a round ended. `before` are the verdicts of the round before it, if there was one. `blocking` are blocking
    questions that are neither answered nor passed, `open` all that have no answer. `can_ask` says whether questions,
    and a round after them, are left; `errors` are those of a plan that was written already. `challenged_by` is the
    role that was asked for what speaks against what all agreed on.
    """

    round: int
    verdicts: Mapping[str, RoleVerdict]
    before: Mapping[str, RoleVerdict] = {}
    blocking: int = 0
    open: int = 0
    unsure: bool = False
    can_ask: bool = False
    challenged_by: str = ""
    errors: tuple[str, ...] = ()


class Proposal(Stored):
    decision: ProposedMove
    coverage: float
    signals: tuple[Signal, ...] = ()
    reasons: tuple[str, ...] = ()


def is_unsure(brief: str) -> bool:
    return _UNSURE.search(brief) is not None


def agreeing(verdicts: Mapping[str, RoleVerdict]) -> frozenset[str]:
    """The roles in consensus: they say yes, and mean it."""
    return frozenset(role for role, one in verdicts.items() if one.ok and one.sureness >= CONFIDENCE)


def coverage(verdicts: Mapping[str, RoleVerdict]) -> float:
    return len(agreeing(verdicts)) / len(verdicts) if verdicts else 0.0


def is_unanimous(verdicts: Mapping[str, RoleVerdict]) -> bool:
    return len(verdicts) > 1 and len(agreeing(verdicts)) == len(verdicts)


def proposal(now: RoundResult) -> Proposal:
    found = signals(now)
    decision, why = _decided(now, found)
    reasons = (why, *now.errors, *_vetoes(now.verdicts), *(signal.sentence for signal in found))
    return Proposal(
        decision=decision,
        coverage=coverage(now.verdicts),
        signals=found,
        reasons=tuple(dict.fromkeys(filter(None, reasons))),
    )


def signals(now: RoundResult) -> tuple[Signal, ...]:
    """The worst first."""
    told = {name: rule(now) for name, rule in SIGNALS.items()}
    found = [Signal(name=name, level=one[0], sentence=one[1]) for name, one in told.items() if one]
    return tuple(sorted(found, key=lambda signal: -signal.level))


def _decided(now: RoundResult, found: tuple[Signal, ...]) -> tuple[ProposedMove, str]:
    agreed, saying_so = coverage(now.verdicts), len(agreeing(now.verdicts))
    share = f"{saying_so} of {len(now.verdicts)} roles {'agrees' if saying_so == 1 else 'agree'}"
    if now.errors:
        return ProposedMove.REDO, "The plan that was written has errors."
    if now.can_ask and _calls_for_questions(found):
        return ProposedMove.CLARIFY, f"{share}, and there are questions only people can answer."
    if agreed >= COVERAGE_TO_GO and not _serious(found) and not _vetoes(now.verdicts):
        return ProposedMove.GO, f"{share}.{_unanimity(now)}"
    if now.round >= MAX_ROUNDS and agreed < COVERAGE_TO_HOLD:
        return ProposedMove.REDO, f"Only {share} after {now.round} rounds."
    return ProposedMove.HOLD, f"{share}."


def _unanimity(now: RoundResult) -> str:
    """That all agree is only worth something when one of them has looked for the opposite."""
    if not is_unanimous(now.verdicts):
        return ""
    if now.challenged_by:
        return f" {title(now.challenged_by)} looked for what speaks against it, and says yes."
    return " No role was asked for what speaks against it."


def _calls_for_questions(found: tuple[Signal, ...]) -> bool:
    high = sum(signal.level is Level.HIGH for signal in found)
    unsure = any(signal.name == "user_uncertainty" for signal in found)
    return (
        any(signal.level is Level.CRITICAL for signal in found)
        or high >= HIGH_SIGNALS_TO_CLARIFY
        or (unsure and len(found) > 1)
    )


def _serious(found: tuple[Signal, ...]) -> bool:
    return any(signal.level >= Level.HIGH for signal in found)


def _vetoes(verdicts: Mapping[str, RoleVerdict]) -> tuple[str, ...]:
    """Of the two who speak for what goes wrong later, one no is enough."""
    tests, risks = verdicts.get(TESTS), verdicts.get(RISKS)
    found = []
    if tests and tests.ok is False:
        found.append(f"{title(TESTS)} says no.")
    if risks and risks.ok is False and risks.sureness >= CONFIDENCE_OF_A_RISK:
        found.append(f"{title(RISKS)} says no, and is sure.")
    return tuple(found)


Told = tuple[Level, str] | None


def _blocking_questions(now: RoundResult) -> Told:
    if not now.blocking:
        return None
    return Level.CRITICAL, f"{counted(now.blocking, 'question')} must be answered first."


def _nothing_new(now: RoundResult) -> Told:
    stuck = now.round >= MAX_ROUNDS and now.before and coverage(now.verdicts) < 1
    if not stuck or agreeing(now.verdicts) - agreeing(now.before):
        return None
    return Level.HIGH, "The last round changed no role's answer."


def _requirement_clarity(now: RoundResult) -> Told:
    if not now.open:
        return None
    level = Level.HIGH if now.open > MANY_QUESTIONS else Level.MEDIUM
    return level, f"{counted(now.open, 'question')} without an answer."


def _narrative_divergence(now: RoundResult) -> Told:
    against = [role for role, one in now.verdicts.items() if one.ok is False]
    if not against:
        return None
    level = Level.HIGH if len(against) > MANY_ROLES else Level.MEDIUM
    return level, f"{titles(against)} {'says' if len(against) == 1 else 'say'} no."


def _commitment_readiness(now: RoundResult) -> Told:
    hesitant = [role for role in now.verdicts if role not in agreeing(now.verdicts)]
    if not hesitant:
        return None
    level = Level.HIGH if len(hesitant) > MANY_ROLES else Level.MEDIUM
    return level, f"{titles(hesitant)} would not commit to it yet."


def _user_uncertainty(now: RoundResult) -> Told:
    return (Level.HIGH, "The brief itself says that something is unclear.") if now.unsure else None


SIGNALS = {
    "blocking_questions": _blocking_questions,
    "no_new_info": _nothing_new,
    "requirement_clarity": _requirement_clarity,
    "narrative_divergence": _narrative_divergence,
    "commitment_readiness": _commitment_readiness,
    "user_uncertainty": _user_uncertainty,
}
