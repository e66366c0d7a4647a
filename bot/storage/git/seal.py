"""
Seals: how we know a home in meta.json as one that we wrote ourselves.

Everybody who can push can change the file; only who has a key can sign what it says about the thread.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable

from bot.domain.item.meta import SlackPlace

LABEL = "roundtable home 1"
"""Keeps signatures of homes apart from whatever else the same key may sign one day."""
DERIVED = b"roundtable seal key 1"


class Seal:
    """Signs with the first of *keys*, and accepts all of them. Without keys nothing is signed, and nothing is valid."""

    def __init__(self, keys: Iterable[bytes] = ()) -> None:
        self._keys = tuple(keys)

    def sign(self, slug: str, home: SlackPlace) -> str:
        return _signature(self._keys[0], slug, home) if self._keys else ""

    def is_valid(self, slug: str, home: SlackPlace) -> bool:
        given = home.seal.encode()
        return any(hmac.compare_digest(_signature(key, slug, home).encode(), given) for key in self._keys)


def derived_key(secret: str) -> bytes:
    """A key that follows from *secret*, and from which *secret* does not."""
    return hmac.digest(secret.encode(), DERIVED, "sha256")


def _signature(key: bytes, slug: str, home: SlackPlace) -> str:
    """JSON, since in a plain concatenation a slug could run on into a team."""
    place = home.team_id, home.channel_id, home.thread_ts, home.private, home.started_by
    return hmac.new(key, json.dumps([LABEL, slug, *place]).encode(), hashlib.sha256).hexdigest()
