"""Commands, clicks, shortcuts and modals, through Bolt's own listeners."""

from collections.abc import Iterator

import aiohttp
import pytest
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox, SlackRefused, Timing
from tests.patience import PATIENT, impatient
from tests.sandbox.blocks import Body, actions, button, entry, modal, options, plain

DEPTH: Body = {"type": "static_select", "action_id": "depth", "options": options("brief", "deep")}
MENU = [actions(button("go", "Continue", value="42"), DEPTH)]
TITLE = entry("title", {"type": "plain_text_input", "action_id": "title"})
FORM = modal("start", TITLE, entry("depth", DEPTH, optional=True), private_metadata="C1")


async def test_a_command_is_acknowledged_and_answered(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """The acknowledgement's text and what is said to the response_url are seen by that person only."""

    @bolt.command("/roundtable")
    async def command(ack: AsyncAck, command: Body, respond: AsyncRespond) -> None:
        await respond(f"{command['user_name']} in {command['channel_name']}")
        await ack(f"Got: {command['text']}")

    ada = sandbox.person("ada")
    delivery = await ada.slash("#roundtable", "/roundtable start Dark mode")

    assert delivery.acked
    assert [message.text for message in ada.ephemerals] == ["ada in roundtable", "Got: start Dark mode"]
    assert sandbox.messages() == []


async def test_a_click_changes_the_message_it_was_made_on(
    sandbox: Sandbox, bolt: AsyncApp, channel: str
) -> None:
    """The payload says who, where, and what was pressed; the thread too."""
    clicks: list[Body] = []

    @bolt.action("go")
    async def pressed(ack: AsyncAck, body: Body, client: AsyncWebClient) -> None:
        clicks.append(body)
        await client.chat_update(
            channel=channel, ts=body["container"]["message_ts"], text="Chosen", blocks=[]
        )
        await ack()

    ada = sandbox.person("ada")
    root = await ada.say("#roundtable", "root")
    ts = (await bolt.client.chat_postMessage(channel=channel, thread_ts=root, text="menu", blocks=MENU))["ts"]
    delivery = await ada.press(ts, "go")

    [click] = clicks
    assert delivery.acked
    assert sandbox.message(ts).text == "Chosen"
    assert click["user"] == {"id": "U0ADA", "username": "ada", "name": "ada", "team_id": sandbox.team_id}
    assert click["channel"] == {"id": channel, "name": "roundtable"}
    assert click["container"]["thread_ts"] == click["message"]["thread_ts"] == root
    assert click["actions"][0]["value"] == "42"
    assert {"block_id", "action_ts", "text", "type"} <= set(click["actions"][0])


async def test_a_menu_offers_a_choice(sandbox: Sandbox, bolt: AsyncApp, channel: str) -> None:
    """The chosen option is sent whole; what is not offered cannot be chosen."""
    chosen = []

    @bolt.action("depth")
    async def picked(ack: AsyncAck, action: Body) -> None:
        chosen.append(action["selected_option"])
        await ack()

    ts = (await bolt.client.chat_postMessage(channel=channel, text="menu", blocks=MENU))["ts"]
    await sandbox.person("ada").press(ts, "depth", "deep")

    assert chosen == [{"text": plain("deep"), "value": "deep"}]
    with pytest.raises(LookupError, match="bottomless"):
        await sandbox.person("ada").press(ts, "depth", "bottomless")


async def test_a_stale_menu_can_still_be_pressed(sandbox: Sandbox, bolt: AsyncApp, channel: str) -> None:
    """Somebody may press what they saw before it changed; a message by its stamp is what it is now."""

    @bolt.action("go")
    async def pressed(ack: AsyncAck) -> None:
        await ack()

    ts = (await bolt.client.chat_postMessage(channel=channel, text="menu", blocks=MENU))["ts"]
    before = sandbox.message(ts)
    await bolt.client.chat_update(channel=channel, ts=ts, text="over", blocks=[])

    assert (await sandbox.person("ada").press(before, "go")).acked
    with pytest.raises(LookupError):
        await sandbox.person("ada").press(ts, "go")


@impatient
async def test_nobody_answers_a_click(sandbox: Sandbox, bolt: AsyncApp, channel: str) -> None:
    """Without a listener Bolt acknowledges nothing, and the person sees a timeout."""
    ts = (await bolt.client.chat_postMessage(channel=channel, text="menu", blocks=MENU))["ts"]

    delivery = await sandbox.person("ada").press(ts, "go")

    assert (delivery.acked, delivery.error, delivery.attempts) == (False, "operation_timeout", 1)


async def test_nobody_is_there_for_a_command(sandbox: Sandbox) -> None:
    """Slackbot says so, to the person."""
    delivery = await sandbox.person("ada").slash("#roundtable", "/roundtable list")

    [told] = sandbox.person("ada").ephemerals
    assert delivery.error == "dispatch_failed"
    assert told.text == '/roundtable failed with the error "dispatch_failed"'


@pytest.mark.usefixtures("heard")
async def test_a_shortcut_opens_a_form_that_is_corrected_and_submitted(
    sandbox: Sandbox, bolt: AsyncApp
) -> None:
    """Errors keep the modal open, an empty required field does not even reach the app, success closes it."""
    submitted: list[Body] = []

    @bolt.shortcut("roundtable.start")
    async def start(ack: AsyncAck, shortcut: Body, client: AsyncWebClient) -> None:
        await client.views_open(trigger_id=shortcut["trigger_id"], view=FORM)
        await ack()

    @bolt.view("start")
    async def submit(ack: AsyncAck, view: Body) -> None:
        submitted.append(view)
        if view["state"]["values"]["title"]["title"]["value"] == "x":
            await ack(response_action="errors", errors={"title": "Too short."})
        else:
            await ack()

    ada = sandbox.person("ada")
    ts = await ada.say("#roundtable", "We need dark mode")
    assert (await ada.shortcut(ts)).acked
    assert ada.view
    assert ada.view.title == "Start"

    with pytest.raises(SlackRefused, match="required_fields"):
        await ada.submit({"depth": "brief"})
    assert (await ada.submit({"title": "x"})).errors == {"title": "Too short."}
    assert sandbox.person("ada").view is not None
    await ada.submit({"title": "Dark mode", "depth": "deep"})

    assert sandbox.slack.views.top("U0ADA") is None
    values = submitted[-1]["state"]["values"]
    assert values["title"]["title"] == {"type": "plain_text_input", "value": "Dark mode"}
    assert values["depth"]["depth"]["selected_option"]["value"] == "deep"
    assert submitted[-1]["private_metadata"] == "C1"


NUMBER: Body = {"type": "number_input", "action_id": "n", "is_decimal_allowed": False, "min_value": "1"}
SHORT: Body = {"type": "plain_text_input", "action_id": "n", "max_length": 3}


@pytest.mark.parametrize(
    ("element", "entered"),
    [(NUMBER, "soon"), (NUMBER, "1.5"), (NUMBER, "0"), (SHORT, "four"), (SHORT, "🙂🙂")],
)
async def test_what_does_not_fit_an_input_does_not_reach_the_app(
    sandbox: Sandbox, client: AsyncWebClient, element: Body, entered: str
) -> None:
    """Slack looks at numbers and lengths itself."""
    view = {**FORM, "blocks": [{**TITLE, "element": element}]}
    await client.views_open(trigger_id=sandbox.slack.triggers.issue("U0ADA"), view=view)

    with pytest.raises(SlackRefused, match="required_fields"):
        await sandbox.person("ada").submit({"n": entered})


async def test_errors_for_what_is_no_input_are_the_apps_mistake(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """The form stays open, and the person sees that something went wrong."""

    @bolt.view("start")
    async def submit(ack: AsyncAck) -> None:
        await ack(response_action="errors", errors={"nothing": "Too short."})

    ada = sandbox.person("ada")
    await bolt.client.views_open(trigger_id=sandbox.slack.triggers.issue(ada.id), view=FORM)
    delivery = await ada.submit({"title": "Dark mode"})

    assert delivery.error == "invalid_errors"
    assert ada.view is not None


async def test_a_modal_leads_to_the_next(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """An acknowledgement may update the modal, put another on top, or clear them all."""
    answers: Iterator[Body] = iter(
        [
            {"response_action": "update", "view": {**FORM, "title": plain("Second")}},
            {"response_action": "push", "view": {**FORM, "title": plain("Third")}},
            {"response_action": "clear"},
        ]
    )

    @bolt.command("/roundtable")
    async def command(ack: AsyncAck, command: Body, client: AsyncWebClient) -> None:
        await client.views_open(trigger_id=command["trigger_id"], view=FORM)
        await ack()

    @bolt.view("start")
    async def submit(ack: AsyncAck) -> None:
        await ack(**next(answers))

    ada = sandbox.person("ada")
    await ada.slash("#roundtable", "/roundtable start")
    titles = []
    while ada.view:
        titles.append(ada.view.title)
        await ada.submit({"title": "Dark mode"})

    assert titles == ["Start", "Second", "Third"]


async def test_a_closed_modal_is_told_if_asked_for(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """`notify_on_close` makes closing an event of its own."""
    closed = []

    @bolt.view_closed("start")
    async def gone(ack: AsyncAck, view: Body) -> None:
        closed.append(view["callback_id"])
        await ack()

    ada = sandbox.person("ada")
    trigger = sandbox.slack.triggers.issue(ada.id)
    await bolt.client.views_open(trigger_id=trigger, view={**FORM, "notify_on_close": True})
    await ada.dismiss()

    assert closed == ["start"]
    assert ada.view is None


async def test_a_trigger_opens_one_modal_and_soon(sandbox: Sandbox, client: AsyncWebClient) -> None:
    """A second use, a late use and an invented trigger are each refused in Slack's words."""
    triggers = sandbox.slack.triggers
    used = triggers.issue("U0ADA")
    await client.views_open(trigger_id=used, view=FORM)
    late = triggers.issue("U0ADA")
    sandbox.clock.skip(PATIENT.trigger_seconds + 1)
    assert Timing().trigger_seconds < 4

    for trigger, error in [
        (used, "exchanged_trigger_id"),
        (late, "expired_trigger_id"),
        ("1.made.up", "invalid_trigger_id"),
    ]:
        with pytest.raises(SlackApiError, match=error):
            await client.views_open(trigger_id=trigger, view=FORM)


async def test_a_view_that_changed_meanwhile_is_not_overwritten(
    sandbox: Sandbox, client: AsyncWebClient
) -> None:
    """An update with an old hash is a `hash_conflict`."""
    view = (await client.views_open(trigger_id=sandbox.slack.triggers.issue("U0ADA"), view=FORM))["view"]
    await client.views_update(view_id=view["id"], view=FORM, hash=view["hash"])

    with pytest.raises(SlackApiError, match="hash_conflict"):
        await client.views_update(view_id=view["id"], view=FORM, hash=view["hash"])


async def test_a_response_url_serves_five_times(sandbox: Sandbox, bolt: AsyncApp, channel: str) -> None:
    """Private by default, public on request, able to replace and delete the original; then it is used up."""

    @bolt.action("go")
    async def pressed(ack: AsyncAck, respond: AsyncRespond) -> None:
        await respond("private")
        await respond("public", response_type="in_channel")
        await respond("replaced", replace_original=True)
        await respond(delete_original=True)
        await respond("last")
        used_up = await respond("one too many")
        assert used_up.status_code == 404
        assert used_up.body == "used_url"
        await ack()

    ada = sandbox.person("ada")
    ts = (await bolt.client.chat_postMessage(channel=channel, text="menu", blocks=MENU))["ts"]
    delivery = await ada.press(ts, "go")

    assert delivery.acked
    assert [message.text for message in ada.ephemerals] == ["private", "last"]
    assert [message.text for message in sandbox.messages()] == ["public"]


async def test_a_response_url_expires(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """After half an hour nobody is told anything."""
    urls = []

    @bolt.command("/roundtable")
    async def command(ack: AsyncAck, command: Body) -> None:
        urls.append(command["response_url"])
        await ack()

    await sandbox.person("ada").slash("#roundtable", "/roundtable list")
    sandbox.clock.skip(31 * 60)

    async with aiohttp.ClientSession() as session, session.post(urls[0], json={"text": "late"}) as response:
        assert (response.status, await response.text()) == (404, "expired_url")


async def test_a_home_tab_is_published(sandbox: Sandbox, bolt: AsyncApp) -> None:
    """Opening it is an event; what the app publishes is that person's."""

    @bolt.event("app_home_opened")
    async def opened(event: Body, client: AsyncWebClient) -> None:
        blocks = [{"type": "section", "text": plain("Your roundtables")}]
        await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})

    ada = sandbox.person("ada")
    await ada.open_home()
    home = await sandbox.until(lambda: ada.home)
    await sandbox.settled()

    assert home
    assert home.blocks[0]["text"]["text"] == "Your roundtables"
