"""
Keeps the workspace and its remote the same: fetch, our work applied again on what others pushed, push.

All of it happens in the background. While the remote is away, or a person has to resolve something, commits go on,
and are pushed later. Nothing is ever pushed with force.
"""

import asyncio
import logging
import random
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from pygit2 import Commit, Oid, Tree
from pygit2.enums import SortMode

from bot.domain.values.text import one_line
from bot.engine.ports import NO_METER, Exports, Meter
from bot.errors import ConfigError, WorkspaceError
from bot.storage.git.branch import Branch
from bot.storage.git.command import Git, GitResult, explained
from bot.storage.git.follow import Checkout
from bot.storage.git.reviews import ReviewToStore, draft_review, number_of
from bot.storage.git.seal import Seal
from bot.storage.git.tree import (
    BRANCHES,
    EFFECT,
    ITEM,
    STATE,
    STATE_IN_GIT,
    holds_our_state,
    line_from,
    refuse_deep,
    remove_stale,
    shared_git_dir,
    trailer,
)
from bot.storage.git.work import Worker, drop_unpushed, unpushed

log = logging.getLogger(__name__)

FETCHED = "refs/roundtable/fetched/"
"""What the remote has, by branch; a person's own `refs/remotes` are not touched."""
JOINED = "refs/roundtable/joined/"
"""The last commit that both had, by branch."""
PUSHED_LOOKED_AT = 1000
HEAD_OF_REMOTE = re.compile(rf"^ref: {BRANCHES}(\S+)\tHEAD$", re.MULTILINE)
PUSH = ("--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no")
FETCH = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet")

NETWORK_SECONDS = 60.0
LONGEST_NETWORK_SECONDS = 1800.0
"""A first fetch may take long: the limit doubles each time that it was not enough."""
LOCK_SECONDS = 10.0
FETCH_SECONDS = 30.0
FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 300.0
RACES = 30
"""How often in a row a push may be rejected because another clone pushed first."""
RACE_SECONDS = 0.05
"""The longest wait after such a push. It does not grow: the clone that won pushes again at once."""
ABREAST_SECONDS = 5.0
"""How long work on an item may wait for what other replicas pushed."""
PROBE_SECONDS = 15.0


# What git's messages mean.

DENIED = re.compile(
    r"authentication failed|permission (to \S{1,400}+ )?denied|could not read (username|password)|access denied"
    r"|forbidden|unauthorized|returned error: 40[13]|invalid credentials|not granted|repository not found"
    r"|terminal prompts|host key verification failed|remote rejected|pre-receive hook declined|protected branch",
    re.IGNORECASE,
)
OVERTAKEN = re.compile(
    r"\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|reference already exists"
)
DECLINED = re.compile(r"remote rejected\][^\n(]{0,500}\([^\n()]{0,100}hook declined")
NO_SUCH_BRANCH = "couldn't find remote ref"
NOTHING_IN_COMMON = "No refs in common"
TELLING = ("fatal:", "error:", "remote:", "!")
SENTENCE_CHARS = 400
WORD = re.compile(r"[^\W\d_]{2}")
SAID_BY_SSH = re.compile(r"^(?:ssh: .+|.*Permission denied.*|Host key verification failed\.)$", re.MULTILINE)


class SyncResult(StrEnum):
    """How a round ended."""

    PUSHED = "pushed"
    """The remote has what we have."""
    NOTHING = "nothing"
    """It had that before."""
    DIVERGED = "diverged"
    """The two sides have changes that only a person can bring together."""
    UNREACHABLE = "unreachable"
    """There was no answer, or none that git understood."""
    REFUSED = "refused"
    """The remote does not accept our push or our credentials."""


class SyncError(WorkspaceError):
    """A round that cannot go on; the sentence is for the log."""

    def __init__(self, result: SyncResult, sentence: str) -> None:
        super().__init__(sentence, reason=result.value, again=result == SyncResult.UNREACHABLE)
        self.result = result


class ConcurrentUpdate(Exception):
    """Another program wrote first, in the workspace or at the remote: try again at once."""


def _check(said: GitResult) -> None:
    """Raises SyncError or ConcurrentUpdate when git failed."""
    words = said.error + said.out
    if not said.code:
        return
    if OVERTAKEN.search(words) and not DECLINED.search(words):
        raise ConcurrentUpdate(_sentence(said))
    raise SyncError(SyncResult.REFUSED if DENIED.search(words) else SyncResult.UNREACHABLE, _sentence(said))


def _sentence(said: GitResult) -> str:
    """The first line with a reason in it: some remotes draw a frame around theirs."""
    lines = [line.strip() for line in (said.error + said.out).splitlines()]
    told = [line for line in lines if line.startswith(TELLING) and WORD.search(line.removeprefix("remote:"))]
    return one_line(next(iter([*told, *filter(None, lines)]), "git said nothing"), SENTENCE_CHARS)


