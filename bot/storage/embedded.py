"""
The store of one process without Redis: a roundtable is a file with its whole value, and one with the changes since.

`SLUG.json` is replaced, and lines are appended to `SLUG.changes`, so that a save writes no more than what is new
(ADR 37). A kill may leave changes that are older than the whole value, or half of a line, which was not acknowledged.

Memory holds only an index, which is built from the files at every start. One thread does all reading and writing, so
that compare-and-set holds even when the caller is cancelled in between.
"""

import asyncio
import fcntl
import hashlib
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from bot.domain.messages.home_page import ReminderSettings
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.engine.lru import LruCache
from bot.errors import ConfigError, Conflict, NewerVersion, Unavailable
from bot.files import STATE_BYTES, TEMPORARY, Folder, Stamp, folder
from bot.storage import journal
from bot.storage.serialization import UnreadableState, is_due, place_in, reminder_settings

ROUNDTABLES = "roundtables"
SUFFIX = ".json"
CHANGES = ".changes"
PEOPLE = "people"
LISTENED = "listened"
FIRSTS = "firsts"
"""One file for each key of `first`; it contains the time at which the key expires."""
TIDY_SECONDS = 60
IN_USE = "another roundtable process uses this workspace; set REDIS_URL to run several"

T = TypeVar("T")
log = logging.getLogger(__name__)


class StoredSummary(NamedTuple):
    """The index entry of a roundtable."""

    version: int
    incarnation: str
    place: Place
    stage: str
    pending: frozenset[str]
    touched: str
    due: str


class SavedFiles(NamedTuple):
    """What this process left on the disk. Files that somebody has changed since have other stamps."""

    base: journal.Base
    stamps: tuple[Stamp | None, Stamp | None]


