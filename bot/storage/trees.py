"""Trees of git, compared path by path: what is the same on both sides is never opened. `rawtrees` changes them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pygit2
from pygit2 import Oid, Tree
from pygit2.enums import FileMode

from bot.errors import WorkspaceError

DEEPEST = 100
"""Folders below each other in a commit that we take over. No code has so many, and each takes a place on the stack."""


class Entry(NamedTuple):
    """What stands at a path: mostly a blob, sometimes a link or somebody's submodule."""

    id: Oid
    mode: FileMode


Entries = Mapping[str, Entry | None]
"""By path; None takes away what is there."""


class Change(NamedTuple):
    path: str
    before: Entry | None
    after: Entry | None


class InTheWay(ValueError):
    """A file stands where a folder is needed, or the other way round; the path says where."""


def at(tree: Tree | None, path: str) -> Entry | None:
    """Raises InTheWay for a folder, and when a folder of *path* is a file."""
    name, _, rest = path.partition("/")
    if tree is None or name not in tree:
        return None
    found = tree[name]
    if isinstance(found, Tree) != bool(rest):
        raise InTheWay(path)
    return at(found, rest) if isinstance(found, Tree) else _entry(found)


def changes(before: Tree | None, after: Tree | None, *, depth: int = DEEPEST) -> Iterator[Change]:
    """Every path at which the two differ, in the order of git. Raises WorkspaceError."""
    if not depth:
        raise WorkspaceError(f"there are more than {DEEPEST} folders below each other")
    if before is not None and after is not None and before.id == after.id:
        return
    old, new = _entries(before), _entries(after)
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        if was and now and _entry(was) == _entry(now):
            continue
        inner = changes(_tree(was), _tree(now), depth=depth - 1)
        yield from (change._replace(path=f"{name}/{change.path}") for change in inner)
        files = _file(was), _file(now)
        if any(files):
            yield Change(name, *files)


def _entries(tree: Tree | None) -> dict[str, pygit2.Object]:
    return {str(entry.name): entry for entry in tree} if tree is not None else {}


def _entry(found: pygit2.Object) -> Entry:
    return Entry(found.id, FileMode(found.filemode))


def _tree(found: pygit2.Object | None) -> Tree | None:
    return found if isinstance(found, Tree) else None


def _file(found: pygit2.Object | None) -> Entry | None:
    return _entry(found) if found is not None and not isinstance(found, Tree) else None
