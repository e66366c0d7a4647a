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
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar
from urllib.parse import quote

from pygit2 import Commit, Oid

from bot.engine.ports import Meter, Unmetered
from bot.errors import BotError, ConfigError, WorkspaceError
from bot.files import STATE_BYTES, folder
from bot.storage.git.checkout import AUTHOR, EMAIL, STATE, Checkout, Where
from bot.storage.git.checkout_update import NOTES, Adoption
from bot.storage.git.command import Git, Said, explained
from bot.storage.git.rebase import Clash, Replay, Replayed
from bot.storage.git.repository import branch, open_repository, shared_git_dir, tip

# What is done to a workspace so that it and its remote become one line of commits; by one thread, like a
# commit.


FETCHED = "refs/roundtable/fetched/"
"""What the remote has, by branch; only here, so that a person's own `refs/remotes` stay as they are."""
JOINED = "joined-"
"""The last commit of the remote's that we stand on: what is gone from there since then was taken away."""
BRANCHES = "refs/heads/"


class Joint:
    def __init__(self, where: Where) -> None:
        self._checkout = Checkout(where)
        self._repository = open_repository(where.root)
        self._notes = where.root / STATE / NOTES
        self._adoption = Adoption(self._repository, where.root / STATE)
        self._replay = Replay(self._repository, where.ours)

    def branch(self) -> str:
        """Raises WorkspaceError where there is none."""
        return branch(self._repository)

    def free(self, name: str, *, older_seconds: float) -> None:
        """A lock of our reference that a kill left behind: nobody holds one for that long."""
        lock = shared_git_dir(self._repository) / f"{fetched(name)}.lock"
        with suppress(FileNotFoundError):
            if lock.stat().st_mtime < time.time() - older_seconds:
                lock.unlink()

    def is_begun(self) -> bool:
        return tip(self._repository) is not None

    def follow(self, name: str) -> None:
        """A repository without a commit begins on the branch that the remote calls its own."""
        if tip(self._repository) is None:
            self._repository.references.create("HEAD", name, force=True)

    def join(self, name: str, *, empty: bool) -> str:
        """Ours on top of what was fetched. Returns what there is to push, if anything. Raises WorkspaceError."""
        remote = None if empty else self._commit(fetched(name))
        local = tip(self._repository)
        if remote is None:
            return str(local.id) if local else ""
        if local != remote and (local is None or not self._repository.descendant_of(local.id, remote.id)):
            local = self._moved(remote, name)
        self._note(name, remote.id)
        return "" if local == remote else str(local.id)

    def pushed(self, name: str, sha: str, *, empty: bool) -> None:
        if empty and self._noted(name):
            log.warning("%s was gone from the remote: all of it was pushed again", _short(name))
        self._note(name, Oid(hex=sha))

    def clashes(self) -> tuple[Clash, ...]:
        return self._adoption.clashes()

    def told(self, clashes: tuple[Clash, ...]) -> None:
        with self._checkout.alone(""):
            self._adoption.told(clashes)

    def _moved(self, remote: Commit, name: str) -> Commit:
        """Most of the work is done before anybody has to wait for us."""
        known = self._noted(name)
        if (early := tip(self._repository)) is not None:
            self._replay.onto(remote, early, known=known)
        with self._checkout.alone(""):
            local = tip(self._repository)
            found = self._replay.onto(remote, local, known=known) if local else Replayed(remote, ())
            self._adoption.adopt(found.tip, branch=name, clashes=found.clashes)
        if known and known in self._repository and not self._is_in(known, remote):
            log.warning("somebody pushed to %s with force: what is ours is put back on top", _short(name))
        for clash in found.clashes:
            if not clash.slug:
                log.warning(
                    "what was changed here and at the remote is no item's: ours is kept as %s", clash.path
                )
        return found.tip

    def _is_in(self, commit: Oid, newer: Commit) -> bool:
        return commit == newer.id or self._repository.descendant_of(newer.id, commit)

    def _noted(self, name: str) -> Oid | None:
        with folder(self._notes) as notes:
            noted = notes.read(_note_of(name), STATE_BYTES)
        try:
            return Oid(hex=noted.decode()) if noted else None
        except ValueError:
            return None  # somebody's disk lost it

    def _note(self, name: str, joined: Oid) -> None:
        """What is noted already costs no turn: mostly nothing has happened."""
        if self._noted(name) == joined:
            return
        with self._checkout.alone(""), folder(self._notes) as notes:
            notes.replace(_note_of(name), str(joined).encode())

    def _commit(self, name: str) -> Commit | None:
        found = self._repository.references.get(name)
        return found.peel(Commit) if found is not None else None


def fetched(name: str) -> str:
    """Where what the remote has of the branch *name* is kept: flat, because `a` and `a/b` cannot both be there."""
    return FETCHED + quote(_short(name), safe="")


def _short(name: str) -> str:
    return name.removeprefix(BRANCHES)


