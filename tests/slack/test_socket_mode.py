"""The whole Slack layer over real sockets: what people do in Slack, and what reaches the desk."""

import asyncio
import logging
import math
from typing import Any

import pytest
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.test_utils import TestServer
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.messages.message import Action, Choice, Message
from bot.domain.roundtable.inputs import Say
from bot.domain.values.places import Person, Place
from bot.errors import ConfigError, NewerVersion, SlackError, Unavailable, UserError
from bot.slack.app import OTHER_VERSION
from bot.slack.chat import SlackChat
from bot.slack.reception import NOT_SAVED, SAVED_BY_NEWER, WENT_WRONG
from bot.slack.transport import CONNECTIONS, Sockets
from slack_sandbox import Sandbox
from tests.patience import PATIENCE_SECONDS, impatient, time_stands_still, wait_until
from tests.slack.conftest import CHANNEL, NOW, ScriptedDesk

MENU = Message(text="What next?", choices=(Choice(action=Action.CONTINUE, label="Continue"),), token="abc")


async def test_a_command_reaches_the_desk_and_is_answered_to_the_person_only(
    connected: Sandbox, desk: ScriptedDesk, place: Place
) -> None:
    """The answer is in the acknowledgement, and nobody else sees it."""
    desk.reply = Message(text="**Dark mode** starts.")
    ada = connected.person("ada")

    delivery = await ada.slash(CHANNEL, "/roundtable start Dark mode for <@U0GRACE>")

    ((verb, asked),) = desk.brought
    assert (verb, asked.rest) == ("start", "Dark mode for @Grace")
    assert (asked.place, asked.person.id, asked.at) == (place, ada.id, NOW)
    assert delivery.acked
    assert ada.ephemerals[-1].text == "*Dark mode* starts."
    assert not connected.messages()


async def test_what_people_say_in_a_thread_is_heard_once_and_readable(
    connected: Sandbox, desk: ScriptedDesk, place: Place
) -> None:
    """Slack's tokens and entities become words; what is said outside threads is not ours."""
    ada = connected.person("ada")
    root = await ada.say(CHANNEL, "not in a thread")

    ts = await ada.say(CHANNEL, "fish & chips <https://a.example> for @grace", thread_ts=root)
    await connected.until(lambda: desk.brought)
    await connected.settled()

    said = Say(
        key=f"{place.channel}.{ts}",
        at=NOW,
        person=Person(id=ada.id),
        text="fish & chips <https://a.example> for @Grace",
        ts=ts,
        private=False,
        under_us=False,
    )
    assert desk.brought == [("say", place.but(thread=root), said, False)]


@impatient
async def test_nothing_is_acknowledged_before_it_is_saved(connected: Sandbox, desk: ScriptedDesk) -> None:
    """A process that dies while it saves has acknowledged nothing."""
    saved = asyncio.Event()
    desk.saving = saved.wait
    ada = connected.person("ada")
    root = await ada.say(CHANNEL, "a thread")
    await connected.settled()

    await ada.say(CHANNEL, "an answer", thread_ts=root)
    await connected.until(lambda: desk.brought)
    delivery = connected.events("message")[-1]

    assert not delivery.acked
    saved.set()
    await connected.until(lambda: delivery.acked)


@impatient
@pytest.mark.parametrize("failure", [Unavailable("no store"), RuntimeError("a bug")])
async def test_what_could_not_be_saved_is_delivered_again(
    connected: Sandbox, desk: ScriptedDesk, failure: Exception
) -> None:
    """No acknowledgement, so Slack sends the same event once more, and it is the same input."""
    ada = connected.person("ada")
    root = await ada.say(CHANNEL, "a thread")
    await connected.settled()
    desk.fails = [failure]

    await ada.say(CHANNEL, "an answer", thread_ts=root)
    await connected.settled()

    first, second = desk.brought
    assert first == second
    delivery = connected.events("message")[-1]
    assert (delivery.acked, delivery.attempts) == (True, 2)
    assert not ada.ephemerals


