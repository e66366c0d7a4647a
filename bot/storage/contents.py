"""Which contents (steps and personas) the living processes of a team have, in their Redis."""

from contextlib import suppress
from secrets import token_hex
from typing import Any

from bot.errors import Unavailable
from bot.storage.redis_client import Connected

CONNECTIONS = 1
ALIVE_SECONDS = 6
KEPT_SECONDS = 60

BEAT = """
local now = tonumber(redis.call('TIME')[1])
if ARGV[2] ~= ARGV[1] then redis.call('ZREM', KEYS[1], ARGV[2]) end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. (now - ARGV[3]))
redis.call('EXPIRE', KEYS[1], ARGV[4])
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""
"""
KEYS: `CONTENT PROCESS` of each process, by its last sign of life. ARGV: ours, and what it was before; seconds without a
sign of life, and seconds to keep the key.
"""


class RedisContents(Connected):
    def __init__(self, url: str, *, team: str) -> None:
        super().__init__(url, team=team, connections=CONNECTIONS)
        self._key = f"{self._prefix}contents"
        self._process = token_hex(8)
        self._said = ""

    async def __aexit__(self, *about: object) -> None:
        with suppress(Unavailable):
            async with self._bounded():
                await self._redis.zrem(self._key, self._said)
        await super().__aexit__(*about)

    async def others(self, own: str) -> frozenset[str]:
        saying, said = f"{own} {self._process}", self._said or own
        async with self._bounded():
            found: list[Any] = await self._redis.eval(
                BEAT, 1, self._key, saying, said, ALIVE_SECONDS, KEPT_SECONDS
            )
        self._said = saying
        names = (one.decode() if isinstance(one, bytes) else str(one) for one in found)
        return frozenset(name.partition(" ")[0] for name in names if name != saying)


class LocalContents:
    """Of a store that only one process may open."""

    async def others(self, own: str) -> frozenset[str]:  # noqa: ARG002
        return frozenset()