def _note_of(name: str) -> str:
    return JOINED + quote(_short(name), safe="")


# How a round with the remote ended, and what git's words mean for it.


DENIED = re.compile(
    r"authentication failed|permission (to .* )?denied|could not read (username|password)|access denied|forbidden"
    r"|unauthorized|returned error: 40[13]|invalid credentials|not granted|repository not found|terminal prompts"
    r"|host key verification failed|remote rejected|pre-receive hook declined|protected branch",
    re.IGNORECASE,
)
OVERTAKEN = re.compile(
    r"\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|reference already exists"
)
DECLINED = re.compile(r"remote rejected\].*\((pre-receive|update|.*hook)\b.*declined")
NO_SUCH_BRANCH = "couldn't find remote ref"
TELLING = ("fatal:", "error:", "remote:", "!")
WORD = re.compile(r"[^\W\d_]{2}")


class Result(StrEnum):
    """How a round ended."""

    PUSHED = "pushed"
    """The remote has what we have."""
    NOTHING = "nothing"
    """It had that before."""
    DIVERGED = "diverged"
    """Here is something that we may not put together: a person has to."""
    UNREACHABLE = "unreachable"
    """There was no answer, or none that git understood."""
    REFUSED = "refused"
    """The remote does not let us."""


class Trouble(Exception):
    """A round that cannot go on; the sentence is for the log."""

    def __init__(self, result: Result, sentence: str) -> None:
        super().__init__(sentence)
        self.result = result


class Overtaken(Exception):
    """Somebody else was quicker, in the workspace or at the remote: it is worth trying again at once."""


def has_no_branch(said: Said) -> bool:
    return bool(said.code) and NO_SUCH_BRANCH in said.error


def judge(said: Said) -> None:
    """Raises Trouble, or Overtaken, when git did not do it."""
    words = said.error + said.out
    if not said.code:
        return
    if OVERTAKEN.search(words) and not DECLINED.search(words):
        raise Overtaken(_sentence(said))
    raise Trouble(Result.REFUSED if DENIED.search(words) else Result.UNREACHABLE, _sentence(said))


def _sentence(said: Said) -> str:
    """The first line that says something: remotes like to draw frames around theirs."""
    lines = [line.strip() for line in (said.error + said.out).splitlines()]
    told = [line for line in lines if line.startswith(TELLING) and WORD.search(line.removeprefix("remote:"))]
    return next(iter([*told, *filter(None, lines)]), "git said nothing")


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


# Whether a remote answers, and would take our commits: asked as `Sync` does it, and without a trace.


SECONDS = 15.0
BRANCH = re.compile(r"^ref: refs/heads/(\S+)\tHEAD$", re.MULTILINE)
NOTHING_IN_COMMON = "No refs in common"
SAID_BY_SSH = re.compile(r"^(?:ssh: .+|.*Permission denied.*|Host key verification failed\.)$", re.MULTILINE)
PUSH = (
    "--dry-run",
    "--porcelain",
    "--no-verify",
    "--no-follow-tags",
    "--no-signed",
    "--recurse-submodules=no",
)


class Reached(NamedTuple):
    """*branch* is the remote's own, empty while nothing was pushed there; *refusal* is why a push would fail, if so."""

    branch: str
    refusal: str


async def reached(root: Path, remote: str, *, seconds: float = SECONDS) -> Reached:
    """
    Raises WorkspaceError when *remote* does not answer.

    A push is begun, and ended before anything is sent: so a branch that is protected, or a hook that says no, is not
    found out.
    """
    git = Git(root)
    answer = await _said(git, "ls-remote", "--symref", "--", remote, "HEAD", seconds=seconds)
    if answer.code:
        raise WorkspaceError(_reason(answer), reason="unreachable", again=True)
    branch = BRANCH.search(answer.out)
    # Matching branches: that needs no commit of ours, and touches none but those that both sides have.
    push = await _said(git, "push", *PUSH, "--", remote, ":", seconds=seconds)
    return Reached(branch[1] if branch else "", "" if _would_go(push) else _reason(push))


async def _said(git: Git, *words: str, seconds: float) -> Said:
    try:
        return await git(*words, seconds=seconds)
    except TimeoutError:
        raise WorkspaceError(f"no answer within {seconds:.0f} s", reason="unreachable", again=True) from None
    except OSError as error:
        raise WorkspaceError(f"git cannot be run: {error.strerror}", reason="unreachable") from error


def _would_go(push: Said) -> bool:
    """Who only has to fetch first may push."""
    words = push.error + push.out
    return (
        not push.code
        or NOTHING_IN_COMMON in words
        or (bool(OVERTAKEN.search(words)) and not DENIED.search(words))
    )


def _reason(said: Said) -> str:
    """Of ssh, what it says itself: git only knows that it could not read."""
    if of_ssh := SAID_BY_SSH.search(said.error):
        return of_ssh[0].strip()
    try:
        judge(said)
    except (Trouble, Overtaken) as error:
        return str(error)
    return "git said nothing"
