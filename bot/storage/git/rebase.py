"""
Our commits on top of what others pushed: one after the other, with no merge commit.

It happens in git's objects alone; `CheckoutUpdate` moves the checkout afterwards. Where a file was changed on both
sides, nothing of either is lost (ADR 8).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pygit2
from pygit2 import Commit, IndexEntry, Oid, Tree
from pygit2.enums import FileMode, SortMode

from bot.domain.item.artifacts import SPECIFICATION, copy_of
from bot.domain.specification.snapshot import first_difference, folded_content, newest_telling, read, text_of
from bot.domain.transcript import merging
from bot.domain.transcript.seal import Sealer
from bot.domain.transcript.witness import Witness, witness
from bot.errors import WorkspaceError
from bot.files import TRANSCRIPT_BYTES
from bot.storage.git.history import EFFECT, ITEM, SHORT
from bot.storage.git.items import META, PLANNING, TRANSCRIPT
from bot.storage.git.repository import content_at, trailer
from bot.storage.git.trees import InTheWay, TreeEntry, at, graft

log = logging.getLogger(__name__)

AGAIN = "Roundtable-Again"
"""A trailer: the lost commit that this one makes again."""
BLOBS = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
MARKDOWN = (".md", ".markdown")


class Change(NamedTuple):
    before: TreeEntry | None
    after: TreeEntry | None


class Clash(NamedTuple):
    """Both sides changed a file; theirs is now at *path*. *slug* is the item of the file; empty when it has none."""

    slug: str
    path: str


class Replayed(NamedTuple):
    tip: Commit
    clashes: tuple[Clash, ...]


class Diverged(WorkspaceError):
    """Only a person can bring the two sides together."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, reason="diverged")


class CommitReplay:
    """*ours*: the folder of the items, and the file that all items share. Elsewhere, people resolve conflicts."""

    def __init__(self, repository: pygit2.Repository, ours: tuple[str, str], sealer: Sealer) -> None:
        self._repository = repository
        self._ours = ours
        self._sealer = sealer

    def onto(self, remote: Commit, local: Commit, *, known: Oid | None) -> Replayed:
        """
        The commits that only *local* has on top of *remote*. *known*: the last commit that both had, as far as we know.

        Raises Diverged.
        """
        dropped: set[Oid] = set()
        if known and known in self._repository:
            dropped = {one.id for one in self._between(remote.id, known)}
            before = self._repository[known].peel(Commit).tree
        sides = _Sides(self._repository, self._ours, self._sealer, theirs=remote, ours=local)
        own = tuple(self._own(remote, local, dropped))
        tip = remote
        for commit in own:
            tip = sides.put(tip, commit, last=before if commit.id in dropped else local.tree)
        return Replayed(tip, sides.clashes((*own, *self._between(local.id, remote.id))))

    def again(self, head: Commit, lost: Commit, slug: str) -> Replayed:
        """
        The commits of the item *slug* that only *lost* has, made again on top of *head*.

        Raises Diverged.
        """
        sides = _Sides(self._repository, self._ours, self._sealer, theirs=head, ours=lost)
        own = [one for one in self._between(head.id, lost.id) if trailer(one, ITEM) == slug]
        tip = head
        for commit in own:
            tip = sides.put(tip, commit, last=lost.tree, again=True)
        return Replayed(tip, sides.clashes(own))

    def _own(self, remote: Commit, local: Commit, dropped: set[Oid]) -> Iterator[Commit]:
        """Oldest first. After a push with force, other people's commits stay away; ours come back."""
        unrelated = self._repository.merge_base(remote.id, local.id) is None
        for commit in self._between(remote.id, local.id):
            ours = bool(trailer(commit, EFFECT) or trailer(commit, ITEM))
            if commit.id in dropped and not ours:
                continue
            if len(commit.parent_ids) > 1:
                raise Diverged(
                    f"The merge {commit.short_id} is not at the remote, and cannot be put on top of it."
                )
            if unrelated and not ours:
                raise Diverged("The workspace and the remote have no commit in common.")
            yield commit

    def _between(self, old: Oid, new: Oid) -> Iterator[Commit]:
        walk = self._repository.walk(new, SortMode.TOPOLOGICAL | SortMode.REVERSE)
        walk.hide(old)
        return iter(walk)


