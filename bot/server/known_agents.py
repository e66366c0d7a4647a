"""Which agent a request is from: by its key, before anything is opened or loaded for it."""

from collections.abc import Mapping
from pathlib import Path

from aiohttp import web

from bot.content.agent_keys import read_keys
from bot.domain.catalog.policy import AgentKey, key_with
from bot.errors import ContentError
from bot.log import ThrottledWarning
from bot.server.http import refuse

LARGEST_BYTES = 256 * 1024
NO_KEY = "A known key is needed."


class KnownAgents:
    """Those with a key in the file *keys*."""

    most_bytes = LARGEST_BYTES

    def __init__(self, keys: Path, *, warnings: ThrottledWarning) -> None:
        self._keys = keys
        self._warnings = warnings

    def refusal(self, request: web.Request) -> web.Response | None:
        if "Origin" in request.headers:
            return refuse(403, "Pages in a browser may not use this address.")
        return None if self.key(request.headers) else unknown()

    def forged(self, request: web.Request, body: bytes) -> web.Response | None:  # noqa: ARG002 -- the key is enough
        return None

    def key(self, headers: Mapping[str, str]) -> AgentKey | None:
        """None, too, while the file of keys cannot be read."""
        try:
            return key_with(read_keys(self._keys), headers.get("Authorization", ""))
        except ContentError as error:
            self._warnings.warn(str(error))
            return None


def unknown() -> web.Response:
    return refuse(401, NO_KEY, {"WWW-Authenticate": "Bearer"})