@impatient
async def test_whoever_speaks_to_us_learns_that_it_is_lost(connected: Sandbox, desk: ScriptedDesk) -> None:
    """Slack gives up after three more attempts; then, and only then, the person is told."""
    desk.fails = [Unavailable("no store")] * 4
    ada = connected.person("ada")
    root = await ada.say(CHANNEL, "a thread")

    await ada.mention(CHANNEL, "stop", thread_ts=root)
    await connected.until(lambda: ada.ephemerals)
    await connected.settled()

    assert [message.text for message in ada.ephemerals] == [NOT_SAVED]
    assert len(desk.brought) == 4


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (Unavailable("no store"), NOT_SAVED),
        (NewerVersion("internals"), SAVED_BY_NEWER),
        (RuntimeError("a bug"), WENT_WRONG),
        (UserError("Can't continue here."), "Can't continue here."),
    ],
)
async def test_a_failed_command_or_click_is_answered_in_one_sentence(
    connected: Sandbox, desk: ScriptedDesk, chat: SlackChat, place: Place, failure: Exception, sentence: str
) -> None:
    """Slack never repeats those, so silence would be the end of it."""
    ada = connected.person("ada")
    menu = await chat.post(place, MENU, key="k", again=False)
    desk.fails = [failure, failure]

    command = await ada.slash(CHANNEL, "/roundtable status")
    click = await ada.press(menu, "roundtable.continue")
    await connected.until(lambda: len(ada.ephemerals) == 2)

    assert command.acked
    assert click.acked
    assert [message.text for message in ada.ephemerals] == [sentence, sentence]


async def test_a_user_error_in_a_thread_is_whispered_there(connected: Sandbox, desk: ScriptedDesk) -> None:
    """It is about what the person asked, so it is told once, in the thread, to nobody else."""
    ada = connected.person("ada")
    root = await ada.say(CHANNEL, "a thread")
    await connected.settled()
    desk.fails = [UserError("Not now.")]

    await ada.say(CHANNEL, "an answer", thread_ts=root)
    await connected.until(lambda: ada.ephemerals)

    (told,) = ada.ephemerals
    assert (told.text, told.thread_ts) == ("Not now.", root)
    assert connected.events("message")[-1].attempts == 1


@pytest.fixture
async def picker(connected: Sandbox, desk: ScriptedDesk) -> str:
    """A picker on Ada's screen."""
    choice = Choice(action=Action.RESUME, label="Dark <mode>", value="dark-mode")
    desk.reply = Message(text="Which one?", choices=(choice,))
    ada = connected.person("ada")
    await ada.slash(CHANNEL, "/roundtable resume")
    return ada.ephemerals[-1].ts


@pytest.mark.parametrize("reply", [None, Message(text="It goes on in its thread.")], ids=["silent", "told"])
async def test_a_used_picker_says_what_was_chosen(
    connected: Sandbox, desk: ScriptedDesk, picker: str, reply: Message | None
) -> None:
    """Its buttons are gone: nobody presses a second one, and what the desk said stands there too."""
    desk.reply = reply
    await connected.person("ada").press(picker, "roundtable.resume")
    await connected.until(lambda: not connected.message(picker).actions)

    words = connected.message(picker).words
    assert words.startswith("Going on with *Dark &lt;mode&gt;*.")
    assert ("It goes on in its thread." in words) == (reply is not None)
    assert len(connected.person("ada").ephemerals) == 1


async def test_a_picker_that_could_not_be_used_stays(
    connected: Sandbox, desk: ScriptedDesk, picker: str
) -> None:
    """The person is told why, beside it, and may choose another."""
    desk.fails = [UserError("No such item.")]
    ada = connected.person("ada")
    await ada.press(picker, "roundtable.resume")
    await connected.until(lambda: len(ada.ephemerals) == 2)

    assert connected.message(picker).actions
    assert ada.ephemerals[-1].text == "No such item."


async def test_when_the_picker_cannot_be_replaced_the_answer_stands_beside_it(
    connected: Sandbox, desk: ScriptedDesk, picker: str
) -> None:
    """Half an hour later its address is no good any more."""
    desk.reply = None
    ada = connected.person("ada")

    async def half_an_hour() -> None:
        connected.clock.skip(31 * 60)

    desk.saving = half_an_hour
    await ada.press(picker, "roundtable.resume")
    await connected.until(lambda: len(ada.ephemerals) == 2)

    assert ada.ephemerals[-1].text == "Going on with *Dark &lt;mode&gt;*."


