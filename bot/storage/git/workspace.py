"""
The workspace: a git checkout with one folder per item, and one commit per finished step.

Everything that waits for a disk runs in a thread. One thread writes and another reads, so that a list can be shown
while a commit waits for a lock.
"""

import asyncio
import logging
from asyncio import Future
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Generic, NamedTuple, Self, TypeVar

from bot.domain.item.meta import SlackPlace
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.outcomes import CodeSurvey
from bot.domain.transcript.witness import Witness
from bot.domain.values.timestamps import seconds_since
from bot.engine.ports import NOTHING, CommitResult, Listing, LoadedItem, Planning
from bot.engine.review_ports import KeptReview
from bot.errors import WorkspaceError
from bot.storage.git.checkout import AUTHOR, EMAIL, Checkout, CheckoutConfig, PendingCommit
from bot.storage.git.command import explained
from bot.storage.git.lock import LOCK_SECONDS
from bot.storage.git.reviews import ReviewToStore, ReviewWriter
from bot.storage.git.seal import Seal
from bot.storage.git.survey import survey

D = TypeVar("D")
R = TypeVar("R")

LARGEST_BATCH = 32
"""A larger batch would keep the first commit waiting for too long."""
REASONS_FOR_ALL = frozenset({"locked", "detached", "index", "read_only"})
"""Errors that every commit of a batch would run into, so that each of them fails at once."""


class _Waiting(NamedTuple, Generic[D, R]):
    due: D
    receipt: Future[R]


