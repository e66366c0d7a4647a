"""Reads the versions of an item in git, in any repository that contains its folder."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Commit, Tree

from bot.domain.item.artifacts import SHARED
from bot.domain.transcript.last_line import last_line
from bot.errors import WorkspaceError
from bot.files import DEEPEST
from bot.storage.git.history import line_from
from bot.storage.git.tree import EFFECT, ITEM, SHORT, content_at, trailer

COMMITS_LOOKED_AT = 100_000
REFLOG_LOOKED_AT = 10_000


class VersionedFile(NamedTuple):
    """A file of a version; the same *id* is the same content."""

    id: str
    read: Callable[[], bytes]


class ItemVersion(NamedTuple):
    """*files* are by path in the item's folder; the file that all items share is under its own path."""

    sha: str
    author: str
    """Empty when the commit is ours."""
    files: Mapping[str, VersionedFile]


def versions(folder: Path) -> Iterator[ItemVersion]:
    """Newest first, each with the commit that it began with; none outside git. Raises WorkspaceError."""
    with _history(folder) as (repository, place):
        if repository is None:
            return
        last: tuple[object, ...] = ()
        begun: Commit | None = None
        for commit in _line(repository.head.peel(Commit)):
            stamp = tuple(found and found.id for found in (_at(commit.tree, place), _at(commit.tree, SHARED)))
            if begun and stamp != last:
                yield _version(begun, place)
            last, begun = stamp, commit
        if begun:
            yield _version(begun, place)


def lost(folder: Path, transcript: str) -> tuple[str, int] | None:
    """
    The newest commit of the item that this repository had and that is not in the history of HEAD any more, with the
    number of commits that are gone with it. Raises WorkspaceError.

    A commit that was made again is not lost: it has the same effect, or its last line is in the transcript of HEAD.
    """
    with _history(folder) as (repository, place):
        if repository is None:
            return None
        head = repository.head.peel(Commit)
        content = content_at(head, f"{place}/{transcript}") or b""
        effects: frozenset[str] | None = None
        for commit in _been_at(repository):
            if trailer(commit, ITEM) != folder.name or commit == head:
                continue
            if repository.descendant_of(head.id, commit.id):
                continue
            if last_line(content_at(commit, f"{place}/{transcript}") or b"").is_in(content):
                continue
            effects = effects or frozenset(trailer(one, EFFECT) for one in _line(head))
            if trailer(commit, EFFECT) not in effects:
                walk = repository.walk(commit.id)
                walk.hide(head.id)
                count = sum(trailer(one, ITEM) == folder.name for one in walk)
                return str(commit.id)[:SHORT], count
    return None


def _been_at(repository: pygit2.Repository) -> Iterator[Commit]:
    """The earlier positions of the branch in the reflog, newest first."""
    for entry in islice(repository.head.log(), REFLOG_LOOKED_AT):
        for oid in (entry.oid_new, entry.oid_old):
            found: object = repository.get(oid)
            if isinstance(found, Commit):
                yield found


@contextmanager
def _history(folder: Path) -> Iterator[tuple[pygit2.Repository | None, str]]:
    """The repository around *folder*, if it has a commit, and the path of the folder in it."""
    found = pygit2.discover_repository(str(folder))
    try:
        repository = pygit2.Repository(found) if found else None
        if repository is None or repository.is_bare or repository.head_is_unborn:
            yield None, ""
            return
        yield repository, folder.resolve().relative_to(Path(repository.workdir).resolve()).as_posix()
    except pygit2.GitError as error:
        raise WorkspaceError(f"The history of {folder} cannot be read: {error}") from error


def _line(commit: Commit) -> Iterator[Commit]:
    return islice(line_from(commit), COMMITS_LOOKED_AT)


def _version(commit: Commit, place: str) -> ItemVersion:
    item = trailer(commit, ITEM)
    author = "" if item else commit.author.name or "somebody"
    return ItemVersion(str(commit.id)[:SHORT], author, _files(commit.tree, place))


def _at(tree: Tree, path: str) -> pygit2.Object | None:
    with suppress(KeyError):
        return tree if path == "." else tree[path]
    return None


def _files(tree: Tree, place: str) -> Mapping[str, VersionedFile]:
    folder, shared = _at(tree, place), _at(tree, SHARED)
    files = dict(_below(folder, "")) if isinstance(folder, Tree) else {}
    return files | ({SHARED: _kept(shared)} if isinstance(shared, pygit2.Blob) else {})


def _below(tree: Tree, prefix: str, *, depth: int = DEEPEST) -> Iterator[tuple[str, VersionedFile]]:
    """As deep as the bot reads folders of the workspace."""
    for entry in tree:
        path = f"{prefix}{entry.name}"
        if isinstance(entry, Tree):
            yield from _below(entry, f"{path}/", depth=depth - 1) if depth else ()
        elif isinstance(entry, pygit2.Blob):
            yield path, _kept(entry)


def _kept(blob: pygit2.Blob) -> VersionedFile:
    return VersionedFile(str(blob.id), lambda: blob.data)
