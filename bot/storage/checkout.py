"""What is done to a workspace, by one thread: reading items, and committing what a step or a synthesis came to."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from pygit2 import Tree

from bot.domain import artifact, meta
from bot.domain.artifact import Edit, InsightEdit, SectionEdit
from bot.domain.effects import Commit
from bot.domain.inputs import ItemState, Touched
from bot.engine.ports import Listing, Reading, Receipt
from bot.errors import WorkspaceError
from bot.storage.adopt import Adoption
from bot.storage.files import folder
from bot.storage.history import EFFECT, ITEM, History
from bot.storage.items import Items
from bot.storage.repository import Author, blob, branch, open_repository, shared_git_dir, tip
from bot.storage.turn import Turn
from bot.storage.writing import replace_meta, write

STATE = ".roundtable"
AUTHOR = "Roundtable"
EMAIL = "roundtable@localhost"
PROBE_BYTES = 4096
CODEBASE = "HEAD"
"""As the `codebase_hash` of a change: the code base as it is now."""


class Where(NamedTuple):
    """The workspace, and the name it commits under."""

    root: Path
    items_dir: str
    author_name: str
    author_email: str
    lock_seconds: float

    @property
    def ours(self) -> tuple[str, ...]:
        """The paths that hold no code: we write them."""
        return self.items_dir, artifact.SHARED


class Checkout:
    """Raises OSError and pygit2's errors as they come, besides WorkspaceError."""

    def __init__(self, where: Where) -> None:
        self._root = where.root
        self._repository = open_repository(where.root)
        self._author = Author(
            self._repository,
            name=where.author_name,
            email=where.author_email,
            scratch=where.root / STATE / "index",
        )
        self._history = History(self._repository, where.ours)
        self._items = Items(where.root, where.items_dir)
        self._turn = Turn(where.root / STATE, seconds=where.lock_seconds)
        self._adoption = Adoption(self._repository, where.root / STATE)

    def recover(self) -> None:
        """Tidy up after a bot that was killed; when somebody is writing here just now, the next commit does it."""
        with suppress(WorkspaceError), self.alone("") as left:
            if left and (newest := self._history.newest_of_ours()):
                self._author.mend(newest, self._items.paths(left))

    @contextmanager
    def alone(self, slug: str) -> Iterator[str]:
        """Nobody else of us writes here; yields the item that a bot was killed at, with the rest of it tidied up."""
        with self._turn.taken(slug, locks=self._locks()) as left:
            self._items.tidy(left)
            self._adoption.finish()
            yield left

    def items(self) -> tuple[Listing, ...]:
        return self._items.listing()

    def backlog(self) -> str:
        return self._items.backlog()

    def files(self, slug: str, paths: tuple[str, ...]) -> Mapping[str, str]:
        return self._items.texts(slug, paths)

    def read(self, slug: str, *, now: str) -> Reading:
        contents = self._items.contents(slug, now=now)
        if contents is None:
            return Reading(None, ())
        if contents.meta is None:
            return Reading(None, contents.troubles, self._good(slug, now) is not None)
        state = ItemState(
            meta=contents.meta,
            scan=contents.scan,
            last_round=contents.last_round,
            last_ts=contents.last_ts,
            last_heard=contents.last_heard,
            codebase=self._history.codebase(),
            commits_behind=self._history.commits_behind(contents.meta.codebase_hash),
            artifacts=contents.artifacts,
        )
        return Reading(state, contents.troubles)

    def restore(self, slug: str, *, now: str) -> Reading:
        with self.alone(slug):
            contents = self._items.contents(slug, now=now)
            good = self._good(slug, now) if contents and contents.meta is None else None
            if good is not None:
                files = replace_meta(self._items, slug, good)
                self._author.commit(
                    files, _text(f"roundtable({slug}): meta.json restored", f"{ITEM}: {slug}"), now=now
                )
        return self.read(slug, now=now)

    def commit(self, slug: str, work: Commit, *, now: str) -> Receipt:
        with self.alone(slug):
            if done := self._history.find(work.id):
                self._author.mend(done, self._items.paths(slug))
                before = done.parents[0].tree if done.parent_ids else None
                return self._receipt(slug, work, now, sha=str(done.id), before=before, after=done.tree)
            newest = tip(self._repository)
            before = newest.tree if newest else None
            written = write(
                self._items, slug, self._settled(work), now=now, committed=lambda path: _content(before, path)
            )
            made = self._author.commit(written.files, _message(slug, work), now=now)
            receipt = self._receipt(slug, work, now, sha=str(made.id), before=before, after=made.tree)
        return receipt._replace(troubles=written.troubles, unwritten=written.unwritten)

    def ping(self) -> None:
        """Only the disk can say whether it takes something."""
        with folder(self._root, (STATE,)) as state:
            state.replace("probe", bytes(PROBE_BYTES))
        if not os.access(self._repository.path, os.W_OK):
            raise PermissionError(errno.EACCES, "cannot be written to", self._repository.path)

    def _good(self, slug: str, now: str) -> bytes | None:
        """The newest meta.json in history that can be read."""
        for content in self._history.versions(self._items.meta_file(slug).path):
            with suppress(meta.Corrupt):
                meta.read(content, now=now)
                return content
        return None

    def _locks(self) -> tuple[Path, ...]:
        own, shared = Path(self._repository.path), shared_git_dir(self._repository)
        return own / "index.lock", own / "HEAD.lock", shared / f"{branch(self._repository)}.lock"

    def _settled(self, work: Commit) -> Commit:
        if work.change.codebase_hash != CODEBASE:
            return work
        return work.but(change=work.change.but(codebase_hash=self._history.codebase()))

    def _receipt(
        self, slug: str, work: Commit, now: str, *, sha: str, before: Tree | None, after: Tree
    ) -> Receipt:
        state = self.read(slug, now=now).state
        if state is None:
            raise WorkspaceError("meta.json was taken away while it was saved.", reason="io", again=True)
        touched = dict.fromkeys(self._touched(slug, work.edits, before=before, after=after))
        return Receipt(state, sha, tuple(touched), ())

    def _touched(
        self, slug: str, edits: tuple[Edit, ...], *, before: Tree | None, after: Tree
    ) -> Iterator[Touched]:
        for edit in edits:
            place = self._items.place(slug, edit.path)
            content = _content(after, place.path) if place else None
            if place and content is not None and content != _content(before, place.path):
                yield Touched(path=edit.path, heading=_heading(edit, content))


def _content(tree: Tree | None, path: str) -> bytes | None:
    found = blob(tree, path)
    return found.data if found else None


def _heading(edit: Edit, content: bytes) -> str:
    if isinstance(edit, SectionEdit):
        return edit.heading
    return edit.place(content.decode()) if isinstance(edit, InsightEdit) else ""


def _message(slug: str, work: Commit) -> str:
    step = (f"Roundtable-Step: {work.step}",) if work.step else ()
    return _text(work.subject, f"{ITEM}: {slug}", *step, f"{EFFECT}: {work.id}")


def _text(subject: str, *trailers: str) -> str:
    text = "\n".join((" ".join(subject.split()), "", *trailers, ""))
    return text.encode("utf-8", "replace").decode()
