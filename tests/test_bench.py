"""The benchmarks still run. What they measure is not looked at here: a test machine has other things to do."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCHES = (
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
QUICKLY_RUN = ("turn", "commit")
NEEDS = {"resume": "msgspec", "replay": "msgspec", "replies": "machine"}
"""In the groups `bench` and `peer`, which `bench/run` installs."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICKLY_RUN else pytest.mark.thorough) for name in BENCHES],
)
def test_a_benchmark_prints_what_it_measured_as_json(name: str) -> None:
    """`python -m bench.NAME --quick` is the smallest run there is, and has every row of the real one's shape."""
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed; bench/run does that")

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
    assert all(row["ratio"] > 0 and row["floor_is"] for row in document["rows"])
