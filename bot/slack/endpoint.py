"""Slack's requests over HTTP, as one handler of a web server that somebody else runs."""

from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from bot.slack.payload import MALFORMED

PATH = "/slack/events"
LARGEST_BYTES = 4 * 1024 * 1024
"""What Slack sends at most is not documented; events of 1.2 MB have been seen."""


def http_handler(app: AsyncApp) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def events(request: web.Request) -> web.Response:
        try:
            text = await request.text()
        except (ValueError, LookupError):
            raise web.HTTPBadRequest from None  # not text: not Slack
        return await to_aiohttp_response(await app.async_dispatch(_asked(request, text)))

    return events


def _asked(request: web.Request, text: str) -> AsyncBoltRequest:
    headers: dict[str, str | Sequence[str]] = {name: [value] for name, value in request.headers.items()}
    try:
        return AsyncBoltRequest(body=text, query=request.query_string, headers=headers)
    except (ValueError, RecursionError):
        raise web.HTTPBadRequest from None  # not JSON
    except (LookupError, TypeError, AttributeError):
        # JSON in which Bolt loses its way. Its signature is still looked at.
        asked = AsyncBoltRequest(body="", headers=headers)
        asked.raw_body, asked.body = text, {"type": MALFORMED, "why": "nothing in it is where it should be"}
        return asked
