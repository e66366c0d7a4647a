"""What a roundtable has spent of its budget: told at half of it, at three quarters, and near the end."""

from decimal import Decimal

from bot.domain.catalog.budget import CAP, NOTICES, Budget, Spent, dollars, in_words
from bot.domain.catalog.policy import Policy
from bot.domain.values.value import Stored


class BudgetState(Stored):
    """`told` is the last of the notices that was given, in per cent; people have allowed the budget so many times."""

    spent: Spent = Spent()
    told: int = 0
    allowed: int = 1

    def paying(self, spent: Spent) -> "BudgetState":
        return self.but(spent=self.spent.and_(spent))

    def allowing_more(self, policy: Policy) -> "BudgetState":
        more = self.but(allowed=self.allowed + 1)
        return more.but(told=_level(more, policy))


def notice(purse: BudgetState, policy: Policy) -> int:
    """The level, in per cent, that was reached and not told yet; 0 when there is none."""
    level = _level(purse, policy)
    return level if level > purse.told else 0


def used_up(purse: BudgetState, policy: Policy) -> bool:
    """The personas do not speak until people allow more."""
    return _level(purse, policy) >= CAP


def line(purse: BudgetState, policy: Policy) -> str:
    """One quiet line for a menu; empty when there is nothing to tell."""
    spent = in_words(purse.spent)
    if not spent or not policy.budget:
        return spent and f"Models so far: {spent}."
    return f"Models so far: {spent}, of {total(policy.budget, purse.allowed)}."


def noticed(level: int, purse: BudgetState, budget: Budget) -> str:
    return f"{level} % of the model budget for this item is used: {used_of(purse, budget)}."


def used_of(purse: BudgetState, budget: Budget) -> str:
    """`1,240 of 1,000 tokens`, or `$5.02 of $5.00`."""
    used = _amount(budget.used(purse.spent), budget).removesuffix(" tokens")
    return f"{used} of {total(budget, purse.allowed)}"


def total(budget: Budget, allowed: int = 1) -> str:
    return _amount(budget.total * allowed, budget)


def _level(purse: BudgetState, policy: Policy) -> int:
    if not policy.budget or not purse.spent.calls:
        return 0
    reached = policy.budget.per_cent(purse.spent, allowed=purse.allowed)
    return max((level for level in (*NOTICES, CAP) if reached >= level), default=0)


def _amount(amount: Decimal, budget: Budget) -> str:
    return f"{int(amount):,} tokens" if budget.tokens else dollars(amount)
