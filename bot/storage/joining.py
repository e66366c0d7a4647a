"""What is done to a workspace so that it and its remote become one line of commits; by one thread, like a commit."""

import logging
import time
from contextlib import suppress
from urllib.parse import quote

from pygit2 import Commit, Oid

from bot.files import STATE_BYTES, folder
from bot.storage.adopt import NOTES, Adoption
from bot.storage.checkout import STATE, Checkout, Where
from bot.storage.replay import Clash, Replay, Replayed
from bot.storage.repository import branch, open_repository, shared_git_dir, tip

FETCHED = "refs/roundtable/fetched/"
"""What the remote has, by branch; only here, so that a person's own `refs/remotes` stay as they are."""
JOINED = "joined-"
"""The last commit of the remote's that we stand on: what is gone from there since then was taken away."""
BRANCHES = "refs/heads/"

log = logging.getLogger(__name__)


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
