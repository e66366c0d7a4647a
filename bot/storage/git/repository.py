"""
The git side of the workspace: opening it, and one commit more on the branch that is checked out.

A commit is made tree by tree along the paths that changed, so that its cost does not grow with the number of items.
No hook runs, nothing is signed, and nothing is converted: blobs are our bytes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Commit, Oid, Signature, Tree
from pygit2.enums import FileMode, ObjectType

from bot.errors import ConfigError, WorkspaceError
from bot.storage.git.index import Files, IndexFile
from bot.storage.git.objects import Entry, Objects, RawTrees

BRANCH = "main"
OURS_ALONE = ("/.roundtable/", ".roundtable-*.tmp")
RACES = 20
LARGEST_TREE_KEPT = 4 * 1024 * 1024
"""In bytes: the folder of all items is looked into several times for one commit."""


def open_repository(root: Path) -> pygit2.Repository:
    """The repository whose top level is *root*, made when there is none. Raises ConfigError."""
    pygit2.settings.enable_fsync_gitdir(True)
    pygit2.settings.cache_object_limit(ObjectType.TREE, LARGEST_TREE_KEPT)
    try:
        root.mkdir(parents=True, exist_ok=True)
        found = None if is_ignored(root) else pygit2.discover_repository(str(root))
        repository = pygit2.Repository(found) if found else pygit2.init_repository(root, initial_head=BRANCH)
        _must_be_top_level(repository, root)
        repository.index.read()  # libgit2 knows neither split nor sparse ones
        _keep_ours_out(shared_git_dir(repository))
    except (OSError, pygit2.GitError) as error:
        raise ConfigError(f"the workspace {str(root)!r} cannot be used: {error}") from error
    return repository


def is_ignored(root: Path) -> bool:
    """Whether the repository around *root* ignores it, as a checkout of ours does `workspace/`: it is none of its."""
    place = root.resolve()
    above = next((one for one in (place, *place.parents) if (one / ".git").exists()), place)
    if above == place or (place / "HEAD").exists():
        return False
    with suppress(pygit2.GitError):
        return pygit2.Repository(str(above)).path_is_ignored(f"{place.relative_to(above).as_posix()}/")
    return False


def shared_git_dir(repository: pygit2.Repository) -> Path:
    """Where the branches are: a linked worktree shares them with its repository."""
    own = Path(repository.path)
    link = own / "commondir"
    return (own / link.read_text().strip()).resolve() if link.exists() else own


def tip(repository: pygit2.Repository) -> Commit | None:
    """The newest commit; None while there is none."""
    return None if repository.head_is_unborn else repository.head.peel(Commit)


def tree_at_tip(repository: pygit2.Repository) -> Tree | None:
    newest = tip(repository)
    return newest.tree if newest else None


def branch(repository: pygit2.Repository) -> str:
    """The reference that a commit moves, born or not."""
    if repository.head_is_detached:
        raise WorkspaceError(
            "The workspace has no branch checked out (its HEAD is detached), so a commit could get lost."
            " Check out a branch there, then try again.",
            reason="detached",
        )
    return str(repository.lookup_reference("HEAD").target)


def trailer(commit: Commit, name: str) -> str:
    """What the last line that begins with *name* says; empty when there is none."""
    found = [line for line in commit.message.splitlines() if line.startswith(f"{name}: ")]
    return found[-1].partition(": ")[2] if found else ""


def blob(tree: Tree | None, path: str) -> pygit2.Blob | None:
    with suppress(KeyError):
        found = tree[path] if tree is not None else None
        return found if isinstance(found, pygit2.Blob) else None
    return None


class Draft(NamedTuple):
    """A commit to be: what it is to hold besides what was there before, by path; None is what it holds no more."""

    files: Mapping[str, bytes | None]
    message: str
    now: str


class Made(NamedTuple):
    """A commit, and the trees before and after it; the two are the same where there was nothing to commit."""

    sha: str
    before: Oid | None
    after: Oid


class Author:
    """Who commits, and where. *scratch* is the place for a copy of the index."""

    def __init__(self, repository: pygit2.Repository, *, name: str, email: str, scratch: Path) -> None:
        repository.set_ident(name, email)
        self._repository = repository
        self._name = name
        self._email = email
        self._index = IndexFile(Path(repository.path), scratch=scratch, head=partial(tree_at_tip, repository))
        self._objects = Objects(shared_git_dir(repository) / "objects")
        self._trees = RawTrees(repository, self._objects)

    def commit(self, drafts: Sequence[Draft]) -> list[Made]:
        """HEAD holds them all afterwards, each by a commit of its own or because it did before; or it holds none."""
        with self._index.held() as index:
            for _ in range(RACES):
                before = tip(self._repository)
                made, files = self._stacked(before, drafts)
                self._objects.flush()
                index.put(files)
                if self._advance(before, made[-1].sha, drafts[-1].message):
                    return made
        raise WorkspaceError("Others commit to the workspace all the time.", reason="locked", again=True)

    def mend(self, mended: Iterable[tuple[Commit, Iterable[str]]]) -> None:
        """The index has certain paths as commits of ours made them, in case a kill came before it could."""
        with self._index.held() as index:
            for made, paths in mended:
                parent = made.parents[0].tree if made.parent_ids else None
                ours = tuple(paths)
                before = {path: found.id for one in ours for path, found in _below(parent, one)}
                after = {path: found for one in ours for path, found in _below(made.tree, one)}
                blobs: dict[str, Entry | None] = dict.fromkeys(before)
                blobs |= {path: Entry(found.id, FileMode(found.filemode)) for path, found in after.items()}
                index.mend(blobs, before)

    def blob(self, tree: Oid | None, path: str) -> pygit2.Blob | None:
        found = self._trees.at(tree, path)
        read = self._repository.get(found.id) if found else None
        return read if isinstance(read, pygit2.Blob) else None

    def _stacked(self, before: Commit | None, drafts: Sequence[Draft]) -> tuple[list[Made], Files]:
        """Commits on top of each other, on no branch yet, and what they put in all together."""
        parent, tree = (before.id, before.tree_id) if before else (None, None)
        made: list[Made] = []
        files: dict[str, Entry | None] = {}
        for draft in drafts:
            entries = self._entries(tree, draft.files)
            files |= entries
            grafted = self._trees.graft(tree, entries)
            if parent is None or grafted != tree:
                parent = self._written(draft, grafted, [parent] if parent else [])
            made.append(Made(str(parent), tree, grafted))
            tree = grafted
        return made, files

    def _entries(self, tree: Oid | None, files: Mapping[str, bytes | None]) -> Files:
        return {
            path: None
            if content is None
            else Entry(self._objects.write("blob", content), self._mode(tree, path))
            for path, content in files.items()
        }

    def _mode(self, tree: Oid | None, path: str) -> FileMode:
        """An executable stays one."""
        found = self._trees.at(tree, path)
        executable = found and found.mode == FileMode.BLOB_EXECUTABLE
        return FileMode.BLOB_EXECUTABLE if executable else FileMode.BLOB

    def _written(self, draft: Draft, tree: Oid, parents: list[str | Oid]) -> Oid:
        who = Signature(self._name, self._email, _seconds(draft.now), 0)
        text = self._repository.create_commit_string(who, who, draft.message, tree, parents)
        return self._objects.write("commit", str(text).encode())

    def _advance(self, before: Commit | None, sha: str, message: str) -> bool:
        """The branch is at *sha* then; False when somebody else moved it meanwhile."""
        if before and str(before.id) == sha:
            return True
        name, said = branch(self._repository), f"commit: {message.partition(chr(10))[0]}"
        try:
            if before is None:
                self._repository.create_reference(name, sha, message=said)
                return True
            reference = self._repository.lookup_reference(name)
            if reference.target == before.id:
                reference.set_target(sha, said)
                return True
        except (OSError, ValueError, pygit2.GitError):
            if tip(self._repository) == before:
                raise
        return False


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


def _below(tree: Tree | None, path: str) -> Iterator[tuple[str, pygit2.Blob]]:
    """The file *path*, or those in the folder *path*."""
    found = tree[path] if tree is not None and path in tree else None
    if isinstance(found, Tree):
        for entry in found:
            yield from ((f"{path}/{inner}", each) for inner, each in _below(found, str(entry.name)))
    elif isinstance(found, pygit2.Blob):
        yield path, found


def _seconds(now: str) -> int:
    moment = datetime.fromisoformat(now)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
