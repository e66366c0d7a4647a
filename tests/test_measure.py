"""`scripts/measure` prints the size and shape of the code."""

import re
import subprocess
import sys
from pathlib import Path

from scripts import measure

ROOT = Path(__file__).parent.parent


def test_the_measurements_are_one_table() -> None:
    """With a row for each, the times that were passed, and what an input passes in a real run."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/measure.py", "--seconds", "scripts/test=350"],
        capture_output=True,
        text=True,
        check=True,
    )
    head, line, *rows = done.stdout.splitlines()
    told = {what: value for _, what, value, _ in (map(str.strip, row.split("|")) for row in rows)}

    assert (head, line) == ("| measured | value |", "|---|---|")
    assert int(told["modules"]) > int(told["modules without voices/offline"]) > 0
    assert told["seconds of scripts/test"] == "350"
    for what in ("a message", "a press of *Finish step*"):
        rooms, files, moves = (int(part.split()[0]) for part in told[f"passed by {what}"].split(", "))
        assert 2 < rooms < files < moves
    assert int(told["longest import chain"].split(":")[0]) == told["longest import chain"].count("→") + 1


async def test_an_input_walks_as_contributing_says(tmp_path: Path) -> None:
    """Each file that the walk names is one that a message or a press passes."""
    walk = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## How one input walks")[2]
    named = re.findall(r"`(bot/[\w/]+\.py)`", walk.partition("\n## ")[0])

    passed = await measure.traces(tmp_path / "workspace")

    assert named
    assert set(named) <= set().union(*(trace.files for trace in passed.values()))
