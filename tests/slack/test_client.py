"""The client: one request per call, and every answer that is not ok is one error."""

import logging
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackError
from bot.slack.client import RATE_LIMITED, SENTENCES, call, opened, translated

TOKEN = "xoxb-short"


class Listening:
    """A server that counts requests, and gives the answer that it is told to."""

    def __init__(self) -> None:
        self.requests = 0
        self.answer: Callable[[], web.Response] = lambda: web.json_response({"ok": True, "ts": "1.2"})
        self.url = ""

    async def heard(self, _request: web.Request) -> web.Response:
        self.requests += 1
        return self.answer()


@pytest.fixture
async def slack() -> AsyncIterator[Listening]:
    listening = Listening()
    app = web.Application()
    app.add_routes([web.route("*", "/api/{method}", listening.heard)])
    async with TestServer(app) as server:
        listening.url = str(server.make_url("/api/"))
        yield listening


@pytest.fixture
async def client(slack: Listening) -> AsyncIterator[AsyncWebClient]:
    async with opened(TOKEN, api_url=slack.url) as client:
        yield client


Answering = Callable[[], web.Response]


async def refused(slack: Listening, client: AsyncWebClient, answer: Answering) -> SlackError:
    """Is one error, whatever Slack answers instead of ok, and it is asked once."""
    slack.answer = answer
    with pytest.raises(SlackError) as caught:
        await call(client.chat_postMessage, channel="C1", text="Hello")

    assert TOKEN not in str(caught.value)
    assert slack.requests == 1
    return caught.value


def error(reason: str, **more: str) -> Answering:
    return lambda: web.json_response({"ok": False, "error": reason, **more})


def patience(header: str) -> Answering:
    return lambda: web.json_response({"ok": False}, status=429, headers={"Retry-After": header})


def text(body: str | bytes, kind: str = "application/json", *, status: int = 200) -> Answering:
    content = body.encode() if isinstance(body, str) else body
    return lambda: web.Response(body=content, status=status, content_type=kind)


TROUBLE: dict[str, tuple[Answering, str]] = {
    **{one: (error(one), one) for one in ("internal_error", "fatal_error", "update_failed")},
    "external_channel_migrating": (error("external_channel_migrating"), "external_channel_migrating"),
    "a proxy's page": (text("<h1>Bad gateway</h1>", "text/html", status=502), "http_502"),
    "nothing": (text("{}", status=503), "http_503"),
    "half an answer": (text('{"ok": tr'), "http_200"),
    "no text at all": (text(b"\xff\xfe\xff"), "unreadable_answer"),
    "a list": (text("[]"), "http_200"),
    "a list of something": (text('["ok"]'), "unreadable_answer"),
    "plain text": (text("ok", "text/plain"), "unreadable_answer"),
}


@pytest.mark.parametrize(("answer", "reason"), TROUBLE.values(), ids=TROUBLE)
async def test_what_may_have_happened_is_tried_again(
    slack: Listening, client: AsyncWebClient, answer: Answering, reason: str
) -> None:
    """Perhaps it was done and only the answer was lost: `again` has the engine look first."""
    found = await refused(slack, client, answer)

    assert (found.reason, found.again, found.after_seconds) == (reason, True, 0.0)


@pytest.mark.parametrize(
    "trouble",
    [
        SlackApiError("unreadable: aiohttp's response", SimpleNamespace(status=500, headers={})),
        TimeoutError(),
        aiohttp.ServerDisconnectedError(),
        aiohttp.ClientPayloadError(),
        ConnectionResetError(),
    ],
)
def test_a_connection_that_breaks_is_tried_again(trouble: Exception) -> None:
    assert translated(trouble).again


@pytest.mark.parametrize(
    ("header", "seconds"), [("30", 30.0), ("7", 7.0), ("", 0.0), ("soon", 0.0), ("-1", 0.0)]
)
async def test_slack_says_how_long_to_wait(
    slack: Listening, client: AsyncWebClient, header: str, seconds: float
) -> None:
    """Nonsense means no particular time."""
    found = await refused(slack, client, patience(header))

    assert (found.reason, found.again, found.after_seconds) == (RATE_LIMITED, True, seconds)


@pytest.mark.parametrize("reason", SENTENCES)
async def test_every_known_refusal_is_a_sentence_and_final(
    slack: Listening, client: AsyncWebClient, reason: str
) -> None:
    """Calling again would be refused again, until somebody does what the sentence says."""
    found = await refused(slack, client, error(reason))

    assert (str(found), found.reason, found.again) == (SENTENCES[reason], reason, False)
    assert str(found).endswith(".")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (error("missing_scope", needed="reactions:write"), "`reactions:write`"),
        (error("restricted_action_full_moon"), "don't let me post"),
        (error("phase_of_moon"), "phase_of_moon"),
    ],
)
async def test_other_refusals_say_what_is_known(
    slack: Listening, client: AsyncWebClient, answer: Answering, words: str
) -> None:
    """Which scope is missing; and Slack's new word is better than none."""
    found = await refused(slack, client, answer)

    assert words in str(found)
    assert not found.again


async def test_texts_are_not_in_the_log_at_debug(
    slack: Listening, client: AsyncWebClient, caplog: pytest.LogCaptureFixture
) -> None:
    """The SDK would log whole requests and responses."""
    slack.answer = lambda: web.json_response({"ok": True, "ts": "1.2", "text": "said in private"})
    caplog.set_level(logging.DEBUG)

    await call(client.chat_postMessage, channel="C1", text="asked in private")

    assert "in private" not in caplog.text
