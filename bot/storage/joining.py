"""What is done to a workspace so that it and its remote become one line of commits; by one thread, like a commit."""

import time
from contextlib import suppress
from urllib.parse import quote

from pygit2 import Commit, Oid

from bot.storage.adopt import Adoption
from bot.storage.checkout import STATE, Checkout, Where
from bot.storage.files import folder
from bot.storage.replay import Clash, Replay
from bot.storage.repository import branch, open_repository, shared_git_dir, tip

FETCHED = "refs/roundtable/fetched/"
"""What the remote has, by branch; only here, so that a person's own `refs/remotes` stay as they are."""
JOINED = "joined-"
"""The last commit of the remote's that we stand on: what is gone from there since then was taken away."""
BRANCHES = "refs/heads/"


class Joint:
    def __init__(self, where: Where) -> None:
        self._checkout = Checkout(where)
        self._repository = open_repository(where.root)
        self._state = where.root / STATE
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
        if remote is None or local == remote:
            return str(local.id) if local and remote is None else ""
        if local is None or not self._repository.descendant_of(local.id, remote.id):
            local = self._moved(remote, name)
        self._note(name, remote.id)
        return "" if local == remote else str(local.id)

    def pushed(self, name: str, sha: str) -> None:
        self._note(name, Oid(hex=sha))

    def clashes(self) -> tuple[Clash, ...]:
        return self._adoption.clashes()

    def told(self, clashes: tuple[Clash, ...]) -> None:
        with self._checkout.alone(""):
            self._adoption.told(clashes)

    def _moved(self, remote: Commit, name: str) -> Commit:
        """Most of the work is done before anybody has to wait for us."""
        with folder(self._state) as state:
            noted = state.read(_note_of(name))
        known = Oid(hex=noted.decode()) if noted else None
        if (early := tip(self._repository)) is not None:
            self._replay.onto(remote, early, known=known)
        with self._checkout.alone(""):
            local = tip(self._repository)
            found = self._replay.onto(remote, local, known=known) if local else None
            target = found.tip if found else remote
            self._adoption.adopt(target, branch=name, clashes=found.clashes if found else ())
        return target

    def _note(self, name: str, joined: Oid) -> None:
        with folder(self._state) as state:
            state.replace(_note_of(name), str(joined).encode())

    def _commit(self, name: str) -> Commit | None:
        found = self._repository.references.get(name)
        return found.peel(Commit) if found is not None else None


def fetched(name: str) -> str:
    """Where what the remote has of the branch *name* is kept."""
    return FETCHED + _short(name)


def _short(name: str) -> str:
    return name.removeprefix(BRANCHES)


def _note_of(name: str) -> str:
    return JOINED + quote(_short(name), safe="")
