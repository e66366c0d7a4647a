"""
The branch of the workspace: what its commits hold, and commits that are built on its tip.

A commit is built from the tree of the tip, without an index or a working tree, and the branch is set to it only if it
is still where it was. A kill leaves unreachable objects, or nothing at all. No hook runs, nothing is signed, and no
content is converted.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import pygit2
from pygit2 import Commit, Oid, Signature, Tree
from pygit2.enums import FileMode

from bot.domain.item import meta
from bot.engine.ports import Exports
from bot.errors import WorkspaceError
from bot.files import META_BYTES, TRANSCRIPT_BYTES, FileRefused
from bot.storage.git.places import Places, is_ours
from bot.storage.git.tree import (
    BRANCHES,
    COMMITS_LOOKED_AT,
    EFFECT,
    ITEM,
    LOCK_SECONDS,
    PAUSE_SECONDS,
    SHORT,
    STATE,
    Files,
    TreeEntry,
    checked_out,
    flush_objects,
    graft,
    line_from,
    open_repository,
    parent_of,
    remove_stale,
    shared_git_dir,
    trailer,
    usable_branch,
)

LAST = "refs/roundtable/last/"
"""Our last commit on each branch: what a commit of ours held is not lost with the branch."""
AUTHOR, EMAIL = "Roundtable", "roundtable@localhost"
T = TypeVar("T")


class CommitDraft(NamedTuple):
    """A commit to make: the files that it changes, by path. None removes a file."""

    files: Mapping[str, bytes | None]
    message: str
    now: str


class WalkedCommit(NamedTuple):
    """*item* and *effect* are empty in commits of others."""

    id: Oid
    item: str
    effect: str


class Branch:
    """
    The branch that was checked out when the bot started: commits go on to it, whatever is checked out later. Raises
    ConfigError where the workspace cannot be used. For one thread.
    """

    def __init__(
        self,
        root: Path,
        items_dir: str,
        *,
        lock_seconds: float = LOCK_SECONDS,
        exports: Exports | None = None,
    ) -> None:
        self.root = root
        self.exports = exports
        self.places = Places(items_dir, exports.above if exports else ())
        self.repository = open_repository(root)
        self.lock_seconds = lock_seconds
        self._name = usable_branch(self.repository, root, items_dir)
        self.repository.set_ident(AUTHOR, EMAIL)
        self._walked: Sequence[WalkedCommit] = ()
        self._of_items: Mapping[str, list[Oid]] = {}
        self._is_code: dict[Oid, bool] = {}

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

    def files(self) -> Files:
        """Of the tip."""
        return self.at(self.tip())

    def at(self, commit: Commit | None) -> Files:
        """None has no files."""
        return Files(self.repository, commit)

    def content(self, commit: Commit | None, path: str) -> bytes | None:
        """Of a file in *commit*."""
        return self.at(commit).read(path, TRANSCRIPT_BYTES)

    def last(self) -> Commit | None:
        """Our last commit on this branch, also when the branch has lost it."""
        found = self.repository.references.get(self._last)
        return found.peel(Commit) if found else None

    def note_last(self, commit: Commit) -> None:
        self.refer(self._last, commit.id)

    def has(self, newer: Commit | None, older: Commit | Oid | None) -> bool:
        """Whether *older* is in the history of *newer*."""
        if newer is None or older is None:
            return older is None
        id = older.id if isinstance(older, Commit) else older
        if id not in self.repository:
            return False
        return newer.id == id or self.repository.descendant_of(newer.id, id)

    def drafted(self, parent: Commit | None, changed: Mapping[str, bytes | None]) -> Files:
        """The files of a commit with *changed* ones on top of *parent*."""
        tree = self.repository[self._grafted(parent, changed)].peel(Tree)
        return Files(self.repository, None, tree=tree)

    def build(self, parent: Commit | None, draft: CommitDraft) -> Commit:
        """A commit on top of *parent*, on no branch yet; *parent* itself where *draft* changes nothing."""
        tree = self._grafted(parent, draft.files)
        if parent is not None and tree == parent.tree_id:
            return parent
        moment = datetime.fromisoformat(draft.now)
        seconds = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        who = Signature(AUTHOR, EMAIL, seconds, 0)
        parents: list[str | Oid] = [parent.id] if parent else []
        made = self.repository.create_commit(None, who, who, draft.message, tree, parents)
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

    # --- history ------------------------------------------------------------------------------------------------------

    def find(self, effect: str) -> Commit | None:
        """The commit with *effect* in its trailer."""
        found = next((walked.id for walked in self._walk() if walked.effect == effect), None)
        return self._commit(found) if found else None

    def newest_of(self, slug: str) -> Commit | None:
        """Our newest commit of the item."""
        found = next(iter(self.commits_of(slug)), None)
        return self._commit(found) if found else None

    def commits_of(self, slug: str) -> Sequence[Oid]:
        """Our commits of the item, newest first. Anyone who can push can forge one."""
        self._walk()
        return self._of_items.get(slug, ())

    def good_meta(self, slug: str, now: str) -> bytes | None:
        """The newest meta.json of the item that can be read."""
        path = self.places.meta(slug)
        for files in self.files().versions(path):
            with suppress(meta.Corrupt, FileRefused):
                content = files.read(path, META_BYTES) or b""
                meta.read(content, now=now)
                return content
        return None

    def codebase(self) -> str:
        """The newest commit of the code base; empty when there is no code base."""
        return next((str(walked.id)[:SHORT] for walked in self._walk() if self._is_outside(walked.id)), "")

    def commits_behind(self, sha: str) -> int:
        """How many commits of the code base came after *sha*; all of them when *sha* is not in the history."""
        behind = 0
        for walked in self._walk() if sha else ():
            if str(walked.id).startswith(sha):
                break
            behind += self._is_outside(walked.id)
        return behind

    # --- setting a reference ------------------------------------------------------------------------------------------

    def _unlocked(self, name: str, work: Callable[[], T]) -> T:
        """Waits for a lock of *name*, and removes one that a kill has left."""
        lock, until = shared_git_dir(self.repository) / f"{name}.lock", time.monotonic() + self.lock_seconds
        while True:
            try:
                return work()
            except (OSError, pygit2.GitError):
                if not lock.exists():
                    raise
            if not remove_stale(lock, self.root) and time.monotonic() > until:
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

    def _grafted(self, parent: Commit | None, changed: Mapping[str, bytes | None]) -> Oid:
        files = self.at(parent)
        entries = {path: self._entry(files, path, content) for path, content in changed.items()}
        return graft(self.repository, parent.tree if parent else None, entries)

    def _entry(self, files: Files, path: str, content: bytes | None) -> TreeEntry | None:
        if content is None:
            return None
        present = files.entry(path)
        executable = present and present.mode == FileMode.BLOB_EXECUTABLE
        mode = FileMode.BLOB_EXECUTABLE if executable else FileMode.BLOB
        return TreeEntry(self.repository.create_blob(content), mode)

    def _walk(self) -> Sequence[WalkedCommit]:
        """The commits of the branch, newest first. Reads only those that are new since the last call."""
        newest, before = self.tip(), self._walked
        if newest and before and newest.id == before[0].id:
            return before
        known = {walked.id: place for place, walked in enumerate(before)}
        added: list[WalkedCommit] = []
        for commit in line_from(newest):
            if (place := known.get(commit.id)) is not None:
                added += before[place:]
                break
            added.append(WalkedCommit(commit.id, trailer(commit, ITEM), trailer(commit, EFFECT)))
        self._walked, of_items = added[:COMMITS_LOOKED_AT], defaultdict[str, list[Oid]](list)
        for walked in self._walked:
            of_items[walked.item].append(walked.id)
        self._of_items = of_items
        return self._walked

    def _commit(self, id: Oid) -> Commit:
        return self.repository[id].peel(Commit)

    def _is_outside(self, id: Oid) -> bool:
        """Whether the commit changes the code base."""
        if id not in self._is_code:
            commit = self._commit(id)
            parent = parent_of(commit)
            diff = parent.tree.diff_to_tree(commit.tree) if parent else commit.tree.diff_to_tree(swap=True)
            changed = (delta.new_file.path for delta in diff.deltas)
            self._is_code[id] = not all(is_ours(path, self.places.ours) for path in changed)
        return self._is_code[id]
