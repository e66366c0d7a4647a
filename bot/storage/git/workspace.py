"""
The workspace: a git checkout with one folder an item, and one commit a finished step.

Whatever waits for a disk waits in a thread. One thread writes and another reads, so that a lock somebody holds keeps
no list from being shown.
"""

import asyncio
import logging
from asyncio import Future
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Generic, NamedTuple, Self, TypeVar

from bot.domain.item.meta import SlackPlace
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.outcomes import CodeSurvey
from bot.domain.transcript.witness import Witness
from bot.domain.values.timestamps import seconds_since
from bot.engine.ports import NOTHING, Listing, Planning, Reading, Receipt
from bot.engine.review_ports import KeptReview
from bot.errors import WorkspaceError
from bot.storage.git.checkout import AUTHOR, EMAIL, Checkout, Due, Where
from bot.storage.git.command import explained
from bot.storage.git.lock import LOCK_SECONDS
from bot.storage.git.reviews import Keeper, Sent
from bot.storage.git.seal import Seal
from bot.storage.git.survey import survey

# Commits that wait at the same time are made in one round: one turn, one look at the index, one move of the
# branch, and still a commit for each.
#
# What goes wrong in a round is mostly one item's: then each of them is tried by itself.


D = TypeVar("D")
R = TypeVar("R")

LARGEST = 32
"""So many commits are made together; the first of them waits for all the others."""
EVERYBODYS = frozenset({"locked", "detached", "index", "read_only"})
"""Reasons for which trying again one by one would only take longer."""


class _Waiting(NamedTuple, Generic[D, R]):
    due: D
    receipt: Future[R]


class Rounds(Generic[D, R]):
    """*commit* makes several commits or none; it is not called again before it has ended."""

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
        """What waits is still made."""
        if self._running:
            await asyncio.wait({self._running})

    async def _run(self) -> None:
        while self._waiting:
            some = [self._waiting.popleft() for _ in range(min(LARGEST, len(self._waiting)))]
            await self._round([one for one in some if not one.receipt.cancelled()])

    async def _round(self, some: list[_Waiting[D, R]]) -> None:
        if not some:
            return
        made = asyncio.ensure_future(self._commit([one.due for one in some]))
        await asyncio.wait({made})
        error = made.exception()
        if error is None:
            for one, receipt in zip(some, made.result(), strict=True):
                _tell(one, receipt)
        elif len(some) == 1 or (isinstance(error, WorkspaceError) and error.reason in EVERYBODYS):
            for one in some:
                _tell(one, error)
        else:
            for one in some:
                await self._round([one])


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
"""A commit that no remote has by then is as good as lost, if its clone is not this one."""


async def at_once() -> bool:
    """Nobody else writes to the items."""
    return True


class GitWorkspace:
    """Use it as a context manager; *root* and its repository are made when they are missing."""

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
        *abreast* is waited for before an item is worked on and after it is written to: somebody with another clone
        may have been the last, or be the next. Only when something is missing here, *in_step* is asked whether all
        that the remote has is here.
        *after_commit* is called when there is something new to push.
        """
        self._abreast = abreast
        self._in_step = in_step
        self._after_commit = after_commit
        self._where = Where(
            root.absolute(), items_dir, author_name, author_email, lock_seconds, seal or Seal()
        )
        self._rounds: Rounds[Due, Receipt] = Rounds(self._commit)
        self._reviews: Rounds[Sent, KeptReview] = Rounds(self._keep)
        self._looking: asyncio.Future[tuple[Listing, ...]] | None = None
        self._stack = ExitStack()

    async def __aenter__(self) -> Self:
        with ExitStack() as stack:
            self._writer = stack.enter_context(ThreadPoolExecutor(1, "workspace writer"))
            self._reader = stack.enter_context(ThreadPoolExecutor(1, "workspace reader"))
            self._writing = await self._in_thread(self._writer, lambda: Checkout(self._where))
            self._reading = await self._in_thread(self._reader, lambda: Checkout(self._where))
            self._keeper = Keeper(self._writing, self._where.root, self._where.items_dir)
            self._prober = stack.enter_context(ThreadPoolExecutor(1, "workspace probe"))
            await self._recover()
            self._stack = stack.pop_all()
        self._first_look = asyncio.create_task(self._look_around())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._first_look.cancel()
        await self._rounds.end()
        await self._reviews.end()
        await asyncio.to_thread(self._stack.close)

    async def items(self) -> tuple[Listing, ...]:
        """Who asks before a look has begun has part in it; one that has begun may be too old for them."""
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._in_thread(self._reader, self._look))
        return await asyncio.shield(self._looking)

    async def backlog(self) -> str:
        return await self._in_thread(self._reader, self._reading.backlog)

    async def read(self, slug: str, *, now: str, after: Witness = NOTHING) -> Reading:
        await self._abreast()
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
    ) -> Receipt:
        await self._abreast()
        sure = await self._holds(slug, after) or await self._is_sure(after, now)
        receipt = await self._rounds.join(Due(slug, work, now, after, home, sure))
        self._after_commit()
        shared = await self._abreast()
        return receipt._replace(witness=receipt.witness.but(shared=shared))

    async def keep(self, slug: str, content: bytes, *, now: str) -> KeptReview:
        """A review, as `Archive` has it."""
        await self._abreast()
        kept = await self._reviews.join(Sent(slug, content, now))
        self._after_commit()
        await self._abreast()
        return kept

    async def newest(self, slug: str, most: int) -> tuple[KeptReview, ...]:
        """Of the reviews, as `Archive` has it."""
        return await self._in_thread(self._reader, lambda: self._keeper.newest(slug, most))

    async def restore(self, slug: str, *, now: str) -> Reading:
        await self._abreast()
        reading = await self._in_thread(self._writer, lambda: self._writing.restore(slug, now=now))
        self._after_commit()
        await self._abreast()
        return reading

    async def survey(self, keywords: tuple[str, ...], *, seconds: float) -> CodeSurvey:
        return await survey(self._where.root, self._where.ours, keywords, seconds=seconds)

    async def ping(self) -> None:
        """In a thread of its own: that a commit waits for somebody's lock says nothing about the disk."""
        await self._in_thread(self._prober, self._reading.ping)

    async def _holds(self, slug: str, after: Witness) -> bool:
        if not after.commit:
            return True
        return await self._in_thread(self._reader, lambda: self._reading.holds(slug, after))

    async def _is_sure(self, after: Witness, now: str) -> bool:
        """That what is missing here is missing everywhere, and not only on its way."""
        return await self._in_step() and (after.shared or seconds_since(after.at, now) > LATE_SECONDS)

    async def _recover(self) -> None:
        """A courtesy: the next commit does it as well."""
        try:
            await self._in_thread(self._writer, self._writing.recover)
        except WorkspaceError as error:
            log.warning("what an earlier bot left behind is looked at later: %s", error)

    async def _look_around(self) -> None:
        """With many items the first look takes seconds, and nobody should have to wait for it."""
        with suppress(WorkspaceError):
            await self.items()

    def _look(self) -> tuple[Listing, ...]:
        self._looking = None
        return self._reading.items()

    async def _commit(self, works: Sequence[Due]) -> list[Receipt]:
        return await self._in_thread(self._writer, lambda: self._writing.commit(works))

    async def _keep(self, sent: Sequence[Sent]) -> list[KeptReview]:
        return await self._in_thread(self._writer, lambda: self._keeper.keep(sent))

    async def _in_thread(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        with explained():
            return await asyncio.get_running_loop().run_in_executor(thread, work)
