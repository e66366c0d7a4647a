"""Only this machine may talk to the sandbox, and only pages that the sandbox itself served."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PAGE_POLICY = "default-src 'self'; img-src 'self' data:; connect-src 'self' ws:; frame-ancestors 'none'"


@web.middleware
async def loopback_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A name that was made to point here (DNS rebinding), or another site's page, is refused."""
    origin = request.headers.get("Origin")
    if not _is_loopback(f"//{request.host}"):
        raise web.HTTPForbidden(text="The sandbox answers on this machine only.")
    if origin is not None and urlsplit(origin).netloc != request.host:
        raise web.HTTPForbidden(text="The sandbox answers its own page only.")
    return await handler(request)


async def harden(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"


def _is_loopback(address: str) -> bool:
    try:
        return urlsplit(address).hostname in LOOPBACK
    except ValueError:
        return False
