"""Where the personas, steps and meetings of the bot are: beside the package in a checkout, inside it installed."""

from importlib.resources import files
from pathlib import Path

from bot.errors import ContentError


def personas_dir() -> Path:
    return _folder("personas")


def steps_dir() -> Path:
    return _folder("analysis-steps")


def meetings_dir() -> Path:
    return _folder("meetings")


def _folder(name: str) -> Path:
    package = Path(str(files("bot")))
    for place in (package / "_content" / name, package.parent / name):
        if place.is_dir():
            return place
    raise ContentError(f"The {name} that come with Roundtable are missing: install it again.")
