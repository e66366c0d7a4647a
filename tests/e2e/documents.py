"""
The documents of the demo as they are kept, for a person to read before they are committed: what differs from one
playing to the next is left out. `python -m tests.e2e.documents FOLDER` writes them anew from the folder of an item.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

KEPT = Path(__file__).parent / "documents"
_CHANGING = {
    re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"): "MOMENT",
    re.compile(r"#C0\w+\.\d{10}\.\d{6}"): "#MESSAGE",
    re.compile(r"#press\.[\w.]+"): "#PRESS",
}


def as_kept(folder: Path) -> Mapping[str, str]:
    """The text of each document, by its path."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in {".md", ".csv"})
    return {str(path.relative_to(folder)): _without_moments(path.read_text("utf-8")) for path in paths}


def kept() -> Mapping[str, str]:
    return as_kept(KEPT)


def _without_moments(text: str) -> str:
    for pattern, name in _CHANGING.items():
        text = pattern.sub(name, text)
    return text


if __name__ == "__main__":
    for name, text in as_kept(Path(sys.argv[1])).items():
        (KEPT / name).parent.mkdir(parents=True, exist_ok=True)
        (KEPT / name).write_text(text, "utf-8")