class EmbeddedStore:
    """An async context manager; it creates *path* and keeps it locked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: dict[str, StoredSummary] = {}
        self._threads: dict[str, str] = {}
        # Slugs saved by a newer version of this program, with the error sentence.
        self._newer: dict[str, str] = {}
        self._saved: LruCache[str, SavedFiles] = LruCache(journal.BASES_REMEMBERED)
        # Slugs whose last save failed: what can be read of it may not be on the disk.
        self._failed: set[str] = set()
        self._firsts: dict[str, float] = {}
        self._tidy_at = 0.0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self._writer = stack.enter_context(ThreadPoolExecutor(1, "store"))
            try:
                await self._in_thread(lambda: self._open(stack))
            except OSError as error:
                raise ConfigError(
                    f"the store {str(self._path)!r} cannot be used: {error.strerror}"
                ) from error
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def get(self, slug: str, *, known: Roundtable | None = None) -> Roundtable | None:
        entry = self._entries.get(slug)
        if entry is None and slug not in self._newer:
            return None
        if known and entry == _entry(known):
            return known
        return await self._bounded(lambda: self._read(slug))

    async def put(self, roundtable: Roundtable, *, expected: int) -> None:
        assert roundtable.version == expected + 1, "every save is a version of its own"
        await self._bounded(lambda: self._put(roundtable, expected))

    async def put_whole(self, roundtable: Roundtable, *, expected: int) -> None:
        """`put`, after which nothing of what was saved before is stored."""
        await self._bounded(lambda: self._put(roundtable, expected, whole=True))

    async def has_changes(self, slug: str) -> bool:
        return await self._bounded(lambda: self._has_changes(slug))

    async def at(self, place: Place) -> Roundtable | None:
        slug = self._threads.get(place.key)
        return await self.get(slug) if slug else None

    async def in_channel(self, team: str, channel: str) -> tuple[Roundtable, ...]:
        here = [
            (entry.touched, slug)
            for slug, entry in tuple(self._entries.items())
            if (entry.place.team, entry.place.channel) == (team, channel)
        ]
        found = [await self.get(slug) for _, slug in sorted(here, reverse=True)]
        return tuple(roundtable for roundtable in found if roundtable)

    async def unfinished(self, *, quiet_since: str = "", now: str = "") -> tuple[str, ...]:
        return tuple(
            slug
            for slug, entry in tuple(self._entries.items())
            if is_due(entry.pending, entry.touched, quiet_since=quiet_since) or "" < entry.due <= now
        )

    async def missing(self, slugs: Iterable[str]) -> tuple[str, ...]:
        return tuple(slug for slug in slugs if slug not in self._entries and slug not in self._newer)

    async def stages(self) -> Mapping[str, int]:
        return Counter(entry.stage for entry in tuple(self._entries.values()))

    async def held(self) -> tuple[str, ...]:
        entries = tuple(self._entries.items())
        return tuple(
            slug for slug, entry in entries if entry.place.thread and entry.stage != Stage.ANALYSED.value
        )

    async def listened(self) -> str:
        return await self._bounded(self._listened)

    async def listening(self, at: str) -> None:
        await self._bounded(lambda: self._listening(at))

    async def first(self, key: str, *, seconds: float, renew: bool = False) -> bool:
        return await self._bounded(lambda: self._first(key, seconds, renew=renew))

    async def people(self) -> dict[str, ReminderSettings]:
        return await self._bounded(self._people)

    async def keep_person(self, person: str, settings: ReminderSettings) -> None:
        await self._bounded(lambda: self._keep_person(person, settings))

    async def ping(self) -> None:
        """Raises NewerVersion while there is a roundtable that only a newer version of this program can read."""
        await self._bounded(self._probe)
        for sentence in self._newer.values():
            raise NewerVersion(sentence)

    async def _bounded(self, work: Callable[[], T]) -> T:
        try:
            return await self._in_thread(work)
        except OSError as error:
            raise Unavailable(f"the store cannot be used: {error.strerror}") from error

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    # --- in the thread --------------------------------------------------------------------------------------------

    def _open(self, stack: AsyncExitStack) -> None:
        (self._path / ROUNDTABLES).mkdir(parents=True, exist_ok=True)
        lock = stack.enter_context((self._path / "store.lock").open("w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(IN_USE) from None
        with folder(self._path, [FIRSTS], make=True) as files:
            files.remove(TEMPORARY)
            self._firsts = {name: _until(files.read(name, STATE_BYTES)) for name in files.files()}
        with folder(self._path, [ROUNDTABLES]) as files:
            files.remove(TEMPORARY)
            names = files.files()
            for name in names:
                if name.endswith(CHANGES) and name.removesuffix(CHANGES) + SUFFIX not in names:
                    files.remove(name)
        for name in names:
            if name.endswith(SUFFIX):
                with suppress(NewerVersion):
                    self._load(name.removesuffix(SUFFIX))

    def _read(self, slug: str, *, remember: bool = True) -> Roundtable | None:
        """Unreadable files are moved aside: the item is then rebuilt from the workspace."""
        with folder(self._path, [ROUNDTABLES]) as files:
            if (saved := self._saved.pop(slug, None)) and saved.stamps == _stamps(files, slug):
                self._saved[slug] = saved
                return saved.base.value
            if (stored := _stored(files, slug)) is None:
                self._newer.pop(slug, None)
                return None
            try:
                opened = journal.opened(slug, stored.whole, stored.lines)
            except NewerVersion as error:
                self._note(slug, str(error), place_in(stored.whole))
                raise
            except UnreadableState as error:
                aside = _move_aside(files, slug, stored)
                log.warning("%s: it is kept as %s", error, aside)
                found = None
            else:
                found = opened.value
                if opened.stale and opened.stale == len(stored.lines):
                    files.remove(slug + CHANGES)
                elif opened.base and remember and not stored.torn and slug not in self._failed:
                    self._saved[slug] = SavedFiles(opened.base, _stamps(files, slug))
        if self._newer.pop(slug, "") and found:
            self._index(found)
        if not found:
            self._forget(slug)
        return found

    def _load(self, slug: str) -> None:
        if found := self._read(slug, remember=False):
            self._index(found)

    def _note(self, slug: str, sentence: str, place: Place | None) -> None:
        """Its thread stays in the index, so that messages there are not taken for those of an unknown thread."""
        if slug not in self._newer:
            log.error("%s", sentence)
        self._forget(slug)
        self._newer[slug] = sentence
        if place and place.thread:
            self._threads[place.key] = slug

    def _put(self, roundtable: Roundtable, expected: int, *, whole: bool = False) -> None:
        if roundtable.slug in self._newer:
            raise NewerVersion(self._newer[roundtable.slug])
        entry = self._entries.get(roundtable.slug)
        found = entry.version if entry else 0
        if found != expected:
            raise Conflict(f"{roundtable.slug} is at version {found}, not {expected}")
        before = self._saved.pop(roundtable.slug, None)
        try:
            with folder(self._path, [ROUNDTABLES]) as files:
                self._saved[roundtable.slug] = _save(files, roundtable, None if whole else before)
        except OSError:
            # The failing disk may have written it all the same.
            self._failed.add(roundtable.slug)
            with suppress(OSError, NewerVersion):
                self._load(roundtable.slug)
            raise
        self._failed.discard(roundtable.slug)
        self._index(roundtable)

    def _has_changes(self, slug: str) -> bool:
        with folder(self._path, [ROUNDTABLES]) as files:
            return files.stamp(slug + CHANGES) is not None

    def _listened(self) -> str:
        with folder(self._path) as files:
            return (files.read(LISTENED, STATE_BYTES) or b"").decode("ascii", "replace")

    def _listening(self, at: str) -> None:
        with folder(self._path) as files:
            files.replace(LISTENED, at.encode())

    def _first(self, key: str, seconds: float, *, renew: bool) -> bool:
        now, name = time.time(), hashlib.sha256(key.encode()).hexdigest()
        if self._firsts.get(name, 0) > now and not renew:
            return False
        with folder(self._path, [FIRSTS]) as files:
            if now >= self._tidy_at:
                self._tidy_at = now + TIDY_SECONDS
                for old in [one for one, until in self._firsts.items() if until <= now]:
                    files.remove(old)
                    del self._firsts[old]
            files.replace(name, repr(now + seconds).encode())
        self._firsts[name] = now + seconds
        return True

    def _people(self) -> dict[str, ReminderSettings]:
        with folder(self._path, [PEOPLE], make=True) as files:
            found = {name: files.read(name, STATE_BYTES) for name in files.files() if name.endswith(SUFFIX)}
        return {
            name.removesuffix(SUFFIX): reminder_settings(content)
            for name, content in found.items()
            if content is not None
        }

    def _keep_person(self, person: str, settings: ReminderSettings) -> None:
        with folder(self._path, [PEOPLE], make=True) as files:
            files.replace(person + SUFFIX, settings.model_dump_json().encode())

    def _probe(self) -> None:
        with folder(self._path, [ROUNDTABLES]) as files:
            files.probe()

    def _index(self, roundtable: Roundtable) -> None:
        self._forget(roundtable.slug)
        place = roundtable.place
        self._entries[roundtable.slug] = _entry(roundtable)
        if place.thread:
            self._threads[place.key] = roundtable.slug

    def _forget(self, slug: str) -> None:
        entry = self._entries.pop(slug, None)
        if entry and self._threads.get(entry.place.key) == slug:
            del self._threads[entry.place.key]


def inspected(path: Path) -> int:
    """
    How many roundtables have something left to do; changes nothing. Raises ConfigError when the store could not be
    used, and NewerVersion.
    """
    roundtables = path / ROUNDTABLES
    if not roundtables.is_dir():
        return 0
    if not os.access(roundtables, os.W_OK | os.X_OK):
        raise ConfigError(f"the store {str(path)!r} cannot be written to")
    with suppress(FileNotFoundError), (path / "store.lock").open("r") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(IN_USE) from None
    waiting = 0
    with folder(path, [ROUNDTABLES]) as files:
        for name in files.files():
            if name.endswith(SUFFIX):
                slug = name.removesuffix(SUFFIX)
                with suppress(UnreadableState):
                    if stored := _stored(files, slug):
                        waiting += bool(journal.opened(slug, stored.whole, stored.lines).value.pending)
    return waiting


class StoredFiles(NamedTuple):
    """The whole value and the changes of a roundtable. `torn`: half of a line, or an empty one, is left out."""

    whole: bytes
    changes: bytes
    lines: tuple[bytes, ...]
    torn: bool


def _stored(files: Folder, slug: str) -> StoredFiles | None:
    """
    The last line of the changes was never acknowledged if its end is missing, or if it has blocks of zeros, as a file
    system shows them that had no time to write them.
    """
    whole = files.read(slug + SUFFIX, STATE_BYTES)
    if whole is None:
        return None
    changes = files.read(slug + CHANGES, STATE_BYTES) or b""
    *lines, rest = changes.split(b"\n")
    torn = bool(rest)
    if lines and not rest and b"\0" in lines[-1]:
        lines.pop()
        torn = True
    return StoredFiles(whole, changes, tuple(lines), torn)


def _save(files: Folder, roundtable: Roundtable, before: SavedFiles | None) -> SavedFiles:
    slug = roundtable.slug
    known = before.base if before and before.stamps == _stamps(files, slug) else None
    if found := journal.following(known, roundtable):
        line, base = found
        files.append(slug + CHANGES, line + b"\n")
    else:
        content, base = journal.whole(roundtable)
        if roundtable.version == 1:
            files.remove(slug + CHANGES)
        files.replace(slug + SUFFIX, content)
        files.remove(slug + CHANGES)
    return SavedFiles(base, _stamps(files, slug))


def _stamps(files: Folder, slug: str) -> tuple[Stamp | None, Stamp | None]:
    return files.stamp(slug + SUFFIX), files.stamp(slug + CHANGES)


def _move_aside(files: Folder, slug: str, stored: StoredFiles) -> str:
    """The whole value is gone first: alone it would be an older state."""
    aside = files.copy_aside(slug + SUFFIX, stored.whole, why="corrupt")
    if stored.changes:
        files.copy_aside(slug + CHANGES, stored.changes, why="corrupt")
    files.remove(slug + SUFFIX)
    files.sync()
    files.remove(slug + CHANGES)
    return aside


def _until(content: bytes | None) -> float:
    """An unreadable key counts as expired."""
    try:
        return float(content or 0)
    except ValueError:
        return 0


def _entry(roundtable: Roundtable) -> StoredSummary:
    return StoredSummary(
        version=roundtable.version,
        incarnation=roundtable.incarnation,
        place=roundtable.place,
        stage=roundtable.stage.value,
        pending=frozenset(roundtable.pending),
        touched=roundtable.now,
        due=roundtable.next_due,
    )
