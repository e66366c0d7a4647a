"""A folder of steps without the short path, so that a meeting without a model goes step by step."""

from functools import cache
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory

from bot.shipped import steps_dir

_FOLDER = TemporaryDirectory()


@cache
def all_steps() -> str:
    folder = Path(_FOLDER.name) / "steps"
    copytree(steps_dir(), folder, ignore=ignore_patterns("short-path.yaml"))
    return str(folder)
