"""Slack over HTTP: requests signed and posted to the app's request URL."""

import hashlib
import hmac
import json
from collections.abc import Callable
from io import BytesIO
from urllib.parse import urlencode

import aiohttp

from slack_sandbox.delivery import COMMAND, EVENT, AckOutcome, Retry
from slack_sandbox.messages import JSON

MOST_REDIRECTS = 2
REASONS: tuple[tuple[type[Exception], str], ...] = (
    (TimeoutError, "http_timeout"),
    (aiohttp.TooManyRedirects, "too_many_redirects"),
    (aiohttp.ClientSSLError, "ssl_error"),
    (aiohttp.ClientConnectionError, "connection_failed"),
    (aiohttp.ClientError, "unknown_error"),
)
FAILURES = tuple(kind for kind, _ in REASONS)


def sign(secret: str, timestamp: str, body: bytes) -> str:
    digest = hmac.new(secret.encode(), b":".join((b"v0", timestamp.encode(), body)), hashlib.sha256)
    return f"v0={digest.hexdigest()}"


class Webhooks:
    """A transport. *now* is the sandbox's clock: a signature that is too old is refused by the app."""

    def __init__(self, url: str, *, signing_secret: str, now: Callable[[], float]) -> None:
        self.url = url
        self._secret = signing_secret
        self._now = now
        self._session = aiohttp.ClientSession()

    async def ready(self) -> None:
        return

    async def offer(self, kind: str, payload: JSON, *, retry: Retry | None, seconds: float) -> AckOutcome:
        content_type, body = _encode(kind, payload)
        headers = self._headers(content_type, body) | _retry_headers(retry)
        try:
            async with self._session.post(
                self.url,
                data=BytesIO(body),
                headers=headers,
                max_redirects=MOST_REDIRECTS,
                timeout=aiohttp.ClientTimeout(total=seconds),
            ) as response:
                return await _answer(response)
        except FAILURES as error:
            return AckOutcome(
                acked=False, reason=next(why for kind_, why in REASONS if isinstance(error, kind_))
            )

    async def verify(self, challenge: str = "sandbox-challenge") -> bool:
        """The handshake Slack does when a request URL is entered."""
        payload = {"type": "url_verification", "challenge": challenge, "token": ""}
        answer = await self.offer(EVENT, payload, retry=None, seconds=3)
        return challenge in (answer.body.get("challenge"), answer.body.get("text"))

    async def aclose(self) -> None:
        await self._session.close()

    def _headers(self, content_type: str, body: bytes) -> dict[str, str]:
        timestamp = str(int(self._now()))
        return {
            "Content-Type": content_type,
            "User-Agent": "Slackbot 1.0 (sandbox)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(self._secret, timestamp, body),
        }


def _encode(kind: str, payload: JSON) -> tuple[str, bytes]:
    if kind == EVENT:
        return "application/json", json.dumps(payload).encode()
    fields = payload if kind == COMMAND else {"payload": json.dumps(payload)}
    return "application/x-www-form-urlencoded", urlencode(fields).encode()


def _retry_headers(retry: Retry | None) -> dict[str, str]:
    if retry is None:
        return {}
    return {"X-Slack-Retry-Num": str(retry.attempt), "X-Slack-Retry-Reason": retry.reason}


async def _answer(response: aiohttp.ClientResponse) -> AckOutcome:
    text = await response.text()
    if not response.ok:
        return AckOutcome(acked=False, reason="http_error", final="X-Slack-No-Retry" in response.headers)
    return AckOutcome(acked=True, body=_decode(text))


def _decode(text: str) -> JSON:
    """An acknowledgement may carry JSON, or plain words: those are a message."""
    if not text.strip():
        return {}
    try:
        body = json.loads(text)
    except ValueError:
        return {"text": text}
    return body if isinstance(body, dict) else {"text": text}
