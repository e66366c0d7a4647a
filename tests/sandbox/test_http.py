"""The same app behind a request URL: signed requests, and Slack's reading of the answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncSay

from slack_sandbox import Sandbox
from slack_sandbox.webhooks import sign
from tests.sandbox.blocks import Body, actions, button

PATH = "/slack/events"


@pytest.fixture
async def served(sandbox: Sandbox, app: AsyncApp) -> AsyncIterator[AsyncApp]:
    """Bolt's own web application, handed to the sandbox by its address."""
    async with TestServer(app.web_app(PATH)) as server:
        assert await sandbox.use_http(str(server.make_url(PATH))), "Bolt answers the challenge"
        yield app


@asynccontextmanager
async def scripted(sandbox: Sandbox, *answers: web.Response) -> AsyncIterator[list[web.Request]]:
    """An app that gives prepared answers, and 200 when it has no more; what it is asked."""
    requests: list[web.Request] = []
    waiting = iter(answers)

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        if body["type"] == "url_verification":
            return web.json_response({"challenge": body["challenge"]})
        requests.append(request)
        return next(waiting, web.Response())

    application = web.Application()
    application.router.add_post(PATH, answer)
    async with TestServer(application) as server:
        await sandbox.use_http(str(server.make_url(PATH)))
        yield requests


async def test_everything_works_over_signed_requests(
    sandbox: Sandbox, served: AsyncApp, channel: str
) -> None:
    """Events, commands and clicks pass Bolt's signature check and are acknowledged."""

    @served.event("message")
    async def message(event: Body, say: AsyncSay) -> None:
        await say(text="menu", thread_ts=event["ts"], blocks=[actions(button())])

    @served.command("/roundtable")
    async def command(ack: AsyncAck) -> None:
        await ack("Nothing to list.")

    @served.action("go")
    async def pressed(ack: AsyncAck) -> None:
        await ack()

    ada = sandbox.person("ada")
    ts = await ada.say("#roundtable", "hello")
    menu = (await sandbox.until(lambda: sandbox.thread(channel, ts)[1:]))[0]

    assert (await ada.press(menu, "go")).acked
    assert (await ada.slash("#roundtable", "/roundtable list")).acked
    assert [message.text for message in ada.ephemerals] == ["Nothing to list."]
    await sandbox.settled()
    assert all(delivery.acked for delivery in sandbox.deliveries)


@pytest.mark.usefixtures("served")
async def test_an_old_signature_is_no_signature(sandbox: Sandbox) -> None:
    """Bolt refuses what was signed more than five minutes ago; a click then fails before the person's eyes."""
    sandbox.clock.skip(-301)

    delivery = await sandbox.person("ada").slash("#roundtable", "/roundtable list")

    assert (delivery.acked, delivery.error) == (False, "dispatch_failed")


def test_a_signature_is_slacks() -> None:
    """The example of Slack's documentation: v0, a keyed SHA-256 over version, time and body."""
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )

    signature = sign("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", body)

    assert signature == "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"


async def test_failures_are_retried_with_number_and_reason(sandbox: Sandbox) -> None:
    """Anything but 2xx is a failure; the next attempt says which, and why it is made."""
    async with scripted(sandbox, web.Response(status=500), web.Response(status=404)) as requests:
        await sandbox.person("ada").say("#roundtable", "hello")
        await sandbox.settled()

    retries = [(r.headers.get("X-Slack-Retry-Num"), r.headers.get("X-Slack-Retry-Reason")) for r in requests]
    assert retries == [(None, None), ("1", "http_error"), ("2", "http_error")]
    assert sandbox.deliveries[0].acked


async def test_an_app_may_ask_not_to_be_asked_again(sandbox: Sandbox) -> None:
    """`X-Slack-No-Retry` ends it."""
    refusal = web.Response(status=500, headers={"X-Slack-No-Retry": "1"})
    async with scripted(sandbox, refusal) as requests:
        await sandbox.person("ada").say("#roundtable", "hello")
        await sandbox.settled()

    assert len(requests) == 1
    assert not sandbox.deliveries[0].acked


async def test_an_app_that_is_down_is_tried_four_times(sandbox: Sandbox) -> None:
    """Then the event is gone."""
    async with scripted(sandbox):
        pass

    await sandbox.person("ada").say("#roundtable", "hello")
    await sandbox.settled()

    [delivery] = sandbox.deliveries
    assert (delivery.attempts, delivery.acked) == (4, False)
