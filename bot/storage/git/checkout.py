"""One thread's view of the workspace: reads items, and commits the result of a step or a synthesis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2 import Oid, Tree
from pygit2.enums import FileMode

from bot.domain.catalog import budget
from bot.domain.item import artifacts, meta
from bot.domain.item.artifacts import CheckedEdit, Edit, InsightEdit, PlanEdit, SectionEdit
from bot.domain.item.meta import SlackPlace
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.outcomes import ChangedFile, HandEdit, ItemState
from bot.domain.specification.snapshot import restored
from bot.domain.transcript.seal import TAKES_OVER, take_over
from bot.domain.transcript.witness import RolledBack, Witness
from bot.domain.values.markdown import LAST_SECTION
from bot.engine.ports import NOTHING, CommitResult, Listing, LoadedItem, Planning
from bot.errors import WorkspaceError
from bot.files import FileRefused, folder
from bot.storage.git.checkout_update import CheckoutUpdate
from bot.storage.git.going_back import GoingBack, HeadState
from bot.storage.git.hand_edits import described
from bot.storage.git.history import EFFECT, ITEM, STEP, History
from bot.storage.git.items import Items
from bot.storage.git.lock import WorkspaceLock
from bot.storage.git.repairs import Repairs
from bot.storage.git.repository import (
    STATE,
    Author,
    CommitDraft,
    CommitMade,
    branch,
    content_at,
    open_repository,
    shared_git_dir,
    tip,
    trailer,
    tree_at_tip,
)
from bot.storage.git.seal import Seal
from bot.storage.git.unfinished import Unfinished
from bot.storage.git.writing import WrittenFiles, replace_meta, stopped, write

AUTHOR = "Roundtable"
EMAIL = "roundtable@localhost"
CODEBASE = "HEAD"
"""Stands for the current code base as the `codebase_hash` of a change."""


class CheckoutConfig(NamedTuple):
    """The workspace, and the author of its commits."""

    root: Path
    items_dir: str
    author_name: str
    author_email: str
    lock_seconds: float
    seal: Seal = Seal()

    @property
    def ours(self) -> tuple[str, str]:
        """The paths that the bot writes; everything else is the code base."""
        return self.items_dir, artifacts.SHARED


class PendingCommit(NamedTuple):
    """The next commit of one item."""

    slug: str
    work: Commit
    now: str
    after: Witness = NOTHING
    home: SlackPlace | None = None
    sure: bool = True
    """All that the remote has is here, so what is missing here is lost."""


class Checkout:
    """Raises WorkspaceError, OSError and pygit2.GitError."""

    def __init__(self, where: CheckoutConfig) -> None:
        self._root = where.root
        self._repository = open_repository(where.root)
        self._author = Author(
            self._repository,
            name=where.author_name,
            email=where.author_email,
        )
        self._history = History(self._repository, where.ours)
        self._items = Items(where.root, where.items_dir, where.seal)
        self._held_before: dict[str, tuple[Oid, Listing | None]] = {}
        self._turn = WorkspaceLock(where.root / STATE, seconds=where.lock_seconds)
        self._adoption = CheckoutUpdate(self._repository, where.root / STATE)
        self._going_back = GoingBack(self._repository, self._history, self._items, ours=where.ours)
        self._unfinished = Unfinished(where.root / STATE, self._repository, self._items)
        self._repairs = Repairs(where.root / STATE, self._repository, self._history, self._items)

    def recover(self) -> None:
        """Clean up after a bot that was killed. If another program is writing now, the next commit does it."""
        with suppress(WorkspaceError), self.alone():
            pass

    def is_cut_off(self) -> bool:
        """Whether a bot is writing files just now, or was killed while it did."""
        return self._unfinished.is_begun()

    @contextmanager
    def alone(self, *slugs: str) -> Iterator[None]:
        """Keeps other bots from writing, and first finishes what one that was killed was writing."""
        with self._turn.taken("\n".join(slugs), locks=self._locks(), apart=self._locks_apart()) as left:
            killed_at = left.splitlines()
            for slug in killed_at:
                self._items.tidy(slug)
            self._unfinished.take_back()
            if made := self._history.newest_of_ours(len(killed_at)):
                self._author.mend((one, self._items.paths(trailer(one, ITEM))) for one in made)
            self._adoption.finish()
            yield

    def items(self) -> tuple[Listing, ...]:
        return tuple(one if one.channel else self._as_held_before(one) for one in self._items.listing())

    def _as_held_before(self, listed: Listing) -> Listing:
        """
        A push may take the channel out of meta.json, but a private item stays private: what a commit of ours said last
        counts, and what we signed before what anyone may have written.
        """
        slug = listed.known.slug
        commits = self._history.commits_of(slug)
        if not commits:
            return listed
        known = self._held_before.get(slug)
        if known is None or known[0] != commits[0]:
            known = self._held_before[slug] = commits[0], self._held_in(slug, commits)
        before = known[1]
        if before is None:
            return listed
        return listed._replace(team=before.team, channel=before.channel, private=before.private)

    def _held_in(self, slug: str, commits: Iterable[Oid]) -> Listing | None:
        path, unsigned = self._items.meta_file(slug).path, None
        for commit in commits:
            found = self._items.listed(slug, self._history.content(commit, path))
            if found.sealed:
                return found
            unsigned = unsigned or (found if found.channel else None)
        return unsigned

    def backlog(self) -> str:
        return self._items.backlog()

    def files(self, slug: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        return self._items.texts(slug, paths)

    def planning(self, slug: str) -> Planning:
        return Planning(self._items.planning(slug), self._items.lines(slug))

    def holds(self, slug: str, after: Witness) -> bool:
        """Whether HEAD contains our last commit of the item, and there is nothing to report about it."""
        return self._going_back.looked(slug, after).standing is HeadState.HELD

    def read_back(self, slug: str, *, now: str, after: Witness, sure: bool) -> LoadedItem:
        """`read`, after restoring commits that the branch has lost, if that is possible."""
        with self.alone(slug):
            back = self._back(slug, after, sure=sure)
        reading = self.read(slug, now=now, after=after if back is None else NOTHING)
        if back and reading.state and not back.now:
            reading = reading._replace(state=reading.state.but(behind=True))
        return reading._replace(back=back)

    def read(self, slug: str, *, now: str, after: Witness = NOTHING) -> LoadedItem:
        """If the item cannot be read, read it again while no bot writes: git may have been replacing its files."""
        found = self._standing(slug, now=now, after=after)
        if found.restorable:
            with suppress(WorkspaceError, OSError), self.alone():
                found = self._standing(slug, now=now, after=after)
        if found.state is None:
            return found
        state = found.state.but(said=self._items.said(slug, found.state.meta.steps_completed))
        content, trusted = (
            self._items.content(self._items.transcript_file(slug)),
            self._items.seal.lines.trusted,
        )
        if content and trusted:
            state = state.but(unsealed=take_over(content, trusted)["lines"])
        if not after:  # the caller knows nothing of the item yet
            state = self._specified(slug, state, self._history.newest_of(slug))
        return found._replace(state=state)

    def _specified(self, slug: str, state: ItemState, committed: pygit2.Commit | None) -> ItemState:
        """
        With the specification: that of *committed*, our last commit, and the lines since then. Without *committed* all
        lines are read, which may take long.
        """
        place = self._items.transcript_file(slug)
        found = restored(
            content_at(committed, self._items.specification_file(slug).path),
            content_at(committed, place.path) or b"",
            self._items.content(place) or b"",
            trusted=self._items.seal.lines.trusted,
        )
        return state.but(specification=found.specification, written=found.written)

    def _back(self, slug: str, after: Witness, *, sure: bool) -> RolledBack | None:
        """None when there is nothing to report: nothing is missing, or it may still come from the remote."""
        found = self._going_back.looked(slug, after)
        if found.standing is HeadState.LOST:
            try:
                put_back = self._going_back.again(slug, after, self._adoption)
            except WorkspaceError:
                return None  # tried again at the next read
            if put_back:
                found = self._going_back.looked(slug, after)
            elif sure:
                contents = self._items.contents(slug, now=after.at)
                return RolledBack(heard=contents.heard if contents else ())
        return self._going_back.told(slug, found)

    def _is_behind(self, slug: str, after: Witness) -> bool:
        if after.commit:
            return self._going_back.looked(slug, after).standing is HeadState.LOST
        return bool(after.last) and not self._items.holds(slug, after.last)

    def _standing(self, slug: str, *, now: str, after: Witness = NOTHING) -> LoadedItem:
        """Without the answers to the open step: commits do not need them, and they may be far up in the transcript."""
        contents = self._items.contents(slug, now=now)
        if contents is None:
            return LoadedItem(None, ())
        if contents.meta is None:
            return LoadedItem(None, contents.troubles, self._good(slug, now) is not None)
        state = ItemState(
            meta=contents.meta,
            scan=contents.scan,
            last_round=contents.last_round,
            last_ts=contents.last_ts,
            heard=contents.heard,
            about=contents.about,
            spent=budget.kept(contents.spent),
            codebase=self._history.codebase(),
            commits_behind=self._history.commits_behind(contents.meta.codebase_hash),
            artifacts=contents.artifacts,
            planning=contents.planning,
            behind=self._is_behind(slug, after),
        )
        return LoadedItem(state, contents.troubles)

    def restore(self, slug: str, *, now: str) -> LoadedItem:
        with self.alone(slug):
            contents = self._items.contents(slug, now=now)
            good = self._good(slug, now) if contents and contents.meta is None else None
            if good is not None:
                files = replace_meta(self._items, slug, good)
                message = _text(f"roundtable({slug}): meta.json restored", f"{ITEM}: {slug}")
                self._author.commit([CommitDraft(files, message, now)])
        return self.read(slug, now=now)

    def commit(self, works: Sequence[PendingCommit]) -> list[CommitResult]:
        """All of them at once, each in a commit of its own. After an exception each of them can be tried again."""
        with self.alone(*dict.fromkeys(due.slug for due in works)):
            for due in works:
                self.must_hold_no_submodule(due.slug)
                self._must_be_the_only_copy(due.slug)
            backs = [self._back(due.slug, due.after, sure=due.sure) for due in works]
            found = [self._history.find(due.work.id) for due in works]
            written = [None if done else self._write(due) for due, done in zip(works, found, strict=True)]
            by_hand = [
                tuple(
                    self._hand_edits(
                        due, one.stopped if one else stopped(self._items, due.slug, due.work.edits)
                    )
                )
                for due, one in zip(works, written, strict=True)
            ]
            drafts = [
                CommitDraft(one.files, _message(due), due.now)
                for due, one in zip(works, written, strict=True)
                if one
            ]
            made = iter(self._author.commit(drafts) if drafts else ())
            receipts = [
                self._known(due, done) if done else self._receipt(due, next(made), one)
                for due, done, one in zip(works, found, written, strict=True)
            ]
            return [
                self._telling(due.slug, receipt._replace(hand_edits=edits), back)
                for due, receipt, edits, back in zip(works, receipts, by_hand, backs, strict=True)
            ]

    def must_hold_no_submodule(self, slug: str) -> None:
        """Its checkout is a folder like others, and a commit of ours would take the submodule away."""
        tree, folders = tree_at_tip(self._repository), self._items.transcript_file(slug).folders
        for path in ("/".join(folders[:count]) for count in range(1, len(folders) + 1)):
            if tree is None or path not in tree:
                return
            if tree[path].filemode == FileMode.COMMIT:
                raise FileRefused(path, "is a submodule, which belongs to another repository")

    def _must_be_the_only_copy(self, slug: str) -> None:
        """Two folders with one chain: it would go on in both, and neither would be the record."""
        if others := self._items.others_with(self._items.chain(slug), slug):
            one, other = sorted((slug, others[0]))
            raise WorkspaceError(f"{one} and {other} hold the same record. Remove one.", reason="copied")

    def commit_files(self, drafts: Sequence[CommitDraft]) -> None:
        """Commit files that are already written, one commit per draft. The caller holds `alone`."""
        if drafts:
            self._author.commit(drafts)

    def names_at_head(self, path: str) -> frozenset[str]:
        """The names in the folder *path* of the newest commit."""
        newest = tip(self._repository)
        found = newest.tree[path] if newest and path in newest.tree else None
        return frozenset(str(entry.name) for entry in found) if isinstance(found, Tree) else frozenset()

    def ping(self) -> None:
        """Everywhere that a commit writes to: `.git` may be on a disk of its own."""
        own, shared = Path(self._repository.path), shared_git_dir(self._repository)
        for place in (self._root / STATE, own, shared / "objects"):
            with folder(place) as files:
                files.probe()

    def _good(self, slug: str, now: str) -> bytes | None:
        """The newest readable meta.json in the history."""
        for content in self._history.versions(self._items.meta_file(slug).path):
            with suppress(meta.Corrupt):
                meta.read(content, now=now)
                return content
        return None

    def _locks(self) -> tuple[Path, ...]:
        own, shared = Path(self._repository.path), shared_git_dir(self._repository)
        return own / "index.lock", own / "HEAD.lock", shared / f"{branch(self._repository)}.lock"

    def _locks_apart(self) -> tuple[Path, ...]:
        """Locks that a commit does not need. Left by a killed `git gc`, they would stop every later one."""
        shared = shared_git_dir(self._repository)
        return shared / "packed-refs.lock", shared / "config.lock"

    def _settled(self, work: Commit) -> Commit:
        if work.change.codebase_hash != CODEBASE:
            return work
        return work.but(change=work.change.but(codebase_hash=self._history.codebase()))

    def _write(self, due: PendingCommit) -> WrittenFiles:
        newest, ours = tip(self._repository), self._history.commits_of(due.slug)
        work = self._settled(due.work)
        if work.change.created is None or work.change.restart:
            self._repairs.restore(due.slug, has_transcript=bool(due.after.last or due.after.commit))
        written = write(
            self._items,
            due.slug,
            work,
            now=due.now,
            committed=lambda path: content_at(newest, path),
            ours=lambda path: self._history.content(ours[0], path) if ours else None,
            kept=self._history.versions,
            mending=lambda lines: self._repairs.note(due.slug, mended_lines=lines),
            home=due.home,
            unfinished=self._unfinished,
        )
        return written._replace(files={**self._repairs.files(due.slug), **written.files})

    def _hand_edits(self, due: PendingCommit, edits: Iterable[CheckedEdit]) -> Iterator[HandEdit]:
        """Called before the commit is made, because edits that are not committed yet have no commit to name."""
        for edit in edits:
            place = self._items.place(due.slug, edit.path)
            content = self._items.content(place) if place else None
            if place and content is not None:
                yield described(self._repository, place.path, edit, content.decode())

    def _known(self, due: PendingCommit, done: pygit2.Commit) -> CommitResult:
        """The receipt of an effect that is already committed, perhaps just before a kill."""
        self._author.mend([(done, self._items.paths(due.slug))])
        return self._receipt(due, CommitMade(done.parents[0] if done.parent_ids else None, done))

    def _receipt(
        self, due: PendingCommit, made: CommitMade, written: WrittenFiles | None = None
    ) -> CommitResult:
        state = self._standing(due.slug, now=due.now, after=due.after).state
        if state is None:
            raise WorkspaceError("meta.json was taken away while it was saved.", reason="io", again=True)
        left_out = written.stopped if written else ()
        edits = tuple(edit for edit in due.work.edits if edit not in left_out)
        touched = tuple(dict.fromkeys(self._touched(due.slug, edits, made)))
        if any(TAKES_OVER in line.meta for line in due.work.lines):
            state = self._specified(due.slug, state, None)
        repair = self._repairs.told(due.slug, due.work.id)
        troubles, unwritten = (written.troubles, written.unwritten) if written else ((), ())
        witness = self._going_back.witness(due.slug, made.after).but(effect=due.work.id)
        return CommitResult(
            state,
            str(made.after.id),
            touched,
            troubles,
            unwritten,
            mended_lines=repair.mended_lines,
            restored=repair.restored,
            witness=witness,
        )

    def _telling(self, slug: str, receipt: CommitResult, back: RolledBack | None) -> CommitResult:
        """Add to *receipt* what was restored or lost before this commit."""
        if back is None:
            return receipt
        state = receipt.state if back.whole else receipt.state.but(behind=True)
        if not back.whole:  # our last commit knew of lines that are gone
            state = self._specified(slug, state, None)
        return receipt._replace(state=state, back=back.but(now=receipt.witness))

    def _touched(self, slug: str, edits: tuple[Edit, ...], made: CommitMade) -> Iterator[ChangedFile]:
        for edit in edits:
            planned = isinstance(edit, PlanEdit)
            place = (self._items.plan_file if planned else self._items.place)(slug, edit.path)
            content = content_at(made.after, place.path) if place else None
            if place and content is not None and content != content_at(made.before, place.path):
                heading = _heading(edit, content)
                if heading != LAST_SECTION:
                    yield ChangedFile(path=edit.path, heading=heading)


def _message(due: PendingCommit) -> str:
    step = (f"{STEP}: {due.work.step}",) if due.work.step else ()
    return _text(due.work.subject, f"{ITEM}: {due.slug}", *step, f"{EFFECT}: {due.work.id}")


def _heading(edit: Edit, content: bytes) -> str:
    if isinstance(edit, SectionEdit):
        return edit.heading
    return edit.place(content.decode()) if isinstance(edit, InsightEdit) else ""


def _text(subject: str, *trailers: str) -> str:
    text = "\n".join((" ".join(subject.split()), "", *trailers, ""))
    return text.encode("utf-8", "replace").decode()
