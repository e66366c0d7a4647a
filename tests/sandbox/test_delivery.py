"""Nothing the app did not acknowledge is forgotten: Socket Mode's envelopes, retries, and connections."""

import asyncio
import json
from collections.abc import Sequence

import aiohttp
import pytest
from aiohttp import WSMsgType
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox
from tests.patience import impatient
from tests.sandbox.blocks import Body


def texts(heard: Sequence[Body]) -> list[str]:
    return [body["event"]["text"] for body in heard]


async def ticket(sandbox: Sandbox) -> str:
    """The address of one more connection."""
    answer = await AsyncWebClient(base_url=sandbox.api_url).apps_connections_open(app_token=sandbox.app_token)
    return str(answer["url"])


async def open_socket(sandbox: Sandbox, session: aiohttp.ClientSession) -> aiohttp.ClientWebSocketResponse:
    """A connection of our own, greeted."""
    socket = await session.ws_connect(await ticket(sandbox))
    assert (await socket.receive_json())["type"] == "hello"
    return socket


@impatient
async def test_an_event_nobody_acknowledged_comes_again(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """Four attempts at most, each with its number and reason, all of one event."""
    attempts: list[tuple[str | None, str | None]] = []

    @bolt.event("message")
    async def message(request: AsyncBoltRequest) -> None:
        headers = request.headers
        attempts.append(
            (headers.get("x-slack-retry-num", [None])[0], headers.get("x-slack-retry-reason", [None])[0])
        )
        raise RuntimeError("not saved")

    await sandbox.person("ada").say("#roundtable", "hello")
    await sandbox.settled()

    [delivery] = sandbox.events("message")
    assert (delivery.attempts, delivery.acked) == (4, False)
    assert [number for number, _ in attempts[1:]] == ["1", "2", "3"]
    assert {reason for _, reason in attempts[1:]} == {"timeout"}


async def test_what_happened_while_the_app_was_away_comes_as_a_retry(sandbox: Sandbox, app: AsyncApp) -> None:
    """As soon as it connects, and marked as a retry: apps must not drop those."""
    heard = []

    @app.event("message")
    async def message(event: Body, request: AsyncBoltRequest) -> None:
        heard.append((event["text"], request.headers["x-slack-retry-num"][0]))

    await sandbox.person("ada").say("#roundtable", "anybody?")
    handler = AsyncSocketModeHandler(app, sandbox.app_token)
    await handler.connect_async()  # type: ignore[no-untyped-call]
    await sandbox.until(lambda: heard)
    await sandbox.settled()
    await handler.close_async()  # type: ignore[no-untyped-call]

    assert heard == [("anybody?", "1")]


@pytest.mark.usefixtures("bolt")
async def test_an_acknowledgement_can_get_lost(sandbox: Sandbox, heard: list[Body]) -> None:
    """The app did its work, and hears of it once more."""
    sandbox.faults.drop_acks = 1
    await sandbox.person("ada").say("#roundtable", "hello")
    await sandbox.settled()

    first, again = (body["event_id"] for body in heard)
    assert first == again


@pytest.mark.usefixtures("bolt")
async def test_anything_can_be_delivered_again(sandbox: Sandbox, heard: list[Body]) -> None:
    """On purpose, as often as a test likes, or every event from now on."""
    await sandbox.person("ada").say("#roundtable", "one")
    await sandbox.settled()
    await sandbox.redeliver(sandbox.events("message")[0], times=2)
    sandbox.faults.copies = 1
    await sandbox.person("ada").say("#roundtable", "two")
    await sandbox.settled()

    assert texts(heard) == ["one", "one", "one", "two", "two"]


@pytest.mark.usefixtures("bolt")
async def test_events_can_come_out_of_order(sandbox: Sandbox, heard: list[Body]) -> None:
    """Slack promises no order; held events are released the last one first."""
    sandbox.hold_events()
    for text in ("one", "two", "three"):
        await sandbox.person("ada").say("#roundtable", text)
    sandbox.release_events(backwards=True)
    await sandbox.settled()

    assert texts(heard) == ["three", "two", "one"]


@impatient
@pytest.mark.usefixtures("bolt")
@pytest.mark.parametrize("polite", [True, False], ids=["refresh", "cut"])
async def test_the_app_comes_back_when_its_connection_goes(
    sandbox: Sandbox, heard: list[Body], *, polite: bool
) -> None:
    """Asked to reconnect, or cut off: a new ticket, a new socket, and events go on."""
    if polite:
        await sandbox.disconnect_sockets()
    else:
        sandbox.drop_sockets()
    await sandbox.until(lambda: sandbox.calls_of("apps.connections.open")[1:] and sandbox.connected)
    await sandbox.person("ada").say("#roundtable", "still there?")
    await sandbox.until(lambda: heard)
    await sandbox.settled()

    assert set(texts(heard)) == {"still there?"}


async def test_every_envelope_goes_to_one_connection_and_any_may_acknowledge(sandbox: Sandbox) -> None:
    """Turn by turn; an acknowledgement on another socket counts."""
    async with aiohttp.ClientSession() as session:
        sockets = [await open_socket(sandbox, session) for _ in range(2)]
        await sandbox.person("ada").say("#roundtable", "one")
        await sandbox.person("ada").say("#roundtable", "two")

        envelopes = [await socket.receive_json() for socket in sockets]
        for socket, envelope in zip(reversed(sockets), envelopes, strict=True):
            await socket.send_json({"envelope_id": envelope["envelope_id"]})
        await sandbox.settled()

        assert {e["payload"]["event"]["text"] for e in envelopes} == {"one", "two"}
        assert [delivery.attempts for delivery in sandbox.deliveries] == [1, 1]
        assert [envelope["accepts_response_payload"] for envelope in envelopes] == [False, False]
        for socket in sockets:
            await socket.close()


async def test_a_ticket_opens_one_connection(sandbox: Sandbox) -> None:
    """The address `apps.connections.open` gives is good for one use."""
    url = await ticket(sandbox)
    async with aiohttp.ClientSession() as session, session.ws_connect(url):
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            await session.ws_connect(url)


async def test_ten_connections_are_enough(sandbox: Sandbox) -> None:
    """The eleventh is told so and closed."""
    async with aiohttp.ClientSession() as session:
        sockets = [await open_socket(sandbox, session) for _ in range(10)]
        async with session.ws_connect(await ticket(sandbox)) as eleventh:
            assert (await eleventh.receive_json())["reason"] == "too_many_websockets"
            assert (await eleventh.receive()).type is WSMsgType.CLOSE
        assert sandbox.connections == 10
        for socket in sockets:
            await socket.close()


async def test_pings_are_answered_with_their_own_words(sandbox: Sandbox) -> None:
    """The SDK measures the life of a connection by them; a frozen connection says nothing at all."""
    address = await ticket(sandbox)
    async with aiohttp.ClientSession() as session, session.ws_connect(address, autoping=False) as socket:
        await socket.receive_json()
        await socket.ping(b"sdk-ping-pong:1")
        assert (await socket.receive()).data == b"sdk-ping-pong:1"

        sandbox.faults.frozen = True
        await socket.ping(b"sdk-ping-pong:2")
        with pytest.raises(TimeoutError):
            await socket.receive(timeout=0.05)
        sandbox.faults.frozen = False


ANSWERS: list[tuple[Body, type[Exception] | None]] = [
    ({"error": "internal_error"}, SlackApiError),
    ({"status": 503}, SlackApiError),
    ({"retry_after": 1}, SlackApiError),
    ({"hang_up": True}, aiohttp.ServerDisconnectedError),
    ({"delay": 0.01}, None),
]


@pytest.mark.parametrize("after", [False, True], ids=["instead", "after"])
@pytest.mark.parametrize(("fault", "error"), ANSWERS, ids=str)
async def test_a_call_can_be_made_to_fail(
    sandbox: Sandbox,
    client: AsyncWebClient,
    channel: str,
    *,
    fault: Body,
    error: type[Exception] | None,
    after: bool,
) -> None:
    """Instead of what was asked, or after it was done; once, and only that method."""
    sandbox.fail_next("chat.postMessage", **fault, after=after)

    await client.auth_test()
    if error:
        with pytest.raises(error):
            await client.chat_postMessage(channel=channel, text="x")
    else:
        await client.chat_postMessage(channel=channel, text="x")
    await client.chat_postMessage(channel=channel, text="y")

    survived = after or error is None
    assert [message.text for message in sandbox.messages()] == (["x", "y"] if survived else ["y"])


async def test_a_rate_limit_says_how_long(sandbox: Sandbox, client: AsyncWebClient, channel: str) -> None:
    """429 with Retry-After, for one channel if need be."""
    other = sandbox.add_channel("other").id
    sandbox.fail_next("chat.postMessage", retry_after=7, channel=channel)

    await client.chat_postMessage(channel=other, text="x")
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=channel, text="x")

    assert refused.value.response.status_code == 429
    assert refused.value.response.headers["Retry-After"] == "7"


