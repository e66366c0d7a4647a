"""Reads the commits of the branch: whose they are, what they hold of a file, and how old the analysed code base is."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

import pygit2
from pygit2 import Commit, Oid, Tree

from bot.domain.item import meta
from bot.storage.git.tree import EFFECT, ITEM, SHORT, Branch, blob, content_at, trailer

COMMITS_LOOKED_AT = 10_000

Paths = frozenset[tuple[str, ...]]


class WalkedCommit(NamedTuple):
    """*item* and *effect* are empty in commits of others."""

    id: Oid
    item: str
    effect: str


class History:
    """*ours* are the paths that the bot writes. A commit that changes any other path belongs to the code base."""

    def __init__(self, branch: Branch, ours: tuple[str, ...]) -> None:
        self._branch = branch
        self._ours: Paths = frozenset(tuple(path.split("/")) for path in ours)
        self._walked: Sequence[WalkedCommit] = ()
        self._of_items: Mapping[str, list[Oid]] = {}
        self._is_code: dict[Oid, bool] = {}

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

    def versions(self, path: str) -> Iterator[Commit]:
        """The commits that have the file *path*, newest first; of several with the same content, the newest."""
        last = None
        for commit in self.recent():
            found = blob(commit.tree, path)
            if found is not None and found.id != last:
                last = found.id
                yield commit

    def good_meta(self, path: str, now: str) -> bytes | None:
        """The newest meta.json at *path* that can be read."""
        for commit in self.versions(path):
            with suppress(meta.Corrupt):
                content = content_at(commit, path) or b""
                meta.read(content, now=now)
                return content
        return None

    def recent(self) -> Iterator[Commit]:
        """The commits of the branch, newest first, at most COMMITS_LOOKED_AT."""
        return islice(line_from(self._branch.tip()), COMMITS_LOOKED_AT)

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

    def _walk(self) -> Sequence[WalkedCommit]:
        """The commits of the branch, newest first. Reads only those that are new since the last call."""
        newest, before = self._branch.tip(), self._walked
        if newest and before and newest.id == before[0].id:
            return before
        known = {walked.id: place for place, walked in enumerate(before)}
        added: list[WalkedCommit] = []
        for commit in islice(line_from(newest), COMMITS_LOOKED_AT):
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
        return self._branch.repository[id].peel(Commit)

    def _is_outside(self, id: Oid) -> bool:
        """Whether the commit changes the code base."""
        if id not in self._is_code:
            commit = self._commit(id)
            parent = parent_of(commit)
            before = _without(parent.tree, self._ours) if parent else ()
            self._is_code[id] = _without(commit.tree, self._ours) != before
        return self._is_code[id]


def line_from(commit: Commit | None) -> Iterator[Commit]:
    """Back along first parents, as far as the clone goes; a merge counts as one commit."""
    while commit is not None:
        yield commit
        commit = parent_of(commit)


def parent_of(commit: Commit) -> Commit | None:
    """None for the first commit, and at the end of a shallow clone."""
    try:
        return commit.parents[0] if commit.parent_ids else None
    except (KeyError, pygit2.GitError):
        return None


Rest = tuple[tuple[str, "Oid | Rest"], ...]


def _without(tree: Tree, ours: Paths) -> Rest:
    """The entries of *tree* except *ours*, for comparison. Only folders that contain *ours* are opened."""
    rest: list[tuple[str, Oid | Rest]] = []
    for entry in tree:
        below = frozenset(path[1:] for path in ours if path[0] == entry.name)
        if () in below:
            continue
        inner = _without(entry, below) if below and isinstance(entry, Tree) else entry.id
        if inner != ():
            rest.append((str(entry.name), inner))
    return tuple(rest)
