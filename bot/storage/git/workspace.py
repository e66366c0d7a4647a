"""
The workspace: a branch of a git repository with one folder per item, and one commit per finished step.

Commits are built on the tip of the branch (branch.py), and a checkout follows it (follow.py). All that waits for a
disk runs in a thread. One thread writes and another reads, so that a list can be shown while a commit waits.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

from pygit2 import Commit as GitCommit

from bot.domain.item.artifacts import CheckedEdit, Edit, InsightEdit, SectionEdit
from bot.domain.item.meta import SlackPlace
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.outcomes import (
    ChangedFile,
    CodeSurvey,
    CommitResult,
    HandEdit,
    LoadedItem,
    PutBack,
)
from bot.domain.specification import brief
from bot.domain.specification.entries import Specification
from bot.domain.transcript.last_line import LastLine, last_line
from bot.domain.transcript.people import Names
from bot.domain.transcript.seal import TAKES_OVER, old_lines
from bot.domain.values.markdown import is_last
from bot.domain.values.timestamps import seconds_since
from bot.engine.ports import NOTHING, Exports, Listing, Planning
from bot.engine.review_ports import KeptReview
from bot.errors import WorkspaceError
from bot.files import ARTIFACT_BYTES, folder
from bot.storage.git.branch import Branch
from bot.storage.git.command import Git, explained
from bot.storage.git.follow import Checkout
from bot.storage.git.history import described
from bot.storage.git.reader import ItemReader
from bot.storage.git.reviews import ReviewToStore, draft_review
from bot.storage.git.seal import Seal
from bot.storage.git.survey import survey
from bot.storage.git.tree import LOCK_SECONDS, parent_of, remove_stale_locks, shared_git_dir
from bot.storage.git.work import AppliedWork, ItemWork, Worker, keep_unpushed

T = TypeVar("T")
log = logging.getLogger(__name__)

RACES = 20
"""How often commits are built anew because a person or another process was quicker."""
COMMITS_A_PACKING = 200
PACKING_SECONDS = 1800.0
LATE_SECONDS = 3600.0
"""A commit of another clone that is not at the remote after this time counts as lost."""


class Writer:
    """The commits of items. For the thread that writes. Raises WorkspaceError, OSError and GitError."""

    def __init__(self, branch: Branch, seal: Seal, *, shared: bool = False) -> None:
        """*shared*: others push to a remote, so what is not pushed is kept as the work it was."""
        self.branch = branch
        self.checkout = Checkout(branch)
        self.worker = Worker(branch, seal)
        self._reader = ItemReader(branch, seal)
        self._shared = shared

    def recover(self) -> None:
        """Does what a killed process has left undone."""
        remove_stale_locks(self.branch.repository, self.branch.root, self.branch.name)
        self.checkout.recover()

    def commit(self, asked: ItemWork, after: LastLine, *, sure: bool) -> CommitResult:
        """*sure*: all that the remote has is here, so a last line that is missing here is lost."""
        self._must_be_the_only_copy(asked.slug)
        lost = sure and self._is_lost(asked.slug, after, asked.now)
        due = self.worker.settle(asked)
        done = self.branch.find(due.work.id)
        if self._shared and done is None:
            keep_unpushed(self.branch, due)

        def build(tip: GitCommit | None) -> tuple[GitCommit | None, tuple[GitCommit, AppliedWork]]:
            tip = self._put_back(tip, due.now)
            parent = parent_of(done) if done else tip
            applied = self.worker.apply(due, parent)  # also a second time: the first receipt may be lost
            commit = done or self.branch.build(parent, applied.draft)
            return (tip if done else commit), (commit, applied)

        commit, applied = self.advance(build, due.work.subject)
        result = self._result(due, after, commit, applied, lost=lost)
        return result.but(troubles=()) if done else result

    def keep(self, review: ReviewToStore) -> KeptReview:
        def build(tip: GitCommit | None) -> tuple[GitCommit | None, KeptReview]:
            kept, draft = draft_review(self.branch, review, tip)
            return (self.branch.build(tip, draft) if draft else tip), kept

        return self.advance(build, "reviews")

    def restore(self, slug: str, *, now: str) -> LoadedItem:
        """A meta.json that can be read, from the history; what stood in its place is kept beside it."""
        subject = f"roundtable({slug}): meta.json restored"
        due = ItemWork(slug=slug, work=Commit(subject=subject), now=now)

        def build(tip: GitCommit | None) -> tuple[GitCommit | None, None]:
            if not self._reader.load(slug, now=now).restorable:
                return tip, None
            return self.branch.build(tip, self.worker.apply(due, tip).draft), None

        self.advance(build, subject)
        return self._reader.read(slug, now=now)

    def read_lost(self, slug: str, after: LastLine, *, now: str, sure: bool) -> LoadedItem:
        """`read` of an item that lacks its last line."""
        lost = self._is_lost(slug, after, now) and sure
        found = self._reader.read(slug, now=now, after=after)
        if found.state and lost:
            found = found.but(state=self._reader.specified(slug, found.state))
        return found.but(lost=lost)

    def advance(self, build: Callable[[GitCommit | None], tuple[GitCommit | None, T]], reason: str) -> T:
        """Sets the branch to what *build* makes of its tip, again if a person or another process was quicker."""
        for _ in range(RACES):
            before = self.branch.tip()
            after, made = build(before)
            if after is None or (before is not None and after.id == before.id):
                return made
            if self.checkout.advance(before, after, f"commit: {reason}"):
                self.branch.note_last(after)
                return made
        raise WorkspaceError("Others commit to the workspace all the time.", reason="locked", again=True)

    def _put_back(self, tip: GitCommit | None, now: str) -> GitCommit | None:
        last = self.branch.last()
        if last is None or self.branch.has(tip, last):
            return tip
        return last if tip is None else self.worker.put_back(tip, last, now)

    def _must_be_the_only_copy(self, slug: str) -> None:
        """Two folders with one chain: it would go on in both, and neither would be the record."""
        if others := self._reader.others_with_chain_of(slug):
            one, other = sorted((slug, others[0]))
            raise WorkspaceError(f"{one} and {other} hold the same record. Remove one.", reason="copied")

    def _is_lost(self, slug: str, after: LastLine, now: str) -> bool:
        """After what the branch lost is put back: neither the item nor our last commit of it has the line."""
        if after.is_in(self._reader.transcript(slug)):
            return False
        self.advance(lambda tip: (self._put_back(tip, now), None), "put back what the branch lost")
        return not after.is_in(
            self._reader.transcript(slug) + self.worker.committed(slug, self.branch.files())
        )

    def _result(
        self, due: ItemWork, after: LastLine, commit: GitCommit, applied: AppliedWork, *, lost: bool
    ) -> CommitResult:
        state = self._reader.load(due.slug, now=due.now, after=after).state
        if state is None:
            raise WorkspaceError("meta.json was taken away while it was saved.", reason="io", again=True)
        if lost:
            state = self._reader.specified(due.slug, state).but(behind=True)
        elif any(TAKES_OVER in line.meta for line in due.work.lines):
            left = old_lines(self._reader.transcript(due.slug), self.worker.lines.trusted)
            state = self._reader.specified(due.slug, state).but(old_lines=left)
        put_back = None
        if applied.lost_lines:
            changed = self.worker.edit_of_lines(due.slug, applied.parent)
            put_back = PutBack(lines=applied.lost_lines, commit=changed)
        edits = [edit for edit in due.work.edits if edit not in applied.stopped]
        by_hand = tuple(self._hand_edits(due.slug, applied.stopped, commit))
        is_lost = any(edit.written is None for edit in by_hand)
        return CommitResult(
            state=state,
            sha=str(commit.id),
            touched=tuple(dict.fromkeys(self._touched(due.slug, edits, commit, applied.parent))),
            troubles=tuple(applied.troubles),
            unwritten=tuple(applied.unwritten),
            restored=applied.restored,
            last_line=last_line(
                self.branch.content(commit, self.worker.places.transcript(due.slug)) or b"",
                self.worker.lines.trusted,
            ),
            put_back=put_back,
            lost=lost,
            hand_edits=by_hand,
            before=self._reader.known_at(due.slug, applied.parent) if is_lost else Specification(),
            exports=applied.exports,
        )

    def _touched(
        self, slug: str, edits: Sequence[Edit], commit: GitCommit, parent: GitCommit | None
    ) -> Iterator[ChangedFile]:
        for edit in edits:
            place = self.worker.places.edit(slug, edit)
            content = self.branch.content(commit, place) if place else None
            if place and content is not None and content != self.branch.content(parent, place):
                heading = _heading(edit, content)
                is_gone = isinstance(edit, SectionEdit) and not edit.body
                if not (is_gone or is_last(heading) or edit.path == brief.PAGE):
                    yield ChangedFile(path=edit.path, heading=heading)

    def _hand_edits(self, slug: str, edits: Sequence[CheckedEdit], commit: GitCommit) -> Iterator[HandEdit]:
        files = self.branch.at(commit)
        for edit in edits:
            place = self.worker.places.edit(slug, edit)
            content = files.read(place, ARTIFACT_BYTES) if place else None
            if place and content is not None:
                yield described(self.branch, place, edit, content.decode())


def _heading(edit: Edit, content: bytes) -> str:
    if isinstance(edit, SectionEdit):
        return edit.heading
    return edit.place(content.decode()) if isinstance(edit, InsightEdit) else ""


async def at_once() -> bool:
    """There is no remote to wait for."""
    return True


class GitWorkspace:
    """A context manager; *root* and its repository are created when they are missing."""

    def __init__(
        self,
        root: Path,
        *,
        seal: Seal,
        items_dir: str = "docs/requirements",
        lock_seconds: float = LOCK_SECONDS,
        abreast: Callable[[], Awaitable[bool]] = at_once,
        in_step: Callable[[], Awaitable[bool]] = at_once,
        after_commit: Callable[[], None] | None = None,
        exports: Exports | None = None,
    ) -> None:
        """
        *abreast* is awaited before an item is read or written, and after a commit: another clone may have been the
        last to write it, or be the next. When something is missing here, *in_step* tells whether this clone has
        everything that the remote has.
        *after_commit* is called when there is something new to push; without one, nothing is pushed.
        """
        self._abreast = abreast
        self._in_step = in_step
        self._after_commit = after_commit or (lambda: None)
        self._is_shared = after_commit is not None
        self._root = root.absolute()
        self._branch = partial(Branch, self._root, items_dir, lock_seconds=lock_seconds, exports=exports)
        self._seal = seal
        self._unpacked = 0
        self._packing: asyncio.Task[None] | None = None
        self._stack = ExitStack()

    async def __aenter__(self) -> Self:
        with ExitStack() as stack:
            self._writer = stack.enter_context(ThreadPoolExecutor(1, "workspace writer"))
            self._reader = stack.enter_context(ThreadPoolExecutor(1, "workspace reader"))
            self._prober = stack.enter_context(ThreadPoolExecutor(1, "workspace probe"))
            self._writing = await self._in_thread(
                self._writer,
                lambda: Writer(self._branch(), self._seal, shared=self._is_shared),
            )
            self._reading = await self._in_thread(
                self._reader, lambda: ItemReader(self._branch(), self._seal)
            )
            await self._in_thread(self._writer, self._writing.recover)
            self._stack = stack.pop_all()
        self._first_look = asyncio.create_task(self._look_around())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._first_look.cancel()
        if self._packing:
            self._packing.cancel()
            await asyncio.wait({self._packing})
        await asyncio.to_thread(self._stack.close)

    async def items(self) -> tuple[Listing, ...]:
        return await self._in_thread(self._reader, self._reading.items)

    async def backlog(self) -> str:
        return await self._in_thread(self._reader, self._reading.backlog)

    async def read(self, slug: str, *, now: str, after: LastLine = NOTHING) -> LoadedItem:
        await self._abreast()
        if not await self._holds(slug, after):
            sure = await self._is_sure(after, now)
            found = await self._in_thread(
                self._writer, lambda: self._writing.read_lost(slug, after, now=now, sure=sure)
            )
            self._after_commit()
            return found
        return await self._in_thread(self._reader, lambda: self._reading.read(slug, now=now, after=after))

    async def files(self, slug: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        await self._abreast()
        return await self._in_thread(self._reader, lambda: self._reading.files(slug, paths))

    async def transcript(self, slug: str) -> bytes:
        """Empty before the first commit."""
        return await self._in_thread(self._reader, lambda: self._reading.transcript(slug))

    async def people(self) -> Names:
        return await self._in_thread(self._reader, self._reading.people)

    async def forgotten(self) -> frozenset[str]:
        """The ids of people who were forgotten."""
        return await self._in_thread(self._reader, lambda: self._reading.known_people().forgotten)

    async def planning(self, slug: str) -> Planning:
        await self._abreast()
        return await self._in_thread(self._reader, lambda: self._reading.planning(slug))

    async def commit(
        self, slug: str, work: Commit, *, now: str, after: LastLine = NOTHING, home: SlackPlace | None = None
    ) -> CommitResult:
        await self._abreast()
        sure = await self._holds(slug, after) or await self._is_sure(after, now)
        due = ItemWork(slug=slug, work=work, now=now, home=home)
        receipt = await self._in_thread(self._writer, lambda: self._writing.commit(due, after, sure=sure))
        self._pack_now_and_then()
        self._after_commit()
        unpushed = "" if await self._abreast() else now
        return receipt.but(last_line=receipt.last_line.but(unpushed=unpushed))

    async def keep(self, slug: str, content: bytes, *, now: str) -> KeptReview:
        """See `Archive.keep`."""
        await self._abreast()
        review = ReviewToStore(slug, content, now)
        kept = await self._in_thread(self._writer, lambda: self._writing.keep(review))
        self._after_commit()
        await self._abreast()
        return kept

    async def newest(self, slug: str, most: int) -> tuple[KeptReview, ...]:
        """See `Archive.newest`."""
        return await self._in_thread(self._reader, lambda: self._reading.reviews(slug, most))

    async def restore(self, slug: str, *, now: str) -> LoadedItem:
        await self._abreast()
        reading = await self._in_thread(self._writer, lambda: self._writing.restore(slug, now=now))
        self._after_commit()
        await self._abreast()
        return reading

    async def survey(self, keywords: tuple[str, ...], *, seconds: float) -> CodeSurvey:
        return await survey(self._root, self._writing.branch.places.ours, keywords, seconds=seconds)

    async def ping(self) -> None:
        """Everywhere that a commit writes to, in a thread of its own: `.git` may be on a disk of its own."""
        repository = self._writing.branch.repository

        def probe() -> None:
            own, shared = Path(repository.path), shared_git_dir(repository)
            for place in (self._writing.branch.state, own, shared / "objects"):
                with folder(place) as files:
                    files.probe()

        await self._in_thread(self._prober, probe)

    async def _holds(self, slug: str, after: LastLine) -> bool:
        transcript = await self.transcript(slug) if after else b""
        return after.is_in(transcript)

    async def _is_sure(self, after: LastLine, now: str) -> bool:
        """Whether what is missing here is lost, and not only on its way from another clone."""
        is_due = not after.unpushed or seconds_since(after.unpushed, now) > LATE_SECONDS
        return await self._in_step() and is_due

    async def _look_around(self) -> None:
        """The first listing of many items takes seconds, so it is made before the first request."""
        with suppress(WorkspaceError):
            await self.items()

    def _pack_now_and_then(self) -> None:
        """Every commit leaves a few loose files, and each version of a transcript in full, until git packs them."""
        self._unpacked += 1
        if self._unpacked >= COMMITS_A_PACKING and (self._packing is None or self._packing.done()):
            self._unpacked = 0
            self._packing = asyncio.create_task(self._pack())

    async def _pack(self) -> None:
        words = ("-c", "gc.auto=1000", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet")
        try:
            said = await Git(self._root)(*words, seconds=PACKING_SECONDS, last=True)
        except (OSError, TimeoutError) as error:
            log.warning("the workspace was not packed: %s", str(error) or "it took too long")
        else:
            if said.code:
                log.warning("the workspace was not packed: %s", said.error.strip())

    async def _in_thread(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        with explained():
            return await asyncio.get_running_loop().run_in_executor(thread, work)
