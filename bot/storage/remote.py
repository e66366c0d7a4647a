"""
The workspace and its remote, kept one: fetch, our commits on top of what others pushed, push. `docs/adr/0008-remote.md`
says why.

All of it happens in the background. While the remote is away, or somebody has to sort something out, commits go on,
and are pushed afterwards.
"""

import asyncio
import logging
import random
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from bot.engine.meter import Meter, Unmetered
from bot.errors import BotError, ConfigError, WorkspaceError
from bot.storage.checkout import AUTHOR, EMAIL, Where
from bot.storage.command import Git, Said
from bot.storage.explain import explained
from bot.storage.joining import BRANCHES, Joint, fetched
from bot.storage.result import Overtaken, Result, Trouble, has_no_branch, judge

__all__ = ["Result", "Sync"]

NETWORK_SECONDS = 60.0
LONGEST_NETWORK_SECONDS = 1800.0
"""A first fetch may take long: the limit grows with every time that it was not enough."""
LOCK_SECONDS = 10.0
FETCH_SECONDS = 30.0
GATHER_SECONDS = 0.5
"""Commits that come this close together are pushed together."""
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 300.0
RACES = 10
"""So often in a row somebody else may be quicker."""
RACE_SECONDS = 0.05
ABREAST_SECONDS = 5.0
"""So long may work on an item wait for what other replicas pushed."""

OnConflict = Callable[[str, tuple[str, ...]], Awaitable[None]]
P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)


async def _nobody_is_told(slug: str, paths: tuple[str, ...]) -> None:
    log.warning("%s was changed here and at the remote: ours is kept as %s", slug, ", ".join(paths))


