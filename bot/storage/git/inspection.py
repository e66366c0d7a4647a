"""Looks at a workspace without changing it, for `roundtable check`."""

import errno
import os
from pathlib import Path
from typing import NamedTuple

from bot.errors import ConfigError
from bot.storage.git.items import Items
from bot.storage.git.repository import BRANCH, branch, existing_repository, must_hold_no_state


class WorkspaceInspection(NamedTuple):
    """`begun` is whether there is a repository already."""

    items: int
    branch: str
    begun: bool


def inspected(root: Path, items_dir: str) -> WorkspaceInspection:
    """Raises ConfigError when the bot could not work here."""
    repository = existing_repository(root)
    _must_be_writable(root)
    if repository is None:
        return WorkspaceInspection(
            len(Items(root, items_dir).listing()) if root.exists() else 0, BRANCH, begun=False
        )
    must_hold_no_state(repository, root)
    _must_be_writable(Path(repository.path))
    commits_to = branch(repository).removeprefix("refs/heads/")
    return WorkspaceInspection(len(Items(root, items_dir).listing()), commits_to, begun=True)


def _must_be_writable(place: Path) -> None:
    """Or, if it does not exist, the folder in which it would be made."""
    nearest = next(one for one in (place, *place.parents) if one.exists())
    if not nearest.is_dir():
        raise ConfigError(f"the workspace {str(place)!r} cannot be used: {nearest} is not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ConfigError(
            f"the workspace {str(place)!r} cannot be used: {os.strerror(errno.EACCES)}: {nearest}"
        )
    if not os.statvfs(nearest).f_bavail:
        raise ConfigError(f"the workspace {str(place)!r} cannot be used: {os.strerror(errno.ENOSPC)}")
