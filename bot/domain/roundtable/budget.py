"""What a roundtable has spent, of what the house lets it: told at half of it, at three quarters, and near the end."""

from decimal import Decimal

from bot.domain.catalog import budget as spending
from bot.domain.catalog.budget import CAP, GONE, NOTICES, Budget, Spent, dollars, in_words
from bot.domain.catalog.policy import House
from bot.domain.values.value import Stored


class Purse(Stored):
    """
    `told` is the last of the notices that was given, in per cent; people have allowed the budget so many times.
    `plain`: the step was written down without a model, since there was nothing to pay one with.
    """

    spent: Spent = Spent()
    told: int = 0
    allowed: int = 1
    plain: bool = False

    def paying(self, spent: Spent) -> "Purse":
        return self.but(spent=self.spent.and_(spent))

    def allowing_more(self, house: House) -> "Purse":
        more = self.but(allowed=self.allowed + 1, plain=False)
        return more.but(told=_level(more, house))


def notice(purse: Purse, house: House) -> int:
    """The level, in per cent, that was reached and nobody was told of yet; 0 when there is none."""
    level = _level(purse, house)
    return level if level > purse.told else 0


def used_up(purse: Purse, house: House) -> bool:
    """Only the reserve is left: nobody speaks any more, until people allow it."""
    return _level(purse, house) >= CAP


def gone(purse: Purse, house: House) -> bool:
    """Not even the reserve is left: no model is asked for anything, until people allow it."""
    return _level(purse, house) >= GONE


def line(purse: Purse, house: House) -> str:
    """One quiet line for a menu; empty when there is nothing to tell."""
    spent = in_words(purse.spent)
    if not spent or not house.budget:
        return spent and f"Models so far: {spent}."
    return f"Models so far: {spent}, of {total(house.budget, purse.allowed)}."


def noticed(level: int, purse: Purse, budget: Budget) -> str:
    used = _amount(budget.used(purse.spent), budget)
    text = (
        f"{level} % of what models may take for this item is used: {used} of {total(budget, purse.allowed)}"
    )
    kept = _amount(budget.total * purse.allowed * spending.RESERVE, budget)
    return f"{text}, of which {kept} are kept for putting together what there is."


def total(budget: Budget, allowed: int = 1) -> str:
    return _amount(budget.total * allowed, budget)


def _level(purse: Purse, house: House) -> int:
    if not house.budget or not purse.spent.calls:
        return 0
    reached = house.budget.per_cent(purse.spent, allowed=purse.allowed)
    return max((level for level in (*NOTICES, CAP, GONE) if reached >= level), default=0)


def _amount(amount: Decimal, budget: Budget) -> str:
    return f"{int(amount):,} tokens" if budget.tokens else dollars(amount)
