"""The one client through which everything goes to Slack."""

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackError
from bot.slack.direct import DirectClient
from bot.slack.identity import Identity
from bot.slack.refusals import refusals_translated

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
