"""Every roundtable in a Redis, by a look at every key there is: for the few questions that no index answers."""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

KEYS_AT_ONCE = 1_000


class Counted(NamedTuple):
    slug: str
    stage: str
    thread: str
    shape: int


async def census(redis: Any, pattern: str) -> tuple[Counted, ...]:
    """*pattern* matches the keys, each with its slug in braces. Whoever is saved meanwhile may be missing."""
    found: dict[str, Counted] = {}
    async for keys in _chunks(redis.scan_iter(match=pattern, count=KEYS_AT_ONCE), KEYS_AT_ONCE):
        reading = redis.pipeline(transaction=False)
        for key in keys:
            reading.hmget(key, "stage", "thread", "shape")
        for key, (stage, thread, shape) in zip(keys, await reading.execute(), strict=True):
            if stage:
                slug = _slug(key.decode(errors="replace"))
                number = int(shape) if shape and shape.isdigit() else 0
                found[slug] = Counted(slug, _text(stage), _text(thread), number)
    return tuple(found.values())


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


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
