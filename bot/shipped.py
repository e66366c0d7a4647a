"""
Where the personas, steps and meetings of the bot are: beside the package in a checkout, inside it installed. Schemas
are in the package.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from bot.errors import ContentError

SCHEMA = "-1.schema.json"
"""The end of a file's name in `bot/schemas`, with the version of its format."""


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
