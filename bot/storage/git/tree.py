"""The repository of the workspace: the files and trailers of its commits, and which repository can be one."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Commit, Oid, Tree
from pygit2.enums import FileMode, ObjectType

from bot.errors import ConfigError, WorkspaceError
from bot.files import DEEPEST, FileRefused, TooLarge
from bot.storage.git.command import Git

INITIAL_BRANCH = "main"
BRANCHES = "refs/heads/"
STATE = ".roundtable"
"""The folder of our own state, at the top of the workspace."""
OURS_ALONE = (f"/{STATE}/", ".roundtable-*.tmp")
STATE_IN_GIT = f"that is the bot's own state; take it out of git with `git rm -r --cached {STATE}`"
META, TRANSCRIPT, REVIEWS = "meta.json", "planning/meeting.jsonl", "reviews"
EFFECT, ITEM, STEP = "Roundtable-Effect", "Roundtable-Item", "Roundtable-Step"
SHORT = 7
COMMITS_LOOKED_AT = 10_000
LARGEST_CACHED_BYTES = 4 * 1024 * 1024
"""The folder of all items, and a transcript, are read several times for one commit."""
DEEPEST_PUSHED = 100
"""Levels of folders in a commit from a remote. Each costs a stack frame, and no code base needs this many."""
PLAIN = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
LOCK_SECONDS = 3.0
STALE_SECONDS = 2.0
"""Git holds the lock of a branch for milliseconds. An older one was left by a kill."""
PAUSE_SECONDS = 0.02
SUBMODULE = "is a submodule, which belongs to another repository"


class TreeEntry(NamedTuple):
    """What a path holds: usually a blob, sometimes a symbolic link or a submodule."""

    id: Oid
    mode: FileMode


class Files:
    """The files of one commit. Symbolic links and submodules are no files, so nothing is followed."""

    def __init__(
        self, repository: pygit2.Repository | None, commit: Commit | None, *, tree: Tree | None = None
    ) -> None:
        """*tree* are the files of one that is not made yet."""
        self._repository = repository
        self.commit = commit
        self._tree = commit.tree if commit else tree

    def read(self, path: str, most: int) -> bytes | None:
        """None where there is no plain file. Raises TooLarge."""
        entry = self.entry(path)
        return self.content(path, entry.id, most) if entry and entry.mode in PLAIN else None

    def content(self, path: str, id: Oid, most: int) -> bytes | None:
        """None for what is no blob. Raises TooLarge, and KeyError. What a partial clone lacks is fetched by git."""
        assert self._repository, "only a repository has ids"
        if id not in self._repository.odb:
            Git(Path(self._repository.path)).at_once("cat-file", "-e", str(id))
        if self._repository.odb.read_header(id)[1] > most:
            raise TooLarge(path, most)
        kind, content = self._repository.odb.read(id)
        return content if kind == ObjectType.BLOB else None

    def versions(self, path: str) -> Iterator["Files"]:
        """From here back, newest first, the commits that have *path*; of several with the same content, the newest."""
        last = None
        for commit in line_from(self.commit):
            files = Files(self._repository, commit)
            entry = files.entry(path)
            if entry and entry != last:
                last = entry
                yield files

    def size(self, id: Oid) -> int:
        """0 where a partial clone lacks the content."""
        with suppress(KeyError):
            return self._repository.odb.read_header(id)[1] if self._repository else 0
        return 0

    def entry(self, path: str) -> TreeEntry | None:
        found = self._at(path)
        return None if found is None else TreeEntry(found.id, FileMode(found.filemode))

    def folder(self, path: str) -> Tree | None:
        found = self._at(path)
        return found if isinstance(found, Tree) else None

    def names(self, path: str) -> tuple[str, ...]:
        """The names of the plain files in the folder *path*."""
        return tuple(name for name, entry in entries_in(self.folder(path)) if entry.filemode in PLAIN)

    def folders(self, path: str) -> Iterator[tuple[str, Tree]]:
        for name, entry in entries_in(self.folder(path)):
            if isinstance(entry, Tree):
                yield name, entry

    def below(self, path: str, *, depth: int = DEEPEST) -> Iterator[str]:
        """The paths of the plain files in *path*, which may be a file itself."""
        found = self.folder(path)
        if found is None:
            entry = self.entry(path)
            yield from (path,) if entry and entry.mode in PLAIN else ()
            return
        for name, inner in entries_in(found):
            place = f"{path}/{name}" if path else name
            if inner.filemode in PLAIN:
                yield place
            elif isinstance(inner, Tree) and depth:
                yield from self.below(place, depth=depth - 1)

    def refuse_submodule(self, path: str) -> None:
        """Raises FileRefused when *path*, or a folder above it, is a submodule: a commit would take it away."""
        for place, entry in self.along(path):
            if entry.mode == FileMode.COMMIT:
                raise FileRefused(place, SUBMODULE)

    def along(self, path: str) -> Iterator[tuple[str, TreeEntry]]:
        """What is at *path*, and before that at each folder above it."""
        names = path.split("/")
        for place in ("/".join(names[:count]) for count in range(1, len(names) + 1)):
            if entry := self.entry(place):
                yield place, entry

    def _at(self, path: str) -> pygit2.Object | None:
        with suppress(KeyError, ValueError):
            return self._tree[path] if path and self._tree is not None else self._tree
        return None


def entries_in(tree: Tree | None) -> Iterator[tuple[str, pygit2.Object]]:
    """Without names that are not UTF-8: these can be in no message, no log and no file of ours."""
    for entry in tree if tree is not None else ():
        with suppress(UnicodeDecodeError):
            yield (entry.raw_name or b"").decode(), entry


def usable_branch(repository: pygit2.Repository, root: Path, items_dir: str) -> str:
    """The branch that is checked out. Raises ConfigError where the bot could not work."""
    if not (name := checked_out(repository)):
        raise ConfigError(
            f"The workspace has no branch checked out (its HEAD is detached): check out a branch in {str(root)!r}"
        )
    try:
        Files(repository, tip(repository)).refuse_submodule(items_dir)
    except FileRefused as error:
        raise ConfigError(f"the workspace {str(root)!r} cannot be used: {error.strerror}") from error
    return name


def checked_out(repository: pygit2.Repository) -> str:
    """The reference of the branch that is checked out, which may not exist yet; empty when HEAD is detached."""
    return "" if repository.head_is_detached else str(repository.lookup_reference("HEAD").target)


def graft(repository: pygit2.Repository, tree: Tree | None, entries: Mapping[str, TreeEntry | None]) -> Oid:
    """*tree* with *entries*; only the trees on their paths are written, and no folder is left empty."""
    return _grafted(repository, tree, entries) or repository.TreeBuilder().write()


def _grafted(
    repository: pygit2.Repository, tree: Tree | None, entries: Mapping[str, TreeEntry | None]
) -> Oid | None:
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
        found = builder.get(name)
        present = found if isinstance(found, Tree) else None
        if grafted := _grafted(repository, present, inner):
            builder.insert(name, grafted, FileMode.TREE)
        elif present is not None:
            builder.remove(name)
    return builder.write() if len(builder) else None


def refuse_deep(before: Tree | None, after: Tree, *, depth: int = DEEPEST_PUSHED) -> None:
    """Raises WorkspaceError for folders that are too deep. What both have was looked at before."""
    if not depth:
        raise WorkspaceError(
            f"there are more than {DEEPEST_PUSHED} folders below each other", reason="diverged"
        )
    known = {entry.id for entry in before} if before is not None else set()
    same = dict(entries_in(before))
    for name, entry in entries_in(after):
        if isinstance(entry, Tree) and entry.id not in known:
            old = same.get(name)
            refuse_deep(old if isinstance(old, Tree) else None, entry, depth=depth - 1)


def line_from(commit: Commit | None, *, most: int = COMMITS_LOOKED_AT) -> Iterator[Commit]:
    """Back along first parents, as far as the clone goes; a merge counts as one commit."""
    while commit is not None and most:
        yield commit
        commit, most = parent_of(commit), most - 1


def parents_of(commit: Commit) -> Iterator[Commit]:
    """None at the end of a shallow clone."""
    with suppress(KeyError, pygit2.GitError):
        yield from commit.parents


def parent_of(commit: Commit) -> Commit | None:
    return next(parents_of(commit), None)


def trailer(commit: Commit, name: str) -> str:
    """The value of the last line that begins with *name*; empty when there is none."""
    found = [line for line in commit.message.splitlines() if line.startswith(f"{name}: ")]
    return found[-1].partition(": ")[2] if found else ""


def message_of(subject: str, trailers: Iterable[str]) -> str:
    """A subject is one line, so that it cannot forge a trailer."""
    text = "\n".join((" ".join(subject.split()), "", *trailers, ""))
    return text.encode("utf-8", "replace").decode()


def tip(repository: pygit2.Repository) -> Commit | None:
    """The newest commit of what is checked out; None before the first one."""
    return None if repository.head_is_unborn else repository.head.peel(Commit)


# --- opening ------------------------------------------------------------------------------------------------------


def open_repository(root: Path) -> pygit2.Repository:
    """The repository whose top level is *root*, or that is bare, created when there is none. Raises ConfigError."""
    pygit2.settings.enable_fsync_gitdir(True)
    pygit2.settings.cache_object_limit(ObjectType.TREE, LARGEST_CACHED_BYTES)
    pygit2.settings.cache_object_limit(ObjectType.BLOB, LARGEST_CACHED_BYTES)
    try:
        root.mkdir(parents=True, exist_ok=True)
        repository = existing_repository(root) or pygit2.init_repository(root, initial_head=INITIAL_BRANCH)
        refuse_state_in_git(repository, root)
        (root / STATE).mkdir(exist_ok=True)
        _keep_ours_out(shared_git_dir(repository))
    except (OSError, pygit2.GitError) as error:
        raise ConfigError(f"the workspace {str(root)!r} cannot be used: {error}") from error
    return repository


def existing_repository(root: Path) -> pygit2.Repository | None:
    """As `open_repository`, without making or changing anything; None when there is none yet."""
    try:
        start = next(place for place in (root, *root.parents) if place.is_dir())
        found = None if is_ignored(root) else pygit2.discover_repository(str(start))
        if not found:
            return None
        repository = pygit2.Repository(found)
        _must_be_top_level(repository, root)
    except (OSError, pygit2.GitError) as error:
        raise ConfigError(f"the workspace {str(root)!r} cannot be used: {error}") from error
    return repository


def files_at_tip(root: Path) -> Files:
    """Of what is checked out, without opening the workspace; none before the first commit. Raises ConfigError."""
    repository = existing_repository(root)
    return Files(repository, tip(repository) if repository else None)


def files_at(root: Path, revision: str) -> Files:
    """Of the commit *revision*, as `git rev-parse` reads it. Raises ConfigError."""
    repository = existing_repository(root)
    try:
        found = repository.revparse_single(revision).peel(Commit) if repository else None
    except (KeyError, ValueError, pygit2.GitError):
        found = None
    if found is None:
        raise ConfigError(f"There is no commit {revision!r} in the workspace.")
    return Files(repository, found)


def is_ignored(root: Path) -> bool:
    """Whether the repository around *root* ignores it, as our own source does with `workspace/`."""
    place = root.resolve()
    above = next((folder for folder in (place, *place.parents) if (folder / ".git").exists()), place)
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


def refuse_state_in_git(repository: pygit2.Repository, root: Path) -> None:
    """Raises ConfigError."""
    if holds_our_state(Files(repository, tip(repository)).folder("")):
        raise ConfigError(f"the workspace {str(root)!r} has {STATE}/ in git: {STATE_IN_GIT}")


def holds_our_state(tree: Tree | None) -> bool:
    """
    Whether *tree* has files of our own state: whoever can push could have written them. Upper and lower case are the
    same name on some file systems.
    """
    return any(name.casefold() == STATE for name, _ in entries_in(tree))


def flush_objects(repository: pygit2.Repository) -> None:
    """Libgit2 flushes each object and its folder, but not the folder `objects`, where it makes new folders."""
    opened = os.open(shared_git_dir(repository) / "objects", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def git_runs_in(root: Path) -> bool:
    """Whether a git runs here. Only Linux can tell; elsewhere False."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name = (process / "comm").read_text().strip()
            if name.startswith("git") and (process / "cwd").readlink().is_relative_to(root.resolve()):
                return True
    return False


def remove_stale_locks(repository: pygit2.Repository, root: Path, branch: str) -> None:
    """Those that a killed git left: with them, every later one would fail."""
    for name in (branch, "packed-refs", "config", "HEAD"):
        remove_stale(shared_git_dir(repository) / f"{name}.lock", root)


def remove_stale(lock: Path, root: Path) -> bool:
    with suppress(FileNotFoundError):
        if lock.stat().st_mtime > time.time() - STALE_SECONDS or git_runs_in(root):
            return False
        lock.unlink()
    return True


def _must_be_top_level(repository: pygit2.Repository, root: Path) -> None:
    top = Path(repository.path if repository.is_bare else repository.workdir)
    if top.resolve() != root.resolve():
        raise ConfigError(
            f"the workspace {str(root)!r} lies inside the repository {str(top)!r}:"
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
