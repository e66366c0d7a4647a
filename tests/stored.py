"""What a store has of a roundtable, as JSON: the whole value with the changes since then. For tests beside a bot."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import redis

from bot.storage import journal
from bot.storage.serialization import UnreadableState
from bot.storage.team import prefix

READS = 100
SANDBOX = "T0SANDBOX"
"""The team of the bots that tests begin as processes."""


def in_files(workspace: Path, slug: str) -> Mapping[str, Any]:
    """Empty when there is none. A bot that saves between two reads makes them unlike: they are read again."""
    folder = workspace / ".roundtable" / "roundtables"
    for _ in range(READS):
        try:
            whole = (folder / f"{slug}.json").read_bytes()
        except FileNotFoundError:
            return {}
        changes = folder / f"{slug}.changes"
        try:
            lines = changes.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            lines = []
        try:
            return _read(slug, whole, lines)
        except UnreadableState as error:
            problem = error
    raise problem


def in_redis(client: "redis.Redis", slug: str, *, team: str = SANDBOX) -> Mapping[str, Any]:
    """Empty when there is none."""
    with client.pipeline(transaction=True) as reading:
        reading.hget(key(slug, team=team), "state")
        reading.lrange(f"{key(slug, team=team)}:changes", 0, -1)
        state, lines = reading.execute()
    return _read(slug, state, lines) if state else {}


def key(slug: str, *, team: str = SANDBOX) -> str:
    return f"{prefix(team)}{{{slug}}}"


def _read(slug: str, whole: bytes, lines: list[bytes]) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = json.loads(journal._replayed(slug, whole, lines)[0])
    return fields
