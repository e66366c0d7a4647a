"""The client: one request per call, and every answer that is not ok is one error."""

import logging
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import SlackError
from bot.slack.client import RATE_LIMITED, call, opened

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
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    listening.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    yield listening
    await runner.cleanup()


@pytest.fixture
async def client(slack: Listening) -> AsyncIterator[AsyncWebClient]:
    async with opened(TOKEN, api_url=slack.url) as client:
        yield client


ANSWERS: dict[str, tuple[Callable[[], web.Response], str, bool]] = {
    "a refusal": (lambda: web.json_response({"ok": False, "error": "is_archived"}), "is_archived", False),
    "patience": (
        lambda: web.json_response({"ok": False}, status=429, headers={"Retry-After": "7"}),
        RATE_LIMITED,
        True,
    ),
    "a proxy's page": (
        lambda: web.Response(text="<h1>Bad gateway</h1>", status=502, content_type="text/html"),
        "http_502",
        True,
    ),
    "half an answer": (
        lambda: web.Response(text='{"ok": tr', content_type="application/json"),
        "http_200",
        True,
    ),
    "no text at all": (
        lambda: web.Response(body=b"\xff\xfe\xff", content_type="application/json"),
        "unreadable_answer",
        True,
    ),
    "a list": (lambda: web.json_response([]), "http_200", True),
    "a list of something": (lambda: web.json_response(["ok"]), "unreadable_answer", True),
    "plain text": (lambda: web.Response(text="ok"), "unreadable_answer", True),
}


@pytest.mark.parametrize(("answer", "reason", "again"), ANSWERS.values(), ids=ANSWERS)
async def test_what_slack_may_answer_instead_of_ok(
    slack: Listening,
    client: AsyncWebClient,
    answer: Callable[[], web.Response],
    reason: str,
    again: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    """Is one error with one reason, whatever it looks like, and asked once."""
    slack.answer = answer

    with pytest.raises(SlackError) as caught:
        await call(client.chat_postMessage, channel="C1", text="Hello")

    assert (caught.value.reason, caught.value.again) == (reason, again)
    assert caught.value.after_seconds == (7.0 if reason == RATE_LIMITED else 0.0)
    assert TOKEN not in str(caught.value)
    assert slack.requests == 1


async def test_texts_are_not_in_the_log_at_debug(
    slack: Listening, client: AsyncWebClient, caplog: pytest.LogCaptureFixture
) -> None:
    """The SDK would log whole requests and responses."""
    slack.answer = lambda: web.json_response({"ok": True, "ts": "1.2", "text": "said in private"})
    caplog.set_level(logging.DEBUG)

    await call(client.chat_postMessage, channel="C1", text="asked in private")

    assert "in private" not in caplog.text
