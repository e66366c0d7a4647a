"""The short way to Slack: on the wire nobody can tell it from the SDK's own."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.errors import SlackError
from bot.slack.client import USER_AGENT, DirectClient, call, opened
from bot.slack.refusals import RATE_LIMITED

TOKEN = "xoxb-short"
BLOCKS = [{"type": "section", "text": {"type": "mrkdwn", "text": "ẞ 🌙 <&>"}}]

Asking = Callable[[AsyncWebClient], Coroutine[Any, Any, AsyncSlackResponse]]

CALLS: dict[str, Asking] = {
    "post": lambda client: client.chat_postMessage(
        channel="C1",
        text="Hello",
        thread_ts="1.1",
        blocks=BLOCKS,
        metadata={"event_type": "told", "event_payload": {"key": "a.1"}},
        unfurl_links=False,
    ),
    "rewrite": lambda client: client.chat_update(channel="C1", ts="1.1", text="Hello", blocks=BLOCKS),
    "react": lambda client: client.reactions_add(channel="C1", timestamp="1.1", name="eyes"),
    "flag": lambda client: client.api_call("auth.test", params={"full": True, "cursor": None}),
    "read": lambda client: client.conversations_replies(channel="C1", ts="1.1", include_all_metadata=True),
    "own token": lambda client: client.apps_connections_open(app_token="xapp-other"),
    "nothing": lambda client: client.auth_test(),
}


class Listening:
    """A server that notes what it is asked, and answers what it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.answer: Callable[[], web.Response] = lambda: web.json_response({"ok": True, "ts": "1.2"})
        self.url = ""

    async def heard(self, request: web.Request) -> web.Response:
        headers = {
            name.lower(): value
            for name, value in request.headers.items()
            if name.lower() not in {"host", "content-length"}
        }
        self.asked.append((request.method, request.path, dict(request.query), headers, await request.read()))
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
async def clients(slack: Listening) -> AsyncIterator[tuple[AsyncWebClient, AsyncWebClient]]:
    """Ours and the SDK's."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        ours = await stack.enter_async_context(opened(TOKEN, api_url=slack.url))
        theirs = AsyncWebClient(
            TOKEN, base_url=slack.url, session=session, retry_handlers=[], user_agent_prefix=USER_AGENT
        )
        yield ours, theirs


@pytest.mark.parametrize("ask", CALLS.values(), ids=CALLS)
async def test_slack_is_asked_the_same(
    slack: Listening, clients: tuple[AsyncWebClient, AsyncWebClient], ask: Asking
) -> None:
    """To the byte: path, query, headers and body."""
    ours, theirs = clients
    assert isinstance(ours, DirectClient)

    answers = [await ask(ours), await ask(theirs)]

    assert slack.asked[0] == slack.asked[1]
    assert answers[0].data == answers[1].data
    assert answers[0].status_code == answers[1].status_code == 200


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
        "http_200",
        True,
    ),
}


@pytest.mark.parametrize(("answer", "reason", "again"), ANSWERS.values(), ids=ANSWERS)
async def test_what_slack_may_answer_instead_of_ok(
    slack: Listening,
    clients: tuple[AsyncWebClient, AsyncWebClient],
    answer: Callable[[], web.Response],
    reason: str,
    again: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    """Is one error with one reason, whatever it looks like, and asked once."""
    slack.answer = answer

    with pytest.raises(SlackError) as caught:
        await call(clients[0].chat_postMessage, channel="C1", text="Hello")

    assert (caught.value.reason, caught.value.again) == (reason, again)
    assert caught.value.after_seconds == (7.0 if reason == RATE_LIMITED else 0.0)
    assert isinstance(caught.value.__cause__, SlackApiError)
    assert TOKEN not in str(caught.value)
    assert len(slack.asked) == 1
