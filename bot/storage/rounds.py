"""
Commits that wait at the same time are made in one round: one turn, one look at the index, one move of the branch, and
still a commit for each.

What goes wrong in a round is mostly one item's: then each of them is tried by itself.
"""

import asyncio
from asyncio import Future
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from bot.errors import WorkspaceError

D = TypeVar("D")
R = TypeVar("R")

LARGEST = 32
"""So many commits are made together; the first of them waits for all the others."""
EVERYBODYS = frozenset({"locked", "detached", "read_only"})
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
