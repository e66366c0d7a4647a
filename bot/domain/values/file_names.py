"""
Names that a file of an item may have: in any language, and the same one on every system it is cloned to.

Letters, marks and digits of all scripts, and a few signs between them. Nothing that hides, climbs, starts an option,
or means something to a shell, to Markdown or to Slack.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

LONGEST_PATH = 200
LONGEST_BYTES = 200
"""Of one name: file systems take 255, and a copy that is put beside the file has some more."""

_INSIDE = frozenset("._- ")
_PARTS_OF_GLOB = re.compile(r"\*{2,}/?|\*|[^*]+")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def is_plain(path: str) -> bool:
    """Whether every name in *path* is one of a file or folder, and together they are not too long."""
    return len(path) <= LONGEST_PATH and all(map(_is_name, path.split("/")))


def composed(path: str) -> str:
    """*path* with each letter and its accents as one character (NFC)."""
    return unicodedata.normalize("NFC", path)


def _is_name(name: str) -> bool:
    return (
        bool(name)
        and (name[0].isalnum() or name[0] in "_-")
        and name[-1] not in ". "
        and "  " not in name
        and all(one in _INSIDE or one.isalnum() or unicodedata.category(one) in {"Mn", "Mc"} for one in name)
        and len(name.encode("utf-8", "replace")) <= LONGEST_BYTES
        and composed(name) == name
        and not _DEVICE.fullmatch(name)
    )


def is_at(path: str, *globs: str) -> bool:
    """One of *globs*: `**` goes through folders, `*` does not; one without a slash is for names."""
    return any(_matches(path if "/" in one else path.rpartition("/")[2], one) for one in globs)


def _matches(path: str, glob: str) -> bool:
    """
    Part by part, with all places of *path* that it can have come to by then: a regular expression would try the same
    places again for each star.
    """
    places: Sequence[int] = [0]
    for part in _PARTS_OF_GLOB.findall(glob):
        if part == "*":
            places = _in_folder(path, places)
        elif part.startswith("**"):
            everywhere = range(places[0], len(path) + 1)
            folders = {at for at in everywhere if path[at - 1 : at] == "/"}
            places = sorted(folders.union(places)) if part.endswith("/") else everywhere
        else:
            places = [at + len(part) for at in places if path.startswith(part, at)]
        if not places:
            return False
    return places[-1] == len(path)


def _in_folder(path: str, places: Iterable[int]) -> list[int]:
    """*places*, and those behind them up to the next slash."""
    found: list[int] = []
    for at in places:
        if not found or at > found[-1]:
            end = path.find("/", at)
            found += range(at, (len(path) if end < 0 else end) + 1)
    return found
