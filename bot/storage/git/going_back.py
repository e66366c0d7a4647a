"""
Detects that the workspace lost commits of ours, and makes them again while git still has their objects.

A commit that is in the history of HEAD is not lost. Sealed lines that people changed or removed after it are put back
by the next commit. A commit is lost when it is not in the history of HEAD and its last line is not in the transcript:
after a reset, a restored backup
or a new clone. Lost commits are made again on top of HEAD.
"""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum, auto
from itertools import islice
from typing import NamedTuple

import pygit2
from pygit2 import Commit

from bot.domain.transcript.lines import line_in
from bot.domain.transcript.seal import lost_rows
from bot.domain.transcript.witness import RolledBack, Witness, witness
from bot.errors import WorkspaceError
from bot.storage.git.checkout_update import CheckoutUpdate
from bot.storage.git.history import COMMITS_LOOKED_AT, EFFECT, ITEM, STEP, History, line_from
from bot.storage.git.items import Items
from bot.storage.git.rebase import AGAIN, CommitReplay
from bot.storage.git.repository import blob, branch, content_at, tip, trailer

log = logging.getLogger(__name__)


class HeadState(Enum):
    HELD = auto()
    """HEAD contains our last commit."""
    EDITED = auto()
    """A later commit of another person changed or removed sealed lines."""
    PUT_BACK = auto()
    """It was lost and made again; this may not have been reported yet."""
    LOST = auto()


class RollbackFinding(NamedTuple):
    """*commit* is the edit of so many *lines*, or the newest commit that was made again."""

    standing: HeadState
    commit: Commit | None = None
    lines: int = 0


class GoingBack:
    """Any thread may look; only the holder of the lock may make commits again."""

    def __init__(
        self, repository: pygit2.Repository, history: History, items: Items, *, ours: tuple[str, str]
    ) -> None:
        self._repository = repository
        self._history = history
        self._items = items
        self._replay = CommitReplay(repository, ours, items.seal.lines)

    def witness(self, slug: str, commit: Commit) -> Witness:
        """A witness of the transcript in *commit*."""
        content = self._transcript(slug, commit)
        at = datetime.fromtimestamp(commit.commit_time, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        known = witness(content, self._items.seal.lines.trusted)
        return known.but(last=last_id(content), commit=str(commit.id), effect=trailer(commit, EFFECT), at=at)

    def looked(self, slug: str, after: Witness) -> RollbackFinding:
        """Older versions of the bot saved no commit: then nothing can be looked up."""
        if not after.commit:
            return RollbackFinding(HeadState.HELD)
        trusted = self._items.seal.lines.trusted
        head = tip(self._repository)
        if head is None:
            return RollbackFinding(HeadState.LOST)
        if made := self._made(head, after):
            if trailer(made, AGAIN) == after.commit:
                return RollbackFinding(HeadState.PUT_BACK, made)
            path = self._items.transcript_file(slug).path
            now = blob(head.tree, path)
            if made == head or now is None or now == blob(made.tree, path):  # a deleted one is restored
                return RollbackFinding(HeadState.HELD)
            lost = lost_rows(self._transcript(slug, head), self._transcript(slug, made), trusted)
            edit = self._edit(slug, head, made) if lost else None
            return (
                RollbackFinding(HeadState.EDITED, edit, len(lost))
                if edit
                else RollbackFinding(HeadState.HELD)
            )
        content = self._transcript(slug, head)
        known = f'"{after.last}"'.encode() in content if after.last else after.fits(content, trusted)
        return RollbackFinding(HeadState.HELD if known else HeadState.LOST)

    def again(self, slug: str, after: Witness, adoption: CheckoutUpdate) -> bool:
        """Whether the commits were made again. Their objects may be gone; changes of people may be in the way."""
        head, lost = tip(self._repository), self._commit(after.commit)
        if head is None or lost is None:
            return False
        try:
            found = self._replay.again(head, lost, slug)
            adoption.adopt(found.tip, branch=branch(self._repository), clashes=found.clashes)
        except WorkspaceError as error:
            log.warning("%s: what the workspace lost cannot be put back now: %s", slug, error)
            raise
        return found.tip != head

    def told(self, slug: str, found: RollbackFinding) -> RolledBack | None:
        """What is reported in the thread."""
        head = tip(self._repository)
        if found.commit is None or head is None:
            return None
        now = self.witness(slug, head)
        if found.standing is HeadState.EDITED:
            return RolledBack(edit=str(found.commit.short_id), lines=found.lines, whole=True, now=now)
        back = list(self._put_back(slug, found.commit))
        steps = [step for commit in reversed(back) if (step := trailer(commit, STEP))]
        return RolledBack(commits=len(back), steps=tuple(dict.fromkeys(steps)), whole=True, now=now)

    def _made(self, head: Commit, after: Witness) -> Commit | None:
        """The commit itself, or its copy on top of other commits, if it is in the history of HEAD."""
        if after.effect and (found := self._history.find(after.effect)):
            return found
        commit = self._commit(after.commit)
        if commit and (commit == head or self._repository.descendant_of(head.id, commit.id)):
            return commit
        return None

    def _edit(self, slug: str, head: Commit, made: Commit) -> Commit | None:
        """The newest commit of another person after *made* that changed the transcript."""
        path = self._items.transcript_file(slug).path
        for commit in islice(line_from(head), COMMITS_LOOKED_AT):
            if commit == made:
                return None
            before = commit.parents[0].tree if commit.parent_ids else None
            if not trailer(commit, ITEM) and blob(commit.tree, path) != blob(before, path):
                return commit
        return None

    def _put_back(self, slug: str, newest: Commit) -> Iterator[Commit]:
        """The newest first."""
        for commit in islice(line_from(newest), COMMITS_LOOKED_AT):
            if trailer(commit, ITEM) == slug:
                if not trailer(commit, AGAIN):
                    return
                yield commit

    def _transcript(self, slug: str, commit: Commit) -> bytes:
        return content_at(commit, self._items.transcript_file(slug).path) or b""

    def _commit(self, sha: str) -> Commit | None:
        try:
            found: object = self._repository.get(sha)
        except ValueError:
            return None  # not a commit id
        return found if isinstance(found, Commit) else None


def last_id(content: bytes) -> str:
    """The id of the last line that has one."""
    for row in reversed(content.split(b"\n")):
        if (line := line_in(row)) and line.message_id:
            return line.message_id
    return ""
