"""
All benchmarks, one after the other, as the table of `docs/performance.md`: every row that has a goal. Rows without one
explain others; `bench/run NAME` prints them all.

With files as arguments, what they hold (each the JSON of one benchmark) is put into the table, and nothing is run.
With --write, the table is written into the page.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.children import ROOT

NAMES = (
    "first_sign",
    "throughput",
    "cells",
    "pace",
    "saves",
    "turn",
    "acknowledge",
    "commit",
    "resume",
    "seals",
    "replay",
    "memory",
    "start",
    "voices",
    "secrets",
    "reading",
    "code_search",
    "agreed",
    "trace",
)
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- figures: begin (written by bench/run --table --write) -->", "<!-- figures: end -->"
WRITE = "--write"
HEAD = "| what / floor | | ours | floor | ratio | rounds | goal | |\n|---|---|--:|--:|--:|--:|--:|---|"


def main(arguments: list[str]) -> None:
    files = [Path(one) for one in arguments if not one.startswith("-")]
    options = [one for one in arguments if one.startswith("-") and one != WRITE]
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files] if files else [*_run(options)]
    table = figures(found)
    if WRITE in arguments:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    print(table)


def figures(documents: Iterable[Any]) -> str:
    """One table, with a line for each benchmark that says when and how it was measured."""
    measured, rows = [], []
    for document in documents:
        machine = document["machine"]
        measured.append(
            f"- `{document['bench']}`: {document['date']}, {machine['cpus']} CPUs, load {machine['load']:.1f}, "
            f"{document['rounds']} rounds"
        )
        rows += [_row(row) for row in document["rows"] if row["goal"]]
    return "\n".join((HEAD, *rows, "", *measured, ""))


def _run(options: list[str]) -> Iterator[Any]:
    for name in NAMES:
        command = [sys.executable, "-m", f"bench.{name}", *options]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            print(f"{name} ended with {done.returncode}", file=sys.stderr)
            continue
        yield json.loads(done.stdout)


def _row(row: Any) -> str:
    least, most = row["spread"]
    verdict = {True: "met", False: "**missed**", None: ""}[row["met"]]
    cells = (
        f"{row['what']} / {row['floor_is']}",
        f"{row['metric']}, {row['unit']}" if row["unit"] else row["metric"],
        _figure(row["ours"]),
        _figure(row["floor"]),
        f"**{row['ratio']:.1f}**" if row["ratio"] >= 1 else f"**{row['ratio']:.2f}**",
        f"{least:.1f} to {most:.1f}" if least >= 1 else f"{least:.2f} to {most:.2f}",
        row["goal"],
        verdict,
    )
    return f"| {' | '.join(cells)} |"


def _figure(value: float) -> str:
    """Three digits are enough to compare."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main(sys.argv[1:])
