"""
The store that several processes share. `docs/redis.md` lists every key.

A roundtable is one hash, saved by one script that compares and sets. The indexes around it are written first, in the
same round trip: an entry that says more than the hash is ignored by whoever reads it, one that said less would lose
something. Nothing is tried twice here: redis-py would by default, and repeat a write whose answer got lost.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from bot.domain.place import Place
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.errors import ConfigError, Conflict, Unavailable
from bot.storage.stored import FromLater, Unreadable, decoded, encoded

CALL_SECONDS = 0.5
CONNECTIONS = 64
STAGES_SECONDS = 1.5
KEYS_AT_ONCE = 1_000
OWING = "roundtable:owing"
KEPT_SECONDS = 30 * 24 * 3600
"""A roundtable that is over and owes nothing; after that, its item is still in the workspace."""

# The scripts go along each time: they are shorter than what they save, and a server that was restarted or
# replaced need not be told them again.

SAVE = """
local stored = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if stored ~= tonumber(ARGV[1]) then return stored end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
if ARGV[2] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return -1
"""
"""
KEYS: the roundtable. ARGV: the version expected, for how many seconds it is kept, fields and values. Returns -1, or
the version found instead.
"""

SETTLE = """
local owed = redis.call('ZSCORE', KEYS[1], ARGV[1])
if owed and tonumber(owed) <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
"""
"""KEYS: who owes. ARGV: a slug, and the version that owes nothing; a later one may owe again."""

SET_ASIDE = """
if redis.call('HGET', KEYS[1], 'state') == ARGV[1] then redis.call('RENAME', KEYS[1], KEYS[2]) end
"""
"""KEYS: the roundtable, and where to. ARGV: the state that cannot be read, unless it was replaced meanwhile."""

log = logging.getLogger(__name__)


class RedisStore:
    """Use it as a context manager. It connects when it is first asked something, and again when it has to."""

    def __init__(self, url: str) -> None:
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=CONNECTIONS,
                timeout=CALL_SECONDS,
                socket_timeout=CALL_SECONDS,
                socket_connect_timeout=CALL_SECONDS,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError as error:
            raise ConfigError(f"REDIS_URL cannot be used: {error}") from None
        self._redis: Redis = Redis.from_pool(pool)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._redis)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def get(self, slug: str) -> Roundtable | None:
        async with _bounded():
            state = await self._redis.hget(_key(slug), "state")
            return await self._decoded(slug, state)

    async def put(self, roundtable: Roundtable, *, expected: int) -> None:
        assert roundtable.version == expected + 1, "every save is a version of its own"
        slug, place = roundtable.slug, roundtable.place
        async with _bounded():
            saving = self._redis.pipeline(transaction=False)
            saving.sadd(_channel_key(place.team, place.channel), slug)
            if place.thread:
                saving.sadd(_thread_key(place), slug)
                if _is_over(roundtable):
                    saving.expire(_thread_key(place), KEPT_SECONDS)
                else:
                    saving.persist(_thread_key(place))
            if roundtable.outbox:
                saving.zadd(OWING, {slug: roundtable.version}, gt=True)
            kept = KEPT_SECONDS if _is_over(roundtable) else ""
            saving.eval(SAVE, 1, _key(slug), expected, kept, *_flat(_fields(roundtable)))
            *_, found = await saving.execute()
            if found != -1:
                raise Conflict(f"{slug} is at version {found}, not {expected}")
            if not roundtable.outbox:
                await self._redis.eval(SETTLE, 1, OWING, slug, roundtable.version)

    async def at(self, place: Place) -> str | None:
        async with _bounded():
            for slug in map(_text, await self._redis.smembers(_thread_key(place))):
                held = await self._redis.hmget(_key(slug), "team", "channel", "thread")
                if tuple(map(_text, held)) == (place.team, place.channel, place.thread):
                    return slug
        return None

    async def in_channel(self, team: str, channel: str) -> tuple[Roundtable, ...]:
        async with _bounded():
            slugs = [_text(slug) for slug in await self._redis.smembers(_channel_key(team, channel))]
            reading = self._redis.pipeline(transaction=False)
            for slug in slugs:
                reading.hget(_key(slug), "state")
            states = await reading.execute()
            await self._forget(
                team, channel, [slug for slug, state in zip(slugs, states, strict=True) if not state]
            )
            found = [await self._decoded(*each) for each in zip(slugs, states, strict=True)]
        here = [one for one in found if one and (one.place.team, one.place.channel) == (team, channel)]
        return tuple(sorted(here, key=lambda one: one.now, reverse=True))

    async def owing(self) -> tuple[str, ...]:
        async with _bounded():
            slugs = [_text(slug) for slug in await self._redis.zrange(OWING, 0, -1)]
            reading = self._redis.pipeline(transaction=False)
            for slug in slugs:
                reading.hmget(_key(slug), "version", "owes")
            found = dict(zip(slugs, await reading.execute(), strict=True))
            for slug, (version, owes) in found.items():
                if version and not owes:
                    await self._redis.eval(SETTLE, 1, OWING, slug, int(version))
        return tuple(slug for slug, (_, owes) in found.items() if owes)

    async def stages(self) -> Mapping[str, int]:
        """Looks at every key there is."""
        found: Counter[str] = Counter()
        async with _bounded(STAGES_SECONDS):
            keys = self._redis.scan_iter(match=_key("*"), count=KEYS_AT_ONCE)
            async for slugs in _chunks(keys, KEYS_AT_ONCE):
                reading = self._redis.pipeline(transaction=False)
                for key in slugs:
                    reading.hget(key, "stage")
                found.update(_text(stage) for stage in await reading.execute() if stage)
        return found

    async def ping(self) -> None:
        async with _bounded():
            await self._redis.ping()

    async def _forget(self, team: str, channel: str, gone: list[str]) -> None:
        """Roundtables that have expired; one that is being saved for the first time just now is put back."""
        if not gone:
            return
        await self._redis.srem(_channel_key(team, channel), *gone)
        for slug in gone:
            if await self._redis.exists(_key(slug)):
                await self._redis.sadd(_channel_key(team, channel), slug)

    async def _decoded(self, slug: str, state: bytes | str | None) -> Roundtable | None:
        """What cannot be read is set aside: the item is then rebuilt from the workspace."""
        if state is None:
            return None
        try:
            return decoded(slug, state)
        except FromLater as error:
            raise Unavailable(str(error)) from None
        except Unreadable as error:
            log.warning("%s: it is set aside", error)
            await self._redis.eval(SET_ASIDE, 2, _key(slug), f"{_key(slug)}:unreadable", state)
            return None


async def _chunks(keys: AsyncIterator[bytes], size: int) -> AsyncIterator[list[bytes]]:
    chunk: list[bytes] = []
    async for key in keys:
        chunk.append(key)
        if len(chunk) == size:
            yield chunk
            chunk = []
    yield chunk


@asynccontextmanager
async def _bounded(seconds: float = CALL_SECONDS) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except (RedisError, OSError) as error:
        raise Unavailable(f"Redis did not answer: {str(error) or 'no answer in time'}") from error


def _key(slug: str) -> str:
    """In braces: a cluster keeps everything of one roundtable together."""
    return f"roundtable:{{{slug}}}"


def _thread_key(place: Place) -> str:
    return f"roundtable:thread:{{{place.key}}}"


def _channel_key(team: str, channel: str) -> str:
    return f"roundtable:channel:{{{team}.{channel}}}"


def _is_over(roundtable: Roundtable) -> bool:
    return roundtable.stage is Stage.ANALYSED and not roundtable.outbox


def _fields(roundtable: Roundtable) -> Mapping[str, str | int | bytes]:
    """`state` is the roundtable; the others are for people to read, and for the store to look at."""
    debate = roundtable.elaboration
    return {
        "version": roundtable.version,
        "stage": roundtable.stage.value,
        "phase": roundtable.phase_key,
        "step": roundtable.step_id,
        "turn_count": debate.turn_count if debate else 0,
        "max_turns": debate.max_turns if debate else roundtable.max_turns,
        "team": roundtable.place.team,
        "channel": roundtable.place.channel,
        "thread": roundtable.place.thread,
        "owes": ", ".join(effect.kind for effect in roundtable.outbox),
        "updated": roundtable.now,
        "state": encoded(roundtable),
    }


def _flat(fields: Mapping[str, Any]) -> list[Any]:
    return [one for pair in fields.items() for one in pair]


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else ""