async def _said(git: Git, *words: str, seconds: float) -> GitResult:
    """Raises SyncError when there is no answer."""
    try:
        return await git(*words, seconds=seconds)
    except TimeoutError:
        raise SyncError(SyncResult.UNREACHABLE, f"no answer within {seconds:.0f} s") from None
    except OSError as error:
        raise SyncError(SyncResult.UNREACHABLE, f"git cannot be run: {error.strerror}") from error


class _Local:
    """What a round does to the workspace, in one thread."""

    def __init__(self, branch: Branch, seal: Seal) -> None:
        self._branch = branch
        self._repository = self._branch.repository
        self._worker = Worker(self._branch, seal)
        self._checkout = Checkout(self._branch)

    def branch(self) -> str:
        """A fetch that was killed may have left the lock of our reference."""
        remove_stale(
            shared_git_dir(self._repository) / f"{_fetched(self._branch.name)}.lock", self._branch.root
        )
        return self._branch.name

    def is_begun(self) -> bool:
        return self._branch.tip() is not None

    def begin_on(self, name: str) -> None:
        """A repository without a commit begins on the remote's default branch."""
        if self._branch.tip() is None:
            self._repository.references.create("HEAD", name, force=True)

    def join(self, name: str, *, empty: bool) -> str:
        """
        The branch has all that was fetched, and our work on top. Returns the commit to push, if any. Raises
        WorkspaceError and ConcurrentUpdate.
        """
        found = None if empty else self._repository.references.get(_fetched(name))
        local = self._branch.tip()
        if found is None:
            return str(local.id) if local else ""
        remote = found.peel(Commit)
        if not self._branch.has(local, remote):
            refuse_deep(local.tree if local else None, remote.tree)
            if holds_our_state(remote.tree):
                raise SyncError(SyncResult.DIVERGED, f"The remote has {STATE}/ in git: {STATE_IN_GIT}.")
            before, local = local, self._joined(local, remote, name)
            if not self._checkout.advance(before, local, "roundtable: on top of the remote"):
                raise ConcurrentUpdate("the workspace was written to")
            if not self._branch.has(local, self._branch.last()):
                self._branch.note_last(local)
        self._note(name, remote)
        self._drop_pushed(local, remote)
        return "" if local is None or local.id == remote.id else str(local.id)

    def pushed(self, name: str, sha: str, *, empty: bool) -> None:
        if empty and self._noted(name):
            log.warning("%s was gone from the remote: all of it was pushed again", _short(name))
        commit = self._repository[sha].peel(Commit)
        self._drop_pushed(commit, commit)
        self._note(name, commit)

    def _joined(self, local: Commit | None, remote: Commit, name: str) -> Commit:
        """*remote*, with what only we have applied again on top."""
        if local is None or self._branch.has(remote, local):
            return remote
        known, tip = self._noted(name), remote
        dropped: set[Oid] = set()
        if known and not self._branch.has(remote, known):
            log.warning("somebody pushed to %s with force: what is ours is put back on top", _short(name))
            dropped = {commit.id for commit in self._between(remote.id, known.id)}
            tip = self._worker.put_back(remote, known, _moment(known))
        related = self._repository.merge_base(remote.id, local.id) is not None
        done = {trailer(commit, EFFECT) for commit in self._between(local.id, remote.id)} - {""}
        for commit in list(self._between(remote.id, local.id)):
            if commit.id not in dropped and trailer(commit, EFFECT) not in done:
                tip = self._applied(tip, commit, related=related)
        return tip

    def _applied(self, tip: Commit, commit: Commit, *, related: bool) -> Commit:
        """Raises WorkspaceError where only a person can bring the two sides together."""
        due = unpushed(self._repository, trailer(commit, EFFECT))
        if due is not None:
            return self._branch.build(tip, self._worker.apply(due, tip, again=True).draft)
        if len(commit.parent_ids) > 1:
            raise SyncError(
                SyncResult.DIVERGED,
                f"The merge {commit.short_id} is not at the remote, and cannot be put on top of it.",
            )
        slug = trailer(commit, ITEM)
        if not related and not slug:
            raise SyncError(SyncResult.DIVERGED, "The workspace and the remote have no commit in common.")
        before = commit.parents[0].tree if commit.parent_ids else self._empty()
        added = [delta.new_file.path for delta in before.diff_to_tree(commit.tree).deltas]
        if slug and len(added) == 1 and number_of(added[0].rpartition("/")[2]):
            sent = ReviewToStore(slug, self._branch.content(commit, added[0]) or b"", _moment(commit))
            draft = draft_review(self._branch, sent, tip)[1]
            return self._branch.build(tip, draft) if draft else tip
        return self._lifted(tip, commit, before, added)

    def _lifted(self, tip: Commit, commit: Commit, before: Tree, paths: Sequence[str]) -> Commit:
        """A commit of a person, as git itself would put it on top."""
        for path in paths:
            try:
                path.encode()
            except UnicodeEncodeError:
                raise SyncError(SyncResult.DIVERGED, f"The name {path!a} is not UTF-8.") from None
        index = self._repository.merge_trees(before, tip.tree, commit.tree)
        if index.conflicts is not None:
            both = sorted({one_line(entry.path) for sides in index.conflicts for entry in sides if entry})
            raise SyncError(SyncResult.DIVERGED, f"{', '.join(both)} was changed here and at the remote.")
        tree = index.write_tree(self._repository)
        if tree == tip.tree_id:
            return tip
        made = self._repository.create_commit(
            None, commit.author, commit.committer, commit.message, tree, [tip.id]
        )
        return self._repository[made].peel(Commit)

    def _between(self, old: Oid, new: Oid) -> Iterator[Commit]:
        """Oldest first."""
        walk = self._repository.walk(new, SortMode.TOPOLOGICAL | SortMode.REVERSE)
        walk.hide(old)
        return iter(walk)

    def _drop_pushed(self, local: Commit | None, remote: Commit) -> None:
        """What is at the remote need not be applied again."""
        if local is not None and local.id == remote.id:
            recent = line_from(remote, most=PUSHED_LOOKED_AT)
            drop_unpushed(self._branch, (trailer(commit, EFFECT) for commit in recent))

    def _empty(self) -> Tree:
        return self._repository[self._repository.TreeBuilder().write()].peel(Tree)

    def _noted(self, name: str) -> Commit | None:
        """The last commit of the remote that we had. If it is gone from there, a push with force removed it."""
        found = self._repository.references.get(_joined(name))
        return found.peel(Commit) if found else None

    def _note(self, name: str, commit: Commit) -> None:
        known = self._repository.references.get(_joined(name))
        if known is None or known.target != commit.id:
            self._branch.refer(_joined(name), commit.id)


