"""The same app over HTTP, behind a real server."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.messages.message import Message
from bot.errors import Unavailable
from bot.server.http import received, serving
from bot.slack.app import slack_app
from bot.slack.parse import CUT
from bot.slack.reception import Reception
from bot.slack.transport import PATH, SlackRequests
from slack_sandbox import Sandbox
from slack_sandbox.webhooks import sign
from tests.ports import free_port
from tests.slack.conftest import CHANNEL, ScriptedDesk


@asynccontextmanager
async def served(app: AsyncApp, secret: str) -> AsyncIterator[str]:
    """The app behind a web server; gives its address."""
    port = free_port()
    route = SlackRequests(app, signing_secret=secret)
    async with serving("127.0.0.1", port, post={PATH: received(route)}):
        yield f"http://127.0.0.1:{port}{PATH}"


@pytest.fixture
async def url(app: AsyncApp, sandbox: Sandbox) -> AsyncIterator[str]:
    async with served(app, sandbox.signing_secret) as url:
        yield url


async def test_events_and_commands_arrive_by_http(url: str, sandbox: Sandbox, desk: ScriptedDesk) -> None:
    """Signed by Slack, answered in the response."""
    assert await sandbox.use_http(url)
    ada = sandbox.person("ada")
    root = await ada.say(CHANNEL, "a thread")

    await ada.say(CHANNEL, "an answer", thread_ts=root)
    desk.reply = Message(text="I hold roundtables")
    delivery = await ada.slash(CHANNEL, "/roundtable help")
    await sandbox.settled()

    assert [verb for verb, *_ in desk.brought] == ["say", "help"]
    assert delivery.acked
    assert ada.ephemerals[-1].text.startswith("I hold roundtables")


async def test_an_event_that_was_not_saved_comes_again_by_http(
    url: str, sandbox: Sandbox, desk: ScriptedDesk
) -> None:
    """503 has Slack repeat it."""
    await sandbox.use_http(url)
    desk.fails = [Unavailable()]
    ada = sandbox.person("ada")
    root = await ada.say(CHANNEL, "a thread")

    await ada.say(CHANNEL, "an answer", thread_ts=root)
    await sandbox.settled()

    assert len(desk.brought) == 2
    assert sandbox.events("message")[-1].acked


@pytest.mark.parametrize(
    "body",
    ['{"type": "event_callback", "authorizations": 5}', '{"response_urls": 5}', '{"event": [], "type": "x"}'],
)
async def test_what_slack_signed_is_acknowledged_however_odd(url: str, sandbox: Sandbox, body: str) -> None:
    """And what nobody signed is refused as ever."""
    headers = {"Content-Type": "application/json", "X-Slack-Request-Timestamp": str(int(time.time()))}
    signature = sign(sandbox.signing_secret, headers["X-Slack-Request-Timestamp"], body.encode())
    async with aiohttp.ClientSession() as session:
        async with session.post(url, data=body, headers=headers) as unsigned:
            assert unsigned.status == 401
        async with session.post(
            url, data=body, headers={**headers, "X-Slack-Signature": signature}
        ) as signed:
            assert signed.status == 200


async def test_the_check_of_our_certificate_is_answered(url: str, desk: ScriptedDesk) -> None:
    """Slack makes it now and then, with a small form that it need not sign; nothing comes of it."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    async with aiohttp.ClientSession() as session:
        async with session.post(url, data=b"ssl_check=1&token=x", headers=form) as checked:
            assert (checked.status, await checked.read()) == (200, b"")
        async with session.post(url, data=b"ssl_check=10&command=%2Froundtable", headers=form) as other:
            assert other.status == 401

    assert not desk.brought


async def test_a_huge_event_is_taken(url: str, sandbox: Sandbox, desk: ScriptedDesk) -> None:
    """Two megabytes: what can be kept of it is."""
    await sandbox.use_http(url)
    ada = sandbox.person("ada")
    root = await ada.say(CHANNEL, "a thread")

    await ada.say(CHANNEL, "word " * 400_000, thread_ts=root)
    await sandbox.settled()

    ((_, _, said, _),) = desk.brought
    assert said.text.endswith(CUT)
    assert sandbox.events("message")[-1].acked


async def test_without_a_secret_nothing_by_http_is_believed(
    client: AsyncWebClient, reception: Reception, sandbox: Sandbox, desk: ScriptedDesk
) -> None:
    """An app in Socket Mode has no secret, and an empty one is known to everybody."""
    app = slack_app(client, reception)
    async with served(app, "") as url:
        assert not await sandbox.use_http(url)
        await sandbox.person("ada").slash(CHANNEL, "/roundtable list")

    assert not desk.brought