class Batches(Generic[D, R]):
    """
    Makes the commits that wait at the same time in one batch: the lock is taken once and the branch moves once.

    *commit* makes all the commits of a batch or none, and is called for one batch at a time. An error is usually about
    one item, so after an error each commit of the batch is tried alone.
    """

    def __init__(self, commit: Callable[[Sequence[D]], Awaitable[list[R]]]) -> None:
        self._commit = commit
        self._waiting: deque[_Waiting[D, R]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def join(self, due: D) -> R:
        waiting: _Waiting[D, R] = _Waiting(due, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        return await waiting.receipt

    async def end(self) -> None:
        """Waits for the commits that were asked for."""
        if self._running:
            await asyncio.wait({self._running})

    async def _run(self) -> None:
        while self._waiting:
            some = [self._waiting.popleft() for _ in range(min(LARGEST_BATCH, len(self._waiting)))]
            await self._make([one for one in some if not one.receipt.cancelled()])

    async def _make(self, some: list[_Waiting[D, R]]) -> None:
        if not some:
            return
        made = asyncio.ensure_future(self._commit([one.due for one in some]))
        await asyncio.wait({made})
        error = made.exception()
        if error is None:
            for one, receipt in zip(some, made.result(), strict=True):
                _tell(one, receipt)
        elif len(some) == 1 or (isinstance(error, WorkspaceError) and error.reason in REASONS_FOR_ALL):
            for one in some:
                _tell(one, error)
        else:
            for one in some:
                await self._make([one])


def _tell(one: _Waiting[D, R], what: R | BaseException) -> None:
    if one.receipt.done():
        return
    if isinstance(what, BaseException):
        one.receipt.set_exception(what)
    else:
        one.receipt.set_result(what)


T = TypeVar("T")
log = logging.getLogger(__name__)


LATE_SECONDS = 3600.0
"""A commit of another clone that is not at the remote after this time counts as lost."""


async def at_once() -> bool:
    """There is no remote to wait for."""
    return True


class GitWorkspace:
    """A context manager; *root* and its repository are created when they are missing."""

    def __init__(
        self,
        root: Path,
        *,
        items_dir: str = "docs/requirements",
        author_name: str = AUTHOR,
        author_email: str = EMAIL,
        lock_seconds: float = LOCK_SECONDS,
        seal: Seal | None = None,
        abreast: Callable[[], Awaitable[bool]] = at_once,
        in_step: Callable[[], Awaitable[bool]] = at_once,
        after_commit: Callable[[], None] = lambda: None,
    ) -> None:
        """
        *abreast* is awaited before an item is read or written, and after a commit: another clone may have been the
        last to write it, or be the next. When something is missing here, *in_step* tells whether this clone has
        everything that the remote has.
        *after_commit* is called when there is something new to push.
        """
        self._abreast = abreast
        self._in_step = in_step
        self._after_commit = after_commit
        self._where = CheckoutConfig(
            root.absolute(), items_dir, author_name, author_email, lock_seconds, seal or Seal()
        )
        self._commits: Batches[PendingCommit, CommitResult] = Batches(self._commit)
        self._reviews: Batches[ReviewToStore, KeptReview] = Batches(self._keep)
        self._looking: asyncio.Future[tuple[Listing, ...]] | None = None
        self._stack = ExitStack()

    async def __aenter__(self) -> Self:
        with ExitStack() as stack:
            self._writer = stack.enter_context(ThreadPoolExecutor(1, "workspace writer"))
            self._reader = stack.enter_context(ThreadPoolExecutor(1, "workspace reader"))
            self._writing = await self._in_thread(self._writer, lambda: Checkout(self._where))
            self._reading = await self._in_thread(self._reader, lambda: Checkout(self._where))
            self._keeper = ReviewWriter(self._writing, self._where.root, self._where.items_dir)
            self._prober = stack.enter_context(ThreadPoolExecutor(1, "workspace probe"))
            await self._recover()
            self._stack = stack.pop_all()
        self._first_look = asyncio.create_task(self._look_around())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._first_look.cancel()
        await self._commits.end()
        await self._reviews.end()
        await asyncio.to_thread(self._stack.close)

    async def items(self) -> tuple[Listing, ...]:
        """Callers share a reading that has not begun. One that has begun may miss what they have just written."""
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._in_thread(self._reader, self._look))
        return await asyncio.shield(self._looking)

    async def backlog(self) -> str:
        return await self._in_thread(self._reader, self._reading.backlog)

    async def read(self, slug: str, *, now: str, after: Witness = NOTHING) -> LoadedItem:
        await self._abreast()
        if not after and await self._in_thread(self._reader, self._reading.is_cut_off):
            await self._recover()  # the files are all that is known of the item
        if not await self._holds(slug, after):
            sure = await self._is_sure(after, now)
            reading = await self._in_thread(
                self._writer, lambda: self._writing.read_back(slug, now=now, after=after, sure=sure)
            )
            self._after_commit()
            return reading
        return await self._in_thread(self._reader, lambda: self._reading.read(slug, now=now, after=after))

    async def files(self, slug: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        await self._abreast()
        return await self._in_thread(self._reader, lambda: self._reading.files(slug, paths))

    async def planning(self, slug: str) -> Planning:
        await self._abreast()
        return await self._in_thread(self._reader, lambda: self._reading.planning(slug))

    async def commit(
        self, slug: str, work: Commit, *, now: str, after: Witness = NOTHING, home: SlackPlace | None = None
    ) -> CommitResult:
        await self._abreast()
        sure = await self._holds(slug, after) or await self._is_sure(after, now)
        receipt = await self._commits.join(PendingCommit(slug, work, now, after, home, sure))
        self._after_commit()
        shared = await self._abreast()
        return receipt._replace(witness=receipt.witness.but(shared=shared))

    async def keep(self, slug: str, content: bytes, *, now: str) -> KeptReview:
        """See `Archive.keep`."""
        await self._abreast()
        kept = await self._reviews.join(ReviewToStore(slug, content, now))
        self._after_commit()
        await self._abreast()
        return kept

    async def newest(self, slug: str, most: int) -> tuple[KeptReview, ...]:
        """See `Archive.newest`."""
        return await self._in_thread(self._reader, lambda: self._keeper.newest(slug, most))

    async def restore(self, slug: str, *, now: str) -> LoadedItem:
        await self._abreast()
        reading = await self._in_thread(self._writer, lambda: self._writing.restore(slug, now=now))
        self._after_commit()
        await self._abreast()
        return reading

    async def survey(self, keywords: tuple[str, ...], *, seconds: float) -> CodeSurvey:
        return await survey(self._where.root, self._where.ours, keywords, seconds=seconds)

    async def ping(self) -> None:
        """In a thread of its own: a commit that waits for a lock says nothing about the disk."""
        await self._in_thread(self._prober, self._reading.ping)

    async def _holds(self, slug: str, after: Witness) -> bool:
        if not after.commit:
            return True
        return await self._in_thread(self._reader, lambda: self._reading.holds(slug, after))

    async def _is_sure(self, after: Witness, now: str) -> bool:
        """Whether what is missing here is lost, and not only on its way from another clone."""
        return await self._in_step() and (after.shared or seconds_since(after.at, now) > LATE_SECONDS)

    async def _recover(self) -> None:
        """The next commit does the same, so an error is only logged."""
        try:
            await self._in_thread(self._writer, self._writing.recover)
        except WorkspaceError as error:
            log.warning("what an earlier bot left behind is looked at later: %s", error)

    async def _look_around(self) -> None:
        """The first listing of many items takes seconds, so it is made before the first request."""
        with suppress(WorkspaceError):
            await self.items()

    def _look(self) -> tuple[Listing, ...]:
        self._looking = None
        return self._reading.items()

    async def _commit(self, works: Sequence[PendingCommit]) -> list[CommitResult]:
        return await self._in_thread(self._writer, lambda: self._writing.commit(works))

    async def _keep(self, sent: Sequence[ReviewToStore]) -> list[KeptReview]:
        return await self._in_thread(self._writer, lambda: self._keeper.keep(sent))

    async def _in_thread(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        with explained():
            return await asyncio.get_running_loop().run_in_executor(thread, work)
