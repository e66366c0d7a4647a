"""Trees of git, compared and changed path by path: what is the same on both sides is never opened."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pygit2
from pygit2 import Oid, Tree
from pygit2.enums import FileMode

from bot.errors import WorkspaceError

DEEPEST = 100
"""Levels of folders in a commit from a remote. Each level costs a stack frame, and no code base needs this many."""


class TreeEntry(NamedTuple):
    """What a path holds: usually a blob, sometimes a symbolic link or a submodule."""

    id: Oid
    mode: FileMode


Entries = Mapping[str, TreeEntry | None]
"""By path; None removes the path."""


class TreeChange(NamedTuple):
    path: str
    before: TreeEntry | None
    after: TreeEntry | None


class InTheWay(ValueError):
    """A file is where a folder is needed, or a folder where a file is needed. The message is the path."""


def at(tree: Tree | None, path: str) -> TreeEntry | None:
    """Raises InTheWay when *path* is a folder, or leads through a file."""
    name, _, rest = path.partition("/")
    if tree is None or name not in tree:
        return None
    found = tree[name]
    if isinstance(found, Tree) != bool(rest):
        raise InTheWay(path)
    return at(found, rest) if isinstance(found, Tree) else _entry(found)


def changes(before: Tree | None, after: Tree | None, *, depth: int = DEEPEST) -> Iterator[TreeChange]:
    """Every path at which the two differ, in git's order. Raises WorkspaceError for trees that are too deep."""
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
            yield TreeChange(name, *files)


def graft(repository: pygit2.Repository, tree: Tree | None, entries: Entries) -> Oid:
    """*tree* with *entries*; only the trees on their paths are written, and no folder is left empty."""
    return _grafted(repository, tree, entries) or repository.TreeBuilder().write()


def _grafted(repository: pygit2.Repository, tree: Tree | None, entries: Entries) -> Oid | None:
    """None for an empty tree."""
    builder = repository.TreeBuilder() if tree is None else repository.TreeBuilder(tree)
    below: dict[str, dict[str, TreeEntry | None]] = {}
    for path, entry in entries.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[rest] = entry
        elif entry:
            builder.insert(name, *entry)
        elif tree is not None and name in tree:
            builder.remove(name)
    for name, inner in below.items():
        present = _tree(builder.get(name))
        if grafted := _grafted(repository, present, inner):
            builder.insert(name, grafted, FileMode.TREE)
        elif present is not None:
            builder.remove(name)
    return builder.write() if len(builder) else None


def _entries(tree: Tree | None) -> dict[str, pygit2.Object]:
    return {str(entry.name): entry for entry in tree} if tree is not None else {}


def _entry(found: pygit2.Object) -> TreeEntry:
    return TreeEntry(found.id, FileMode(found.filemode))


def _tree(found: pygit2.Object | None) -> Tree | None:
    return found if isinstance(found, Tree) else None


def _file(found: pygit2.Object | None) -> TreeEntry | None:
    return _entry(found) if found is not None and not isinstance(found, Tree) else None
