"""
Stores the live notices (one message about the reviews of an item), beside the roundtables and under keys of their own.

A notice is saved whole by compare-and-set. The index of filled outboxes is written before it: an entry may be out of
date, but none is missing.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

from bot.domain.reviews.notice import Notice
from bot.errors import Conflict, NewerVersion, Unavailable
from bot.files import STATE_BYTES, TEMPORARY, folder
from bot.storage.redis import SETTLE
from bot.storage.redis_client import Connected, bounded
from bot.storage.serialization import UnreadableState, parsed

CONNECTIONS = 16
FOLDER = "notices"
SUFFIX = ".json"
NEWER = (-1, False)
"""No caller expects this version, so the notice is not overwritten."""

SAVE = """
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if version ~= tonumber(ARGV[1]) then return version end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'owes', ARGV[3], 'state', ARGV[4])
return -1
"""
"""KEYS: the notice. ARGV: expected version, new version, kinds of effects, JSON. Returns SAVED or the version found."""
SAVED = -1

T = TypeVar("T")
log = logging.getLogger(__name__)


class RedisNotices(Connected):
    """A notice whose state cannot be read is deleted and begun anew: git has the reviews."""

    def __init__(self, url: str, *, team: str) -> None:
        super().__init__(url, team=team, connections=CONNECTIONS)
        self._unfinished = f"{self._prefix}notices:owing"

    async def get(self, slug: str) -> Notice | None:
        async with bounded():
            state = await self._redis.hget(self._key(slug), "state")
            found = _decoded(slug, state) if state is not None else None
            if state is not None and found is None:
                await self._redis.delete(self._key(slug))
        return found

    async def put(self, notice: Notice, *, expected: int) -> None:
        assert notice.version == expected + 1, "every save is a version of its own"
        kinds = ", ".join(one.kind for one in notice.outbox)
        async with bounded():
            if kinds:
                await self._redis.zadd(self._unfinished, {notice.slug: notice.version}, gt=True)
            arguments = (expected, notice.version, kinds, notice.model_dump_json())
            found = int(await self._redis.eval(SAVE, 1, self._key(notice.slug), *arguments))
            if found == SAVED and not kinds:
                await self._redis.eval(SETTLE, 1, self._unfinished, notice.slug, notice.version)
        if found != SAVED:
            raise Conflict(f"the notice of {notice.slug} is at version {found}, not {expected}")

    async def unfinished(self) -> tuple[str, ...]:
        unfinished = []
        async with bounded():
            for slug in await self._redis.zrange(self._unfinished, 0, -1):
                name = slug.decode() if isinstance(slug, bytes) else str(slug)
                if await self._redis.hget(self._key(name), "owes"):
                    unfinished.append(name)
        return tuple(unfinished)

    def _key(self, slug: str) -> str:
        return f"{self._prefix}notice:{{{slug}}}"


class EmbeddedNotices:
    """For one process: each notice is one file below *path*, which is locked by `EmbeddedStore`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._versions: dict[str, tuple[int, bool]] = {}
        self._thread = ThreadPoolExecutor(1, "notices")

    async def __aenter__(self) -> Self:
        await self._in_thread(self._look)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._thread.shutdown)

    async def get(self, slug: str) -> Notice | None:
        return await self._in_thread(lambda: self._read(slug)) if slug in self._versions else None

    async def put(self, notice: Notice, *, expected: int) -> None:
        assert notice.version == expected + 1, "every save is a version of its own"
        await self._in_thread(lambda: self._put(notice, expected))

    async def unfinished(self) -> tuple[str, ...]:
        return tuple(slug for slug, (_, is_pending) in tuple(self._versions.items()) if is_pending)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except OSError as error:
            raise Unavailable(f"the store cannot be used: {error.strerror}") from error

    # --- in the thread --------------------------------------------------------------------------------------------

    def _look(self) -> None:
        (self._path / FOLDER).mkdir(parents=True, exist_ok=True)
        with folder(self._path, [FOLDER]) as files:
            files.remove(TEMPORARY)
            names = files.files()
        for name in names:
            if name.endswith(SUFFIX):
                with suppress(NewerVersion):
                    self._read(name.removesuffix(SUFFIX))

    def _read(self, slug: str) -> Notice | None:
        with folder(self._path, [FOLDER]) as files:
            content = files.read(slug + SUFFIX, STATE_BYTES)
        if content is not None:
            self._versions.setdefault(slug, NEWER)  # kept when `_decoded` raises NewerVersion
        found = _decoded(slug, content) if content is not None else None
        if found is None:
            self._versions.pop(slug, None)
        else:
            self._versions[slug] = found.version, bool(found.outbox)
        return found

    def _put(self, notice: Notice, expected: int) -> None:
        version, _ = self._versions.get(notice.slug, (0, False))
        if version != expected:
            raise Conflict(f"the notice of {notice.slug} is at version {version}, not {expected}")
        with folder(self._path, [FOLDER]) as files:
            files.replace(notice.slug + SUFFIX, notice.model_dump_json().encode())
        self._versions[notice.slug] = notice.version, bool(notice.outbox)


def _decoded(slug: str, content: bytes | str) -> Notice | None:
    try:
        return parsed(Notice, slug, content, what="notice of the reviews of")
    except UnreadableState as error:
        log.warning("the stored notice of %s cannot be read, and is begun anew: %s", slug, error)
        return None
