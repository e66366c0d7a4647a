"""What git kept of an item, version by version: only looked at, in whatever repository its folder is."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Commit, Tree

from bot.domain.artifact import SHARED
from bot.errors import WorkspaceError
from bot.storage.history import line_from

COMMITS_LOOKED_AT = 100_000
SHORT = 7


class Kept(NamedTuple):
    """A file of a version; the same *id* is the same content."""

    id: str
    read: Callable[[], bytes]


class Version(NamedTuple):
    """The files of an item by their path in its folder; the one that all items share has its own."""

    sha: str
    files: Mapping[str, Kept]


def versions(folder: Path) -> Iterator[Version]:
    """The newest first, each that differs from the one after it; none where there is no git. Raises WorkspaceError."""
    found = pygit2.discover_repository(str(folder))
    if found is None:
        return
    try:
        repository = pygit2.Repository(found)
        if repository.is_bare or repository.head_is_unborn:
            return
        place = folder.resolve().relative_to(Path(repository.workdir).resolve()).as_posix()
        last: tuple[object, ...] = ()
        for commit in islice(line_from(repository.head.peel(Commit)), COMMITS_LOOKED_AT):
            stamp = tuple(found and found.id for found in (_at(commit.tree, place), _at(commit.tree, SHARED)))
            if stamp != last:
                last = stamp
                yield Version(str(commit.id)[:SHORT], _files(commit.tree, place))
    except pygit2.GitError as error:
        raise WorkspaceError(f"The history of {folder} cannot be read: {error}") from error


def _at(tree: Tree, path: str) -> pygit2.Object | None:
    with suppress(KeyError):
        return tree if path == "." else tree[path]
    return None


def _files(tree: Tree, place: str) -> Mapping[str, Kept]:
    folder, shared = _at(tree, place), _at(tree, SHARED)
    files = dict(_below(folder, "")) if isinstance(folder, Tree) else {}
    return files | ({SHARED: _kept(shared)} if isinstance(shared, pygit2.Blob) else {})


def _below(tree: Tree, prefix: str) -> Iterator[tuple[str, Kept]]:
    for entry in tree:
        path = f"{prefix}{entry.name}"
        if isinstance(entry, Tree):
            yield from _below(entry, f"{path}/")
        elif isinstance(entry, pygit2.Blob):
            yield path, _kept(entry)


def _kept(blob: pygit2.Blob) -> Kept:
    return Kept(str(blob.id), lambda: blob.data)
