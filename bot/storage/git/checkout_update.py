"""
Moves the checkout to another commit: branch, index and files together.

Git's own two-tree merge does it, so that what people staged or changed stays exactly as it is; if the move would
overwrite it, nothing is done. A note is written first, so that the next writer can finish the move after a kill.
"""

import json
import logging
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pygit2
from pygit2 import Commit, Oid, Tree
from pygit2.enums import SortMode

from bot.errors import WorkspaceError
from bot.files import STATE_BYTES, File, folder
from bot.storage.git.command import Git, GitResult
from bot.storage.git.rebase import Clash
from bot.storage.git.repository import (
    STATE,
    STATE_IN_GIT,
    flush_objects,
    holds_our_state,
    locked_index,
    tip,
)
from bot.storage.git.trees import InTheWay, TreeChange, at, changes

log = logging.getLogger(__name__)

NOTES = "remote"
"""The folder of the notes about the remote. Only the holder of the lock writes there."""
NOTE = "adopting"
CLASHES = "conflicts"
TRY = "-u --dry-run"
FEW = 500
"""Up to this many paths are refreshed one by one; for more, the whole checkout is."""


class CheckoutUpdate:
    """*state* is the folder of our own state. Only for the holder of the lock (lock.py)."""

    def __init__(self, repository: pygit2.Repository, state: Path) -> None:
        self._repository = repository
        self._root = state.parent
        self._notes = state / NOTES
        self._notes.mkdir(exist_ok=True)
        self._index = Path(repository.path) / "index.lock"
        self._git = Git(self._root)

    def adopt(self, after: Commit, *, branch: str, clashes: Iterable[Clash] = ()) -> None:
        """Raises WorkspaceError when changes of other people are in the way; then nothing has changed."""
        before = tip(self._repository)
        if before == after:
            return
        if holds_our_state(after.tree):
            raise WorkspaceError(
                f"The remote has {STATE}/ in git: {STATE_IN_GIT}.", reason="diverged", again=True
            )
        moved = tuple(changes(before.tree if before else None, after.tree))
        met = tuple(clashes)
        note = {"branch": branch, "before": _sha(before), "after": _sha(after), "clashes": met}
        with locked_index(self._repository):
            self._refresh(moved)
            if self._merge(before, after, how=TRY).code:
                self._put_ahead(moved, _versions(self._between(before, after), moved))
                self._refresh(moved)
            _must(self._merge(before, after, how=TRY))
            self._write(NOTE, note)
            self._move(before, after, branch=branch)
        self._done(met)

    def finish(self) -> None:
        """Finish a move that a kill interrupted, unless people have moved the branch or changed the files since."""
        if (note := self._read(NOTE)) is None:
            return
        before, after = self._commit(note["before"]), self._commit(note["after"])
        if after and tip(self._repository) in (before, after):
            try:
                self._again(before, after, branch=note["branch"])
            except WorkspaceError as error:
                log.warning("%s", error)
        self._done([Clash(*clash) for clash in note["clashes"]] if tip(self._repository) == after else [])

    def clashes(self) -> tuple[Clash, ...]:
        """Those that have not been reported yet."""
        return tuple(Clash(*clash) for clash in self._read(CLASHES) or ())

    def told(self, clashes: Iterable[Clash]) -> None:
        told = set(clashes)
        self._write(CLASHES, [clash for clash in self.clashes() if clash not in told])

    def _again(self, before: Commit | None, after: Commit, *, branch: str) -> None:
        moved = tuple(changes(before.tree if before else None, after.tree))
        with locked_index(self._repository):
            self._take_over(moved)
            self._refresh(moved)
            self._move(before, after, branch=branch)

    def _move(self, before: Commit | None, after: Commit, *, branch: str) -> None:
        """Files and the copy of the index first, then the branch; the copy replaces the index at the end."""
        _must(self._merge(before, after))
        with ExitStack() as undoing:
            undoing.callback(self._merge, after, before)
            flush_objects(self._repository)
            self._point(branch, before, after)
            undoing.pop_all()

    def _point(self, branch: str, before: Commit | None, after: Commit) -> None:
        """Raises WorkspaceError when another program has moved the branch."""
        newest = tip(self._repository)
        if newest is None:
            self._repository.references.create(branch, after.id)
        elif before and newest == before:
            found = self._repository.lookup_reference(branch)
            if found.target == before.id:
                found.set_target(after.id, "roundtable: on top of the remote")
        if tip(self._repository) != after:
            raise WorkspaceError("Others commit to the workspace.", reason="locked", again=True)

    def _merge(self, before: Commit | None, after: Commit | None, *, how: str = "-u") -> GitResult:
        trees = (str(self._tree(side)) for side in (before, after))
        return self._indexed("read-tree", "-m", *how.split(), *trees)

    def _tree(self, side: Commit | None) -> Oid:
        return side.tree_id if side else self._repository.TreeBuilder().write()

    def _refresh(self, moved: tuple[TreeChange, ...]) -> None:
        """Let git compare the files with the index: our commits add entries without file times."""
        paths = [change.path for change in moved if change.before]
        if len(paths) > FEW:
            self._indexed("update-index", "-q", "--refresh")
        elif given := "".join(f"{path}\0" for path in self._listed(paths)):
            words = ("--refresh", "--pathspec-from-file=-", "--pathspec-file-nul")
            self._indexed("add", *words, given=given)

    def _listed(self, paths: Sequence[str]) -> Iterator[str]:
        """Those in the index: git refuses all the paths when one of them is not there."""
        if paths:
            index = pygit2.Index(str(self._index))
            yield from (path for path in paths if path in index)

    def _take_over(self, moved: tuple[TreeChange, ...]) -> None:
        """Accept the files that the killed process had moved already, and remove the one that it was writing."""
        given = ""
        for change in moved:
            present = self._present(change)
            if present == "torn":
                self._take_away(change.path)
            if present == "there":
                given += _index_row(change)
        if given:
            self._indexed("update-index", "-z", "--index-info", given=given)

    def _present(self, change: TreeChange) -> str:
        path = self._root / change.path
        try:
            status = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return "there" if change.after is None else ""
        if change.after is None:
            return ""
        wanted = self._repository.get(change.after.id)
        content = wanted.data if isinstance(wanted, pygit2.Blob) else b""
        if stat.S_ISLNK(status.st_mode):
            return "there" if os.fsencode(path.readlink()) == content else ""
        if not stat.S_ISREG(status.st_mode):
            return ""
        found = self._git.at_once("hash-object", "--", change.path).out.strip()
        if found == str(change.after.id):
            return "there"
        untouched = change.before and found == str(change.before.id)
        return "torn" if not untouched and self._begins(change.path, content) else ""

    def _begins(self, path: str, content: bytes) -> bool:
        """Whether the file is a beginning of *content*."""
        with suppress(OSError):
            return content.startswith(File(self._root, path, len(content)).read())
        return False

    def _is_plain(self, path: str) -> bool:
        with suppress(OSError), File(self._root, path, sys.maxsize).opened():
            return True
        return False

    def _take_away(self, path: str) -> None:
        *folders, name = path.split("/")
        with folder(self._root, folders) as found:
            found.remove(name)

    def _put_ahead(self, moved: tuple[TreeChange, ...], versions: Mapping[str, frozenset[str]]) -> None:
        """
        Move files ahead that are as one of the new commits has them: a bot was killed here after writing them, and
        another clone has committed them. All other changes stay as they are.
        """
        for change in moved:
            if not self._is_plain(change.path):
                continue
            found = self._git.at_once("hash-object", "--", change.path).out.strip()
            if found not in versions[change.path] or (change.before and found == str(change.before.id)):
                continue
            log.info("%s was written here before a kill, and is committed elsewhere", change.path)
            self._indexed("update-index", "-z", "--index-info", given=_index_row(change))
            if change.after:
                self._indexed("checkout-index", "--force", "-u", "--", change.path)
            else:
                self._take_away(change.path)

    def _between(self, before: Commit | None, after: Commit) -> Iterator[Commit]:
        walk = self._repository.walk(after.id, SortMode.TOPOLOGICAL)
        if before:
            walk.hide(before.id)
        return iter(walk)

    def _indexed(self, *words: str, given: str = "") -> GitResult:
        return self._git.at_once(
            *self._line_ends(), *words, given=given, env={"GIT_INDEX_FILE": str(self._index)}
        )

    def _line_ends(self) -> tuple[str, ...]:
        """Files are never converted on writing; one that a person's git converted counts as unchanged."""
        converts = "core.autocrlf" in self._repository.config and self._repository.config["core.autocrlf"]
        return ("-c", "core.autocrlf=input") if converts == "true" else ()

    def _done(self, clashes: Iterable[Clash]) -> None:
        if clashes := [clash for clash in clashes if clash.slug]:
            self._write(CLASHES, list(dict.fromkeys((*self.clashes(), *clashes))))
        (self._notes / NOTE).unlink(missing_ok=True)

    def _commit(self, sha: str) -> Commit | None:
        found: object = self._repository.get(sha) if sha else None
        return found if isinstance(found, Commit) else None

    def _read(self, name: str) -> Any:
        with folder(self._notes) as notes:
            content = notes.read(name, STATE_BYTES)
        try:
            return json.loads(content) if content else None
        except ValueError:
            return None

    def _write(self, name: str, value: object) -> None:
        with folder(self._notes) as notes:
            notes.replace(name, json.dumps(value).encode())


def _index_row(change: TreeChange) -> str:
    """For `update-index --index-info`; mode 0 removes the path."""
    oid, mode = change.after or (Oid(hex="0" * 40), 0)
    return f"{int(mode):06o} {oid}\t{change.path}\0"


def _versions(commits: Iterable[Commit], moved: tuple[TreeChange, ...]) -> Mapping[str, frozenset[str]]:
    """By path, the ids that the moved files have in any of *commits*."""
    trees = [commit.tree for commit in islice(commits, FEW)]
    return {change.path: frozenset(_ids(trees, change.path)) for change in moved}


def _ids(trees: Iterable[Tree], path: str) -> Iterator[str]:
    for tree in trees:
        with suppress(InTheWay):
            if found := at(tree, path):
                yield str(found.id)


def _must(said: GitResult) -> None:
    if said.code:
        why = (said.error.strip().splitlines() or ["git said nothing"])[0]
        raise WorkspaceError(
            f"Something in the workspace is in the way of what others pushed: {why}",
            reason="diverged",
            again=True,
        )


def _sha(commit: Commit | None) -> str:
    return str(commit.id) if commit else ""