def _moment(commit: Commit) -> str:
    return datetime.fromtimestamp(commit.commit_time, UTC).isoformat()


def _fetched(name: str) -> str:
    """Our reference for the remote's branch *name*: quoted, because `a` and `a/b` cannot both be files."""
    return FETCHED + quote(_short(name), safe="")


def _joined(name: str) -> str:
    return JOINED + quote(_short(name), safe="")


def _short(name: str) -> str:
    return name.removeprefix(BRANCHES)


T = TypeVar("T")


class Sync:
    """*remote* is a name that the repository knows, or an address. Nothing is called before the workspace is open."""

    def __init__(
        self,
        root: Path,
        *,
        remote: str,
        seal: Seal,
        items_dir: str = "docs/requirements",
        every_seconds: float = FETCH_SECONDS,
        network_seconds: float = NETWORK_SECONDS,
        exports: Exports | None = None,
    ) -> None:
        self._root = root.absolute()
        self._branch = partial(Branch, self._root, items_dir, lock_seconds=LOCK_SECONDS, exports=exports)
        self._seal = seal
        self._remote = remote
        self._every = every_seconds
        self._network = network_seconds
        self._patience = network_seconds
        self._git = Git(self._root)
        self._thread = ThreadPoolExecutor(1, "workspace sync")
        self._local: _Local | None = None
        self._woken = asyncio.Event()
        self._abreast = asyncio.Event()
        """Set when the next round to begin has ended."""
        self._state: tuple[SyncResult, str] = (SyncResult.NOTHING, "")

    def wake(self) -> None:
        """There is something to push."""
        self._woken.set()

    async def abreast(self, *, seconds: float | None = None) -> bool:
        """
        Waits for a round of `run`: the workspace and the remote then have what each has now. Returns whether they do.

        Returns at once while the remote is known to be away, and after *seconds* at most (default: ABREAST_SECONDS).
        """
        if self._state[1]:
            return False
        self._woken.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(ABREAST_SECONDS if seconds is None else seconds):
                await self._abreast.wait()
                return not self._state[1]
        return False

    async def run(self, *, meter: Meter = NO_METER) -> None:
        """Until cancelled."""
        failures = 0
        while True:
            self._woken.clear()
            result = await self.once()
            meter.pushed(result)
            failures = 0 if result in {SyncResult.PUSHED, SyncResult.NOTHING} else failures + 1
            if failures:
                longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(failures - 1, 10))
                await asyncio.sleep(random.uniform(longest / 2, longest))  # noqa: S311 - no secret
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._woken.wait()

    async def once(self) -> SyncResult:
        """One round. What the remote or the workspace cannot do is logged and returned, not raised."""
        ended, self._abreast = self._abreast, asyncio.Event()
        try:
            result, sentence = await self._races(), ""
        except SyncError as error:
            result, sentence = error.result, str(error)
        except (WorkspaceError, ConfigError) as error:
            result, sentence = SyncResult.DIVERGED, str(error)
        finally:
            ended.set()
        self._log(result, sentence)
        return result

    async def _races(self) -> SyncResult:
        why = ""
        for _ in range(RACES):
            try:
                return await self._race()
            except ConcurrentUpdate as overtaken:
                why = str(overtaken)
            await asyncio.sleep(random.uniform(0, RACE_SECONDS))  # noqa: S311 - no secret
        raise SyncError(SyncResult.UNREACHABLE, f"others are quicker all the time: {why}")

    async def _race(self) -> SyncResult:
        branch = await self._in_thread(_Local.branch)
        empty = not await self._fetch(branch)
        if empty and (other := await self._default_branch()):
            await self._in_thread(lambda local: local.begin_on(other))
            branch = other
            empty = not await self._fetch(branch)
        sha = await self._in_thread(lambda local: local.join(branch, empty=empty))
        if not sha:
            return SyncResult.NOTHING
        _check(await self._said("push", *PUSH, "--", self._remote, f"{sha}:{branch}"))  # never with force
        await self._in_thread(lambda local: local.pushed(branch, sha, empty=empty))
        return SyncResult.PUSHED

    async def _fetch(self, branch: str) -> bool:
        """Whether the remote has the branch."""
        said = await self._said("fetch", *FETCH, "--", self._remote, f"+{branch}:{_fetched(branch)}")
        if said.code and NO_SUCH_BRANCH in said.error:
            return False
        _check(said)
        return True

    async def _default_branch(self) -> str:
        """The remote's, for a workspace without a commit."""
        if await self._in_thread(_Local.is_begun):
            return ""
        said = await self._said("ls-remote", "--symref", "--", self._remote, "HEAD")
        found = HEAD_OF_REMOTE.search(said.out)
        return BRANCHES + found[1] if found else ""

    async def _said(self, *words: str) -> GitResult:
        try:
            said = await _said(self._git, *words, seconds=self._patience)
        except SyncError:
            self._patience = min(self._patience * 2, LONGEST_NETWORK_SECONDS)
            raise
        self._patience = self._network
        return said

    async def _in_thread(self, work: Callable[[_Local], T]) -> T:
        def run() -> T:
            self._local = self._local or _Local(self._branch(), self._seal)
            return work(self._local)

        with explained():
            return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def _log(self, result: SyncResult, sentence: str) -> None:
        """Once for each state: a remote may be away for a week."""
        before, self._state = self._state, (result, sentence)
        if sentence:
            self._abreast.set()  # no wait for a remote in trouble
        if sentence and self._state != before:
            log.warning("what is committed is not pushed (%s): %s", result, sentence)
        elif before[1] and not sentence:
            log.info("the remote has everything again")


