"""
Our commits once more, on top of what others pushed meanwhile: one after the other, never a merge.

Items live in folders of their own, so mostly nothing meets. Where a file was changed on both sides, both are kept:
merged where that can be done without guessing, else theirs as the file and ours beside it, as a copy.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import NamedTuple

import pygit2
from pygit2 import Commit, IndexEntry, Oid, Tree
from pygit2.enums import FileMode, SortMode

from bot.domain.witness import TRAILER as WITNESS
from bot.domain.witness import witness
from bot.errors import WorkspaceError
from bot.storage import reconcile, rows
from bot.storage.history import EFFECT, ITEM
from bot.storage.items import CONFLICT, META, PLANNING, TRANSCRIPT
from bot.storage.objects import Objects
from bot.storage.rawtrees import RawTrees
from bot.storage.repository import blob, shared_git_dir, trailer
from bot.storage.trees import Change, Entry, InTheWay, at, changes

AGAIN = "Roundtable-Again"
"""The commit that was lost, and is made again by this one."""
CSV = ".csv"
JSON = ".json"
MARKDOWN = (".md", ".markdown")
BLOBS = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)


class Clash(NamedTuple):
    """Both changed it; *path* is where ours is now, *slug* the item that it belongs to: empty, if to nobody's."""

    slug: str
    path: str


class Replayed(NamedTuple):
    tip: Commit
    clashes: tuple[Clash, ...]


class Apart(WorkspaceError):
    """Only a person can bring the two together."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, reason="diverged")


class Replay:
    """*ours* are the paths below which both are kept; anywhere else two changes of one file are for people."""

    def __init__(self, repository: pygit2.Repository, ours: tuple[str, ...]) -> None:
        self._repository = repository
        self._items, self._shared = ours
        self._objects = Objects(shared_git_dir(repository) / "objects")
        self._trees = RawTrees(repository, self._objects)

    def onto(self, remote: Commit, local: Commit, *, known: Oid | None) -> Replayed:
        """
        *local*'s own commits on top of *remote*; *known* is the last commit that both had, as far as we remember.

        Raises Apart, and OSError.
        """
        dropped = self._dropped(remote, known)
        own = tuple(self._own(remote, local, dropped))
        tip, both = remote, _Both(self._repository, (self._items, self._shared), theirs=remote.tree)
        for commit in own:
            last = self._repository[known].peel(Commit) if known and commit.id in dropped else local
            tip = self._put(tip, commit, both, last=last.tree)
        self._objects.flush()
        met = tuple(self._between(local.id, remote.id)) if self._shared in both.copies else ()
        return Replayed(tip, tuple(self._clashes(both, ours=own, theirs=met)))

    def again(self, head: Commit, lost: Commit, slug: str) -> Replayed:
        """
        Of what *lost* stands on and *head* does not, the commits of the item *slug* once more, on top of *head*.

        Raises Apart, and OSError.
        """
        made, both = head, _Both(self._repository, (self._items, self._shared), theirs=head.tree)
        own = [one for one in self._between(head.id, lost.id) if trailer(one, ITEM) == slug]
        for commit in own:
            made = self._put(made, commit, both, last=lost.tree, again=True)
        self._objects.flush()
        return Replayed(made, tuple(self._clashes(both, ours=own, theirs=())))

    def _own(self, remote: Commit, local: Commit, dropped: frozenset[Oid]) -> Iterable[Commit]:
        """Oldest first. What people took away at the remote stays away; what is ours comes back."""
        strangers = self._repository.merge_base(remote.id, local.id) is None
        for commit in self._between(remote.id, local.id):
            ours = bool(trailer(commit, EFFECT) or trailer(commit, ITEM))
            if commit.id in dropped and not ours:
                continue
            if len(commit.parent_ids) > 1:
                raise Apart(
                    f"The merge {commit.short_id} is not at the remote, and cannot be put on top of it."
                )
            if strangers and not ours:
                raise Apart("The workspace and the remote have no commit in common.")
            yield commit

    def _dropped(self, remote: Commit, known: Oid | None) -> frozenset[Oid]:
        """What was at the remote, and is not any more: somebody pushed with force."""
        if known is None or known not in self._repository:
            return frozenset()
        return frozenset(commit.id for commit in self._between(remote.id, known))

    def _between(self, old: Oid, new: Oid) -> Iterator[Commit]:
        walk = self._repository.walk(new, SortMode.TOPOLOGICAL | SortMode.REVERSE)
        walk.hide(old)
        return iter(walk)

    def _clashes(self, both: "_Both", *, ours: Iterable[Commit], theirs: Iterable[Commit]) -> Iterator[Clash]:
        """Of a file that all share, the items whose commits wrote to it; those of the other side when we have none."""
        for path, copy in both.copies.items():
            item = both.item_of(path)
            items = [item] if item else _writers(ours, path) or _writers(theirs, path) or [""]
            yield from (Clash(slug, copy) for slug in items)

    def _put(self, tip: Commit, commit: Commit, both: "_Both", *, last: Tree, again: bool = False) -> Commit:
        """A commit that adds nothing any more is left out."""
        before = commit.parents[0].tree if commit.parent_ids else None
        entries: dict[str, Entry | None] = {}
        try:
            for change in changes(before, commit.tree):
                theirs = at(tip.tree, change.path)
                if theirs != change.after:
                    entries |= both.kept(change, theirs, tip.tree, last=last)
        except InTheWay as error:
            raise Apart(f"{error} is a file on one side, and a folder on the other.") from None
        tree = self._trees.graft(tip.tree_id, entries)
        if tree == tip.tree_id:
            return tip
        made = self._repository.create_commit(
            None, commit.author, commit.committer, self._message(commit, tree, again=again), tree, [tip.id]
        )
        return self._repository[made].peel(Commit)

    def _message(self, commit: Commit, tree: Oid, *, again: bool) -> str:
        """Its own, but for a witness of lines that others' have been sorted into."""
        message = commit.message
        path = f"{self._items}/{trailer(commit, ITEM)}/{PLANNING}/{TRANSCRIPT}"
        before, after = blob(commit.tree, path), blob(self._repository[tree].peel(Tree), path)
        if after and after != before and trailer(commit, WITNESS):
            old = f"{WITNESS}: {trailer(commit, WITNESS)}\n"
            message = message.replace(old, f"{witness(after.data).trailer}\n")
        return f"{message.rstrip()}\n{AGAIN}: {commit.id}\n" if again else message