async def test_our_own_rewriting_is_nobodys_edit(
    connected: Sandbox, desk: ScriptedDesk, chat: SlackChat, place: Place
) -> None:
    """Menus change all the time."""
    ts = await chat.post(place, MENU.but(speaker="business-analyst"), key="k", again=False)
    host = await chat.post(place, MENU, key="k2", again=False)
    thread = place.but(thread=ts)
    inside = await chat.post(thread, MENU, key="k3", again=False)
    for one in (ts, host, inside):
        await chat.rewrite(place, one, MENU.but(choices=(), note="chosen"))
    connected.slack.workspace.delete(connected.message(inside))
    await connected.settled()

    assert not desk.brought
    assert all(delivery.acked for delivery in connected.deliveries)


@pytest.mark.parametrize("how", [{"status": 503}, {"retry_after": 0.05}, {"hang_up": True}], ids=str)
async def test_a_whisper_is_tried_again_when_slack_has_trouble(
    connected: Sandbox, desk: ScriptedDesk, how: dict[str, Any]
) -> None:
    """It is in no outbox, so nobody else would."""
    connected.fail_next("chat.postEphemeral", times=2, **how)
    ada = connected.person("ada")
    root = await ada.say(CHANNEL, "a thread")
    desk.fails = [UserError("Not now.")]
    await ada.say(CHANNEL, "an answer", thread_ts=root)
    await connected.until(lambda: ada.ephemerals)

    assert [message.text for message in ada.ephemerals] == ["Not now."]


async def test_it_is_known_how_long_slack_has_been_silent(sockets: Sockets) -> None:
    """Hello, deliveries and answers to pings count; without a connection it is for ever."""
    assert sockets.hello_age() == math.inf
    await sockets.connect(seconds=PATIENCE_SECONDS)
    try:
        assert math.isfinite(sockets.hello_age())
    finally:
        await sockets.close(seconds=1)
    assert sockets.hello_age() == math.inf


async def test_socket_mode_switched_off_is_said_once(
    connected: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """On two connections. It needs a person to switch it on; whoever only writes the word is not Slack."""
    before = len(connected.calls_of("apps.connections.open"))
    await connected.person("ada").say(CHANNEL, '{"type": "disconnect", "reason": "link_disabled"}')
    await connected.settled()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]

    await connected.disconnect_sockets("link_disabled")
    await connected.until(lambda: len(connected.calls_of("apps.connections.open")) >= before + 2)

    said = [record.getMessage() for record in caplog.records if record.name == "bot.slack.transport"]
    assert len(said) == 1
    assert "Socket Mode was switched off" in said[0]


@pytest.mark.parametrize("refusal", [{"status": 503}, {"retry_after": 1}, {"error": "too_many_websockets"}])
async def test_a_connection_that_slack_does_not_give_is_asked_for_again(
    connected: Sandbox, desk: ScriptedDesk, refusal: dict[str, Any]
) -> None:
    """Both were taken away, and for a while there is no other; what was said meanwhile comes afterwards."""
    ada = connected.person("ada")
    root = await ada.say(CHANNEL, "a thread")
    await connected.settled()
    connected.fail_next("apps.connections.open", times=3, **refusal)
    await connected.disconnect_sockets("refresh_requested")
    await ada.say(CHANNEL, "an answer", thread_ts=root)

    await connected.until(lambda: connected.connections == CONNECTIONS)
    await connected.until(lambda: desk.brought)
    assert [said.text for _, _, said, _ in desk.brought] == ["an answer"]


