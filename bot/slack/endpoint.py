"""
Slack's requests over HTTP, as one route of a web server that somebody else runs.

The signature is checked here, over the bytes that came in, and before anything else is done with them: Bolt would parse
a body first, and would log the whole of one that it refuses.
"""

import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable, Sequence

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from bot.slack.parse import MALFORMED

PATH = "/slack/events"
LARGEST_BYTES = 4 * 1024 * 1024
"""What Slack sends at most is not documented; events of 1.2 MB have been seen."""
TIMESTAMP, SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
WINDOW_SECONDS = 300
SSL_CHECK, SSL_CHECK_BYTES = b"ssl_check=1", 1024
"""Slack looks at our certificate now and then, with a form that need not be signed and wants nothing but a 200."""
COMPLAINT_SECONDS = 60.0

log = logging.getLogger(__name__)


class SlackRequests:
    """Without a *signing_secret* (Socket Mode needs none) nothing that comes by HTTP is believed."""

    most_bytes = LARGEST_BYTES

    def __init__(self, app: AsyncApp, *, signing_secret: str, clock: Callable[[], float] = time.time) -> None:
        self._app = app
        self._secret = (signing_secret or secrets.token_hex()).encode()
        self._clock = clock
        self._complained_at = -COMPLAINT_SECONDS

    def refusal(self, request: web.Request) -> web.Response | None:
        if _may_be_ssl_check(request):
            return None
        timestamp = _only(request, TIMESTAMP)
        if not re.fullmatch("[0-9]{1,12}", timestamp) or not re.fullmatch(
            "v0=[0-9a-f]{64}", _only(request, SIGNATURE)
        ):
            return self._refused("it is not signed")
        if abs(self._clock() - int(timestamp)) > WINDOW_SECONDS:
            return self._refused("its timestamp is more than five minutes away from this machine's clock")
        return None

    def unread(self, status: int, why: str) -> web.Response:
        return web.Response(status=status, text=f"{why}\n")

    async def take(self, request: web.Request, body: bytes) -> web.Response:
        if _may_be_ssl_check(request):
            known = SSL_CHECK in body.split(b"&")
            return web.Response() if known else self._refused("it is not signed")
        signed = hmac.new(self._secret, b"v0:%s:" % _only(request, TIMESTAMP).encode(), hashlib.sha256)
        signed.update(body)
        if not hmac.compare_digest(f"v0={signed.hexdigest()}", _only(request, SIGNATURE)):
            return self._refused("its signature is not made with SLACK_SIGNING_SECRET")
        return await to_aiohttp_response(await self._app.async_dispatch(_asked(request, body)))

    def _refused(self, why: str) -> web.Response:
        """Said once a minute, so that nobody can fill the log; and nothing that was sent is in it."""
        if (now := time.monotonic()) - self._complained_at >= COMPLAINT_SECONDS:
            self._complained_at = now
            log.warning("A request to %s was refused: %s. Others are not logged for a minute.", PATH, why)
        return web.Response(status=401, text="This request is not signed by Slack.\n")


def _only(request: web.Request, name: str) -> str:
    """The header; empty when there is none, or more than one."""
    values = request.headers.getall(name, [])
    return values[0] if len(values) == 1 else ""


def _may_be_ssl_check(request: web.Request) -> bool:
    is_small = request.content_length is not None and request.content_length <= SSL_CHECK_BYTES
    return is_small and SIGNATURE not in request.headers


def _asked(request: web.Request, body: bytes) -> AsyncBoltRequest:
    headers: dict[str, str | Sequence[str]] = {name: [value] for name, value in request.headers.items()}
    text = body.decode("utf-8", "replace")
    try:
        return AsyncBoltRequest(body=text, query=request.query_string, headers=headers)
    except (ValueError, RecursionError):
        raise web.HTTPBadRequest from None  # not JSON
    except (LookupError, TypeError, AttributeError):
        # JSON in which Bolt loses its way.
        asked = AsyncBoltRequest(body="", headers=headers)
        asked.raw_body, asked.body = text, {"type": MALFORMED, "why": "nothing in it is where it should be"}
        return asked