class RemoteStatus(NamedTuple):
    """*branch*: the remote's default one; empty: nothing was pushed there. *refusal*: why a push would fail, if so."""

    branch: str
    refusal: str


async def reached(root: Path, remote: str) -> RemoteStatus:
    """
    Whether *remote* answers, and would take our commits. Raises WorkspaceError when it does not answer.

    The push ends before anything is sent, so a protected branch or a hook that refuses is not found.
    """
    git = Git(root)
    answer = await _said(git, "ls-remote", "--symref", "--", remote, "HEAD", seconds=PROBE_SECONDS)
    if answer.code:
        raise SyncError(SyncResult.UNREACHABLE, _reason(answer))
    # Matching branches: needs no commit of ours, and touches only branches that both sides have.
    push = await _said(git, "push", "--dry-run", *PUSH, "--", remote, ":", seconds=PROBE_SECONDS)
    branch = HEAD_OF_REMOTE.search(answer.out)
    return RemoteStatus(branch[1] if branch else "", "" if _would_go(push) else _reason(push))


def _would_go(push: GitResult) -> bool:
    """A push that only lacks a fetch would be accepted after it."""
    words = push.error + push.out
    return (
        not push.code
        or NOTHING_IN_COMMON in words
        or (bool(OVERTAKEN.search(words)) and not DENIED.search(words))
    )


def _reason(said: GitResult) -> str:
    """Ssh's own message, if there is one: git only knows that it could not read."""
    of_ssh = SAID_BY_SSH.search(said.error)
    return one_line(of_ssh[0], SENTENCE_CHARS) if of_ssh else _sentence(said)
