"""The page and its wire, without a browser."""

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox
from tests.patience import PATIENCE_SECONDS
from tests.sandbox.blocks import Body


async def next_of(socket: aiohttp.ClientWebSocketResponse, kind: str) -> Body:
    """The next update of this type; others are passed over."""
    while True:
        update: Body = await socket.receive_json(timeout=PATIENCE_SECONDS)
        if update["type"] == kind:
            return update


@pytest.mark.parametrize("path", ["", "static/app.js", "static/style.css", "static/mrkdwn.js"])
async def test_the_page_is_served_with_a_strict_policy(sandbox: Sandbox, path: str) -> None:
    """Everything comes from here; nothing else may be loaded or run."""
    async with aiohttp.ClientSession() as session, session.get(sandbox.url + path) as response:
        text = await response.text()
        assert response.status == 200
        assert "default-src 'self'" in response.headers["Content-Security-Policy"]
        assert "innerHTML" not in text
        assert "https://" not in text


async def test_other_files_are_not_served(sandbox: Sandbox) -> None:
    """The names are a fixed list; there is no way up."""
    async with aiohttp.ClientSession() as session:
        for path in ("static/page.py", "static/..%2fpage.py", "static/index.html", "nothing"):
            async with session.get(sandbox.url + path) as response:
                assert response.status == 404, path


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
async def test_strangers_are_refused(sandbox: Sandbox, headers: dict[str, str]) -> None:
    """A rebound name or another site's page gets nothing: no page, no wire, no API."""
    async with aiohttp.ClientSession(headers=headers) as session:
        for path in ("", "sandbox/live", "api/auth.test"):
            async with session.get(sandbox.url + path) as response:
                assert response.status == 403


async def test_a_link_with_the_token_in_it_changes_nothing(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """A page of somebody else's can have a browser follow it. What only reads does so, as with Slack."""
    words = {"token": sandbox.bot_token, "channel": channel, "text": "hello"}
    async with aiohttp.ClientSession() as session:
        for ask in (
            session.get(f"{sandbox.api_url}chat.postMessage", params=words),
            session.post(f"{sandbox.api_url}chat.postMessage", data=words),
        ):
            async with ask as response:
                assert (await response.json())["error"] == "not_authed"
        async with session.get(
            f"{sandbox.api_url}users.info", params={"token": sandbox.bot_token, "user": "U0ADA"}
        ) as response:
            assert (await response.json())["ok"]
        assert sandbox.messages() == []

        own = {"Origin": sandbox.url.rstrip("/")}
        async with session.post(f"{sandbox.api_url}chat.postMessage", data=words, headers=own) as response:
            assert (await response.json())["ok"]
    await client.api_call("chat.postMessage", http_verb="GET", params={"channel": channel, "text": "by GET"})
    assert [message.text for message in sandbox.messages()] == ["hello", "by GET"]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_what_another_page_loads_from_here_is_refused(sandbox: Sandbox, site: str) -> None:
    """An image names no origin; browsers say all the same whose it is. A link to the page may be followed."""
    async with aiohttp.ClientSession(headers={"Sec-Fetch-Site": site}) as session:
        for path in ("", "api/auth.test"):
            async with session.get(sandbox.url + path, headers={"Sec-Fetch-Mode": "no-cors"}) as response:
                assert response.status == 403
        async with session.get(sandbox.url, headers={"Sec-Fetch-Mode": "navigate"}) as response:
            assert response.status == 200


async def test_the_wire_tells_everything_and_then_every_change(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """What was there, what is said, what is changed, and what is taken away."""
    root = await sandbox.person("ada").say("#roundtable", "before")
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{sandbox.url}sandbox/live") as socket:
        everything = await next_of(socket, "everything")
        ts = (await client.chat_postMessage(channel=channel, text="after", thread_ts=root))["ts"]
        reply, changed_root = await next_of(socket, "message"), await next_of(socket, "message")
        await client.chat_delete(channel=channel, ts=ts)
        gone = await next_of(socket, "gone")

    assert [user["name"] for user in everything["users"]] == ["ada", "grace", "linus", "roundtable"]
    assert [message["text"] for message in everything["messages"]] == ["before"]
    assert reply["message"]["text"] == "after"
    assert changed_root["message"]["reply_count"] == 1
    assert gone["ts"] == ts


async def test_people_act_over_the_wire(sandbox: Sandbox) -> None:
    """Each wish is answered by its number; a mistake is an answer too, and ends nothing."""
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{sandbox.url}sandbox/live") as socket:
        wish = {"do": "say", "as": "U0ADA", "channel": sandbox.channel().id}
        await socket.send_json({**wish, "id": 1, "text": "hello @grace"})
        said = await next_of(socket, "answer")
        await socket.send_json({**wish, "id": 2, "do": "fly"})
        lost = await next_of(socket, "answer")
        await socket.send_json({"id": 3, "do": "press", "as": "U0ADA", "ts": said["ts"], "action_id": "x"})
        nothing = await next_of(socket, "answer")

    assert (said["id"], said["ok"]) == (1, True)
    assert sandbox.message(said["ts"]).text == "hello <@U0GRACE>"
    assert (lost["id"], lost["ok"]) == (2, False)
    assert "nothing here is called" in nothing["error"]


async def test_a_permalink_leads_to_the_page(sandbox: Sandbox, client: AsyncWebClient, channel: str) -> None:
    """To the thread, and the message in it."""
    root = await sandbox.person("ada").say("#roundtable", "root")
    reply = await sandbox.person("ada").say("#roundtable", "reply", thread_ts=root)

    link = str((await client.chat_getPermalink(channel=channel, message_ts=reply))["permalink"])

    async with aiohttp.ClientSession() as session, session.get(link, allow_redirects=False) as response:
        assert response.headers["Location"] == f"/#{channel}/{root}/{reply}"


async def test_an_uploaded_file_is_only_ever_a_download(sandbox: Sandbox, client: AsyncWebClient) -> None:
    """What an app uploads is not run as a page."""
    answer = await client.files_getUploadURLExternal(filename='<b>"x".html', length=3)
    async with aiohttp.ClientSession() as session:
        await session.post(str(answer["upload_url"]), data=b"<b>")
        async with session.get(f"{sandbox.url}files/{answer['file_id']}") as response:
            assert response.content_type == "application/octet-stream"
            assert response.headers["Content-Disposition"] == 'attachment; filename="_b__x_.html"'
