"""
The checkout moves to another commit: branch, index and files, as one.

Git's own two-tree merge does it, so that what somebody staged or changed stays exactly as it is; where that would
have to be overwritten, nothing is done. What is about to happen is noted first: after a kill it is finished, by
whoever writes here next.
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
from bot.storage.git.command import Git, Said
from bot.storage.git.rebase import Clash
from bot.storage.git.repository import flush_objects, locked_index, tip
from bot.storage.git.trees import Change, InTheWay, at, changes

log = logging.getLogger(__name__)

NOTES = "remote"
"""A folder for what is noted about the remote: only whoever has the turn writes there."""
NOTE = "adopting"
CLASHES = "conflicts"
TRY = "-u --dry-run"
FEW = 500
"""So many paths are looked at one by one; for more, all of the checkout is."""


class Adoption:
    """*state* is our own folder. Only for whoever has the turn."""

    def __init__(self, repository: pygit2.Repository, state: Path) -> None:
        self._repository = repository
        self._root = state.parent
        self._notes = state / NOTES
        self._notes.mkdir(exist_ok=True)
        self._index = Path(repository.path) / "index.lock"
        self._git = Git(self._root)

    def adopt(self, after: Commit, *, branch: str, clashes: Iterable[Clash] = ()) -> None:
        """Raises WorkspaceError when something of somebody's is in the way: then nothing has changed."""
        before = tip(self._repository)
        if before == after:
            return
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
        """What a kill left half done; what somebody changed since then is theirs, and nothing is done."""
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
        """Of which nobody was told yet."""
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
        """Files and the copy of the index, then the branch; the index follows when it is let go."""
        _must(self._merge(before, after))
        with ExitStack() as undoing:
            undoing.callback(self._merge, after, before)
            flush_objects(self._repository)
            self._point(branch, before, after)
            undoing.pop_all()

    def _point(self, branch: str, before: Commit | None, after: Commit) -> None:
        """Nobody else has moved the branch meanwhile, or WorkspaceError is raised."""
        newest = tip(self._repository)
        if newest is None:
            self._repository.references.create(branch, after.id)
        elif before and newest == before:
            found = self._repository.lookup_reference(branch)
            if found.target == before.id:
                found.set_target(after.id, "roundtable: on top of the remote")
        if tip(self._repository) != after:
            raise WorkspaceError("Others commit to the workspace.", reason="locked", again=True)

    def _merge(self, before: Commit | None, after: Commit | None, *, how: str = "-u") -> Said:
        trees = (str(self._tree(side)) for side in (before, after))
        return self._indexed("read-tree", "-m", *how.split(), *trees)

    def _tree(self, side: Commit | None) -> Oid:
        return side.tree_id if side else self._repository.TreeBuilder().write()

    def _refresh(self, moved: tuple[Change, ...]) -> None:
        """Git must know which files are as the index says: we put them in without looking."""
        paths = [change.path for change in moved if change.before]
        if len(paths) > FEW:
            self._indexed("update-index", "-q", "--refresh")
        elif given := "".join(f"{path}\0" for path in self._listed(paths)):
            words = ("--refresh", "--pathspec-from-file=-", "--pathspec-file-nul")
            self._indexed("add", *words, given=given)

    def _listed(self, paths: Sequence[str]) -> Iterator[str]:
        """Those in the copy of the index: of a path that is not, git would refuse all."""
        if paths:
            index = pygit2.Index(str(self._index))
            yield from (path for path in paths if path in index)

    def _take_over(self, moved: tuple[Change, ...]) -> None:
        """Files that are there already, by the hand that was killed; what it had just begun is begun again."""
        given = ""
        for change in moved:
            present = self._present(change)
            if present == "torn":
                self._take_away(change.path)
            if present == "there":
                oid, mode = change.after or (pygit2.Oid(hex="0" * 40), 0)
                given += f"{int(mode):06o} {oid}\t{change.path}\0"
        if given:
            self._indexed("update-index", "-z", "--index-info", given=given)

    def _present(self, change: Change) -> str:
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

    def _put_ahead(self, moved: tuple[Change, ...], versions: Mapping[str, frozenset[str]]) -> None:
        """
        As afterwards, where a file is as one of the commits has it that are coming: a bot was killed here before it
        could commit it, and another one has. What is nowhere else stays as it is.
        """
        for change in moved:
            if not self._is_plain(change.path):
                continue
            found = self._git.at_once("hash-object", "--", change.path).out.strip()
            if found not in versions[change.path] or (change.before and found == str(change.before.id)):
                continue
            log.info("%s was written here before a kill, and is committed elsewhere", change.path)
            oid, mode = change.after or (pygit2.Oid(hex="0" * 40), 0)
            self._indexed(
                "update-index", "-z", "--index-info", given=f"{int(mode):06o} {oid}\t{change.path}\0"
            )
            if change.after:
                self._indexed("checkout-index", "--force", "-u", "--", change.path)
            else:
                self._take_away(change.path)

    def _between(self, before: Commit | None, after: Commit) -> Iterator[Commit]:
        walk = self._repository.walk(after.id, SortMode.TOPOLOGICAL)
        if before:
            walk.hide(before.id)
        return iter(walk)

    def _indexed(self, *words: str, given: str = "") -> Said:
        return self._git.at_once(
            *self._line_ends(), *words, given=given, env={"GIT_INDEX_FILE": str(self._index)}
        )

    def _line_ends(self) -> tuple[str, ...]:
        """What we read and write is nobody's to convert, and what was converted counts as unchanged."""
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


def _versions(commits: Iterable[Commit], moved: tuple[Change, ...]) -> Mapping[str, frozenset[str]]:
    """What the files that move have been in any of *commits*, by path."""
    trees = [commit.tree for commit in islice(commits, FEW)]
    return {change.path: frozenset(_ids(trees, change.path)) for change in moved}


def _ids(trees: Iterable[Tree], path: str) -> Iterator[str]:
    for tree in trees:
        with suppress(InTheWay):
            if found := at(tree, path):
                yield str(found.id)


def _must(said: Said) -> None:
    if said.code:
        why = (said.error.strip().splitlines() or ["git said nothing"])[0]
        raise WorkspaceError(
            f"Something in the workspace is in the way of what others pushed: {why}",
            reason="diverged",
            again=True,
        )


def _sha(commit: Commit | None) -> str:
    return str(commit.id) if commit else ""
