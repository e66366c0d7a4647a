"""
Refuse branch coverage below a limit: `branches.py 95 bot/domain bot/content`, after the tests were measured.

Each folder has to reach the limit by itself, in branches alone: coverage's own threshold mixes in statements,
and a folder with many of those would hide what another one never tried.
"""

import argparse
import json
import sys
from pathlib import Path

from coverage import Coverage


def main(limit: float, folders: list[str]) -> int:
    measured = Path(".coverage.json")
    coverage = Coverage()
    coverage.load()
    coverage.json_report(outfile=str(measured))
    files = json.loads(measured.read_text())["files"]

    verdicts = [report(limit, folder, files) for folder in folders]
    return 0 if all(verdicts) else 1


def report(limit: float, folder: str, files: dict[str, dict]) -> bool:
    """Say how *folder* did, name what it missed if that was too much, and return whether it will do."""
    within = {name: file for name, file in files.items() if Path(name).is_relative_to(folder)}
    there = sum(file["summary"]["num_branches"] for file in within.values())
    taken = sum(file["summary"]["covered_branches"] for file in within.values())
    percent = 100 * taken / there if there else 0.0
    good = percent >= limit

    print(f"{folder}: {taken} of {there} branches, {percent:.1f} % (at least {limit:g} %)")
    if not good:
        for name, file in sorted(within.items()):
            for start, end in file["missing_branches"]:
                print(f"  {name}:{start} never went on to {f'line {end}' if end > 0 else 'its end'}")
    return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="branches.py", description=__doc__)
    parser.add_argument("limit", type=float, help="the lowest percentage")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    sys.exit(main(given.limit, given.folders))
