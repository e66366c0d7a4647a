"""
The workspace: a git checkout with one folder an item, and one commit a finished step.

Whatever waits for a disk waits in a thread. One thread writes and another reads, so that a lock somebody holds keeps
no list from being shown.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from bot.domain.effects import Commit
from bot.domain.inputs import CodeSurvey
from bot.engine.ports import Listing, Reading, Receipt
from bot.storage.checkout import AUTHOR, EMAIL, Checkout, Where
from bot.storage.explain import explained
from bot.storage.survey import survey
from bot.storage.turn import LOCK_SECONDS

T = TypeVar("T")


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
        after_commit: Callable[[], None] = lambda: None,
    ) -> None:
        """*after_commit* is called when there is something new to push."""
        self._after_commit = after_commit
        self._where = Where(root.absolute(), items_dir, author_name, author_email, lock_seconds)
        self._stack = ExitStack()

    async def __aenter__(self) -> Self:
        with ExitStack() as stack:
            self._writer = stack.enter_context(ThreadPoolExecutor(1, "workspace writer"))
            self._reader = stack.enter_context(ThreadPoolExecutor(1, "workspace reader"))
            self._writing = await self._in_thread(self._writer, lambda: Checkout(self._where))
            self._reading = await self._in_thread(self._reader, lambda: Checkout(self._where))
            await self._in_thread(self._writer, self._writing.recover)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self._stack.close)

    async def items(self) -> tuple[Listing, ...]:
        return await self._in_thread(self._reader, self._reading.items)

    async def backlog(self) -> str:
        return await self._in_thread(self._reader, self._reading.backlog)

    async def read(self, slug: str, *, now: str) -> Reading:
        return await self._in_thread(self._reader, lambda: self._reading.read(slug, now=now))

    async def files(self, slug: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        return await self._in_thread(self._reader, lambda: self._reading.files(slug, paths))

    async def commit(self, slug: str, work: Commit, *, now: str) -> Receipt:
        receipt = await self._in_thread(self._writer, lambda: self._writing.commit(slug, work, now=now))
        self._after_commit()
        return receipt

    async def restore(self, slug: str, *, now: str) -> Reading:
        reading = await self._in_thread(self._writer, lambda: self._writing.restore(slug, now=now))
        self._after_commit()
        return reading

    async def survey(self, keywords: tuple[str, ...], *, seconds: float) -> CodeSurvey:
        return await survey(self._where.root, self._where.ours, keywords, seconds=seconds)

    async def ping(self) -> None:
        await self._in_thread(self._writer, self._writing.ping)

    async def _in_thread(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        with explained():
            return await asyncio.get_running_loop().run_in_executor(thread, work)
