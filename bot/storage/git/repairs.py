"""
Restores deleted files of a live item, and remembers what was repaired until people have been told.

The notes are files in our own folder: a bot that is killed between a repair and its commit has left a whole file, which
the next bot could not tell from one that was never damaged.
"""

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pygit2

from bot.domain.values.value import Stored
from bot.files import META_BYTES, folder
from bot.storage.git.history import History
from bot.storage.git.items import FilePlace, Items
from bot.storage.git.repository import files_below

log = logging.getLogger(__name__)

NOTES = "repairs.json"
FOLDER, META_JSON, TRANSCRIPT = "folder", "meta.json", "transcript"


class Repair(Stored):
    """`restored` is what was deleted, `files` are its paths, `effect` is the commit whose receipt told of it."""

    mended_lines: int = 0
    restored: str = ""
    files: tuple[str, ...] = ()
    effect: str = ""


class _Deleted(NamedTuple):
    what: str
    commit: pygit2.Commit
    paths: tuple[str, ...]


class Repairs:
    """Used only while no other bot writes."""

    def __init__(self, state: Path, repository: pygit2.Repository, history: History, items: Items) -> None:
        self._state = state
        self._repository = repository
        self._history = history
        self._items = items

    def restore(self, slug: str, *, has_transcript: bool) -> None:
        """
        Writes the deleted files as they are in the newest commit that has them. Without *has_transcript* the item may
        never have had a transcript.
        """
        if found := self._deleted(slug, has_transcript=has_transcript):
            log.warning("the %s of %s was deleted; it is restored from git", found.what, slug)
            self.note(slug, restored=found.what, files=found.paths)
            for path in found.paths:
                self._put_back(path, found.commit)

    def note(
        self, slug: str, *, mended_lines: int = 0, restored: str = "", files: tuple[str, ...] = ()
    ) -> None:
        """Called before the file is written."""
        known = self._untold(slug)
        self._write({
            **self._notes(),
            slug: known.but(
                mended_lines=max(known.mended_lines, mended_lines),
                restored=restored or known.restored,
                files=tuple(dict.fromkeys((*known.files, *files))),
            ),
        })  # fmt: skip

    def files(self, slug: str) -> dict[str, bytes | None]:
        """What was restored and is in no commit yet, as it is now."""
        places = map(FilePlace.of, self._untold(slug).files)
        found = ((place.path, self._items.content(place)) for place in places)
        return {path: content for path, content in found if content is not None}

    def told(self, slug: str, effect: str) -> Repair:
        """What the receipt of *effect* tells; the same again, if that receipt was lost in a crash."""
        notes = self._notes()
        repair = notes.pop(slug, None)
        if repair is None:
            return Repair()
        if repair.effect in {"", effect}:
            if not repair.effect:
                self._write({**notes, slug: repair.but(effect=effect)})
            return repair
        self._write(notes)
        return Repair()

    def _untold(self, slug: str) -> Repair:
        known = self._notes().get(slug)
        return known if known and not known.effect else Repair()

    def _deleted(self, slug: str, *, has_transcript: bool) -> _Deleted | None:
        record, lines = self._items.meta_file(slug), self._items.transcript_file(slug)
        no_record = not self._items.has(record)
        no_lines = has_transcript and not self._items.has(lines)
        if not no_record and not no_lines:
            return None
        place = record if no_record else lines
        commit = self._history.newest_with(place.path)
        if commit is None:
            return None
        if no_record and no_lines:
            top = "/".join(record.folders)
            paths = tuple(path for path, _ in files_below(commit.tree, top))
            return _Deleted(FOLDER, commit, tuple(p for p in paths if not self._items.has(FilePlace.of(p))))
        return _Deleted(META_JSON if no_record else TRANSCRIPT, commit, (place.path,))

    def _put_back(self, path: str, commit: pygit2.Commit) -> None:
        found = commit.tree[path]
        if not isinstance(found, pygit2.Blob) or found.filemode == pygit2.GIT_FILEMODE_LINK:
            return
        try:
            self._items.put(FilePlace.of(path), found.data)
        except OSError as error:
            log.warning("%s cannot be restored: %s", path, error)

    def _notes(self) -> dict[str, Repair]:
        with suppress(FileNotFoundError, ValueError), folder(self._state) as state:
            found: Any = json.loads(state.read(NOTES, META_BYTES) or b"{}")
            return {slug: Repair.model_validate(one) for slug, one in found.items()}
        return {}

    def _write(self, notes: Mapping[str, Repair]) -> None:
        with folder(self._state) as state:
            if notes:
                rows = {slug: one.model_dump(mode="json") for slug, one in notes.items()}
                state.replace(NOTES, json.dumps(rows).encode())
            else:
                state.remove(NOTES)
