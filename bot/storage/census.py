"""Every roundtable in a Redis, by a look at every key there is: for the few questions that no index answers."""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

KEYS_AT_ONCE = 1_000


class Counted(NamedTuple):
    slug: str
    stage: str
    thread: str


async def census(redis: Any, pattern: str) -> tuple[Counted, ...]:
    """*pattern* matches the keys, each with its slug in braces. Whoever is saved meanwhile may be missing."""
    found: dict[str, Counted] = {}
    async for keys in _chunks(redis.scan_iter(match=pattern, count=KEYS_AT_ONCE), KEYS_AT_ONCE):
        reading = redis.pipeline(transaction=False)
        for key in keys:
            reading.hmget(key, "stage", "thread")
        for key, (stage, thread) in zip(keys, await reading.execute(), strict=True):
            if stage:
                slug = _slug(key.decode())
                found[slug] = Counted(slug, stage.decode(), (thread or b"").decode())
    return tuple(found.values())


def _slug(key: str) -> str:
    return key[key.index("{") + 1 : key.rindex("}")]


async def _chunks(keys: AsyncIterator[bytes], size: int) -> AsyncIterator[list[bytes]]:
    chunk: list[bytes] = []
    async for key in keys:
        chunk.append(key)
        if len(chunk) == size:
            yield chunk
            chunk = []
    yield chunk
