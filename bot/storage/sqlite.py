"""
The store of one process without Redis: one SQLite file in the workspace's `.roundtable/`.

A save is one transaction, and on the disk when it returns. People may read the file while a bot runs; only one process
at a time writes to it, which is known by a lock beside it.
"""

import asyncio
import errno
import fcntl
import json
import logging
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, closing, suppress
from functools import partial
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any, Self, TypeVar

from bot.domain.messages.home_page import ReminderSettings
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import NOWHERE, Place
from bot.engine.ports import Noted
from bot.errors import ConfigError, Conflict, NewerVersion, Unavailable
from bot.files import folder
from bot.storage.installed import SqliteInstallations
from bot.storage.notices import SqliteNotices
from bot.storage.serialization import (
    SHAPE,
    Save,
    StoredState,
    StoreMemory,
    UnreadableState,
    is_due,
    newer,
    portions,
    reminder_settings,
    saving,
)

FILE = "roundtable.db"
LOCK = "store.lock"
IN_USE = "another roundtable process uses this workspace; set REDIS_URL to run several"
CALL_SECONDS = 10.0
"""A disk that takes longer is out of order."""
READER_SECONDS = 5.0
"""How long is waited for a person who reads the file in the middle of a transaction."""
SEPARATOR = "\n"
DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

