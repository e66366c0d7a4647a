"""A folder of steps without the short path, so that a meeting without a model goes step by step."""

from functools import cache
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory

from bot.content.playbook import load
from bot.domain.catalog.agenda import Playbook
from bot.shipped import personas_dir, steps_dir

_FOLDER = TemporaryDirectory()


@cache
def all_steps() -> str:
    folder = Path(_FOLDER.name) / "steps"
    copytree(steps_dir(), folder, ignore=ignore_patterns("short-path.yaml"))
    return str(folder)


@cache
def shipped_playbook(*, steps: str = "") -> Playbook:
    """Of the shipped personas and steps, or of those in the folder *steps*: no test changes them."""
    return load(personas_dir(), Path(steps) if steps else steps_dir())


def load_once(personas: Path, steps: Path, *, workspace: Path | None = None) -> Playbook:
    """As `load`; what no test changes is read once in a test process."""
    if personas == personas_dir() and steps == steps_dir():
        return shipped_playbook()
    if personas == personas_dir() and steps == Path(all_steps()):
        return shipped_playbook(steps=all_steps())
    return load(personas, steps, workspace=workspace)
