"""
The repository and the branch of the workspace: what the tip holds, and commits that are built on it.

A commit is built from the tree of the tip, without an index or a working tree, and the branch is set to it only if it
is still where it was. A kill leaves unreachable objects, or nothing at all. No hook runs, nothing is signed, and no
content is converted.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import pygit2
from pygit2 import Commit, Oid, Signature, Tree
from pygit2.enums import FileMode, ObjectType

from bot.errors import ConfigError, WorkspaceError
from bot.files import DEEPEST, FileRefused, TooLarge

INITIAL_BRANCH = "main"
BRANCHES = "refs/heads/"
STATE = ".roundtable"
"""The folder of our own state, at the top of the workspace."""
OURS_ALONE = (f"/{STATE}/", ".roundtable-*.tmp")
STATE_IN_GIT = f"that is the bot's own state; take it out of git with `git rm -r --cached {STATE}`"
LAST = "refs/roundtable/last/"
"""Our last commit on each branch: what a commit of ours held is not lost with the branch."""
FOLLOWED = "branch"
"""In our state: the branch of the bot that runs here, or ran here last."""
EFFECT, ITEM, STEP = "Roundtable-Effect", "Roundtable-Item", "Roundtable-Step"
AUTHOR, EMAIL = "Roundtable", "roundtable@localhost"
SHORT = 7
LARGEST_TREE_CACHED_BYTES = 4 * 1024 * 1024
"""The folder of all items is read several times for one commit."""
DEEPEST_PUSHED = 100
"""Levels of folders in a commit from a remote. Each costs a stack frame, and no code base needs this many."""
PLAIN = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
LOCK_SECONDS = 3.0
STALE_SECONDS = 2.0
"""Git holds the lock of a branch for milliseconds. An older one was left by a kill."""
PAUSE_SECONDS = 0.02
T = TypeVar("T")
SUBMODULE = "is a submodule, which belongs to another repository"


class TreeEntry(NamedTuple):
    """What a path holds: usually a blob, sometimes a symbolic link or a submodule."""

    id: Oid
    mode: FileMode


class Files:
    """The files of one commit. Symbolic links and submodules are no files, so nothing is followed."""

    def __init__(self, repository: pygit2.Repository, commit: Commit | None) -> None:
        self._repository = repository
        self.commit = commit

    def read(self, path: str, most: int) -> bytes | None:
        """None where there is no plain file. Raises TooLarge."""
        entry = self.entry(path)
        if entry is None or entry.mode not in PLAIN:
            return None
        if self._repository.odb.read_header(entry.id)[1] > most:
            raise TooLarge(path, most)
        found = self._repository[entry.id]
        return found.data if isinstance(found, pygit2.Blob) else None

    def entry(self, path: str) -> TreeEntry | None:
        found = self._at(path)
        return None if found is None else TreeEntry(found.id, FileMode(found.filemode))

    def is_folder(self, path: str) -> bool:
        return self._at(path) is not None and isinstance(self._at(path), Tree)

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
        names = path.split("/")
        for above in ("/".join(names[:count]) for count in range(1, len(names) + 1)):
            entry = self.entry(above)
            if entry and entry.mode == FileMode.COMMIT:
                raise FileRefused(above, SUBMODULE)

    def _at(self, path: str) -> pygit2.Object | None:
        with suppress(KeyError, ValueError):
            return (self.commit.tree[path] if path else self.commit.tree) if self.commit else None
        return None


def entries_in(tree: Tree | None) -> Iterator[tuple[str, pygit2.Object]]:
    """Without names that are not UTF-8: these can be in no message, no log and no file of ours."""
    for entry in tree if tree is not None else ():
        with suppress(UnicodeDecodeError):
            yield (entry.raw_name or b"").decode(), entry


class CommitDraft(NamedTuple):
    """A commit to make: the files that it changes, by path. None removes a file."""

    files: Mapping[str, bytes | None]
    message: str
    now: str


class Branch:
    """
    The branch that was checked out when the bot started: commits go on to it, whatever is checked out later. Raises
    ConfigError where the workspace cannot be used. For one thread.
    """

    def __init__(
        self,
        root: Path,
        *,
        name: str = AUTHOR,
        email: str = EMAIL,
        items_dir: str = "",
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        self.root = root
        self.repository = open_repository(root)
        self._who = name, email
        self.lock_seconds = lock_seconds
        self._noted = ""
        self._name = checked_out(self.repository)
        if not self._name:
            raise ConfigError(
                f"the workspace {str(root)!r} has no branch checked out (its HEAD is detached): check out a branch"
            )
        self.repository.set_ident(name, email)
        if items_dir:
            try:
                self.files().refuse_submodule(items_dir)
            except FileRefused as error:
                raise ConfigError(f"the workspace {str(root)!r} cannot be used: {error.strerror}") from error

    @property
    def name(self) -> str:
        """A repository without a commit has no branch yet: until then, that of HEAD counts."""
        if self.repository.references.get(self._name) is None:
            self._name = checked_out(self.repository) or self._name
        return self._name

    @property
    def state(self) -> Path:
        return self.root / STATE

    def tip(self) -> Commit | None:
        found = self.repository.references.get(self.name)
        return found.peel(Commit) if found else None

    def files(self, commit: Commit | None = None) -> Files:
        """Of *commit*, or else of the tip."""
        return Files(self.repository, commit or self.tip())

    def last(self) -> Commit | None:
        """Our last commit on this branch, also when the branch has lost it."""
        found = self.repository.references.get(self._last)
        return found.peel(Commit) if found else None

    def note_last(self, commit: Commit) -> None:
        self.refer(self._last, commit.id)
        if self._noted != self.name:
            self._noted = self.name
            (self.state / FOLLOWED).write_text(self.name, "utf-8")

    def has(self, newer: Commit | None, older: Commit | Oid | None) -> bool:
        """Whether *older* is in the history of *newer*."""
        if newer is None or older is None:
            return older is None
        id = older.id if isinstance(older, Commit) else older
        if id not in self.repository:
            return False
        return newer.id == id or self.repository.descendant_of(newer.id, id)

    def build(self, parent: Commit | None, draft: CommitDraft) -> Commit:
        """A commit on top of *parent*, on no branch yet; *parent* itself where *draft* changes nothing."""
        tree = parent.tree if parent else None
        files = Files(self.repository, parent)
        entries = {path: self._entry(files, path, content) for path, content in draft.files.items()}
        return self.build_tree(parent, graft(self.repository, tree, entries), draft.message, draft.now)

    def build_tree(self, parent: Commit | None, tree: Oid, message: str, now: str) -> Commit:
        if parent is not None and tree == parent.tree_id:
            return parent
        moment = datetime.fromisoformat(now)
        seconds = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        who = Signature(*self._who, seconds, 0)
        parents: list[str | Oid] = [parent.id] if parent else []
        made = self.repository.create_commit(None, who, who, message, tree, parents)
        return self.repository[made].peel(Commit)

    def move(self, before: Commit | None, after: Commit, reason: str) -> bool:
        """Compare and set. False when another program was quicker. Raises OSError and GitError."""
        if before is not None and before.id == after.id:
            return True
        flush_objects(self.repository)
        try:
            return self._unlocked(self.name, lambda: self._set(before, after, reason))
        except (OSError, ValueError, pygit2.GitError):
            if self.tip() != before:
                return False
            raise

    def refer(self, name: str, target: Oid | None) -> None:
        """Sets a reference of ours; None removes it."""
        if target is not None:
            self._unlocked(name, lambda: self.repository.references.create(name, target, force=True))
        elif self.repository.references.get(name) is not None:
            self._unlocked(name, lambda: self.repository.references.delete(name))

    def _unlocked(self, name: str, work: Callable[[], T]) -> T:
        """Waits for a lock of *name*, and removes one that a kill has left."""
        lock, until = shared_git_dir(self.repository) / f"{name}.lock", time.monotonic() + self.lock_seconds
        while True:
            try:
                return work()
            except (OSError, pygit2.GitError):
                if not lock.exists():
                    raise
            if not _remove_stale(lock, self.root) and time.monotonic() > until:
                raise WorkspaceError(
                    f"Another program ({lock.name}) is writing to the workspace and does not let go of it.",
                    reason="locked",
                    again=True,
                )
            time.sleep(PAUSE_SECONDS)

    def _set(self, before: Commit | None, after: Commit, reason: str) -> bool:
        if before is None:
            self.repository.create_reference(self.name, after.id, message=reason)
            return True
        reference = self.repository.lookup_reference(self.name)
        if reference.target != before.id:
            return False
        reference.set_target(after.id, reason)  # fails where another program has moved it since
        return True

    @property
    def _last(self) -> str:
        return LAST + quote(self.name.removeprefix(BRANCHES), safe="")

    def _entry(self, files: Files, path: str, content: bytes | None) -> TreeEntry | None:
        if content is None:
            return None
        present = files.entry(path)
        executable = present and present.mode == FileMode.BLOB_EXECUTABLE
        mode = FileMode.BLOB_EXECUTABLE if executable else FileMode.BLOB
        return TreeEntry(self.repository.create_blob(content), mode)


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


def trailer(commit: Commit, name: str) -> str:
    """The value of the last line that begins with *name*; empty when there is none."""
    found = [line for line in commit.message.splitlines() if line.startswith(f"{name}: ")]
    return found[-1].partition(": ")[2] if found else ""


def message_of(subject: str, trailers: Iterable[str]) -> str:
    """A subject is one line, so that it cannot forge a trailer."""
    text = "\n".join((" ".join(subject.split()), "", *trailers, ""))
    return text.encode("utf-8", "replace").decode()


def blob(tree: Tree | None, path: str) -> pygit2.Blob | None:
    with suppress(KeyError):
        found = tree[path] if tree is not None else None
        return found if isinstance(found, pygit2.Blob) else None
    return None


def content_at(commit: Commit | None, path: str) -> bytes | None:
    found = blob(commit.tree, path) if commit else None
    return found.data if found else None


def tip(repository: pygit2.Repository) -> Commit | None:
    """The newest commit of what is checked out; None before the first one."""
    return None if repository.head_is_unborn else repository.head.peel(Commit)


def tree_at_tip(repository: pygit2.Repository) -> Tree | None:
    newest = tip(repository)
    return newest.tree if newest else None


# --- opening ------------------------------------------------------------------------------------------------------


def open_repository(root: Path) -> pygit2.Repository:
    """The repository whose top level is *root*, or that is bare, created when there is none. Raises ConfigError."""
    pygit2.settings.enable_fsync_gitdir(True)
    pygit2.settings.cache_object_limit(ObjectType.TREE, LARGEST_TREE_CACHED_BYTES)
    try:
        root.mkdir(parents=True, exist_ok=True)
        found = None if is_ignored(root) else pygit2.discover_repository(str(root))
        repository = (
            pygit2.Repository(found) if found else pygit2.init_repository(root, initial_head=INITIAL_BRANCH)
        )
        _must_be_top_level(repository, root)
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
    if holds_our_state(tree_at_tip(repository)):
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


def remove_stale_locks(branch: Branch) -> None:
    """Those that a killed git left: with them, every later one would fail."""
    shared = shared_git_dir(branch.repository)
    for name in (branch.name, "packed-refs", "config", "HEAD"):
        _remove_stale(shared / f"{name}.lock", branch.root)


def _remove_stale(lock: Path, root: Path) -> bool:
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
