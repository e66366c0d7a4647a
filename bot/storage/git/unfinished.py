"""
Takes back what a killed bot had written of a commit, unless it had written all of it.

The files of an item are replaced one after the other, and the transcript is the last. Usually the same commit is made
again after a kill, and writes them all. If the store is lost as well, nobody knows of that commit any more, and
meta.json would name a step as finished that no line finishes. So what is about to be replaced is noted first. The note
names contents by their ids in git.
"""

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pygit2

from bot.files import STATE_BYTES, TRANSCRIPT_BYTES, FileRefused, folder
from bot.storage.git.items import FilePlace, Items

log = logging.getLogger(__name__)

NOTE = "unfinished.json"


class FileChange(NamedTuple):
    """None is no file."""

    place: FilePlace
    before: bytes | None
    after: bytes | None


class Unfinished:
    """Only for the holder of the lock (lock.py). *state* is the folder of our own state."""

    def __init__(self, state: Path, repository: pygit2.Repository, items: Items) -> None:
        self._state = state
        self._repository = repository
        self._items = items

    def begin(self, changes: Sequence[FileChange]) -> None:
        """Called before the first of *changes* is made; they are made in this order, and each is made whole."""
        if len(changes) < 2:
            return
        *others, last = changes
        note = {
            "files": [(one.place.path, self._kept(one.before), _id(one.after)) for one in others],
            "last": (last.place.path, _id(last.after)),
        }
        with folder(self._state) as state:
            state.replace(NOTE, json.dumps(note).encode())

    def is_begun(self) -> bool:
        """Any thread may ask."""
        with folder(self._state) as state:
            return state.stamp(NOTE) is not None

    def end(self) -> None:
        """All changes are made."""
        with folder(self._state) as state:
            state.remove(NOTE)

    def take_back(self) -> None:
        """
        Restores the earlier contents, unless the last change was made, too. A file that somebody has changed since then
        stays as it is. Raises OSError when a file cannot be restored now; the next call tries again.
        """
        if not (note := self._noted()):
            return
        last, wanted = note["last"]
        if self._id_of(last) != wanted:
            for path, before, after in reversed(note["files"]):
                if self._id_of(path) == after:
                    self._put_back(path, before)
        self.end()

    def _put_back(self, path: str, before: str | None) -> None:
        kept = self._repository.get(before) if before else None
        if before and not isinstance(kept, pygit2.Blob):
            return  # git no longer has the earlier content
        self._items.put(_place(path), kept.data if isinstance(kept, pygit2.Blob) else None)
        log.info("%s is as it was before a commit that was cut off", path)

    def _kept(self, content: bytes | None) -> str | None:
        """Git usually has it already, except what somebody changed by hand and has not committed."""
        return None if content is None else str(self._repository.create_blob(content))

    def _id_of(self, path: str) -> str | None:
        try:
            return _id(self._items.content(_place(path)))
        except FileRefused:
            return ""  # a link or a folder, which is no file of ours

    def _noted(self) -> dict[str, Any]:
        with suppress(ValueError), folder(self._state) as state:
            found: dict[str, Any] = json.loads(state.read(NOTE, STATE_BYTES) or b"{}")
            return found
        return {}


def _id(content: bytes | None) -> str | None:
    return None if content is None else str(pygit2.hash(content))


def _place(path: str) -> FilePlace:
    return FilePlace.of(path, TRANSCRIPT_BYTES)
