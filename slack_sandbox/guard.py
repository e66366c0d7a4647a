"""Only this machine may talk to the sandbox, and only pages that the sandbox itself served."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
FETCH_SITE = "Sec-Fetch-Site"
"""Browsers say there which page a request is of."""
PAGE_POLICY = "default-src 'self'; img-src 'self' data:; connect-src 'self' ws:; frame-ancestors 'none'"


@web.middleware
async def loopback_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A name that was made to point here (DNS rebinding), or another site's page, is refused."""
    origin = request.headers.get("Origin")
    if not _is_loopback(f"//{request.host}"):
        raise web.HTTPForbidden(text="The sandbox answers on this machine only.")
    if origin is not None and urlsplit(origin).netloc != request.host:
        raise web.HTTPForbidden(text="The sandbox answers its own page only.")
    if _is_of_another_page(request):
        raise web.HTTPForbidden(text="The sandbox answers its own page only.")
    return await handler(request)


def is_own_page(request: web.Request) -> bool:
    """`loopback_only` has refused the pages of other sites, so an origin that is named is ours."""
    return "Origin" in request.headers or request.headers.get(FETCH_SITE) == "same-origin"


def _is_of_another_page(request: web.Request) -> bool:
    """An image or a script of another page, which names no origin. A link that a person follows to here is allowed."""
    site, mode = request.headers.get(FETCH_SITE), request.headers.get("Sec-Fetch-Mode")
    return site in {"cross-site", "same-site"} and mode != "navigate"


async def harden(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"


def _is_loopback(address: str) -> bool:
    try:
        return urlsplit(address).hostname in LOOPBACK
    except ValueError:
        return False