class Sync:
    """*remote* is a name that the repository knows, or an address. Nothing is called before the workspace is open."""

    def __init__(
        self,
        root: Path,
        *,
        remote: str,
        items_dir: str = "docs/requirements",
        every_seconds: float = FETCH_SECONDS,
        network_seconds: float = NETWORK_SECONDS,
    ) -> None:
        self._where = Where(root.absolute(), items_dir, AUTHOR, EMAIL, LOCK_SECONDS)
        self._remote = remote
        self._every = every_seconds
        self._network = network_seconds
        self._patience = network_seconds
        self._git = Git(self._where.root)
        self._thread = ThreadPoolExecutor(1, "workspace sync")
        self._joint: Joint | None = None
        self._woken = asyncio.Event()
        self._hurried = asyncio.Event()
        self._abreast = asyncio.Event()
        """Set when the next round to begin has ended."""
        self._state: tuple[Result, str] = (Result.NOTHING, "")

    def wake(self) -> None:
        """There is something to push."""
        self._woken.set()

    async def abreast(self, *, seconds: float | None = None) -> bool:
        """
        Until the workspace and the remote have what each of them has now; by `run`, which does it. Nobody waits when
        the remote is known to be away, and never for longer than *seconds*, or what work on an item may be held up:
        it is put together later. Returns whether that is so.
        """
        if self._state[1]:
            return False
        self._hurried.set()
        self._woken.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(ABREAST_SECONDS if seconds is None else seconds):
                await self._abreast.wait()
                return not self._state[1]
        return False

    async def run(self, *, meter: Meter | None = None, on_conflict: OnConflict = _nobody_is_told) -> None:
        """Until cancelled. *on_conflict* may be called again for what it was told before."""
        failures = 0
        while True:
            self._woken.clear()
            self._hurried.clear()
            result = await self.once(on_conflict=on_conflict)
            (meter or Unmetered()).pushed(result)
            failures = 0 if result in {Result.PUSHED, Result.NOTHING} else failures + 1
            if failures:
                longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(failures - 1, 10))
                await asyncio.sleep(random.uniform(longest / 2, longest))  # noqa: S311 - no secret
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._woken.wait()
                async with asyncio.timeout(GATHER_SECONDS):
                    await self._hurried.wait()

    async def once(self, *, on_conflict: OnConflict = _nobody_is_told) -> Result:
        """One round; it raises nothing that a remote or a workspace can be the reason of."""
        try:
            result = await self._round()
            self._say(result, "")
        except Trouble as trouble:
            result = trouble.result
            self._say(result, str(trouble))
        except (WorkspaceError, ConfigError) as error:
            result = Result.DIVERGED
            self._say(result, str(error))
        with suppress(WorkspaceError):
            await self._tell(on_conflict)
        return result

    async def _round(self) -> Result:
        ended, self._abreast = self._abreast, asyncio.Event()
        try:
            return await self._races()
        finally:
            ended.set()

    async def _races(self) -> Result:
        why = ""
        for race in range(RACES):
            try:
                return await self._race()
            except Overtaken as overtaken:
                why = str(overtaken)
            await asyncio.sleep(random.uniform(0, RACE_SECONDS * 2.0 ** min(race, 4)))  # noqa: S311 - no secret
        raise Trouble(Result.UNREACHABLE, f"others are quicker all the time: {why}")

    async def _race(self) -> Result:
        branch = await self._in_thread(Joint.branch)
        await self._in_thread(Joint.free, branch, older_seconds=self._network)
        empty = not await self._fetch(branch)
        if empty and (other := await self._begun_elsewhere()):
            await self._in_thread(Joint.follow, other)
            branch = other
            empty = not await self._fetch(branch)
        sha = await self._in_thread(Joint.join, branch, empty=empty)
        if not sha:
            return Result.NOTHING
        await self._push(sha, branch)
        await self._in_thread(Joint.pushed, branch, sha, empty=empty)
        return Result.PUSHED

    async def _fetch(self, branch: str) -> bool:
        """Whether the remote has the branch."""
        options = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet")
        said = await self._said("fetch", *options, "--", self._remote, f"+{branch}:{fetched(branch)}")
        if has_no_branch(said):
            return False
        judge(said)
        return True

    async def _begun_elsewhere(self) -> str:
        """The remote's own branch, for a workspace in which nothing was committed yet."""
        if await self._in_thread(Joint.is_begun):
            return ""
        said = await self._said("ls-remote", "--symref", "--", self._remote, "HEAD")
        found = re.search(rf"^ref: ({BRANCHES}\S+)\tHEAD$", said.out, re.MULTILINE)
        return found[1] if found else ""

    async def _push(self, sha: str, branch: str) -> None:
        """Never with force."""
        options = ("--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no")
        judge(await self._said("push", *options, "--", self._remote, f"{sha}:{branch}"))

    async def _said(self, *words: str) -> Said:
        try:
            said = await self._git(*words, seconds=self._patience)
        except TimeoutError:
            waited, self._patience = self._patience, min(self._patience * 2, LONGEST_NETWORK_SECONDS)
            raise Trouble(Result.UNREACHABLE, f"no answer within {waited:.0f} s") from None
        except OSError as error:
            raise Trouble(Result.UNREACHABLE, f"git cannot be run: {error.strerror}") from error
        self._patience = self._network
        return said

    async def _tell(self, on_conflict: OnConflict) -> None:
        clashes = await self._in_thread(Joint.clashes)
        for slug, found in groupby(sorted(clashes), key=attrgetter("slug")):
            about = tuple(found)
            try:
                await on_conflict(slug, tuple(clash.path for clash in about))
            except BotError as error:
                log.warning("%s is told later what was changed on both sides: %s", slug, error)
            else:
                await self._in_thread(Joint.told, about)

    async def _in_thread(
        self, work: Callable[Concatenate[Joint, P], T], *told: P.args, **named: P.kwargs
    ) -> T:
        def run() -> T:
            self._joint = self._joint or Joint(self._where)
            return work(self._joint, *told, **named)

        with explained():
            return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def _say(self, result: Result, sentence: str) -> None:
        """Once for each state: a remote may be away for a week. Nobody waits for one in trouble."""
        before, self._state = self._state, (result, sentence)
        if sentence:
            self._abreast.set()
        if sentence and self._state != before:
            log.warning("what is committed is not pushed (%s): %s", result, sentence)
        elif before[1] and not sentence:
            log.info("the remote has everything again")
