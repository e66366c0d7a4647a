"""Reads the versions of an item in git, in any repository that contains its folder."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Commit

from bot.domain.item.item_paths import SHARED
from bot.domain.transcript.last_line import last_line
from bot.errors import WorkspaceError
from bot.files import TRANSCRIPT_BYTES
from bot.storage.git.tree import ITEM, SHORT, Files, line_from, trailer

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
        for commit in line_from(repository.head.peel(Commit), most=COMMITS_LOOKED_AT):
            files = Files(repository, commit)
            stamp = files.entry(place.rstrip("/")), files.entry(SHARED)
            if begun and stamp != last:
                yield _version(repository, begun, place)
            last, begun = stamp, commit
        if begun:
            yield _version(repository, begun, place)


def lost(folder: Path, transcript: str) -> tuple[str, int] | None:
    """
    The newest commit of the item that this repository had and that is not in the history of HEAD any more, with the
    number of commits that are gone with it. Raises WorkspaceError.

    A commit that was made again is not lost: its last line is in the transcript of HEAD.
    """
    with _history(folder) as (repository, place):
        if repository is None:
            return None
        head = repository.head.peel(Commit)
        path = f"{place}{transcript}"
        content = Files(repository, head).read(path, TRANSCRIPT_BYTES) or b""
        for commit in _been_at(repository):
            if trailer(commit, ITEM) != folder.name or commit == head:
                continue
            if repository.descendant_of(head.id, commit.id):
                continue
            if last_line(Files(repository, commit).read(path, TRANSCRIPT_BYTES) or b"").is_in(content):
                continue
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
    """The repository around *folder*, if it has a commit, and what the paths of the folder begin with in it."""
    found = pygit2.discover_repository(str(folder))
    try:
        repository = pygit2.Repository(found) if found else None
        if repository is None or repository.is_bare or repository.head_is_unborn:
            yield None, ""
            return
        place = folder.resolve().relative_to(Path(repository.workdir).resolve()).as_posix()
        yield repository, "" if place == "." else f"{place}/"
    except pygit2.GitError as error:
        raise WorkspaceError(f"The history of {folder} cannot be read: {error}") from error


def _version(repository: pygit2.Repository, commit: Commit, place: str) -> ItemVersion:
    author = "" if trailer(commit, ITEM) else commit.author.name or "somebody"
    tree = Files(repository, commit)
    names = {path.removeprefix(place): path for path in tree.below(place.rstrip("/"))}
    paths = {**names, **{path: path for path in tree.below(SHARED)}}
    files = {name: _file(repository, tree, path) for name, path in paths.items()}
    return ItemVersion(str(commit.id)[:SHORT], author, files)


def _file(repository: pygit2.Repository, tree: Files, path: str) -> VersionedFile:
    entry = tree.entry(path)
    assert entry, "it is in the tree"
    return VersionedFile(str(entry.id), lambda: repository[entry.id].peel(pygit2.Blob).data)
