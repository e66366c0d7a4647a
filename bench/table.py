"""
All benchmarks, one after the other, as the table of `docs/performance.md`.

With files as arguments, what they hold (each the JSON of one benchmark) is put into the table, and nothing is run.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.children import ROOT

NAMES = (
    "acknowledge",
    "busy",
    "replies",
    "turn",
    "commit",
    "resume",
    "replay",
    "memory",
    "start",
    "voices",
    "secrets",
)
HEAD = "| what | | ours | floor | ratio | rounds | noise | goal | |\n|---|---|--:|--:|--:|--:|--:|--:|---|"


def main(arguments: list[str]) -> None:
    files = [Path(one) for one in arguments if not one.startswith("-")]
    options = [one for one in arguments if one.startswith("-")]
    found = (json.loads(file.read_text(encoding="utf-8")) for file in files) if files else _run(options)
    for document in found:
        print(_titled(document), flush=True)


def _run(options: list[str]) -> Iterator[Any]:
    for name in NAMES:
        command = [sys.executable, "-m", f"bench.{name}", *options]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            print(f"{name} ended with {done.returncode}", file=sys.stderr)
            continue
        yield json.loads(done.stdout)


def _titled(document: Any) -> str:
    machine = document["machine"]
    about = (
        f"{document['date']}, {machine['cpus']} CPUs, load {machine['load']:.1f}, {document['rounds']} rounds"
    )
    rows = "\n".join(_row(row) for row in document["rows"])
    return f"### {document['bench']}\n\n{about}.\n\n{HEAD}\n{rows}\n"


def _row(row: Any) -> str:
    least, most = row["spread"]
    noise_least, noise_most = row["noise_spread"]
    verdict = {True: "met", False: "**missed**", None: ""}[row["met"]]
    cells = (
        f"{row['what']} / {row['floor_is']}",
        f"{row['metric']}, {row['unit']}",
        f"{row['ours']:,.2f}",
        f"{row['floor']:,.2f}",
        f"**{row['ratio']:.2f}**",
        f"{least:.2f} to {most:.2f}",
        f"{noise_least:.2f} to {noise_most:.2f}",
        row["goal"],
        verdict,
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
