"""
What one input takes, by its kind: saves of the aggregate, bytes of a save, calls of Slack, copies of values.

An analysis of 13 steps with two discussions is played through the whole bot, with a model that answers at once, and
nothing depends on the machine. Each row has the median, and the least and the most. Floor: one of each, or another
checkout with `--beside DIR`. Goals: at most 3 saves for an input (median of all), 40 copies for a persona's turn, and a
save in a step with 1,200 answers of at most 1.2 × the bytes of one in a step with 10.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bench.children import ROOT
from bench.harness import NO_GOAL, Goal, Plan, Row, main, share
from bench.rooms import of

Input = Mapping[str, Any]
Count = Callable[[Input], Iterable[float]]

COUNTS: Mapping[str, tuple[str, Count]] = {
    "saves": ("", lambda one: [one["saves"]]),
    "bytes of a save": ("B", lambda one: one["sizes"]),
    "calls of Slack": ("", lambda one: [sum(one["calls"].values())]),
    "other writes": ("", lambda one: [sum(one["writes"].values())]),
    "copies": ("", lambda one: [one["copies"]]),
}
"""Unit, and what is counted of an input."""
ALL, TURN = "all inputs", "word to a persona"
GOALS = {(ALL, "saves"): Goal(at_most=3.0), (TURN, "copies"): Goal(at_most=40.0)}
SIZES, QUICK_SIZES = (300, 1200), (2, 20)
GROWTH = Goal(at_most=1.2)


async def measure(plan: Plan) -> list[Row]:
    sizes = QUICK_SIZES if plan.quick else SIZES
    ours = await played(ROOT, sizes, plan.folder)
    beside = await played(plan.beside, sizes, plan.folder) if plan.beside else None
    rows = list(by_kind(ours["inputs"], beside["inputs"] if beside else ()))
    few, many = (ours["sizes"][str(size)] for size in sizes)
    return rows + [
        share(
            f"one answer more after {sizes[1]:,}", metric, "" if metric == "saves" else "B", f"after {sizes[0]}",
            ours=many[metric], floor=few[metric], goal=NO_GOAL if metric == "saves" else GROWTH,
        )
        for metric in few
    ]  # fmt: skip


async def played(checkout: Path, sizes: tuple[int, int], folder: Path) -> Any:
    environment = {**os.environ, **of(checkout, folder)}
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-P", "-m", "bench.played", *map(str, sizes)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def by_kind(ours: Iterable[Input], beside: Iterable[Input]) -> Iterator[Row]:
    for kind, inputs in {ALL: list(ours), **_grouped(ours)}.items():
        before = list(beside) if kind == ALL else _grouped(beside).get(kind, [])
        for metric, (unit, counted) in {**COUNTS, **_methods(inputs if kind != ALL else ())}.items():
            found = [each for one in inputs for each in counted(one)]
            if not found or not statistics.median(found):
                continue  # seldom, or never
            floors = [each for one in before for each in counted(one)]
            floor = statistics.median(floors) if any(floors) else 1.0
            row = share(
                kind, metric, unit, "the checkout beside" if any(floors) else "one",
                ours=statistics.median(found), floor=floor or 1.0, goal=GOALS.get((kind, metric), NO_GOAL),
            )  # fmt: skip
            yield row.with_spread(min(found) / row.floor, max(found) / row.floor)


def _methods(inputs: Iterable[Input]) -> dict[str, tuple[str, Count]]:
    names = sorted({method for one in inputs for method in one["calls"]})
    return {name: ("", partial(_calls_of, name)) for name in names}


def _calls_of(method: str, one: Input) -> list[float]:
    return [one["calls"].get(method, 0)]


def _grouped(inputs: Iterable[Input]) -> dict[str, list[Input]]:
    found: dict[str, list[Input]] = {}
    for one in inputs:
        found.setdefault(one["kind"], []).append(one)
    return found


if __name__ == "__main__":
    main("saves", measure, takes_beside=True)
