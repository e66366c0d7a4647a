"""Scenarios in bulk: every single fate of every stretch, and pairs of them, all or as many as are asked for."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from tests.durability.fates import Fate, Kind
from tests.durability.quickly import quickly
from tests.durability.simulator import STRETCHES, Outcome, Plan, pairs, played, singles, undisturbed

LONG_WAYS = frozenset({Fate.FLUSHED, Fate.SPOKEN})
"""After these the world is never as if nothing had happened: such pairs take longest, and are sampled less."""


@dataclass
class Found:
    """`wrong` has the first scenario for each thing that was wrong."""

    stretch: str
    scenarios: int = 0
    possible: int = 0
    """Singles and pairs that there are."""
    crashes: int = 0
    seconds: float = 0.0
    wrong: dict[str, Plan] = field(default_factory=dict)

    def note(self, plan: Plan, outcome: Outcome) -> None:
        self.scenarios += 1
        self.crashes += sum(met.fate in {Fate.BEFORE, Fate.AFTER, Fate.LATE} for met in outcome.met)
        for sentence in outcome.wrong:
            self.wrong.setdefault(sentence, plan)

    @property
    def story(self) -> str:
        return "\n".join(
            f"{self.stretch}: {sentence}: played({self.stretch!r}, {told(plan)})"
            for sentence, plan in self.wrong.items()
        )


def tried(stretch: str, *, scenarios: int = 0, seed: int = 0) -> Found:
    """All singles, and then pairs until there are so many *scenarios*; 0 is all pairs."""
    found = Found(stretch)
    began = time.monotonic()
    with quietly(), quickly():
        undisturbed.cache_clear()
        followers: list[tuple[Plan, tuple[Kind, ...]]] = []
        for first in singles(stretch):
            outcome = played(stretch, first)
            found.note(first, outcome)
            followers.append((first, outcome.seen))
        found.possible = found.scenarios + sum(1 for first, seen in followers for _ in pairs(first, seen))
        for plan in _pairs(
            followers, most=max(scenarios - found.scenarios, 0) if scenarios else None, seed=seed
        ):
            found.note(plan, played(stretch, plan))
        undisturbed.cache_clear()
    found.seconds = time.monotonic() - began
    return found


def _pairs(followers: list[tuple[Plan, tuple[Kind, ...]]], *, most: int | None, seed: int) -> Iterator[Plan]:
    if most is None:
        for first, seen in followers:
            yield from pairs(first, seen)
        return
    every = [plan for first, seen in followers for plan in pairs(first, seen)]
    short = [plan for plan in every if not LONG_WAYS.intersection(fate for _, fate in plan)]
    long = [plan for plan in every if LONG_WAYS.intersection(fate for _, fate in plan)]
    chance = Random(seed)
    # In their own order, so that what one decided is still remembered for the next.
    few = min(max(most // 10, most - len(short)), len(long))
    yield from _in_order(
        every, {*chance.sample(short, min(most - few, len(short))), *chance.sample(long, few)}
    )


def _in_order(every: list[Plan], chosen: set[Plan]) -> Iterator[Plan]:
    return (plan for plan in every if plan in chosen)


@contextmanager
def quietly() -> Iterator[None]:
    """Ten thousand disasters would be ten thousand warnings."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def told(plan: Plan) -> str:
    return f"({' '.join(f'({number}, Fate.{fate.name}),' for number, fate in plan)})"


def everything(*, scenarios: int = 0, seed: int = 0) -> Iterator[Found]:
    for stretch in STRETCHES:
        yield tried(stretch, scenarios=scenarios // len(STRETCHES), seed=seed)
