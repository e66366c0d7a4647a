"""
What models took for an item: tokens, seconds, money, folded out of the facts of its lines, by turn, step and item.

A missing number counts as unknown, not as 0.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import ValidationError

from bot.domain.values.value import Stored

NOTICES = (50, 75, 95)
"""Per cent of what may be used."""
CAP = 100
LARGEST = Decimal(10) ** 12

ABOUT = "tokens_about"
"""In the facts of a call: its provider did not say all that it took, and tokens are estimated from characters."""
_TOKENS = ("tokens_in", "tokens_out", "tokens_cached")
_MEASURED = frozenset({*_TOKENS, "cost", "provider", "model"})
_BUDGET = re.compile(
    r"(?P<dollar>\$|USD )?(?P<number>[0-9][0-9,_]*(?:\.[0-9]{1,6})?) ?(?P<unit>tokens|USD|\$)?",
    re.IGNORECASE | re.ASCII,
)


class Spent(Stored):
    """
    *tokens_cached* are among *tokens_in*; *cost* is in US dollars. Of all *calls*, *uncounted* did not say how
    many tokens they took, those of *estimated* are about so many, and *unpriced* have no known price.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    seconds: float = 0.0
    cost: Decimal = Decimal(0)
    uncounted: int = 0
    unpriced: int = 0
    estimated: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def and_(self, other: "Spent") -> "Spent":
        return Spent(**{name: getattr(self, name) + getattr(other, name) for name in Spent.model_fields})


class Budget(Stored):
    """What models may take for one item: *tokens*, or else *dollars*."""

    tokens: int = 0
    dollars: Decimal = Decimal(0)

    @property
    def total(self) -> Decimal:
        return Decimal(self.tokens) or self.dollars

    def used(self, spent: Spent) -> Decimal:
        return Decimal(spent.tokens) if self.tokens else spent.cost

    def per_cent(self, spent: Spent, *, allowed: int = 1) -> int:
        """The budget was *allowed* that many times."""
        return int(100 * self.used(spent) / (self.total * allowed))


class Accounts(Stored):
    """What was spent: in all, by step, and by turn (`01-03 t04`)."""

    item: Spent = Spent()
    steps: Mapping[str, Spent] = {}
    turns: Mapping[str, Spent] = {}


def budget(text: str) -> Budget:
    """`200000`, `200000 tokens`, `5.00 USD` or `$5`. Raises ValueError."""
    found = _BUDGET.fullmatch(text.strip())
    if not found:
        raise ValueError("neither tokens nor dollars")
    number = Decimal(re.sub("[,_]", "", found["number"]))
    in_dollars = bool(found["dollar"]) or (found["unit"] or "").lower() in {"usd", "$"}
    if not 0 < number < LARGEST or (found["dollar"] and found["unit"]):
        raise ValueError("not a number to spend")
    if in_dollars:
        return Budget(dollars=number)
    if number != int(number):
        raise ValueError("a piece of a token")
    return Budget(tokens=int(number))


def spent_by(facts: Mapping[str, Any]) -> Spent | None:
    """What the *facts* of one line say; None when no model was asked for it."""
    if not _MEASURED.intersection(facts):
        return None
    counts = {name: _amount(facts.get(name), int) for name in _TOKENS}
    cost = _dollars(facts.get("cost"))
    return Spent(
        calls=1,
        **{name: count or 0 for name, count in counts.items()},
        seconds=float(_amount(facts.get("seconds"), int, float) or 0),
        cost=cost or Decimal(0),
        uncounted=counts["tokens_in"] is None or counts["tokens_out"] is None,
        unpriced=cost is None,
        estimated=facts.get(ABOUT) is True,
    )


def accounts(facts: Iterable[Mapping[str, Any]]) -> Accounts:
    """Of the facts of all lines, in any order."""
    item, steps, turns = Spent(), dict[str, Spent](), dict[str, Spent]()
    for one in facts:
        if (spent := spent_by(one)) is None:
            continue
        item = item.and_(spent)
        step, turn = str(one.get("step_id") or ""), str(one.get("turn_id") or "")
        if step:
            steps[step] = steps.get(step, Spent()).and_(spent)
        if step and turn:
            name = f"{step} {turn}"
            turns[name] = turns.get(name, Spent()).and_(spent)
    return Accounts(item=item, steps=steps, turns=turns)


def kept(fields: Mapping[str, Any]) -> Spent:
    """What a transcript says was spent so far; nothing where that makes no sense."""
    try:
        return Spent.model_validate(fields)
    except ValidationError:
        return Spent()


def in_words(spent: Spent) -> str:
    """One quiet line; empty when no model was asked anything."""
    if not spent.calls:
        return ""
    known = spent.calls - spent.uncounted
    about, cached = "about " if spent.estimated else "", f" ({spent.tokens_cached:,} cached)"
    tokens = f"{about}{spent.tokens:,} tokens{cached if spent.tokens_cached else ''}"
    parts = [tokens if known else "tokens unknown", _price(spent)]
    if known and spent.uncounted:
        parts.append(f"{spent.uncounted} of {spent.calls} calls not counted")
    return ", ".join(part for part in parts if part)


def _price(spent: Spent) -> str:
    if spent.unpriced == spent.calls:
        return "cost unknown"
    price = dollars(spent.cost)
    return (
        f"at least {price} ({spent.unpriced} of {spent.calls} calls without a price)"
        if spent.unpriced
        else price
    )


def dollars(amount: Decimal) -> str:
    """To the cent, and below one to what says something."""
    if not amount or amount >= Decimal("0.01"):
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= Decimal("0.0001") else "less than $0.0001"


def _amount(told: Any, *kinds: type) -> Any:
    """None for what is no number of one of *kinds*, or no amount."""
    is_number = isinstance(told, kinds) and not isinstance(told, bool)
    return told if is_number and 0 <= told < LARGEST else None


def _dollars(told: Any) -> Decimal | None:
    """A text where a voice tells it, a number where a line keeps it: that one as it is written there."""
    if not isinstance(told, str | int | float | Decimal) or isinstance(told, bool):
        return None
    try:
        amount = Decimal(str(told))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < LARGEST else None