async def test_a_revoked_token_is_refused_everywhere(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """Whatever is called, until the test says otherwise."""
    sandbox.revoke_token()
    for method in ("auth.test", "chat.postMessage"):
        with pytest.raises(SlackApiError, match="token_revoked"):
            await client.api_call(method, json={"channel": channel, "text": "x"})


async def test_every_call_is_on_record(sandbox: Sandbox, client: AsyncWebClient, channel: str) -> None:
    """What was asked, when, and what it was told; the token is not kept."""
    await client.chat_postMessage(channel=channel, text="x")
    with pytest.raises(SlackApiError):
        await client.chat_postMessage(channel="C404", text="x")

    first, second = sandbox.calls_of("chat.postMessage")
    assert first.args["text"] == "x"
    assert (first.ok, second.error) == (True, "channel_not_found")
    assert first.at <= second.at
    assert "token" not in first.args


async def test_waiting_ends_with_a_reason(sandbox: Sandbox) -> None:
    """A test that waits in vain is told what happened instead."""
    await sandbox.person("ada").say("#roundtable", "hello")

    with pytest.raises(TimeoutError, match="U0ADA: hello"):
        await sandbox.until(lambda: False, seconds=0.01)


async def test_a_delivery_tells_how_long_the_app_took(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """From sending to acknowledgement, in seconds."""

    @bolt.command("/roundtable")
    async def command(ack: AsyncAck) -> None:
        await asyncio.get_running_loop().run_in_executor(None, json.dumps, {})
        await ack({"text": "ok", "response_type": "ephemeral"})

    delivery = await sandbox.person("ada").slash("#roundtable", "/roundtable list")

    assert delivery.seconds > 0
    assert delivery.response["text"] == "ok"


async def test_a_message_can_land_after_the_app_was_told_that_it_failed(
    sandbox: Sandbox, client: AsyncWebClient, channel: str
) -> None:
    """The worst that Slack does: whoever posts again at once has posted twice."""
    sandbox.fail_next("chat.postMessage", status=503, late=0.05)
    sandbox.fail_next("chat.postMessage", late=0.05)

    with pytest.raises(SlackApiError):
        await client.chat_postMessage(channel=channel, text="one")
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await client.chat_postMessage(channel=channel, text="two")
    assert sandbox.messages() == []

    await sandbox.until(lambda: len(sandbox.messages()) == 2)
    assert [message.text for message in sandbox.messages()] == ["one", "two"]


async def test_a_half_open_connection_looks_alive(sandbox: Sandbox) -> None:
    """What is sent to it is lost, and it answers no ping; a new one works."""
    async with aiohttp.ClientSession() as session:
        dead = await open_socket(sandbox, session)
        sandbox.freeze_sockets()
        assert sandbox.connections == 1
        await dead.ping(b"?")
        with pytest.raises(TimeoutError):
            await dead.receive(timeout=0.05)

        alive = await open_socket(sandbox, session)
        await alive.send_json({})
        await dead.close()
        await alive.close()


async def test_slack_counts_the_calls_when_it_is_asked_to() -> None:
    """Per method and minute, and posts per channel; it says how long to wait, and lets through after that."""
    async with Sandbox(rate_limits=True) as sandbox:
        client = AsyncWebClient(token=sandbox.bot_token, base_url=sandbox.api_url, retry_handlers=[])
        one, other = sandbox.channel().id, sandbox.add_channel("other").id
        for _ in range(10):
            await client.chat_postMessage(channel=one, text="x")
        with pytest.raises(SlackApiError) as refused:
            await client.chat_postMessage(channel=one, text="x")
        await client.chat_postMessage(channel=other, text="x")
        wait = int(refused.value.response.headers["Retry-After"])

        assert refused.value.response.status_code == 429
        assert refused.value.response["error"] == "ratelimited"
        assert 1 <= wait <= 5
        assert len(sandbox.messages()) == 10

        sandbox.clock.skip(wait)
        await client.chat_postMessage(channel=one, text="x")
        for _ in range(50):
            await client.conversations_info(channel=one)
        with pytest.raises(SlackApiError, match="ratelimited"):
            await client.conversations_info(channel=other)
        assert (await client.auth_test())["ok"]
