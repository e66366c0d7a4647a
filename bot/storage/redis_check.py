"""What an operator should know about a Redis before the bot runs on it. `docs/redis.md` gives the advice and why."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from redis.exceptions import ResponseError

from bot.errors import ConfigError, Unavailable
from bot.storage.redis_client import NO_ANSWER, bounded, client, is_open

NEEDED = (6, 2)
ALL_SECONDS = 3.0
CLUSTER = "REDIS_URL names a node of a Redis Cluster, which is not supported: use one server."
OPEN = (
    "Redis asks for no password: anybody who reaches it can change every live roundtable. "
    "Set a password (`requirepass`) or an ACL user there, and put it into REDIS_URL."
)


class Advice(NamedTuple):
    """*stops* says that the bot cannot work like that."""

    text: str
    stops: bool = False


class Inspection(NamedTuple):
    found: str
    advice: tuple[Advice, ...]


async def refuse_cluster(url: str) -> None:
    """Raises ConfigError for a node of a cluster. A server that gives no answer now may give one later."""
    with suppress(Unavailable):
        async with client(url, connections=1) as redis, bounded():
            told = await redis.info("cluster")
            if told.get("cluster_enabled"):
                raise ConfigError(CLUSTER)


async def inspected(url: str) -> Inspection:
    """Raises Unavailable. A server that keeps its version and settings to itself is only worth an advice."""
    try:
        async with asyncio.timeout(ALL_SECONDS), client(url, connections=1) as redis:
            facts = await _facts(redis)
    except NO_ANSWER as error:
        raise Unavailable(f"Redis did not answer: {str(error) or 'no answer in time'}") from error
    found = f"Redis {facts.get('redis_version', '')}".rstrip()
    advice = tuple(_advice(facts))
    return Inspection(found, (Advice(OPEN), *advice) if is_open(url) else advice)


async def _facts(redis: Any) -> dict[str, Any]:
    """Managed servers often answer INFO and refuse CONFIG."""
    facts: dict[str, Any] = {}
    try:
        facts |= await redis.info()
        facts |= {_text(name): _text(value) for name, value in (await redis.config_get("save")).items()}
    except ResponseError as error:
        facts["refused"] = str(error)
    return facts


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _advice(facts: Mapping[str, Any]) -> Iterator[Advice]:
    if "redis_version" not in facts:
        yield Advice(f"Redis does not tell its version and settings: {facts['refused']}.")
        return
    version = str(facts["redis_version"])
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < NEEDED:
        yield Advice(f"Redis {version} is too old: 6.2 is needed, or a later one.", stops=True)
    if not int(facts.get("aof_enabled", 0)):
        yield Advice(_lost(facts))
    policy = facts.get("maxmemory_policy", "noeviction")
    if policy != "noeviction" and int(facts.get("maxmemory", 0)):
        yield Advice(f"`maxmemory-policy` is {policy}: when memory is full, Redis throws roundtables away.")


def _lost(facts: Mapping[str, Any]) -> str:
    if facts.get("save") == "":
        return "`appendonly` is off, and there are no snapshots: a restart of Redis loses what is not committed yet."
    return "`appendonly` is off: a restart of Redis loses what is not committed yet and not in its last snapshot."
