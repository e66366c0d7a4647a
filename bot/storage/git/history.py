"""
What earlier commits have: who changed by hand what we wrote, what we wrote there last, and the versions of an item, in
any repository that contains its folder.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

import pygit2
from pygit2 import Commit, Oid

from bot.domain.item.artifacts import CheckedEdit, SectionEdit, UnreadableArtifact
from bot.domain.item.item_paths import SHARED
from bot.domain.roundtable.outcomes import HandEdit
from bot.domain.specification.exported import ExportEdit
from bot.domain.transcript.last_line import last_line
from bot.engine.ports import DueExports, FoundEdits, FoundFile, FoundFolder, ItemVersion, VersionedFile
from bot.errors import UserError, WorkspaceError
from bot.files import ARTIFACT_BYTES, TRANSCRIPT_BYTES
from bot.storage.git.branch import Branch
from bot.storage.git.tree import (
    COMMITS_LOOKED_AT,
    ITEM,
    SHORT,
    Files,
    line_from,
    parent_of,
    parents_of,
    trailer,
)

SOMEBODY = "somebody"
VERSIONS_LOOKED_AT = 100_000
COMMITS_AT_HAND = 64
MOST_EDITS = 200
"""Of one reading; the next one has more of them."""
MOST_FILES = 200
"""Of one folder of exports: others may keep theirs in it."""

T = TypeVar("T")
log = logging.getLogger(__name__)


def earlier_tips(repository: pygit2.Repository, branch: pygit2.Reference) -> Iterator[Commit]:
    """Where *branch* was before, the newest first. Raises GitError."""
    for entry in islice(branch.log(), COMMITS_LOOKED_AT):
        for id in (entry.oid_new, entry.oid_old):
            found: object = repository.get(id)
            if isinstance(found, Commit):
                yield found


def changes(newest: Commit, value: Callable[[Commit], object]) -> Iterator[Commit]:
    """The commits that changed *value*, the newest first; through a merge, on the side that it came from."""
    commit = newest
    for _ in range(COMMITS_LOOKED_AT):
        parents = tuple(parents_of(commit))
        same = next((parent for parent in parents if value(parent) == value(commit)), None)
        if same is None:
            yield commit
            same = next(filter(value, parents), None)
        if same is None:
            return
        commit = same


def reading(branch: Branch, path: str, understand: Callable[[bytes], T], absent: T) -> Callable[[Commit], T]:
    """Of the file *path* at a commit. The same content is read once."""
    known: dict[Oid, T] = {}

    def read(commit: Commit) -> T:
        files = branch.at(commit)
        entry = files.entry(path)
        if entry is None:
            return absent
        if entry.id not in known:
            content = None
            with suppress(OSError):
                content = files.read(path, ARTIFACT_BYTES)
            known[entry.id] = understand(content or b"")
        return known[entry.id]

    return read


# --- a section of ours, or our records in a data file -----------------------------------------------------------------


def described(branch: Branch, path: str, edit: CheckedEdit, content: str) -> HandEdit:
    """What people changed there. *content* is the file at the tip, *path* its place in the workspace."""

    def section(content: bytes) -> tuple[str, str]:
        with suppress(UnicodeDecodeError, UnreadableArtifact):
            return edit.found(content.decode()), edit.digest_in(content.decode())
        return "", ""

    at = reading(branch, path, section, ("", ""))
    author, commit = _changed_by(branch, lambda commit: at(commit)[1])
    return HandEdit(
        path=edit.path,
        heading=edit.heading if isinstance(edit, SectionEdit) else "",
        found=edit.found(content),
        digest=edit.digest_in(content),
        written=_written(branch, edit, at),
        replaces=edit.replaces or "",
        author=author,
        commit=commit,
    )


def _changed_by(branch: Branch, digest: Callable[[Commit], str]) -> tuple[str, str]:
    """The last person who changed it, and the commit; our last change if only we did, as in an old item."""
    newest = branch.tip()
    if newest is None:
        return SOMEBODY, ""
    found = changes(newest, digest)
    last = next(found, newest)
    by = next((commit for commit in chain((last,), found) if not trailer(commit, ITEM)), last)
    return by.author.name or SOMEBODY, str(by.id)[:SHORT]


def _written(branch: Branch, edit: CheckedEdit, at: Callable[[Commit], tuple[str, str]]) -> str | None:
    """
    What the edit replaces: our text, or one that was read back. It is found by its digest, because a later commit of
    ours may contain the change by hand; after a squash or a merge it may be in none.
    """
    texts = map(at, line_from(branch.tip()) if edit.replaces else ())
    known = {edit.replaces, edit.digest}
    return next((text for text, digest in texts if digest in known), None if edit.replaces else "")


# --- exported files ---------------------------------------------------------------------------------------------------


class ExportHistory:
    """The exports of one item as they are at *at*, and as our commits of the item left them."""

    def __init__(self, branch: Branch, slug: str, at: Files) -> None:
        self._branch = branch
        self._slug = slug
        self._at = at

    def files(self, path: str) -> Mapping[str, FoundFile]:
        return {place: self._file(place) for place in islice(self._at.below(path), MOST_FILES)}

    def folder(self, path: str) -> FoundFolder:
        files = self.files(path)
        if files or self._at.entry(path) is not None:
            return FoundFolder(files, is_gone=False)
        for after, before in self._changes:
            if after.entry(path) is not None:
                return FoundFolder({}, is_gone=True)
            if before.entry(path) is not None:  # forgotten with an earlier item of this name
                break
        return FoundFolder({}, is_gone=False)

    def introduced(self, found: FoundEdits) -> Iterator[ExportEdit]:
        """With who wrote each of them. A version of a file is read once for all that stands in it."""

        def reads(path: str) -> Callable[[Commit], Collection[tuple[str, ...]]]:
            return reading(
                self._branch, path, lambda content: found.read(content.decode(errors="replace")), ()
            )

        proposals = cache(reads)
        for edit in islice(found.edits, MOST_EDITS):
            yield self._by_author(edit, proposals(edit.path))

    def _by_author(
        self, edit: ExportEdit, proposals: Callable[[Commit], Collection[tuple[str, ...]]]
    ) -> ExportEdit:
        newest = self._at.commit
        if newest is None:
            return edit.but(author=SOMEBODY)
        commit = next(changes(newest, lambda at: edit.proposal in proposals(at)), newest)
        return edit.but(author=commit.author.name or SOMEBODY, commit=str(commit.id)[:SHORT])

    def _file(self, path: str) -> FoundFile:
        text = self._text(self._at, path)
        if text is None:  # too large, or no text: it is none of ours
            return FoundFile("", None, is_ours=False)
        now, is_ours = self._at.entry(path), True
        for files, before in self._changes:
            entry = files.entry(path)
            is_ours = is_ours and entry == now
            if entry is None:
                break
            if before.entry(path) != entry:
                return FoundFile(text, self._text(files, path), is_ours)
        return FoundFile(text, None, is_ours=False)

    @staticmethod
    def _text(files: Files, path: str) -> str | None:
        with suppress(OSError, UnicodeDecodeError):
            return (files.read(path, ARTIFACT_BYTES) or b"").decode()
        return None

    @cached_property
    def _changes(self) -> tuple[tuple[Files, Files], ...]:
        """
        Our commits of the item, each with its parent, the newest first; those that are being made are not on the
        branch yet.
        """
        branch, at, tip = self._branch, self._at.commit, self._branch.tip()
        found: dict[Oid, None] = {}
        for commit in line_from(at, most=COMMITS_AT_HAND):
            if tip is not None and commit.id == tip.id:
                break
            if trailer(commit, ITEM) == self._slug:
                found[commit.id] = None
        on_branch = branch.commits_of(self._slug)
        # A commit that is on the branch has all that are older there in its history.
        first = next((place for place, id in enumerate(on_branch) if branch.has(at, id)), None)
        found |= dict.fromkeys(on_branch[first:] if first is not None else ())
        ours = (branch.repository[id].peel(Commit) for id in found)
        return tuple((branch.at(commit), branch.at(parent_of(commit))) for commit in ours)


def due_exports(branch: Branch, slug: str, at: Files, changed: Mapping[str, bytes | None]) -> DueExports:
    """Of a commit that has *changed* files on top of *at*. What cannot be exported does not stop the commit."""
    if branch.exports is None:
        return DueExports({}, ())
    try:
        record = branch.drafted(at.commit, changed)
        return branch.exports.due(slug, record, ExportHistory(branch, slug, at).folder)
    except (UserError, WorkspaceError, OSError) as error:
        log.warning("%s was not exported: %s", slug, error)
        return DueExports({}, ())


def found_edits(branch: Branch, slug: str, at: Files) -> tuple[ExportEdit, ...]:
    """With their authors."""
    if branch.exports is None:
        return ()
    history = ExportHistory(branch, slug, at)
    try:
        return tuple(history.introduced(branch.exports.edits(slug, at, history.files)))
    except (UserError, WorkspaceError, OSError) as error:
        log.warning("the exported files of %s were not read: %s", slug, error)
        return ()


# --- the versions of an item ------------------------------------------------------------------------------------------


def versions(folder: Path) -> Iterator[ItemVersion]:
    """Newest first, each with the commit that it began with; none outside git. Raises WorkspaceError."""
    with _repository_of(folder) as (repository, place):
        if repository is None:
            return
        last: tuple[object, ...] = ()
        begun: Commit | None = None
        for commit in line_from(repository.head.peel(Commit), most=VERSIONS_LOOKED_AT):
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
    with _repository_of(folder) as (repository, place):
        if repository is None:
            return None
        head = repository.head.peel(Commit)
        path = f"{place}{transcript}"
        content = Files(repository, head).read(path, TRANSCRIPT_BYTES) or b""
        for commit in earlier_tips(repository, repository.head):
            if trailer(commit, ITEM) != folder.name or commit == head:
                continue
            if repository.descendant_of(head.id, commit.id):
                continue
            if last_line(Files(repository, commit).read(path, TRANSCRIPT_BYTES) or b"").is_in(content):
                continue
            walk = repository.walk(commit.id)
            walk.hide(head.id)
            return str(commit.id)[:SHORT], sum(trailer(gone, ITEM) == folder.name for gone in walk)
    return None


@contextmanager
def _repository_of(folder: Path) -> Iterator[tuple[pygit2.Repository | None, str]]:
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
    author = "" if trailer(commit, ITEM) else commit.author.name or SOMEBODY
    tree = Files(repository, commit)
    names = {path.removeprefix(place): path for path in tree.below(place.rstrip("/"))}
    paths = {**names, **{path: path for path in tree.below(SHARED)}}
    files = {name: _file(repository, tree, path) for name, path in paths.items()}
    return ItemVersion(str(commit.id)[:SHORT], author, files)


def _file(repository: pygit2.Repository, tree: Files, path: str) -> VersionedFile:
    entry = tree.entry(path)
    assert entry, "it is in the tree"
    return VersionedFile(str(entry.id), lambda: repository[entry.id].peel(pygit2.Blob).data)