class _Sides:
    """Puts commits of *ours* on top of *theirs*, and remembers which files were changed on both sides."""

    def __init__(
        self,
        repository: pygit2.Repository,
        paths: tuple[str, str],
        sealer: Sealer,
        *,
        theirs: Commit,
        ours: Commit,
    ) -> None:
        self._sealer = sealer
        self._repository = repository
        self._items, self._shared = paths
        self._theirs = theirs
        self._ours = ours
        self._copies: dict[str, str] = {}
        """Where their version is kept, by the path of the file."""
        self._mixed: set[str] = set()
        """Transcripts that have lines of both sides."""

    def put(self, tip: Commit, commit: Commit, *, last: Tree, again: bool = False) -> Commit:
        """*commit* on top of *tip*, unless it adds nothing; *last* is the tree that our commits lead to."""
        entries: dict[str, TreeEntry | None] = {}
        for path, change in _changes(commit).items():
            present = _entry(tip.tree, path)
            if present == change.before:
                entries[path] = change.after
            # Otherwise both changed it. If the result is the same, only our commits were rewritten.
            elif present != change.after and _entry(last, path) != _entry(self._theirs.tree, path):
                entries |= self._both(path, change, present)
        entries |= self._specified(tip, entries)
        tree = graft(self._repository, tip.tree, entries)
        if tree == tip.tree_id:
            return tip
        message = f"{commit.message.rstrip()}\n{AGAIN}: {commit.id}\n" if again else commit.message
        made = self._repository.create_commit(None, commit.author, commit.committer, message, tree, [tip.id])
        return self._repository[made].peel(Commit)

    def _specified(self, tip: Commit, entries: Mapping[str, TreeEntry | None]) -> dict[str, TreeEntry | None]:
        """
        specification.json of transcripts that were merged: out of all lines, because the file of one side lacks the
        entries of the other. Its hash is in no line, so readers fold the lines until the next commit.
        """
        found: dict[str, TreeEntry | None] = {}
        for transcript in (path for path in entries if path in self._mixed):
            path = f"{transcript.removesuffix(f'{PLANNING}/{TRANSCRIPT}')}{SPECIFICATION}"
            present = entries.get(path) or _entry(tip.tree, path)
            lines, before = self._content(entries[transcript]), self._content(present)
            if present is None or lines is None or before is None:
                continue
            try:
                known = read(before.decode())
            except ValueError:
                continue
            made = folded_content(lines, self._sealer.trusted)
            if first_difference(known.specification, made.specification)[0]:
                text = text_of(made.specification, made.written)
                found[path] = TreeEntry(self._repository.create_blob(text.encode()), present.mode)
        return found

    def clashes(self, commits: Iterable[Commit]) -> tuple[Clash, ...]:
        """For the file that all items share: the items whose *commits* changed it."""
        found: list[Clash] = []
        commits = tuple(commits) if self._shared in self._copies else ()
        for path, copy in self._copies.items():
            writers = (trailer(one, ITEM) for one in commits if path in _changes(one))
            slugs = [self._item_of(path)] if path != self._shared else [*filter(None, dict.fromkeys(writers))]
            found += [Clash(slug, copy) for slug in slugs or [""]]
        return tuple(found)

    def _both(self, path: str, change: Change, present: TreeEntry | None) -> Mapping[str, TreeEntry | None]:
        """What becomes of a file that was changed on both sides."""
        if not self._item_of(path) and path != self._shared:
            raise Diverged(f"{path} was changed here and at the remote.")
        if change.after is None:
            return {}
        if present is None:
            log.warning("%s was deleted at the remote and changed here: it is kept", path)
            return {path: change.after}
        if merged := self._merged(path, change, present):
            return {path: merged}
        theirs = _entry(self._theirs.tree, path)
        if theirs is None:
            return {path: change.after}
        copy = copy_of(path, str(self._theirs.id)[:SHORT])
        self._copies[path] = copy
        return {path: change.after, copy: theirs}

    def _merged(self, path: str, change: Change, present: TreeEntry) -> TreeEntry | None:
        base, theirs, ours = (self._content(one) for one in (change.before, present, change.after))
        if theirs is None or ours is None:
            return None
        merged: bytes | None = None
        folder = f"{self._items}/{self._item_of(path)}"
        if path == f"{folder}/{META}":
            merged = merging.metas(base, theirs, ours)
        elif path == f"{folder}/{SPECIFICATION}":
            merged = ours if self._told_last(f"{folder}/{PLANNING}/{TRANSCRIPT}") else theirs
        elif path == f"{folder}/{PLANNING}/{TRANSCRIPT}":
            merged = merging.transcripts(
                base or b"", theirs, ours, ends=self._ends(path), sealer=self._sealer
            )
            self._mixed.add(path)
        elif path.lower().endswith(MARKDOWN) and change.before and change.after and base is not None:
            merged = self._lines(path, change.before, present, change.after)
        return None if merged is None else TreeEntry(self._repository.create_blob(merged), present.mode)

    def _told_last(self, transcript: str) -> bool:
        """Whether the newest line with the hash of specification.json is ours: only the file of that line counts."""
        contents = (content_at(side, transcript) for side in (self._theirs, self._ours))
        theirs, ours = (newest_telling(content or b"") for content in contents)
        return theirs is None or (ours is not None and ours.ts >= theirs.ts)

    def _ends(self, path: str) -> tuple[Witness, Witness]:
        theirs, ours = (
            witness(content_at(side, path) or b"", self._sealer.trusted)
            for side in (self._theirs, self._ours)
        )
        return theirs, ours

    def _lines(self, path: str, *sides: TreeEntry) -> bytes | None:
        """Merged line by line, as git does it; None where both changed the same lines."""
        base, theirs, ours = (IndexEntry(path, *one) for one in sides)
        found = self._repository.merge_file_from_index(base, theirs, ours, use_deprecated=False)
        return (found.contents or "").encode() if found.automergeable else None

    def _content(self, entry: TreeEntry | None) -> bytes | None:
        """None for what is no plain file, or larger than any file that we read."""
        found = self._repository[entry.id] if entry and entry.mode in BLOBS else None
        return found.data if isinstance(found, pygit2.Blob) and found.size <= TRANSCRIPT_BYTES else None

    def _item_of(self, path: str) -> str:
        slug, _, name = path.removeprefix(f"{self._items}/").partition("/")
        return slug if path.startswith(f"{self._items}/") and name else ""


def _changes(commit: Commit) -> dict[str, Change]:
    """What *commit* did, by path. Raises Diverged for a name that is not UTF-8: libgit2 cannot write it."""
    if commit.parent_ids:
        diff = commit.parents[0].tree.diff_to_tree(commit.tree)
    else:
        diff = commit.tree.diff_to_tree(swap=True)
    found: dict[str, Change] = {}
    for delta in diff.deltas:
        before, after = (
            TreeEntry(file.id, FileMode(file.mode)) if file.mode else None
            for file in (delta.old_file, delta.new_file)
        )
        path = delta.new_file.path
        try:
            path.encode()
        except UnicodeEncodeError:
            raise Diverged(f"The name {path!a} is not UTF-8.") from None
        known = found.get(path, Change(None, None))  # a file that became a link is two entries
        found[path] = Change(before or known.before, after or known.after)
    return found


def _entry(tree: Tree, path: str) -> TreeEntry | None:
    """Raises Diverged where a file stands in the place of a folder, or the other way round."""
    try:
        return at(tree, path)
    except InTheWay:
        raise Diverged(f"{path} is a file on one side, and a folder on the other.") from None
