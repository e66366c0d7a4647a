"""
What others publish, fetched when the tests run. A test that needs it is skipped where that fails, and says why.

Files of a package are kept for the other test processes, and for the next run: a version never changes.
"""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

MOST_SECONDS = 240
KEPT = Path(__file__).parents[2] / ".pytest_cache" / "published"
NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=60000")


def fetch(*command: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed, so {command[-1]} cannot be asked")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{command[-1]} cannot be fetched in {MOST_SECONDS} seconds")
    if done.returncode:
        why = " ".join(done.stderr.split())[-300:]
        pytest.skip(f"{command[-1]} cannot be fetched: {why}")


def published(package: str, name: str) -> Any:
    """The JSON file *name* of a package of npm."""
    kept = KEPT / f"{package}/{name}".replace("/", "+")
    if not kept.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=KEPT) as folder:
            fetch("npm", "pack", *NPM, "--pack-destination", folder, package)
            (packed,) = Path(folder).glob("*.tgz")
            with tarfile.open(packed) as files:
                file = files.extractfile(f"package/{name}")
                assert file
                whole = Path(folder) / "whole"
                whole.write_bytes(file.read())
            whole.replace(kept)
    return json.loads(kept.read_text("utf-8"))
