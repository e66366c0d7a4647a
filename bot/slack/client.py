"""The one client through which everything goes to Slack."""

import json as jsons
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain.privacy.redaction import unchanged
from bot.errors import SlackError
from bot.slack.refusals import refusals_translated

# The SDK's client, with a shorter way to Slack for the calls that a discussion makes.
#
# For each call the SDK writes two lines of log that nobody reads, prepares to try again, which we forbid,
# and takes URLs apart: together as much CPU as aiohttp needs to send the request and read the answer. What
# goes over the wire and what comes back is the same. Whatever is unusual (files, a token of its own) goes
# the SDK's way.


JSON = "application/json"
AS_JSON = "application/json;charset=utf-8"
AS_QUERY = "application/x-www-form-urlencoded"


class DirectClient(AsyncWebClient):
    """Needs a session. Nothing is tried again."""

    async def api_call(
        self,
        api_method: str,
        *,
        http_verb: str = "POST",
        json: dict[str, Any] | None = None,
        params: dict[str, Any] | None = None,
        **unusual: Any,
    ) -> AsyncSlackResponse:
        given = params if json is None else json
        if (
            given is None
            or (http_verb != "POST" and json is not None)
            or "token" in given
            or self.default_params
            or any(unusual.values())
        ):
            return await super().api_call(
                api_method, http_verb=http_verb, json=json, params=params, **unusual
            )
        body = jsons.dumps(json).encode() if json is not None else None
        return await self._asked(http_verb, api_method, body=body, query=_query(params or {}))

    async def _asked(
        self, verb: str, method: str, *, body: bytes | None, query: Mapping[str, Any]
    ) -> AsyncSlackResponse:
        assert self.session, "there is one for as long as the client is open"
        url = self.base_url + method
        sent = {
            "Content-Type": AS_QUERY if body is None else AS_JSON,
            "Authorization": f"Bearer {self.token}",
            **self.headers,
        }
        async with self.session.request(verb, url, data=body, params=query, headers=sent) as answer:
            said = await answer.read()
        try:
            content = jsons.loads(said) if answer.content_type == JSON else {}
        except ValueError as error:
            raise SlackApiError(f"The answer of {method} is no JSON", answer) from error
        heard = AsyncSlackResponse(
            client=self,
            http_verb=verb,
            api_url=url,
            req_args={},
            data=content if isinstance(content, dict) else {},
            headers=answer.headers,  # type: ignore[arg-type]  # a mapping, and all that is asked of it
            status_code=answer.status,
        )
        heard.validate()
        return heard


def _query(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: int(value) if isinstance(value, bool) else value
        for name, value in given.items()
        if value is not None
    }


# Who we are in the workspace, as `auth.test` said once, at the start, and how discreet.


CUSTOMISE = "chat:write.customize"
UPLOAD = "files:write"
AGENT = "assistant:write"
"""Slack grants it to every app that is declared an agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """
    *scopes* are the granted ones; empty when Slack did not name any. *redact* is done to what people write.
    *enterprise* is the organisation of the workspace, if it is in an Enterprise Grid. *apps* are the ids of our app,
    as far as they are known.
    """

    team: str
    user: str
    bot: str
    enterprise: str = ""
    apps: frozenset[str] = frozenset()
    token: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    redact: Callable[[str], str] = field(default=unchanged, repr=False, compare=False)

    @property
    def can_customise(self) -> bool:
        return not self.scopes or CUSTOMISE in self.scopes

    @property
    def is_agent(self) -> bool:
        return AGENT in self.scopes


log = logging.getLogger(__name__)

SLACK_API = "https://slack.com/api/"
CALL_SECONDS = 10
CALL_SECONDS_HERE = 5
"""A Slack on this machine answers at once or never."""
CONNECT_SECONDS = 5
USER_AGENT = "roundtable-bot"


@asynccontextmanager
async def opened(
    token: str, *, api_url: str = SLACK_API, seconds: float = 0
) -> AsyncIterator[AsyncWebClient]:
    """
    One session for all calls: without one, the client opens a connection for each. With one it ignores its own
    timeout, so the session has it. Nothing is retried here: a retried post may stand in the thread twice.

    A call may take *seconds*; 0 stands for what is usual there.
    """
    seconds = seconds or (CALL_SECONDS_HERE if is_here(api_url) else CALL_SECONDS)
    timeout = aiohttp.ClientTimeout(total=seconds, connect=min(seconds, CONNECT_SECONDS))
    async with aiohttp.ClientSession(timeout=timeout, trust_env=not is_here(api_url)) as session:
        client = DirectClient(
            token,
            base_url=api_url,
            session=session,
            retry_handlers=[],
            user_agent_prefix=USER_AGENT,
        )
        client.timeout = seconds  # type: ignore[assignment] # whole seconds are all it expects
        client.proxy = None  # the session knows the proxy, and NO_PROXY too; the client only the proxy
        yield client


def is_here(url: str) -> bool:
    """Whether *url* is on this machine: no proxy leads there."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def call(method: Callable[..., Awaitable[Any]], **arguments: Any) -> Any:
    """One call of a method of the client; what goes wrong is a SlackError."""
    with refusals_translated():
        return await method(**arguments)


async def identify(client: AsyncWebClient) -> Identity:
    """Raises SlackError when the token is no good; `again` says whether asking later may help."""
    answer = await call(client.auth_test)
    scopes = answer.headers.get("x-oauth-scopes", "")
    bot = answer.get("bot_id") or ""
    return Identity(
        team=answer["team_id"],
        user=answer["user_id"],
        bot=bot,
        enterprise=answer.get("enterprise_id") or "",
        apps=await _apps(client, bot),
        token=client.token or "",
        scopes=tuple(filter(None, (scope.strip() for scope in scopes.split(",")))),
    )


def app_of(app_token: str) -> frozenset[str]:
    """The id of the app, which its app-level token names."""
    found = re.match(r"xapp-\d+-(A[A-Z0-9]+)-", app_token)
    return frozenset({found[1]}) if found else frozenset()


async def _apps(client: AsyncWebClient, bot: str) -> frozenset[str]:
    """Of our app: it is good to know, and nothing depends on it."""
    if not bot:
        return frozenset()
    try:
        answer = await call(client.bots_info, bot=bot)
    except SlackError as error:
        log.info("the id of our app is not known: %s", error.reason)
        return frozenset()
    app = (answer.get("bot") or {}).get("app_id")
    return frozenset({app}) if app else frozenset()
