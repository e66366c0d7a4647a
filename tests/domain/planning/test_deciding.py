"""From verdicts to a proposal: the six signals, the thresholds, and go, hold, redo or clarify."""

from typing import Any

import pytest

from bot.domain.planning.proposal import (
    Level,
    ProposedMove,
    RoundResult,
    is_unsure,
    proposal,
    signals,
)
from bot.domain.planning.verdict import RoleVerdict
from tests.domain.planning.seats import DEVELOPER, NO, ORDER, PRODUCT, RISKS, SYSTEM, TESTS, UNKNOWN, YES


def standing(number: int = 1, /, **more: Any) -> RoundResult:
    """Everybody says yes, except who is named."""
    fields = {name: more.pop(name) for name in tuple(more) if name in RoundResult.model_fields}
    return RoundResult(round=number, verdicts=dict.fromkeys(ORDER, YES) | more, **fields)


def decision(number: int = 1, /, **more: Any) -> ProposedMove:
    return proposal(standing(number, **more)).decision


def found(number: int = 1, /, **more: Any) -> dict[str, Level]:
    return {signal.name: signal.level for signal in signals(standing(number, **more))}


def test_go_needs_three_quarters_who_mean_it() -> None:
    """Four of five agree, and nothing weighs against it."""
    assert decision() is ProposedMove.GO
    assert decision(SeniorDeveloper=UNKNOWN) is ProposedMove.GO
    assert decision(SeniorDeveloper=UNKNOWN, ProductPlanner=UNKNOWN) is ProposedMove.HOLD


@pytest.mark.parametrize(("confidence", "agreed"), [(0.6, 1.0), (0.59, 0.8), (None, 1.0)])
def test_a_yes_counts_from_a_confidence_of_sixty_percent(confidence: float | None, agreed: float) -> None:
    """Who names none is taken at their word."""
    unsure = RoleVerdict(ok=True, confidence=confidence)

    assert proposal(standing(ProductPlanner=unsure)).coverage == agreed


def test_a_no_of_the_test_planner_holds_the_plan() -> None:
    """Whatever the others say."""
    held = proposal(standing(TestPlanner=RoleVerdict(ok=False, confidence=0.1)))

    assert held.decision is ProposedMove.HOLD
    assert "Test Planner says no." in held.reasons


@pytest.mark.parametrize(
    ("confidence", "expected"), [(0.8, ProposedMove.HOLD), (None, ProposedMove.HOLD), (0.79, ProposedMove.GO)]
)
def test_a_sure_no_of_the_risk_planner_holds_the_plan(
    confidence: float | None, expected: ProposedMove
) -> None:
    """An unsure one is heard, and no more."""
    assert decision(RiskPlanner=RoleVerdict(ok=False, confidence=confidence)) is expected


def test_nobody_else_can_hold_a_plan_alone() -> None:
    """Four of five may go on."""
    assert {decision(**{role: NO}) for role in (PRODUCT, SYSTEM, DEVELOPER)} == {ProposedMove.GO}


def test_after_the_last_round_half_decides() -> None:
    """With half of the roles it waits, with fewer it begins again; before that it only waits."""
    two, three = (dict.fromkeys(roles, NO) for roles in ((TESTS, RISKS), (PRODUCT, TESTS, RISKS)))

    assert decision(1, **three) is ProposedMove.HOLD
    assert decision(2, **two) is ProposedMove.HOLD
    assert decision(2, **three) is ProposedMove.REDO


def test_errors_of_the_plan_itself_come_before_every_opinion() -> None:
    """It begins again, and the errors are among the reasons."""
    broken = proposal(standing(errors=("The plan has no title.",)))

    assert broken.decision is ProposedMove.REDO
    assert "The plan has no title." in broken.reasons


def test_a_blocking_question_is_put_to_people() -> None:
    """One is enough, however many agree; where nothing can be asked any more, it holds."""
    assert decision(blocking=1, open=1, can_ask=True) is ProposedMove.CLARIFY
    assert decision(blocking=1, open=1, can_ask=False) is ProposedMove.HOLD


def test_two_high_signals_or_a_doubt_and_another_are_reasons_to_ask() -> None:
    """One high signal alone is none, and so is doubt alone."""
    four_open = {"open": 4, "can_ask": True}

    assert decision(**four_open) is ProposedMove.HOLD
    assert (
        decision(**four_open, ProductPlanner=NO, SystemDesigner=NO, SeniorDeveloper=NO)
        is ProposedMove.CLARIFY
    )
    assert decision(unsure=True, can_ask=True) is ProposedMove.HOLD
    assert decision(unsure=True, open=1, can_ask=True) is ProposedMove.CLARIFY


def test_no_signal_without_a_cause() -> None:
    """A round in which all agree and nothing is open raises nothing."""
    assert found() == {}


@pytest.mark.parametrize(
    ("name", "state", "level"),
    [
        ("blocking_questions", {"blocking": 1}, Level.CRITICAL),
        ("requirement_clarity", {"open": 1}, Level.MEDIUM),
        ("requirement_clarity", {"open": 3}, Level.MEDIUM),
        ("requirement_clarity", {"open": 4}, Level.HIGH),
        ("narrative_divergence", {PRODUCT: NO}, Level.MEDIUM),
        ("narrative_divergence", {PRODUCT: NO, SYSTEM: NO}, Level.MEDIUM),
        ("narrative_divergence", {PRODUCT: NO, SYSTEM: NO, TESTS: NO}, Level.HIGH),
        ("commitment_readiness", {PRODUCT: UNKNOWN}, Level.MEDIUM),
        ("commitment_readiness", {PRODUCT: UNKNOWN, SYSTEM: UNKNOWN, TESTS: UNKNOWN}, Level.HIGH),
        ("user_uncertainty", {"unsure": True}, Level.HIGH),
    ],
)
def test_signals_and_their_levels(name: str, state: dict[str, Any], level: Level) -> None:
    """Each has one cause, and grows with it."""
    assert found(**state)[name] is level


def test_a_second_round_that_brings_nobody_closer_is_a_signal() -> None:
    """Somebody new in agreement, or agreement of all, is no standstill; nor is a first round."""
    before = dict.fromkeys(ORDER, YES) | {TESTS: NO}

    assert found(2, before=before, TestPlanner=NO)["no_new_info"] is Level.HIGH
    assert "no_new_info" not in found(2, before=before)
    assert "no_new_info" not in found(2, before=before | {RISKS: NO}, TestPlanner=NO)
    assert "no_new_info" not in found(1, TestPlanner=NO)


def test_the_worst_signal_is_told_first() -> None:
    """People read the beginning."""
    told = signals(standing(blocking=1, open=1, unsure=True, ProductPlanner=NO))

    assert [signal.level for signal in told] == sorted((signal.level for signal in told), reverse=True)


@pytest.mark.parametrize("word", ["uncertain", "Unclear", "unsure", "ambiguous"])
def test_a_brief_may_say_itself_that_it_is_not_clear(word: str) -> None:
    """By the words people use for it; a part of another word is none."""
    assert is_unsure(f"It is {word} why exports fail.")
    assert not is_unsure("It is a certainty, in nuclear fields.")


def test_nobody_at_the_table_agrees_on_nothing() -> None:
    """Without a role there is no consensus, and no plan."""
    assert proposal(RoundResult(round=2, verdicts={})).decision is ProposedMove.REDO
