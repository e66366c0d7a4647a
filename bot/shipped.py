"""
Where the personas, steps and meetings of the bot are: beside the package in a checkout, inside it installed. Schemas
are in the package. And which release of it this is.
"""

from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from bot.errors import ContentError

DISTRIBUTION = "roundtable-bot"
REVISION = "revision.txt"
"""Written into the package when an image or a release is built; a checkout has none."""
SCHEMA = "-1.schema.json"
"""The end of a file's name in `bot/schemas`, with the version of its format."""


class Release(NamedTuple):
    """*revision* is a git commit, or empty."""

    version: str
    revision: str = ""

    def __str__(self) -> str:
        return f"{self.version} ({self.revision[:7]})" if self.revision else self.version


def release() -> Release:
    built = files("bot") / "_content" / REVISION
    return Release(version(DISTRIBUTION), built.read_text("ascii").strip() if built.is_file() else "")


def personas_dir() -> Path:
    return _folder("personas")


def steps_dir() -> Path:
    return _folder("analysis-steps")


def meetings_dir() -> Path:
    return _folder("meetings")


def schema_names() -> tuple[str, ...]:
    """Of what others read or write: `entry`, `specification`, `transcript-line`."""
    found = (one.name for one in _schemas().iterdir())
    return tuple(sorted(name.removesuffix(SCHEMA) for name in found if name.endswith(SCHEMA)))


def schema_text(name: str) -> str:
    """Raises ContentError."""
    if name not in schema_names():
        raise ContentError(f"There is no schema {name!r}. There are {', '.join(schema_names())}.")
    return (_schemas() / f"{name}{SCHEMA}").read_text("utf-8")


def _schemas() -> Traversable:
    return files("bot") / "schemas"


def _folder(name: str) -> Path:
    package = Path(str(files("bot")))
    for place in (package / "_content" / name, package.parent / name):
        if place.is_dir():
            return place
    raise ContentError(f"The {name} that come with Roundtable are missing: install it again.")
