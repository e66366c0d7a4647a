"""What a store has of a roundtable, as JSON: its state with its parts. For tests beside a bot."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import redis

from bot.storage.serialization import restored
from bot.storage.sqlite import FILE
from bot.storage.team import prefix

SANDBOX = "T0SANDBOX"
"""The team of the bots that tests begin as processes."""


def version_in_file(workspace: Path, slug: str) -> int:
    """0 when there is none."""
    file = workspace / ".roundtable" / FILE
    if not file.exists():
        return 0
    with closing(sqlite3.connect(file)) as sql:
        found = sql.execute("SELECT version FROM roundtables WHERE slug = ?", [slug]).fetchone()
    return found[0] if found else 0


def in_file(workspace: Path, slug: str) -> Mapping[str, Any]:
    """Empty when there is none."""
    file = workspace / ".roundtable" / FILE
    if not file.exists():
        return {}
    with closing(sqlite3.connect(file)) as sql, sql:
        sql.execute("BEGIN")
        found = sql.execute("SELECT link, state FROM roundtables WHERE slug = ?", [slug]).fetchone()
        parts = dict(sql.execute("SELECT name, content FROM parts WHERE slug = ?", [slug]))
    return _joined(slug, found[1], parts) if found else {}


def rewrite_file(workspace: Path, slug: str, whole: Mapping[str, Any]) -> None:
    """*whole* is stored as another version of this program would store it."""
    with closing(sqlite3.connect(workspace / ".roundtable" / FILE)) as sql, sql:
        given = (json.dumps(whole), whole["shape"], slug)
        sql.execute("UPDATE roundtables SET state = ?, shape = ?, link = 'other' WHERE slug = ?", given)


def in_redis(client: "redis.Redis", slug: str, *, team: str = SANDBOX) -> Mapping[str, Any]:
    """Empty when there is none."""
    with client.pipeline(transaction=True) as reading:
        reading.hget(key(slug, team=team), "state")
        reading.hgetall(parts_key(slug, team=team))
        state, parts = reading.execute()
    found = {name.decode(): part.decode() for name, part in parts.items()}
    return _joined(slug, state.decode(), found) if state else {}


def rewrite_redis(client: "redis.Redis", slug: str, whole: Mapping[str, Any], *, team: str = SANDBOX) -> None:
    """*whole* is stored as another version of this program would store it."""
    given: Mapping[Any, Any] = {"state": json.dumps(whole), "shape": whole["shape"], "link": "other"}
    client.hset(key(slug, team=team), mapping=given)


def key(slug: str, *, team: str = SANDBOX) -> str:
    return f"{prefix(team)}state:{slug}"


def parts_key(slug: str, *, team: str = SANDBOX) -> str:
    return f"{prefix(team)}parts:{slug}"


def _joined(slug: str, state: str, parts: Mapping[str, str]) -> Mapping[str, Any]:
    """A state that this version cannot read is as it was written."""
    fields: Mapping[str, Any] = json.loads(state)
    if "parts" not in fields:
        return fields
    whole: Mapping[str, Any] = restored(slug, "", state, parts).value.model_dump(mode="json")
    return whole


def whole(client: redis.Redis, key: bytes) -> bytes:
    """A dump is compressed."""
    kinds: dict[bytes, Any] = {
        b"hash": lambda: [*client.hgetall(key).keys(), *client.hgetall(key).values()],
        b"set": lambda: [*client.smembers(key)],
        b"string": lambda: [client.get(key) or b""],
        b"list": lambda: client.lrange(key, 0, -1),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"stream": lambda: [str(client.xrange(key)).encode()],
    }
    kind = client.type(key)
    assert isinstance(kind, bytes)
    return key + b"\n".join(kinds[kind]())
