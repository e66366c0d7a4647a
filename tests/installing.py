"""
A Slack with several workspaces on this machine: its OAuth, with tokens that are renewed and revoked; and, where a test
has sandboxes, the calls of each token go to the sandbox of its workspace.
"""

import re
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from http.cookies import SimpleCookie
from typing import Any, Self

import aiohttp
import pytest
from aiohttp import web

from slack_sandbox import Sandbox

AS_THE_SDK_DOES = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")
"""slack_sdk sends the secret of an app with what aiohttp will remove in its version 4."""

CLIENT_ID, CLIENT_SECRET = "1.2", "open-sesame"
HOURS = 12 * 60 * 60


def workspace(team: str, *, enterprise: str = "") -> dict[str, Any]:
    """Who installs the app, as `oauth.v2.access` says it."""
    organization = {"id": enterprise, "name": enterprise.lower()} if enterprise else None
    return {
        "team": {"id": team, "name": team.lower()},
        "enterprise": organization,
        "is_enterprise_install": False,
    }


def organization(enterprise: str) -> dict[str, Any]:
    return {"team": None, "enterprise": {"id": enterprise, "name": "Acme"}, "is_enterprise_install": True}


class SeveralSlacks:
    def __init__(self, sandboxes: Mapping[str, Sandbox] | None = None, *, rotates: bool = False) -> None:
        self.rotates = rotates
        self.installing: dict[str, Any] = {}
        """Who is about to install the app."""
        self.revoked: list[str] = []
        self.refreshed: list[str] = []
        self.refuses_to_renew = ""
        self.while_renewing: Callable[[], Awaitable[None]] | None = None
        """What happens between the renewal of a token and its answer."""
        self.seen: list[tuple[str, str]] = []
        """Each call of the API with the workspace of its token."""
        self._sandboxes = sandboxes or {}
        self._tokens: dict[str, dict[str, Any]] = {}
        self._refresh: dict[str, dict[str, Any]] = {}

    async def __aenter__(self) -> Self:
        routes = web.Application()
        routes.add_routes([web.route("*", "/api/{method}", self._call)])
        self._session = aiohttp.ClientSession()
        self._runner = web.AppRunner(routes)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.api_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/api/"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._runner.cleanup()

    def forget_tokens(self, team: str) -> None:
        """What uninstalling does."""
        for token, where in tuple(self._tokens.items()):
            if _id(where) == team:
                del self._tokens[token]

    async def _call(self, request: web.Request) -> web.StreamResponse:
        method, form = request.match_info["method"], await request.read()
        if method == "oauth.v2.access":
            return await self._access_given(await _posted(request))
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self._tokens:
            return web.json_response({"ok": False, "error": "token_revoked" if token else "not_authed"})
        where = self._tokens[token]
        self.seen.append((_id(where), method))
        if method == "auth.revoke":
            self.revoked.append(_id(where))
            del self._tokens[token]
            return web.json_response({"ok": True, "revoked": True})
        if sandbox := self._sandboxes.get(_id(where)):
            return await self._forward(request, form, sandbox)
        assert method == "auth.test", f"{method} needs a sandbox"
        return web.json_response({"ok": True, "bot_id": "B1", "user_id": "U0BOT", "team_id": _id(where),
                                  "url": "https://acme.slack.com/"})  # fmt: skip

    async def _access_given(self, form: Mapping[str, str]) -> web.Response:
        given = self._access(form)
        if form.get("grant_type") == "refresh_token" and self.while_renewing:
            meanwhile, self.while_renewing = self.while_renewing, None
            await meanwhile()
        return web.json_response(given)

    def _access(self, form: Mapping[str, str]) -> dict[str, Any]:
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return {"ok": False, "error": "bad_client_secret"}
        if form.get("grant_type") != "refresh_token":
            return (
                self._granted(self.installing)
                if form.get("code") == "good"
                else {"ok": False, "error": "invalid_code"}
            )
        refresh = form["refresh_token"]
        if self.refuses_to_renew or refresh in self.refreshed or refresh not in self._refresh:
            return {"ok": False, "error": self.refuses_to_renew or "invalid_refresh_token"}
        self.refreshed.append(refresh)
        return self._granted(self._refresh[refresh])

    def _granted(self, where: dict[str, Any]) -> dict[str, Any]:
        number = len(self._tokens) + len(self.revoked) + 1
        token = f"xoxe.xoxb-{number}-{_id(where)}" if self.rotates else f"xoxb-{number}-{_id(where)}"
        self._tokens[token] = where
        granted = {"ok": True, "app_id": "A0SANDBOX", "token_type": "bot", "scope": "chat:write,commands",
                   "bot_user_id": "U0ROUNDTABLE", "authed_user": {"id": "U0ADA"}, **where}  # fmt: skip
        granted["access_token"] = token
        if self.rotates:
            refresh = f"xoxe-{number}"
            self._refresh[refresh] = where
            granted |= {"refresh_token": refresh, "expires_in": HOURS}
        return granted

    async def _forward(self, request: web.Request, body: bytes, sandbox: Sandbox) -> web.Response:
        kept = {
            name: value for name, value in request.headers.items() if name in {"Content-Type", "User-Agent"}
        }
        async with self._session.request(
            request.method,
            f"{sandbox.api_url}{request.match_info['method']}",
            params=request.query,
            data=body,
            headers={**kept, "Authorization": f"Bearer {sandbox.bot_token}"},
        ) as answer:
            scopes = {
                name: value for name, value in answer.headers.items() if name.lower() == "x-oauth-scopes"
            }
            return web.json_response(await answer.json(), status=answer.status, headers=scopes)


class Browser:
    """Somebody who installs the app at *url*, by hand: cookies are sent although the page is not encrypted."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._cookies: dict[str, str] = {}

    async def begin(self) -> str:
        """Opens the first page, and returns the state that its link has."""
        async with aiohttp.ClientSession() as session, session.get(f"{self._url}/slack/install") as page:
            for given in page.headers.getall("Set-Cookie", []):
                self._cookies |= {name: one.value for name, one in SimpleCookie(given).items()}
            text = await page.text()
        found = re.search(r"state=([\w-]+)", text)
        assert found, text
        return found[1]

    async def come_back(self, **query: str) -> tuple[int, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        address = f"{self._url}/slack/oauth_redirect"
        headers = {"Cookie": cookies} if cookies else {}
        async with (
            aiohttp.ClientSession() as session,
            session.get(address, params=query, headers=headers) as page,
        ):
            return page.status, (await page.text()).strip()

    async def install(self) -> tuple[int, str]:
        return await self.come_back(code="good", state=await self.begin())


def _id(where: Mapping[str, Any]) -> str:
    return str((where["enterprise"] if where["is_enterprise_install"] else where["team"])["id"])


async def _posted(request: web.Request) -> dict[str, str]:
    """The SDK sends the id and the secret of the app in a header."""
    form = {name: str(value) for name, value in (await request.post()).items()}
    if basic := request.headers.get("Authorization", ""):
        name, _, secret = b64decode(basic.removeprefix("Basic ")).decode().partition(":")
        form |= {"client_id": name, "client_secret": secret}
    return form
