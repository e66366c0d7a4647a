"""
What the benchmarks share: rounds that alternate with a floor, ratios, and one JSON document at the end.

A round runs the floor, what is measured, and the floor again, so that other work of the machine affects both.
A figure is the median of the rounds' ratios; how far the two runs of the floor are apart is the machine's noise.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

Figures = Mapping[str, float]
"""What one run came to, by metric."""
Run = Callable[[], Awaitable[Figures]]

ROUNDS = 5
QUICK_ROUNDS = 1


@dataclass(frozen=True, slots=True)
class Goal:
    """What a ratio shall be at most, or at least."""

    at_most: float | None = None
    at_least: float | None = None

    def __str__(self) -> str:
        if self.at_most is not None:
            return f"≤ {self.at_most:g}"
        return f"≥ {self.at_least:g}" if self.at_least is not None else ""

    def met(self, ratio: float) -> bool | None:
        if self.at_most is not None:
            return ratio <= self.at_most
        return ratio >= self.at_least if self.at_least is not None else None


NO_GOAL = Goal()
"""Reported, because it explains another figure."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `noise` is the floor against itself; spreads are the smallest and the largest ratio."""

    what: str
    metric: str
    unit: str
    floor_is: str
    ours: float
    floor: float
    ratio: float
    spread: tuple[float, float]
    noise: float
    noise_spread: tuple[float, float]
    goal: str
    met: bool | None

    def with_unit(self, unit: str) -> "Row":
        return replace(self, unit=unit)

    def with_spread(self, least: float, most: float) -> "Row":
        return replace(self, spread=(least, most))


@dataclass(frozen=True, slots=True)
class Plan:
    """
    How much is measured, and where there is room for files. *beside* is an earlier checkout to compare with. *latency*
    is added to each round trip to Redis and Slack, in seconds.
    """

    quick: bool
    rounds: int
    folder: Path
    beside: Path | None = None
    latency: float = 0.0

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    async def compare(
        self, what: str, *, floor_is: str, floor: Run, ours: Run, goals: Mapping[str, Goal], unit: str = "ms"
    ) -> list[Row]:
        """A row for each metric in *goals*. What the first round pays once (connections, caches) is not counted."""
        if not self.quick:
            await floor()
            await ours()
        before, measured, after = [], [], []
        for number in range(self.rounds):
            print(f"{what}: round {number + 1} of {self.rounds}", file=sys.stderr)
            before.append(await floor())
            measured.append(await ours())
            after.append(before[-1] if self.quick else await floor())
        rows = [
            _row(what, metric, goal, unit=unit, floor_is=floor_is, rounds=(before, measured, after))
            for metric, goal in goals.items()
        ]
        for row in rows:
            print(
                f"{what}, {row.metric}: {row.ours:.2f} / {row.floor:.2f}, ratio {row.ratio:.2f}",
                file=sys.stderr,
            )
        return rows


def share(
    what: str, metric: str, unit: str, floor_is: str, *, ours: float, floor: float, goal: Goal = NO_GOAL
) -> Row:
    """A figure that does not depend on the weather: sizes, counts."""
    ratio = ours / floor
    return Row(
        what=what,
        metric=metric,
        unit=unit,
        floor_is=floor_is,
        ours=ours,
        floor=floor,
        ratio=ratio,
        spread=(ratio, ratio),
        noise=1.0,
        noise_spread=(1.0, 1.0),
        goal=str(goal),
        met=goal.met(ratio),
    )


Measure = Callable[[Plan], Awaitable[Iterable[Row]]]


def main(name: str, measure: Measure, *, takes_beside: bool = False, takes_latency: bool = False) -> None:
    """The command line of every benchmark."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}")
    parser.add_argument("--quick", action="store_true", help="small and short: to see that it works")
    parser.add_argument("--rounds", type=int, default=0)
    if takes_beside:
        parser.add_argument("--beside", type=Path, metavar="DIR", help="an earlier checkout, in the same run")
    if takes_latency:
        parser.add_argument(
            "--latency", type=float, default=0.0, metavar="MS", help="also with a slow network"
        )
    given = parser.parse_args()
    latency = given.latency / 1000 if takes_latency else 0.0
    beside = given.beside.resolve() if takes_beside and given.beside else None
    rounds = given.rounds or (QUICK_ROUNDS if given.quick else ROUNDS)
    with TemporaryDirectory(prefix=f"roundtable-bench-{name}-", ignore_cleanup_errors=True) as folder:
        rows = asyncio.run(_measured(measure, Plan(given.quick, rounds, Path(folder), beside, latency)))
    print(json.dumps(_document(name, rows, quick=given.quick, rounds=rounds), indent=2, ensure_ascii=False))


async def _measured(measure: Measure, plan: Plan) -> list[Row]:
    return list(await measure(plan))


def timings(seconds: Iterable[float]) -> Figures:
    """Percentiles in milliseconds."""
    cuts = statistics.quantiles([one * 1000 for one in seconds], n=100, method="inclusive")
    return {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98]}


def _document(name: str, rows: list[Row], *, quick: bool, rounds: int) -> dict[str, object]:
    machine = {
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return {
        "bench": name,
        "date": datetime.now(UTC).date().isoformat(),
        "quick": quick,
        "rounds": rounds,
        "machine": machine,
        "rows": [asdict(row) for row in rows],
    }


def _row(
    what: str,
    metric: str,
    goal: Goal,
    *,
    unit: str,
    floor_is: str,
    rounds: tuple[list[Figures], list[Figures], list[Figures]],
) -> Row:
    before, measured, after = ([one[metric] for one in runs] for runs in rounds)
    floors = [(one + other) / 2 for one, other in zip(before, after, strict=True)]
    ratios = [ours / floor for ours, floor in zip(measured, floors, strict=True)]
    noise = [other / one for one, other in zip(before, after, strict=True)]
    ratio = statistics.median(ratios)
    return Row(
        what=what,
        metric=metric,
        unit=unit,
        floor_is=floor_is,
        ours=statistics.median(measured),
        floor=statistics.median(floors),
        ratio=ratio,
        spread=(min(ratios), max(ratios)),
        noise=statistics.median(noise),
        noise_spread=(min(noise), max(noise)),
        goal=str(goal),
        met=goal.met(ratio),
    )
