"""Exported files in git: which of them we wrote, and who changed them since."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice

from pygit2 import Commit, Oid

from bot.domain.specification.exported import ExportEdit
from bot.engine.export_ports import DueExports, FoundEdit, FoundFile, FoundFolder
from bot.errors import UserError, WorkspaceError
from bot.files import ARTIFACT_BYTES
from bot.storage.git.branch import Branch
from bot.storage.git.hand_edits import SOMEBODY, parents_of
from bot.storage.git.tree import COMMITS_LOOKED_AT, ITEM, SHORT, Files, line_from, parent_of, trailer

COMMITS_OF_A_BATCH = 64
MOST_EDITS = 200
"""Of one reading; the next one has more of them."""
MOST_FILES = 200
"""Of one folder of exports: others may keep theirs in it."""

log = logging.getLogger(__name__)


class DraftFiles:
    """The files of a commit that is not made yet: *changed* ones on top of those of its parent."""

    def __init__(self, before: Files, changed: Mapping[str, bytes | None]) -> None:
        self._before = before
        self._changed = changed

    def read(self, path: str, most: int) -> bytes | None:
        return self._changed[path] if path in self._changed else self._before.read(path, most)

    def folders(self, path: str) -> Iterator[tuple[str, object]]:
        known = dict[str, object](self._before.folders(path))
        for changed in self._changed:
            name, _, rest = changed.removeprefix(f"{path}/").partition("/")
            if changed.startswith(f"{path}/") and rest:
                known.setdefault(name, None)
        return iter(known.items())


class ExportHistory:
    """The exports of one item as they are at *at*, and as our commits of the item left them."""

    def __init__(self, branch: Branch, slug: str, at: Files) -> None:
        self._branch = branch
        self._slug = slug
        self._at = at

    def folder(self, path: str) -> FoundFolder:
        there = [place for place, _ in zip(self._at.below(path), range(MOST_FILES), strict=False)]
        files = {place: self._file(place) for place in there}
        if files or self._at.entry(path) is not None:
            return FoundFolder(files, is_gone=False)
        return FoundFolder({}, is_gone=any(one.entry(path) is not None for one in self._ours))

    def introduced(self, found: FoundEdit) -> ExportEdit:
        """With who wrote it: the first commit that has it, through a merge on the side that it came from."""
        known: dict[Oid, bool] = {}

        def has(commit: Commit) -> bool:
            files = self._branch.files(commit)
            entry = files.entry(found.edit.path)
            if entry is None:
                return False
            if entry.id not in known:
                content = None
                with suppress(OSError):
                    content = files.read(found.edit.path, ARTIFACT_BYTES)
                known[entry.id] = found.stands_in((content or b"").decode(errors="replace"))
            return known[entry.id]

        commit = self._at.commit
        for _ in range(COMMITS_LOOKED_AT if commit else 0):
            before = next((one for one in parents_of(commit) if has(one)), None) if commit else None
            if before is None:
                break
            commit = before
        author = (commit.author.name if commit else "") or SOMEBODY
        return found.edit.but(author=author, commit=str(commit.id)[:SHORT] if commit else "")

    def _file(self, path: str) -> FoundFile:
        text = self._text(self._at, path)
        if text is None:  # too large, or no text: it is none of ours
            return FoundFile("", None, is_ours=False)
        now, is_ours = self._at.entry(path), True
        for files, before in self._changes:
            entry = files.entry(path)
            is_ours = is_ours and entry == now
            if entry is None:
                break
            if before.entry(path) != entry:
                return FoundFile(text, self._text(files, path), is_ours)
        return FoundFile(text, None, is_ours=False)

    @staticmethod
    def _text(files: Files, path: str) -> str | None:
        with suppress(OSError, UnicodeDecodeError):
            return (files.read(path, ARTIFACT_BYTES) or b"").decode()
        return None

    @cached_property
    def _ours(self) -> tuple[Files, ...]:
        """Our commits of the item, the newest first; those of the batch at hand are not on the branch yet."""
        at, tip = self._at.commit, self._branch.tip()
        found: dict[Oid, None] = {}
        for commit in line_from(at, most=COMMITS_OF_A_BATCH):
            if tip is not None and commit.id == tip.id:
                break
            if trailer(commit, ITEM) == self._slug:
                found[commit.id] = None
        on_branch = self._branch.commits_of(self._slug)
        # A commit that is on the branch has all that are older there in its history.
        first = next(
            (place for place, id in enumerate(on_branch) if self._branch.has(at, id)), len(on_branch)
        )
        found |= dict.fromkeys(on_branch[first:])
        return tuple(self._branch.files(self._branch.repository[id].peel(Commit)) for id in found)

    @cached_property
    def _changes(self) -> tuple[tuple[Files, Files], ...]:
        """Each with its parent."""
        return tuple(
            (one, Files(self._branch.repository, parent_of(one.commit) if one.commit else None))
            for one in self._ours
        )


def due_exports(branch: Branch, slug: str, at: Files, changed: Mapping[str, bytes | None]) -> DueExports:
    """Of a commit that has *changed* files on top of *at*. What cannot be exported does not stop the commit."""
    if branch.exports is None:
        return DueExports({}, ())
    try:
        return branch.exports.due(slug, DraftFiles(at, changed), ExportHistory(branch, slug, at).folder)
    except (UserError, WorkspaceError, OSError) as error:
        log.warning("%s was not exported: %s", slug, error)
        return DueExports({}, ())


def found_edits(branch: Branch, slug: str, at: Files) -> tuple[ExportEdit, ...]:
    """With their authors."""
    if branch.exports is None:
        return ()
    history = ExportHistory(branch, slug, at)
    try:
        found = islice(branch.exports.edits(slug, at, history.folder), MOST_EDITS)
        return tuple(map(history.introduced, found))
    except (UserError, WorkspaceError, OSError) as error:
        log.warning("the exported files of %s were not read: %s", slug, error)
        return ()
