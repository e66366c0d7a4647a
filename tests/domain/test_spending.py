"""What models cost: folded from the facts of lines, with what is unknown kept apart."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.budget import Budget, Spent, accounts, budget, in_words, spent_by

PRICED = {
    "model": "m",
    "tokens_in": 1000,
    "tokens_out": 200,
    "tokens_cached": 800,
    "seconds": 1.5,
    "cost": "0.0123",
}
UNPRICED = {"model": "m", "tokens_in": 10, "tokens_out": 5}
UNCOUNTED = {"model": "m", "provider": "p"}


def test_a_line_says_what_it_took() -> None:
    """In the facts that a voice gave; lines of people and of the host cost nothing."""
    spent = spent_by(PRICED)

    assert spent == Spent(
        calls=1, tokens_in=1000, tokens_out=200, tokens_cached=800, seconds=1.5, cost=Decimal("0.0123")
    )
    assert spent_by({"user_id": "U1", "step_id": "00-01"}) is None


def test_costs_are_kept_by_turn_step_and_item() -> None:
    """The same facts, added up three ways."""
    kept = accounts([
        {**PRICED, "step_id": "00-01"},
        {**PRICED, "step_id": "00-01", "turn_id": "t01"},
        {**UNPRICED, "step_id": "00-02", "turn_id": "t01"},
        {"user_id": "U1"},
    ])  # fmt: skip

    assert kept.item.calls == 3
    assert kept.item.tokens == 2415
    assert {step: spent.calls for step, spent in kept.steps.items()} == {"00-01": 2, "00-02": 1}
    assert set(kept.turns) == {"00-01 t01", "00-02 t01"}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ([], ""),
        ([PRICED], "1,200 tokens (800 cached), $0.01"),
        ([UNPRICED], "15 tokens, cost unknown"),
        ([PRICED, UNPRICED], "1,215 tokens (800 cached), at least $0.01 (1 of 2 calls without a price)"),
        ([UNCOUNTED], "tokens unknown, cost unknown"),
        ([PRICED, UNCOUNTED],
         "1,200 tokens (800 cached), at least $0.01 (1 of 2 calls without a price), 1 of 2 calls not counted"),
        ([{**UNPRICED, "cost": "0"}], "15 tokens, $0.00"),
        ([{**UNPRICED, "cost": "0.00042"}], "15 tokens, $0.0004"),
        ([{**UNPRICED, "cost": 0.1}, {**UNPRICED, "cost": 0.2}], "30 tokens, $0.30"),
    ],
)  # fmt: skip
def test_what_is_unknown_is_said_to_be(facts: list[dict[str, object]], words: str) -> None:
    """A price that nobody knows is not a price of nothing."""
    assert in_words(accounts(facts).item) == words


@given(
    st.dictionaries(
        st.sampled_from([*PRICED, "provider", "step_id", "turn_id"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()),
    )
)
def test_facts_of_other_tools_break_nothing(facts: dict[str, object]) -> None:
    """A transcript may have been written by anybody: what is no number is unknown."""
    spent = accounts([facts]).item

    assert spent.tokens >= 0
    assert spent.cost >= 0
    assert spent.seconds >= 0
    assert spent.unpriced <= spent.calls <= 1


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("200000", Budget(tokens=200000)),
        ("200,000 tokens", Budget(tokens=200000)),
        ("5.00 USD", Budget(dollars=Decimal("5.00"))),
        ("$5", Budget(dollars=Decimal(5))),
        ("USD 0.50", Budget(dollars=Decimal("0.50"))),
    ],
)
def test_a_budget_is_tokens_or_dollars(text: str, meant: Budget) -> None:
    """As people write either."""
    assert budget(text) == meant


@pytest.mark.parametrize(
    "text", ["", "0", "-5", "5 EUR", "1.5 tokens", "$5 USD", "lots", "9" * 40, "nan USD"]
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    """No currency is guessed, and nothing is not a budget."""
    with pytest.raises(ValueError, match=r"."):
        budget(text)


def test_how_much_of_a_budget_is_used() -> None:
    """In the unit of the budget, for each time that it was allowed."""
    limit = Budget(tokens=1000)

    assert limit.per_cent(Spent(tokens_in=500)) == 50
    assert limit.per_cent(Spent(tokens_in=900, tokens_out=100)) == 100
    assert limit.per_cent(Spent(tokens_in=1000), allowed=2) == 50
    assert Budget(dollars=Decimal(1)).per_cent(Spent(cost=Decimal("0.75"))) == 75
