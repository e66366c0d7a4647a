"""
Takes back what a killed bot had written of a commit, up to the point where its transcript is written.

The files of an item are replaced one after the other, and the transcript is the last. Usually the same commit is tried
again after a kill, and finishes them. If the store is lost, too, nobody tries again, and meta.json would claim what is
on record nowhere. So what is about to be replaced is noted first. The note names contents by their ids in git.
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
        rows = [(one.place.path, self._kept(one.before), _id(one.after)) for one in changes]
        with folder(self._state) as state:
            state.replace(NOTE, json.dumps(rows).encode())

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
        Puts back what was there before, unless the last change was made. What somebody changed meanwhile stays. Raises
        OSError when a file cannot be put back now; the next call tries again.
        """
        if not (rows := self._noted()):
            return
        *others, (last, _, wanted) = rows
        if self._id_of(last) != wanted:
            for path, before, after in reversed(others):
                if self._id_of(path) == after:
                    self._put_back(_place(path), before)
        self.end()

    def _put_back(self, place: FilePlace, before: str | None) -> None:
        content = self._repository.get(before) if before else None
        if before and not isinstance(content, pygit2.Blob):
            return  # somebody removed it from git
        with self._items.folder_of(place, make=True) as found:
            if isinstance(content, pygit2.Blob):
                found.replace(place.name, content.data)
            else:
                found.remove(place.name)
        log.info("%s is as it was before a commit that was cut off", place.path)

    def _kept(self, content: bytes | None) -> str | None:
        """Git has it already, unless somebody changed the file and has not committed that."""
        return None if content is None else str(self._repository.create_blob(content))

    def _id_of(self, path: str) -> str | None:
        try:
            return _id(self._items.content(_place(path)))
        except FileRefused:
            return ""  # somebody put a link or a folder there

    def _noted(self) -> list[Any]:
        with suppress(ValueError), folder(self._state) as state:
            found: list[Any] = json.loads(state.read(NOTE, STATE_BYTES) or b"[]")
            return found
        return []


def _id(content: bytes | None) -> str | None:
    return None if content is None else str(pygit2.hash(content))


def _place(path: str) -> FilePlace:
    *folders, name = path.split("/")
    return FilePlace(tuple(folders), name, TRANSCRIPT_BYTES)
