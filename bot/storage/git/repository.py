"""
The git side of the workspace: opening the repository, and adding commits to the branch that is checked out.

Libgit2 does it, except that the index stays locked from before it is read until the branch has moved, as `git commit`
keeps it. Otherwise a person who commits at that moment would commit our files as theirs, or revert them. No hook runs,
nothing is signed, and no content is converted.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Commit, Index, IndexEntry, Oid, Signature, Tree
from pygit2.enums import FileMode, ObjectType

from bot.errors import ConfigError, WorkspaceError
from bot.storage.git.trees import Entries, TreeEntry, graft

BRANCH = "main"
STATE = ".roundtable"
"""The folder of our own state, at the top of the workspace."""
OURS_ALONE = (f"/{STATE}/", ".roundtable-*.tmp")
STATE_IN_GIT = f"that is the bot's own state; take it out of git with `git rm -r --cached {STATE}`"
RACES = 20
"""How often a commit is tried when other people move the branch at the same time."""
LARGEST_TREE_CACHED_BYTES = 4 * 1024 * 1024
"""The folder of all items is read several times for one commit."""


def open_repository(root: Path) -> pygit2.Repository:
    """The repository whose top level is *root*, created when there is none. Raises ConfigError."""
    pygit2.settings.enable_fsync_gitdir(True)
    pygit2.settings.cache_object_limit(ObjectType.TREE, LARGEST_TREE_CACHED_BYTES)
    try:
        root.mkdir(parents=True, exist_ok=True)
        found = None if is_ignored(root) else pygit2.discover_repository(str(root))
        repository = pygit2.Repository(found) if found else pygit2.init_repository(root, initial_head=BRANCH)
        _must_be_top_level(repository, root)
        repository.index.read()  # libgit2 knows neither split nor sparse ones
        must_hold_no_state(repository, root)
        _keep_ours_out(shared_git_dir(repository))
    except (OSError, pygit2.GitError) as error:
        raise ConfigError(f"the workspace {str(root)!r} cannot be used: {error}") from error
    return repository


def existing_repository(root: Path) -> pygit2.Repository | None:
    """As `open_repository`, without making or changing anything; None when there is none yet."""
    try:
        start = next(one for one in (root, *root.parents) if one.is_dir())
        found = None if is_ignored(root) else pygit2.discover_repository(str(start))
        if not found:
            return None
        repository = pygit2.Repository(found)
        _must_be_top_level(repository, root)
        repository.index.read()
    except (OSError, pygit2.GitError) as error:
        raise ConfigError(f"the workspace {str(root)!r} cannot be used: {error}") from error
    return repository


def is_ignored(root: Path) -> bool:
    """Whether the repository around *root* ignores it, as our own source does with `workspace/`."""
    place = root.resolve()
    above = next((one for one in (place, *place.parents) if (one / ".git").exists()), place)
    if above == place or (place / "HEAD").exists():
        return False
    with suppress(pygit2.GitError):
        return pygit2.Repository(str(above)).path_is_ignored(f"{place.relative_to(above).as_posix()}/")
    return False


def shared_git_dir(repository: pygit2.Repository) -> Path:
    """The folder of the branches and objects: a linked worktree shares them with its repository."""
    own = Path(repository.path)
    link = own / "commondir"
    return (own / link.read_text().strip()).resolve() if link.exists() else own


def tip(repository: pygit2.Repository) -> Commit | None:
    """The newest commit; None before the first one."""
    return None if repository.head_is_unborn else repository.head.peel(Commit)


def tree_at_tip(repository: pygit2.Repository) -> Tree | None:
    newest = tip(repository)
    return newest.tree if newest else None


def must_hold_no_state(repository: pygit2.Repository, root: Path) -> None:
    """Raises ConfigError."""
    if holds_our_state(tree_at_tip(repository)):
        raise ConfigError(f"the workspace {str(root)!r} has {STATE}/ in git: {STATE_IN_GIT}")


def holds_our_state(tree: Tree | None) -> bool:
    """
    Whether *tree* has files of our own state: whoever can push could have written them. Upper and lower case are the
    same name on some file systems.
    """
    return tree is not None and any(str(entry.name).casefold() == STATE for entry in tree)


def branch(repository: pygit2.Repository) -> str:
    """The reference that a commit moves; it may not exist yet."""
    if repository.head_is_detached:
        raise WorkspaceError(
            "The workspace has no branch checked out (its HEAD is detached), so a commit could get lost."
            " Check out a branch there, then try again.",
            reason="detached",
        )
    return str(repository.lookup_reference("HEAD").target)


def trailer(commit: Commit, name: str) -> str:
    """The value of the last line that begins with *name*; empty when there is none."""
    found = [line for line in commit.message.splitlines() if line.startswith(f"{name}: ")]
    return found[-1].partition(": ")[2] if found else ""


def blob(tree: Tree | None, path: str) -> pygit2.Blob | None:
    with suppress(KeyError):
        found = tree[path] if tree is not None else None
        return found if isinstance(found, pygit2.Blob) else None
    return None


def content_at(commit: Commit | None, path: str) -> bytes | None:
    found = blob(commit.tree, path) if commit else None
    return found.data if found else None


class CommitDraft(NamedTuple):
    """A commit to make: the files that it changes, by path. None removes a file."""

    files: Mapping[str, bytes | None]
    message: str
    now: str


class CommitMade(NamedTuple):
    """Both are the same when there was nothing to commit."""

    before: Commit | None
    after: Commit


class Author:
    def __init__(self, repository: pygit2.Repository, *, name: str, email: str) -> None:
        repository.set_ident(name, email)
        self._repository = repository
        self._name = name
        self._email = email

    def commit(self, drafts: Sequence[CommitDraft]) -> list[CommitMade]:
        """All or nothing: afterwards HEAD has all *drafts*, each in a commit of its own unless it changed nothing."""
        with locked_index(self._repository) as lock:
            for _ in range(RACES):
                before = tip(self._repository)
                made, entries = self._stacked(before, drafts)
                flush_objects(self._repository)
                _stage(_opened(lock), entries)
                if self._advance(before, made[-1].after, drafts[-1].message):
                    return made
        raise WorkspaceError("Others commit to the workspace all the time.", reason="locked", again=True)

    def mend(self, mended: Iterable[tuple[Commit, Iterable[str]]]) -> None:
        """
        Put the *paths* of our commits into the index, in case a kill came between the branch and the index.

        Only where the index still has the version before: what people staged since then stays.
        """
        with locked_index(self._repository) as lock:
            for commit, paths in mended:
                index = _opened(lock)
                parent = commit.parents[0].tree if commit.parent_ids else None
                ours = tuple(paths)
                before = {path: found for one in ours for path, found in files_below(parent, one)}
                after = {path: found for one in ours for path, found in files_below(commit.tree, one)}
                entries = {**dict.fromkeys(before), **after}
                _stage(
                    index,
                    {
                        path: entry
                        for path, entry in entries.items()
                        if _staged(index, path) == before.get(path)
                    },
                )

    def _stacked(
        self, before: Commit | None, drafts: Sequence[CommitDraft]
    ) -> tuple[list[CommitMade], Entries]:
        """Commits on top of each other, on no branch yet, and all that they change."""
        made: list[CommitMade] = []
        changed: dict[str, TreeEntry | None] = {}
        newest = before
        for draft in drafts:
            parent, tree = newest, newest.tree if newest else None
            entries = {path: self._entry(tree, path, content) for path, content in draft.files.items()}
            changed |= entries
            grafted = graft(self._repository, tree, entries)
            if parent is None or grafted != parent.tree_id:
                newest = self._written(draft, grafted, parent)
            assert newest
            made.append(CommitMade(parent, newest))
        return made, changed

    def _entry(self, tree: Tree | None, path: str, content: bytes | None) -> TreeEntry | None:
        if content is None:
            return None
        found = blob(tree, path)
        executable = found and found.filemode == FileMode.BLOB_EXECUTABLE
        mode = FileMode.BLOB_EXECUTABLE if executable else FileMode.BLOB
        return TreeEntry(self._repository.create_blob(content), mode)

    def _written(self, draft: CommitDraft, tree: Oid, parent: Commit | None) -> Commit:
        who = Signature(self._name, self._email, _seconds(draft.now), 0)
        parents: list[str | Oid] = [parent.id] if parent else []
        made = self._repository.create_commit(None, who, who, draft.message, tree, parents)
        return self._repository[made].peel(Commit)

    def _advance(self, before: Commit | None, after: Commit, message: str) -> bool:
        """Move the branch to *after*. False when another program has moved it."""
        if before == after:
            return True
        name, reason = branch(self._repository), f"commit: {message.partition(chr(10))[0]}"
        try:
            if before is None:
                self._repository.create_reference(name, after.id, message=reason)
                return True
            reference = self._repository.lookup_reference(name)
            if reference.target == before.id:
                reference.set_target(after.id, reason)
                return True
        except (OSError, ValueError, pygit2.GitError):
            if tip(self._repository) == before:
                raise
        return False


def flush_objects(repository: pygit2.Repository) -> None:
    """Libgit2 flushes each object and its folder, but not the folder `objects`, where it makes new folders."""
    opened = os.open(shared_git_dir(repository) / "objects", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def locked_index(repository: pygit2.Repository) -> Iterator[Path]:
    """
    Yields the lock file of the index, which is a copy of the index. What is changed there becomes the index at the end;
    after an exception the index stays as it was. `git commit` shows hooks the index in the same way.

    Raises WorkspaceError when another program holds the lock.
    """
    index = Path(repository.path) / "index"
    lock = index.with_name("index.lock")
    try:
        lock.open("xb").close()
    except FileExistsError:
        raise WorkspaceError(
            "Another program is writing to the workspace.", reason="locked", again=True
        ) from None
    with ExitStack() as undoing:
        undoing.callback(lock.unlink)
        lock.with_name("index.lock.lock").unlink(missing_ok=True)  # left by a kill: only we lock this copy
        is_new = not index.exists()
        if is_new:
            _write_index(lock, tree_at_tip(repository))
        else:
            shutil.copy2(index, lock)
        yield lock
        if not is_new:
            # Git reads a file again when it is not older than the index. With a newer time on the index, git
            # would miss edits of the same size made in the second in which the file was staged.
            shutil.copystat(index, lock)
        with lock.open("rb") as written:
            os.fsync(written.fileno())
        lock.replace(index)
        undoing.pop_all()


def _write_index(path: Path, tree: Tree | None) -> None:
    """As *tree* is: in an empty index every file that is committed would count as deleted."""
    aside = path.with_name(f"{path.name}.new")
    aside.unlink(missing_ok=True)
    index = Index(str(aside))
    if tree is not None:
        index.read_tree(tree)
    index.write()
    aside.replace(path)


class _Index(Index):
    def __del__(self) -> None:
        if hasattr(self, "_index"):  # pygit2 fails here when the index could not be opened
            super().__del__()


def _opened(index: Path) -> Index:
    try:
        return _Index(str(index))
    except pygit2.GitError as error:
        raise WorkspaceError(
            f"The git index of the workspace has a form that the bot cannot write ({error})."
            " Run `git update-index --no-split-index` and `git sparse-checkout disable` there, then try again.",
            reason="index",
            again=True,
        ) from error


def _stage(index: Index, entries: Entries) -> None:
    """Write *entries* to *index*. Both sides of an unfinished merge stay for the person who merges."""
    conflicts = index.conflicts
    for path, entry in entries.items():
        if conflicts is not None and path in conflicts:
            continue
        present = _staged(index, path)
        if entry and entry != present:
            index.add(IndexEntry(path, *entry))
        elif present and not entry:
            index.remove(path)
    index.write()


def _staged(index: Index, path: str) -> TreeEntry | None:
    try:
        found = index[path]
    except KeyError:
        return None
    return TreeEntry(found.id, found.mode)


def _must_be_top_level(repository: pygit2.Repository, root: Path) -> None:
    if repository.is_bare:
        raise ConfigError(f"the workspace {str(root)!r} is a bare repository: give a checkout of it")
    if Path(repository.workdir).resolve() != root.resolve():
        raise ConfigError(
            f"the workspace {str(root)!r} lies inside the repository {repository.workdir!r}:"
            " give the top level of a repository, or a folder outside of any"
        )


def _keep_ours_out(git_dir: Path) -> None:
    exclude = git_dir / "info" / "exclude"
    present = exclude.read_text(errors="surrogateescape") if exclude.exists() else ""
    missing = [line for line in OURS_ALONE if line not in present.splitlines()]
    if missing:
        exclude.parent.mkdir(exist_ok=True)
        with exclude.open("a", encoding="utf-8") as file:
            file.write("\n".join(["", *missing, ""]))


def files_below(tree: Tree | None, path: str) -> Iterator[tuple[str, TreeEntry]]:
    """The file *path*, or the files in the folder *path*."""
    found = tree[path] if tree is not None and path in tree else None
    if isinstance(found, Tree):
        for entry in found:
            yield from ((f"{path}/{inner}", each) for inner, each in files_below(found, str(entry.name)))
    elif isinstance(found, pygit2.Blob):
        yield path, TreeEntry(found.id, FileMode(found.filemode))


def _seconds(now: str) -> int:
    moment = datetime.fromisoformat(now)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
