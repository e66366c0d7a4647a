"""
Stores the live notices (one message about the reviews of an item) in the store of the roundtables, beside them.

A notice is saved whole by compare-and-set.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from bot.domain.reviews.notice import Notice
from bot.errors import Conflict
from bot.storage.ownership import NOT_OWNER, REFUSE_FORMER_OWNER, Ownership, not_owner
from bot.storage.serialization import decoded_notice
from bot.telemetry import redis_span

SAVED = -1

SAVE = f"""
{REFUSE_FORMER_OWNER.format(fence="KEYS[3]", owner="ARGV[6]")}
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if version ~= tonumber(ARGV[1]) then return version end
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'owes', ARGV[4], 'state', ARGV[5])
redis.call(ARGV[4] == '' and 'SREM' or 'SADD', KEYS[2], ARGV[2])
return -1
"""
"""
KEYS: the notice, the index of filled outboxes, the fence. ARGV: expected version, slug, version, kinds of effects,
JSON, and the owner that saves or "".
"""


class RedisNotices:
    """By the client of an open store."""

    def __init__(
        self,
        redis: Any,
        prefix: str,
        bounded: Callable[[], AbstractAsyncContextManager[None]],
        owner: Ownership | None = None,
    ) -> None:
        self._redis = redis
        self._bounded = bounded
        self._prefix = prefix
        self._owner = owner
        self._unfinished = f"{prefix}notices:owing"

    async def get(self, slug: str) -> Notice | None:
        async with self._bounded():
            state = await self._redis.hget(self._key(slug), "state")
            found = decoded_notice(slug, state) if state is not None else None
            if state is not None and found is None:
                await self._redis.delete(self._key(slug))
        return found

    async def put(self, notice: Notice, *, expected: int) -> None:
        assert notice.version == expected + 1, "every save is a version of its own"
        kinds = ", ".join(effect.kind for effect in notice.outbox)
        fence = self._owner.fence if self._owner else ""
        given = (expected, notice.slug, notice.version, kinds, notice.model_dump_json(), fence)
        async with self._bounded():
            keys = self._key(notice.slug), self._unfinished, f"{self._prefix}fence"
            with redis_span("EVAL"):
                found = int(await self._redis.eval(SAVE, len(keys), *keys, *given))
        if found == NOT_OWNER:
            raise not_owner(self._owner)
        if found != SAVED:
            raise Conflict(f"the notice of {notice.slug} is at version {found}, not {expected}")

    async def unfinished(self) -> tuple[str, ...]:
        async with self._bounded():
            return tuple(await self._redis.smembers(self._unfinished))

    def _key(self, slug: str) -> str:
        return f"{self._prefix}notice:{slug}"


class SqliteNotices:
    """*rows* performs a statement in an open store, and returns its rows."""

    def __init__(self, rows: Callable[..., Awaitable[list[Any]]]) -> None:
        self._rows = rows

    async def get(self, slug: str) -> Notice | None:
        for (state,) in await self._rows("SELECT state FROM notices WHERE slug = ?", slug):
            if found := decoded_notice(slug, state):
                return found
            await self._rows("DELETE FROM notices WHERE (slug, state) = (?, ?)", slug, state)
        return None

    async def put(self, notice: Notice, *, expected: int) -> None:
        assert notice.version == expected + 1, "every save is a version of its own"
        given = (notice.version, bool(notice.outbox), notice.model_dump_json(), notice.slug)
        saved = await self._rows(
            "UPDATE notices SET (version, pending, state) = (?, ?, ?) WHERE slug = ? AND version = ?"
            " RETURNING slug"
            if expected
            else "INSERT INTO notices (version, pending, state, slug) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING RETURNING slug",
            *given,
            *((expected,) if expected else ()),
        )
        if not saved:
            raise Conflict(f"the notice of {notice.slug} is not at version {expected}")

    async def unfinished(self) -> tuple[str, ...]:
        found = await self._rows("SELECT slug FROM notices WHERE pending")
        return tuple(slug for (slug,) in found)
