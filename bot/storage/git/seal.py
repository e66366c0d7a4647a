"""
Seals: signatures of the Slack place in meta.json, to know that the bot wrote it, the keys that seal lines, and the ids
of people (ADR 53).

Everyone who can push can change the file, but only the holder of a key can sign the place. The signature is for the
chain of the transcript (ADR 45), so that the folder can be renamed.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable

from bot.domain.item.meta import SlackPlace
from bot.domain.transcript.seal import Sealer

CHAIN_LABEL, SLUG_LABEL = "roundtable home 2", "roundtable home 1"
"""Keep these signatures apart from other uses of the same key. An item without a sealed line is signed by its slug."""


class Seal:
    """Signs with the first of *keys* and accepts all. Without keys nothing is signed, and no seal is valid."""

    def __init__(self, keys: Iterable[bytes] = (), *, person_key: bytes = b"") -> None:
        """*person_key* makes the ids of people; without one, the last of *keys* does."""
        self._keys = tuple(keys)
        self._person_key = person_key or (self._keys[-1] if self._keys else b"")
        self.lines = Sealer(*self._keys)

    def person(self, team: str, user: str, *, generation: int = 0) -> str:
        """
        The id of the *user* of Slack. It cannot be computed without the key. A person who was forgotten and speaks
        again is one of another *generation*.
        """
        about = f"person|{team}|{user}|{generation}".encode()
        mac = hmac.new(self._person_key, about, hashlib.sha256).digest()
        return f"p-{base64.b32encode(mac[:6]).decode().lower().rstrip('=')}" if self._person_key else user

    def sign(self, slug: str, home: SlackPlace, *, chain: str = "") -> str:
        return _signature(self._keys[0], slug, home, chain) if self._keys else ""

    def is_valid(self, slug: str, home: SlackPlace, *, chain: str = "") -> bool:
        given = home.seal.encode()
        return any(
            hmac.compare_digest(_signature(key, slug, home, named).encode(), given)
            for key in self._keys
            for named in {chain, ""}
        )


def _signature(key: bytes, slug: str, home: SlackPlace, chain: str) -> str:
    """JSON, because in a plain concatenation the end of the name could count as part of the team."""
    place = home.team_id, home.channel_id, home.thread_ts, home.private, home.started_by
    about = (CHAIN_LABEL, chain) if chain else (SLUG_LABEL, slug)
    return hmac.new(key, json.dumps([*about, *place]).encode(), hashlib.sha256).hexdigest()
