"""What an operator should know of a Redis before the bot runs on it. `docs/redis.md` says what is advised, and why."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from redis.exceptions import ResponseError

from bot.errors import Unavailable
from bot.storage.redis_client import NO_ANSWER, SENTINEL, Cluster, client, is_open, kind_of

NEEDED = (6, 2)
ALL_SECONDS = 3.0
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


async def inspected(url: str) -> Inspection:
    """Of a cluster, every master. Raises Unavailable; that something may not be asked is only advice."""
    try:
        async with asyncio.timeout(ALL_SECONDS), client(url, connections=1) as redis:
            told = {name: await _told(redis, where) for name, where in (await _servers(redis)).items()}
    except NO_ANSWER as error:
        raise Unavailable(f"Redis did not answer: {str(error) or 'no answer in time'}") from error
    advice: dict[Advice, list[str]] = {}
    for name, facts in told.items():
        for one in _advice(facts):
            advice.setdefault(one, []).append(name)
    said = tuple(_said(one, names) for one, names in advice.items())
    return Inspection(_found(url, told), (Advice(OPEN), *said) if is_open(url) else said)


async def _servers(redis: Any) -> Mapping[str, dict[str, Any]]:
    """By name, with what sends a command there."""
    if not isinstance(redis, Cluster):
        return {"": {}}
    await redis.initialize()
    return {node.name: {"target_nodes": [node]} for node in redis.get_primaries()}


async def _told(redis: Any, where: Mapping[str, Any]) -> dict[str, Any]:
    """Rented servers often tell what they do, and not how they are set."""
    told: dict[str, Any] = {}
    try:
        told |= await redis.execute_command("INFO", **where)
        told |= _text(await redis.execute_command("CONFIG GET", "save", **where))
    except ResponseError as error:
        told["refused"] = str(error)
    return told


def _text(settings: Mapping[Any, Any]) -> dict[str, str]:
    return {_word(name): _word(value) for name, value in settings.items()}


def _word(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _advice(told: Mapping[str, Any]) -> Iterator[Advice]:
    if "redis_version" not in told:
        yield Advice(f"Redis does not tell its version and settings: {told['refused']}.")
        return
    version = str(told["redis_version"])
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < NEEDED:
        yield Advice(f"Redis {version} is too old: 6.2 is needed, or a later one.", stops=True)
    if not int(told.get("aof_enabled", 0)):
        yield Advice(_lost(told))
    policy = told.get("maxmemory_policy", "noeviction")
    if policy != "noeviction" and int(told.get("maxmemory", 0)):
        yield Advice(f"`maxmemory-policy` is {policy}: when memory is full, Redis throws roundtables away.")


def _lost(told: Mapping[str, Any]) -> str:
    if told.get("save") == "":
        return "`appendonly` is off, and there are no snapshots: a restart of Redis loses what is not committed yet."
    return "`appendonly` is off: a restart of Redis loses what is not committed yet and not in its last snapshot."


def _found(url: str, told: Mapping[str, Mapping[str, Any]]) -> str:
    versions = sorted({str(facts["redis_version"]) for facts in told.values() if "redis_version" in facts})
    found = f"Redis {' and '.join(versions)}".rstrip()
    if "" not in told:
        return f"{found}, a cluster of {len(told)} masters"
    return f"{found}, found by sentinels" if kind_of(url) == SENTINEL else found


def _said(advice: Advice, names: list[str]) -> Advice:
    where = ", ".join(name for name in names if name)
    return advice._replace(text=f"{advice.text} ({where})") if where else advice
