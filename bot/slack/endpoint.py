"""Slack's requests over HTTP, as one handler of a web server that somebody else runs."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

PATH = "/slack/events"


def http_handler(app: AsyncApp) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def events(request: web.Request) -> web.Response:
        try:
            asked = await to_bolt_request(request)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise web.HTTPBadRequest from None  # not JSON, not an object, not text: not Slack
        return await to_aiohttp_response(await app.async_dispatch(asked))

    return events
