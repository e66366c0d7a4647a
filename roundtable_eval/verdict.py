"""Whether a difference between the panel and its rivals is more than chance, and what follows from that."""

import random
from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple

from roundtable_eval.scoring import Score

DRAWS = 10_000
CONFIDENCE = 0.95
FEWEST_REPEATS = 3
MARGIN = 0.05
"""Of the net: what is smaller is no difference that people notice."""
DEARER = 1.5
"""Times the tokens of a rival, from which a difference below the margin is dearer for nothing."""

Scores = Sequence[Sequence[Score]]
"""By meeting, and in it by repeat."""


class ComparisonOutcome(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    DEARER = "worse, dearer for nothing"
    OPEN = "no difference seen"


class Interval(NamedTuple):
    mean: float
    low: float
    high: float


class Comparison(NamedTuple):
    """Of the panel with *rival*. *times* is how many times the tokens it takes."""

    rival: str
    difference: Interval
    times: float

    @property
    def outcome(self) -> ComparisonOutcome:
        if self.difference.low > 0:
            return ComparisonOutcome.BETTER
        if self.difference.high < 0:
            return ComparisonOutcome.WORSE
        is_dearer = self.difference.high < MARGIN and self.times > DEARER
        return ComparisonOutcome.DEARER if is_dearer else ComparisonOutcome.OPEN


class VerdictCode(IntEnum):
    """Exit codes. 2 is wrong usage, or a file that cannot be read."""

    PANEL_BETTER = 0
    ONE_MODEL_BETTER = 1
    NOT_DECIDED = 3


class Verdict(NamedTuple):
    sentence: str
    code: VerdictCode


def compared(
    panel: Scores, rivals: Mapping[str, Scores], seed: int, draws: int = DRAWS
) -> tuple[Comparison, ...]:
    """By the net of each pair: the same meeting, and the same repeat."""
    rng = random.Random(seed)
    found = []
    for name, scores in rivals.items():
        pairs = [
            [ours.net - theirs.net for ours, theirs in zip(mine, others, strict=True)]
            for mine, others in zip(panel, scores, strict=True)
        ]
        took, theirs = (sum(one.spent.tokens for row in rows for one in row) for rows in (panel, scores))
        found.append(Comparison(name, interval(pairs, rng, draws), took / theirs if theirs else 1.0))
    return tuple(found)


def interval(values: Sequence[Sequence[float]], rng: random.Random, draws: int = DRAWS) -> Interval:
    """Of the mean: meetings are drawn with replacement, and in each of them its repeats."""
    means = []
    for _ in range(draws):
        drawn = [one for row in rng.choices(values, k=len(values)) for one in rng.choices(row, k=len(row))]
        means.append(sum(drawn) / len(drawn))
    means.sort()
    beside = int((1 - CONFIDENCE) / 2 * draws)
    everything = [one for row in values for one in row]
    return Interval(sum(everything) / len(everything), means[beside], means[-1 - beside])


def verdict(comparisons: Sequence[Comparison], *, repeats: int, stopped: str = "") -> Verdict:
    """*stopped* is empty, or why not all was played."""
    if stopped:
        return Verdict(f"Not decided: {stopped}", VerdictCode.NOT_DECIDED)
    if repeats < FEWEST_REPEATS:
        sentence = f"No verdict: that takes at least {FEWEST_REPEATS} repeats (--repeats)."
        return Verdict(sentence, VerdictCode.NOT_DECIDED)
    worse = [
        one.rival for one in comparisons if one.outcome in {ComparisonOutcome.WORSE, ComparisonOutcome.DEARER}
    ]
    if worse:
        return Verdict(f"One model is better: {', '.join(worse)}.", VerdictCode.ONE_MODEL_BETTER)
    if undecided := [one.rival for one in comparisons if one.outcome is ComparisonOutcome.OPEN]:
        sentence = (
            f"Not decided: no difference seen to {', '.join(undecided)}. More meetings or repeats would tell."
        )
        return Verdict(sentence, VerdictCode.NOT_DECIDED)
    return Verdict("The panel is better than every rival.", VerdictCode.PANEL_BETTER)
