"""
Names that a file of an item may have: in any language, and the same one on every system it is cloned to.

Letters, marks and digits of all scripts, and a few signs between them. Nothing that hides, climbs, starts an option,
or means something to a shell, to Markdown or to Slack.
"""

import re
import unicodedata

LONGEST_PATH = 200
LONGEST_BYTES = 200
"""Of one name: file systems take 255, and a copy that is put beside the file has some more."""

_INSIDE = frozenset("._- ")
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
