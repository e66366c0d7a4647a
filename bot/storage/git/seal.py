"""
Seals: signatures of the Slack place in meta.json, to know that the bot wrote it.

Everyone who can push can change the file, but only the holder of a key can sign the place.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable

from bot.domain.item.meta import SlackPlace

LABEL = "roundtable home 1"
"""Keeps these signatures apart from other uses of the same key."""


class Seal:
    """Signs with the first of *keys* and accepts all. Without keys nothing is signed, and no seal is valid."""

    def __init__(self, keys: Iterable[bytes] = ()) -> None:
        self._keys = tuple(keys)

    def sign(self, slug: str, home: SlackPlace) -> str:
        return _signature(self._keys[0], slug, home) if self._keys else ""

    def is_valid(self, slug: str, home: SlackPlace) -> bool:
        given = home.seal.encode()
        return any(hmac.compare_digest(_signature(key, slug, home).encode(), given) for key in self._keys)


def _signature(key: bytes, slug: str, home: SlackPlace) -> str:
    """JSON, because in a plain concatenation the end of the slug could count as part of the team."""
    place = home.team_id, home.channel_id, home.thread_ts, home.private, home.started_by
    return hmac.new(key, json.dumps([LABEL, slug, *place]).encode(), hashlib.sha256).hexdigest()
