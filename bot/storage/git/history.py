"""Reads the commits: whether an effect was committed already, and how old the analysed code base is."""

from collections.abc import Iterator
from itertools import islice

import pygit2
from pygit2 import Commit, Oid, Tree

from bot.storage.git.tree import EFFECT, ITEM, SHORT, Branch, blob, trailer

EFFECTS_LOOKED_AT = 100
COMMITS_LOOKED_AT = 10_000

Paths = frozenset[tuple[str, ...]]


class History:
    """*ours* are the paths that the bot writes. A commit that changes any other path belongs to the code base."""

    def __init__(self, branch: Branch, ours: tuple[str, ...]) -> None:
        self._branch = branch
        self._ours: Paths = frozenset(tuple(path.split("/")) for path in ours)
        self._walked: list[tuple[str, bool]] = []
        """The commits back from `_walked[0]`, newest first, and whether each belongs to the code base."""
        self._of_items: dict[str, list[Oid]] = {}
        """Our commits of each item, newest first, back from `_indexed`."""
        self._indexed: Oid | None = None
        self._effects: list[tuple[Oid, str]] = []
        """The newest commits, and the effect of each, if any."""

    def find(self, effect: str) -> Commit | None:
        """The recent commit with *effect* in its trailer."""
        found = next((commit for commit, known in self._recent_effects() if known == effect), None)
        return self._branch.repository[found].peel(Commit) if found else None

    def newest_of(self, slug: str) -> Commit | None:
        """Our newest commit of the item."""
        return next((commit for commit in self.recent() if trailer(commit, ITEM) == slug), None)

    def commits_of(self, slug: str) -> list[Oid]:
        """Our commits of the item, newest first. Anyone who can push can forge one."""
        newest = self._branch.tip()
        if newest and newest.id != self._indexed:
            added: dict[str, list[Oid]] = {}
            for commit in self.recent():
                if commit.id == self._indexed:
                    break
                if item := trailer(commit, ITEM):
                    added.setdefault(item, []).append(commit.id)
            else:
                self._of_items = {}
            for item, commits in added.items():
                self._of_items[item] = [*commits, *self._of_items.get(item, ())]
            self._indexed = newest.id
        return self._of_items.get(slug, [])

    def content(self, commit: Oid, path: str) -> bytes:
        """Empty when the commit does not have the file *path*."""
        found = blob(self._branch.repository[commit].peel(Commit).tree, path)
        return found.data if found else b""

    def versions(self, path: str) -> Iterator[bytes]:
        """The contents of the file *path*, newest first."""
        last = None
        for commit in self.recent():
            found = blob(commit.tree, path)
            if found is not None and found.id != last:
                last = found.id
                yield found.data

    def newest_with(self, path: str) -> Commit | None:
        """The newest commit that has the file *path*."""
        return next((commit for commit in self.recent() if blob(commit.tree, path)), None)

    def recent(self) -> Iterator[Commit]:
        """The commits of the branch, newest first, at most COMMITS_LOOKED_AT."""
        return islice(line_from(self._branch.tip()), COMMITS_LOOKED_AT)

    def codebase(self) -> str:
        """The newest commit of the code base; empty when there is no code base."""
        return next((sha[:SHORT] for sha, outside in self._walk() if outside), "")

    def commits_behind(self, sha: str) -> int:
        """How many commits of the code base came after *sha*; all of them when *sha* is not in the history."""
        if not sha:
            return 0
        behind = 0
        for commit, outside in self._walk():
            if commit.startswith(sha):
                break
            behind += outside
        return behind

    def _recent_effects(self) -> list[tuple[Oid, str]]:
        """Reads only the commits that are new since the last call."""
        before, self._effects = self._effects, []
        for commit in islice(line_from(self._branch.tip()), EFFECTS_LOOKED_AT):
            if before and commit.id == before[0][0]:
                self._effects += before[: EFFECTS_LOOKED_AT - len(self._effects)]
                break
            self._effects.append((commit.id, trailer(commit, EFFECT)))
        return self._effects

    def _walk(self) -> list[tuple[str, bool]]:
        """Reads only the commits that are new since the last call."""
        newest = self._branch.tip()
        known = {sha: place for place, (sha, _) in enumerate(self._walked)} if newest else {}
        kept = len(self._walked)  # keeps nothing, unless the walk meets a known commit
        added: list[tuple[str, bool]] = []
        for commit in islice(line_from(newest), COMMITS_LOOKED_AT):
            if (place := known.get(str(commit.id))) is not None:
                kept = place
                break
            added.append((str(commit.id), self._is_outside(commit)))
        self._walked = [*added, *self._walked[kept:]][:COMMITS_LOOKED_AT]
        return self._walked

    def _is_outside(self, commit: Commit) -> bool:
        parent = parent_of(commit)
        return _without(commit.tree, self._ours) != (_without(parent.tree, self._ours) if parent else ())


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