# `secure_delete`: what is scrubbed is not left in pages that are free.
OPENING = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS roundtables (
    slug TEXT PRIMARY KEY, version INTEGER, incarnation TEXT, link TEXT, shape INTEGER, team TEXT, channel TEXT,
    thread TEXT, stage TEXT, pending TEXT, touched TEXT, due TEXT, state TEXT
);
CREATE INDEX IF NOT EXISTS threads ON roundtables (team, channel, thread);
CREATE TABLE IF NOT EXISTS parts (slug TEXT, name TEXT, content TEXT, PRIMARY KEY (slug, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notices (slug TEXT PRIMARY KEY, version INTEGER, pending INTEGER, state TEXT);
CREATE TABLE IF NOT EXISTS firsts (key TEXT PRIMARY KEY, until REAL);
CREATE TABLE IF NOT EXISTS people (person TEXT PRIMARY KEY, settings TEXT);
CREATE TABLE IF NOT EXISTS users (person TEXT PRIMARY KEY, user TEXT);
CREATE TABLE IF NOT EXISTS installations (team TEXT PRIMARY KEY, sealed TEXT);
CREATE TABLE IF NOT EXISTS removals (team TEXT PRIMARY KEY, at TEXT);
CREATE TABLE IF NOT EXISTS installing (state TEXT PRIMARY KEY, until REAL);
CREATE TABLE IF NOT EXISTS months (name TEXT PRIMARY KEY, tokens INTEGER, micros INTEGER);
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, content TEXT);
"""

T = TypeVar("T")
log = logging.getLogger(__name__)


class SqliteStore:
    """An async context manager; it creates *path* and keeps it locked. One thread does all reading and writing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._memory = StoreMemory()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self._thread = stack.enter_context(ThreadPoolExecutor(1, "store"))
            try:
                await self._in_thread(self._lock)
                stack.callback(lambda: os.close(self._locked))
                await self._in_thread(self._open)
            except (OSError, sqlite3.Error) as error:
                raise ConfigError(
                    f"the store {str(self._path)!r} cannot be used: {_reason(error)}"
                ) from error
            stack.push_async_callback(self._in_thread, self._sql.close)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def get(self, slug: str) -> Roundtable | None:
        return await self._call(lambda: self._get(slug))

    async def put(self, roundtable: Roundtable, *, expected: int) -> None:
        assert roundtable.version == expected + 1, "every save is a version of its own"
        await self._call(lambda: self._put(roundtable, expected))

    async def at(self, place: Place) -> Roundtable | None:
        if not place.thread:
            return None
        where = (place.team, place.channel, place.thread)
        found = await self.rows(
            "SELECT slug FROM roundtables WHERE (team, channel, thread) = (?, ?, ?)", *where
        )
        return await self.get(found[0][0]) if found else None

    async def in_channel(self, team: str, channel: str) -> tuple[Roundtable, ...]:
        listed = await self.rows(
            "SELECT slug FROM roundtables WHERE (team, channel) = (?, ?) ORDER BY touched DESC, slug DESC",
            team,
            channel,
        )
        found = []
        for (slug,) in listed:
            with suppress(NewerVersion):
                found.append(await self.get(slug))
        return tuple(roundtable for roundtable in found if roundtable)

    async def unfinished(self, *, quiet_since: str = "", now: str = "") -> tuple[str, ...]:
        found = await self.rows(
            "SELECT slug, pending, touched, due FROM roundtables WHERE pending > '' OR due > ''"
        )
        return tuple(
            slug
            for slug, pending, touched, due in found
            if is_due(frozenset(pending.split(SEPARATOR)) - {""}, touched, quiet_since=quiet_since)
            or "" < due <= now
        )

    async def several(self, slugs: Iterable[str]) -> Mapping[str, Roundtable]:
        def read(some: Iterable[str]) -> dict[str, Roundtable]:
            return {slug: rt for slug in some if (rt := self._get(slug))}

        found: dict[str, Roundtable] = {}
        for some in portions(slugs):
            found |= await self._call(partial(read, some))
        return found

    async def missing(self, slugs: Iterable[str]) -> tuple[str, ...]:
        stored = await self.slugs()
        return tuple(slug for slug in slugs if slug not in stored)

    async def stages(self) -> Mapping[str, int]:
        return Counter(dict(await self.rows("SELECT stage, count(*) FROM roundtables GROUP BY stage")))

    async def held(self) -> tuple[str, ...]:
        found = await self.rows(
            "SELECT slug FROM roundtables WHERE thread > '' AND stage <> ?", Stage.ANALYSED.value
        )
        return tuple(slug for (slug,) in found)

    async def slugs(self) -> tuple[str, ...]:
        """Of every roundtable."""
        return tuple(slug for (slug,) in await self.rows("SELECT slug FROM roundtables"))

    async def noted(self, what: Noted) -> str:
        found = await self.rows("SELECT content FROM notes WHERE name = ?", what)
        return str(found[0][0]) if found else ""

    async def note(self, what: Noted, at: str) -> None:
        await self.rows("REPLACE INTO notes VALUES (?, ?)", what, at)

    async def first(self, key: str, *, seconds: float, renew: bool = False) -> bool:
        now, verb = time.time(), "REPLACE" if renew else "INSERT OR IGNORE"
        expire = ("DELETE FROM firsts WHERE until <= ?", now)
        keep = (f"{verb} INTO firsts VALUES (?, ?)", key, now + seconds)
        return await self._call(lambda: self._change(expire, keep)) > 0

    async def month(self, name: str, *, tokens: int = 0, micros: int = 0) -> tuple[int, int]:
        found = await self.rows(
            "INSERT INTO months VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET tokens = tokens + excluded.tokens,"
            " micros = micros + excluded.micros RETURNING tokens, micros",
            *(name, tokens, micros),
        )
        return int(found[0][0]), int(found[0][1])

    async def people(self) -> dict[str, ReminderSettings]:
        return {
            person: reminder_settings(told)
            for person, told in await self.rows("SELECT person, settings FROM people")
        }

    async def keep_person(self, person: str, settings: ReminderSettings) -> None:
        await self.rows("REPLACE INTO people VALUES (?, ?)", person, settings.model_dump_json())

    async def users(self) -> dict[str, str]:
        return dict(await self.rows("SELECT person, user FROM users"))

    async def keep_users(self, users: Mapping[str, str]) -> None:
        for person, user in users.items():
            await self.rows("REPLACE INTO users VALUES (?, ?)", person, user)

    async def forget_person(self, person: str) -> None:
        """Whom Slack calls so, how they want to be reminded, and copies of what could not be read."""

        def forget() -> None:
            self._change(
                ("DELETE FROM users WHERE person = ?", person),
                ("DELETE FROM people WHERE person = ?", person),
                ("DELETE FROM firsts WHERE instr(key, ?)", person),
                ("DELETE FROM notes WHERE name LIKE 'unreadable %'",),
            )
            _remove(self._path, f"{FILE}.corrupt-")

        await self._call(forget)

    async def forget_item(self, slug: str, place: Place = NOWHERE, *, expected: int | None = None) -> None:  # noqa: ARG002
        """Raises Conflict where another version than *expected* is stored, if that is given."""

        def forget() -> None:
            with self._sql:
                self._sql.execute("BEGIN IMMEDIATE")
                if expected is not None:
                    self._must_be_at(slug, expected)
                for table in ("roundtables", "parts", "notices"):
                    self._sql.execute(f"DELETE FROM {table} WHERE slug = ?", [slug])  # noqa: S608 - of ours
                self._sql.execute("DELETE FROM notes WHERE name = ?", [f"unreadable {slug}"])
                self._sql.execute("DELETE FROM firsts WHERE key LIKE ?", [f"%.{slug}"])
            self._memory.forget(slug)
            _remove(self._path, f"{FILE}.corrupt-")

        await self._call(forget)

    async def forget_finished(self, before: str) -> None:
        """What has nothing left to do, and was saved last *before* then. Its item is in the workspace."""
        over = "FROM roundtables WHERE stage = ? AND pending = '' AND due = '' AND touched < ?"
        given = (Stage.ANALYSED.value, before)

        def forget() -> None:
            for (slug,) in self._sql.execute(f"SELECT slug {over}", given).fetchall():
                self._memory.forget(slug)
            self._change(
                (f"DELETE FROM parts WHERE slug IN (SELECT slug {over})", *given),  # noqa: S608 - of ours
                (f"DELETE {over}", *given),
            )

        await self._call(forget)

    @property
    def installations(self) -> SqliteInstallations:
        return SqliteInstallations(self.rows)

    @property
    def notices(self) -> SqliteNotices:
        return SqliteNotices(self.rows)

    async def ping(self) -> None:
        """Writes and reads. Raises NewerVersion while there is a roundtable that only a newer version can read."""
        token = token_hex(8)
        await self.rows("REPLACE INTO notes VALUES ('probe', ?)", token)
        if await self.rows("SELECT content FROM notes WHERE name = 'probe'") != [(token,)]:
            raise Unavailable("the store did not keep what was written")
        for slug in tuple(self._memory.newer):
            await self.get(slug)
        for sentence in self._memory.newer.values():
            raise NewerVersion(sentence)

    async def rows(self, sql: str, *given: Any) -> list[Any]:
        return await self._call(lambda: self._sql.execute(sql, given).fetchall())

    async def _call(self, work: Callable[[], T]) -> T:
        def checked() -> T:
            self._must_be_there()
            return work()

        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await self._in_thread(checked)
        except (OSError, sqlite3.Error) as error:
            raise Unavailable(f"the store cannot be used: {_reason(error)}") from error

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    # --- in the thread --------------------------------------------------------------------------------------------

    def _lock(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        locked = os.open(self._path / LOCK, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(locked)
            raise ConfigError(IN_USE) from None
        self._locked = locked

    def _open(self) -> None:
        for name in (FILE, f"{FILE}-wal", f"{FILE}-shm"):
            if (self._path / name).is_symlink():
                raise OSError(errno.ELOOP, f"{name} is a link")
        try:
            self._connect()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode not in DAMAGE:
                raise
            log.warning("the store is damaged, and is kept as %s: %s", self._move_aside(), error)
            self._connect()
        self._file = self._identity()
        newest = self._sql.execute("SELECT slug FROM roundtables WHERE shape > ?", [SHAPE])
        for (slug,) in newest.fetchall():
            self._memory.note_newer(slug, newer("roundtable", slug))

    def _connect(self) -> None:
        self._sql = sqlite3.connect(self._path / FILE, timeout=READER_SECONDS, isolation_level=None)
        try:
            self._sql.executescript(OPENING)
            ((found,),) = self._sql.execute("PRAGMA quick_check(1)").fetchall()
            if found != "ok":
                error = sqlite3.DatabaseError(found)
                error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise error
        except sqlite3.Error:
            self._sql.close()
            raise

    def _move_aside(self) -> str:
        """The items are rebuilt from the workspace."""
        names = (f"{FILE}.corrupt-{number}" for number in count(1))
        aside = next(name for name in names if not (self._path / name).exists())
        for ending in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                (self._path / f"{FILE}{ending}").rename(self._path / f"{aside}{ending}")
        return aside

    def _identity(self) -> tuple[int, int] | None:
        with suppress(FileNotFoundError):
            status = (self._path / FILE).stat()
            return status.st_dev, status.st_ino
        return None

    def _must_be_there(self) -> None:
        """SQLite would go on writing to a file that somebody has moved or deleted."""
        if self._identity() != self._file:
            raise Unavailable(
                f"the store {str(self._path / FILE)!r} was moved or replaced while the bot runs"
            )

    def _get(self, slug: str) -> Roundtable | None:
        found = self._sql.execute("SELECT link, state FROM roundtables WHERE slug = ?", [slug]).fetchone()
        if found is None:
            self._memory.newer.pop(slug, None)
            return None
        link, state = found
        saved = self._memory.saved.get(slug)
        if saved is None or saved.link != link:
            saved = self._read_state(slug, link, state)
        return saved.value if saved else None

    def _read_state(self, slug: str, link: str, state: str) -> StoredState | None:
        """An unreadable one is set aside: the item is then rebuilt from the workspace."""
        parts = dict(self._sql.execute("SELECT name, content FROM parts WHERE slug = ?", [slug]))
        try:
            return self._memory.restore(slug, link, state, parts)
        except UnreadableState as error:
            log.warning("%s: it is kept as a note", error)
            kept = json.dumps({"state": state, "parts": parts}, default=repr)
            self._change(
                ("REPLACE INTO notes VALUES (?, ?)", f"unreadable {slug}", kept),
                ("DELETE FROM roundtables WHERE slug = ?", slug),
                ("DELETE FROM parts WHERE slug = ?", slug),
            )
            return None

    def _change(self, *statements: tuple[Any, ...]) -> int:
        """Each with its values, all or none. Returns how many rows the last one changed."""
        with self._sql:
            self._sql.execute("BEGIN IMMEDIATE")
            changed = [self._sql.execute(sql, given).rowcount for sql, *given in statements]
        return changed[-1]

    def _put(self, roundtable: Roundtable, expected: int) -> None:
        slug = roundtable.slug
        if slug in self._memory.newer:
            raise NewerVersion(self._memory.newer[slug])
        with self._sql:
            self._sql.execute("BEGIN IMMEDIATE")
            link = self._must_be_at(slug, expected)
            before = self._memory.saved.pop(slug, None)
            save = saving(roundtable, before if before and before.link == link else None)
            self._write(save)
        self._memory.saved[slug] = save.after

    def _must_be_at(self, slug: str, expected: int) -> str:
        """The link of that version. Raises Conflict."""
        found = self._sql.execute("SELECT version, link FROM roundtables WHERE slug = ?", [slug]).fetchone()
        version, link = found or (0, "")
        if version != expected:
            raise Conflict(f"{slug} is at version {version}, not {expected}")
        return str(link)

    def _write(self, save: Save) -> None:
        rt, link = save.after.value, save.after.link
        place, pending = rt.place, SEPARATOR.join(rt.pending)
        row = (
            rt.slug, rt.version, rt.incarnation, link, rt.shape, place.team, place.channel, place.thread,
            rt.stage.value, pending, rt.now, rt.next_due, save.state,
        )  # fmt: skip
        self._sql.execute("REPLACE INTO roundtables VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        if save.whole:
            self._sql.execute("DELETE FROM parts WHERE slug = ?", [rt.slug])
        gone = [(rt.slug, name) for name in save.gone]
        self._sql.executemany("DELETE FROM parts WHERE (slug, name) = (?, ?)", gone)
        added = [(rt.slug, name, content) for name, content in save.added.items()]
        self._sql.executemany("INSERT INTO parts VALUES (?, ?, ?)", added)


def inspected(path: Path) -> int:
    """
    How many roundtables have something left to do; changes nothing. Raises ConfigError when the store could not be
    used, and NewerVersion.
    """
    file = path / FILE
    if not file.exists():
        return 0
    if not all(os.access(one, os.W_OK) for one in (path, file)):
        raise ConfigError(f"the store {str(path)!r} cannot be written to")
    with suppress(FileNotFoundError), (path / LOCK).open("r") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(IN_USE) from None
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{_unchanged(file)}", uri=True)) as sql:
            found = sql.execute("SELECT slug, shape, pending FROM roundtables").fetchall()
    except sqlite3.Error as error:
        raise ConfigError(f"the store {str(path)!r} cannot be read: {error}") from error
    for slug, shape, _ in found:
        if shape > SHAPE:
            raise NewerVersion(newer("roundtable", slug))
    return sum(bool(pending) for _, _, pending in found)


def drop(path: Path) -> None:
    """The store at *path*, which nobody uses any more, also where it was damaged and moved aside. Raises OSError."""
    with suppress(FileNotFoundError):
        _remove(path, FILE)


def _remove(path: Path, begin: str) -> None:
    with folder(path) as files:
        for name in files.files():
            if name.startswith(begin):
                files.remove(name)


def installed(path: Path) -> SqliteInstallations:
    """To look at, while no bot runs there: nothing is changed, and where nothing is yet, nothing is installed."""

    async def rows(sql: str, *given: Any) -> list[Any]:
        inspected(path)
        file = path / FILE
        if not file.exists():
            return []
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{_unchanged(file)}", uri=True)) as found:
            return found.execute(sql, given).fetchall()

    return SqliteInstallations(rows)


def _unchanged(file: Path) -> str:
    """Only a log that a killed process left needs the files beside it, which SQLite then makes."""
    return "mode=ro" if file.with_name(f"{FILE}-wal").exists() else "immutable=1"


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error) or "no answer in time"
