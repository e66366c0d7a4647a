"""The benchmarks still run. What they measure is not looked at here: a test machine has other things to do."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.table import BEGIN, END, NAMES, figures

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "performance.md"
QUICKLY_RUN = "turn"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == QUICKLY_RUN else pytest.mark.thorough) for name in NAMES],
)
def test_a_benchmark_prints_what_it_measured_as_json(name: str) -> None:
    """`python -m bench.NAME --quick` is the smallest run there is, and has every row of the real one's shape."""
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{name}", "--quick"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["bench"] == name
    assert document["rows"]
    assert all(row["ratio"] >= 0 and row["floor_is"] for row in document["rows"])


def test_the_page_says_what_every_benchmark_measures() -> None:
    described = PAGE.read_text(encoding="utf-8").partition("## How it is measured")[2]
    assert re.findall(r"(?m)^\| `(\w+)` \|", described) == list(NAMES)


def test_the_table_of_the_page_has_the_rows_with_a_goal() -> None:
    row = {
        "what": "one word at a time", "metric": "p50", "unit": "ms", "floor_is": "a bare app",
        "ours": 4.0, "floor": 2.0, "ratio": 2.0, "spread": [1.5, 2.5], "noise_spread": [0.9, 1.1],
        "goal": "≤ 5", "met": True,
    }  # fmt: skip
    explains = {**row, "metric": "p95", "goal": "", "met": None}
    document = {
        "bench": "first_sign", "date": "2026-11-23", "rounds": 3, "machine": {"cpus": 2, "load": 0.4},
        "rows": [row, explains],
    }  # fmt: skip
    table = figures([document])
    assert "| one word at a time / a bare app | p50, ms | 4 | 2 | **2.0** | 1.5 to 2.5 | ≤ 5 | met |" in table
    assert "p95" not in table

    page = PAGE.read_text(encoding="utf-8")
    assert page.index(BEGIN) < page.index(END)
    heading = next(line for line in table.splitlines() if line.startswith("| what"))
    assert heading in page