async def test_nothing_is_ever_left_unacknowledged(
    connected: Sandbox, desk: ScriptedDesk, chat: SlackChat, place: Place, client: AsyncWebClient
) -> None:
    """What nobody listens to: our own posts, other bots, edits, joins, reactions, foreign buttons and shortcuts."""
    ada = connected.person("ada")
    own = await chat.post(place, MENU.but(speaker="business-analyst"), key="k", again=False)
    root = await ada.say(CHANNEL, "a thread")
    await ada.edit(root, "an edited thread")
    await ada.react(own, "eyes")
    await ada.delete(root)
    connected.emit({"type": "pin_added", "user": ada.id, "channel_id": place.channel})
    connected.emit({"type": "message", "bot_id": "B0OTHER", "text": "hi", "channel": place.channel,
                    "ts": "1.1", "thread_ts": "1.0", "channel_type": "channel"})  # fmt: skip
    foreign = {"type": "button", "action_id": "someone.else", "text": {"type": "plain_text", "text": "?"}}
    strange = await client.chat_postMessage(
        channel=place.channel, text="?", blocks=[{"type": "actions", "elements": [foreign]}]
    )

    await ada.press(strange["ts"], "someone.else")
    await ada.global_shortcut("someone.else")
    await connected.settled()

    assert all(delivery.acked and delivery.attempts == 1 for delivery in connected.deliveries)
    assert not desk.brought
    await connected.until(lambda: ada.ephemerals)
    assert ada.ephemerals[0].text == OTHER_VERSION


async def test_no_event_waits_for_auth_test(connected: Sandbox, desk: ScriptedDesk) -> None:
    """Bolt would acknowledge and drop events while auth.test fails; we know already who we are."""
    connected.fail_next("auth.test", "internal_error", times=100)
    ada = connected.person("ada")
    root = await ada.say(CHANNEL, "a thread")

    await ada.say(CHANNEL, "an answer", thread_ts=root)
    await connected.settled()

    assert len(desk.brought) == 1


async def test_a_bad_app_token_is_a_sentence_not_a_silence(app: AsyncApp, client: AsyncWebClient) -> None:
    """The SDK would try a bad token for ever."""
    with pytest.raises(ConfigError, match="SLACK_APP_TOKEN"):
        await Sockets(app, client, app_token="xapp-wrong").connect(seconds=PATIENCE_SECONDS)


async def test_a_connection_that_never_comes_has_a_deadline(sockets: Sockets, sandbox: Sandbox) -> None:
    """The start fails with a sentence, and nothing goes on in the background."""
    sandbox.fail_next("apps.connections.open", delay=0)
    sandbox.fail_next("apps.connections.open", "internal_error", times=50)

    with pytest.raises(SlackError):
        await sockets.connect(seconds=0.2)

    assert not await sockets.is_connected()


async def test_closing_lets_what_is_under_way_be_acknowledged(
    sockets: Sockets, sandbox: Sandbox, desk: ScriptedDesk
) -> None:
    """A process that is told to go finishes what it was told before."""
    await sockets.connect(seconds=PATIENCE_SECONDS)
    saved = asyncio.Event()
    desk.saving = saved.wait
    ada = sandbox.person("ada")
    root = await ada.say(CHANNEL, "a thread")
    await ada.say(CHANNEL, "an answer", thread_ts=root)
    await sandbox.until(lambda: desk.brought)

    closing = asyncio.create_task(sockets.close(seconds=PATIENCE_SECONDS))
    await asyncio.sleep(0)
    saved.set()
    await closing

    assert sandbox.events("message")[-1].acked
    assert not await sockets.is_connected()


async def test_a_stop_does_not_wait_for_slack_to_say_goodbye(app: AsyncApp, client: AsyncWebClient) -> None:
    """It is told that we go. Of a connection that is dead at its end there is no answer, ever."""
    told: list[int | None] = []
    over = asyncio.Event()

    async def link(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoping=False, autoclose=False)
        await socket.prepare(request)
        while (message := await socket.receive()).type is not WSMsgType.CLOSE:
            pass
        told.append(message.data)
        await over.wait()
        return socket

    async def connections_open(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://127.0.0.1:{slack.port}/link"})

    site = web.Application()
    site.add_routes([web.get("/link", link), web.post("/api/apps.connections.open", connections_open)])
    async with TestServer(site) as slack:
        client.base_url = f"http://127.0.0.1:{slack.port}/api/"
        sockets = Sockets(app, client, app_token="xapp-1")
        await sockets.connect()
        with time_stands_still():
            await sockets.close()
        await wait_until(lambda: len(told) == CONNECTIONS)
        over.set()

    assert told == [WSCloseCode.OK] * CONNECTIONS