def _writers(commits: Iterable[Commit], path: str) -> list[str]:
    """The items that *commits* which changed *path* are about."""
    found = (trailer(commit, ITEM) for commit in commits if _touches(commit, path))
    return [slug for slug in dict.fromkeys(found) if slug]


def _touches(commit: Commit, path: str) -> bool:
    before = commit.parents[0].tree if commit.parent_ids else None
    return blob(before, path) != blob(commit.tree, path)


class _Both:
    """What becomes of a file that changed on both sides; *theirs* is the tree at the remote."""

    def __init__(self, repository: pygit2.Repository, ours: tuple[str, ...], *, theirs: Tree) -> None:
        self._repository = repository
        self._items, self._shared = ours
        self._theirs = theirs
        self.copies: dict[str, str] = {}
        """What of ours could not be merged, and where it is now."""

    def kept(
        self, change: Change, theirs: Entry | None, tree: Tree, *, last: Tree
    ) -> dict[str, Entry | None]:
        """*tree* is what has been put together so far, *last* what our commits come to."""
        path, ours = change.path, change.after
        if theirs == change.before:
            return {path: ours}
        if at(last, path) == at(self._theirs, path):
            return {}  # whatever the way there: somebody wrote our commits anew
        item = self.item_of(path)
        if not item and path != self._shared:
            raise Apart(f"{path} was changed here and at the remote.")
        if ours is None:
            return {}
        if (merged := self._merged(change, theirs)) is not None:
            return {path: merged}
        if path.rpartition("/")[2] == META:
            return self._beside(path, tree, stays=ours, moves=theirs)
        return self._beside(path, tree, stays=theirs, moves=ours)

    def _merged(self, change: Change, theirs: Entry | None) -> Entry | None:
        ours = change.after
        assert ours
        name = change.path.removeprefix(f"{self._items}/{self.item_of(change.path)}/")
        if theirs is None:
            return ours if name in {META, f"{PLANNING}/{TRANSCRIPT}"} else None
        if ours.mode not in BLOBS or theirs.mode not in BLOBS:
            return None
        base, kept, mine = (self._content(entry) for entry in (change.before, theirs, ours))
        assert kept is not None
        assert mine is not None
        if name == META:
            merged = reconcile.progress(base, kept, mine)
        elif name == f"{PLANNING}/{TRANSCRIPT}":
            merged = reconcile.transcripts(kept, mine)
        else:
            merged = self._text(change, theirs, (base, kept, mine))
        return None if merged is None else Entry(self._repository.create_blob(merged), theirs.mode)

    def _text(self, change: Change, theirs: Entry, sides: tuple[bytes | None, bytes, bytes]) -> bytes | None:
        name = change.path.lower()
        with suppress(rows.Keyless):
            if name.endswith(JSON):
                return rows.objects(*sides)
            if name.endswith(CSV):
                return rows.table(*sides)
        merged = self._lines(change, theirs)
        if merged is None and name.endswith(MARKDOWN):
            return reconcile.sections(*sides)
        broken = merged is not None and name.endswith(JSON) and not rows.is_json(merged)
        return None if broken else merged

    def _lines(self, change: Change, theirs: Entry) -> bytes | None:
        """As git merges: line by line, None where that is not clear."""
        sides = [entry for entry in (change.before, theirs, change.after) if entry and self._is_text(entry)]
        if len(sides) < 3:
            return None
        base, kept, mine = (IndexEntry(change.path, *entry) for entry in sides)
        found = self._repository.merge_file_from_index(base, kept, mine)
        if isinstance(found, str) or not found.automergeable:
            return None
        return (found.contents or "").encode()

    def _beside(
        self, path: str, tree: Tree, *, stays: Entry | None, moves: Entry | None
    ) -> dict[str, Entry | None]:
        """One copy for all of our commits; one of an earlier day stays."""
        for number in count(1):
            copy = path + CONFLICT + (f"-{number}" if number > 1 else "")
            present = at(tree, copy)
            if present is None or copy == self.copies.get(path):
                self.copies[path] = copy
                return {path: stays, copy: moves}
            if present == moves:
                return {path: stays}
        raise AssertionError("there is always a number more")

    def item_of(self, path: str) -> str:
        folder, _, name = path.removeprefix(f"{self._items}/").partition("/")
        return folder if path.startswith(f"{self._items}/") and name else ""

    def _content(self, entry: Entry | None) -> bytes | None:
        found = self._repository[entry.id] if entry and entry.mode in BLOBS else None
        return found.data if isinstance(found, pygit2.Blob) else None

    def _is_text(self, entry: Entry | None) -> bool:
        try:
            return entry is not None and "\0" not in (self._content(entry) or b"\0").decode()
        except UnicodeDecodeError:
            return False
