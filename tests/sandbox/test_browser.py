"""The page as people use it, in a real browser."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, ViewportSize, expect
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import App, Sandbox, Timing
from tests.accessible import flaws_of
from tests.browser import opened_page
from tests.sandbox.blocks import Body, actions, button, entry, modal, options, plain, section

PHONE: ViewportSize = {"width": 390, "height": 780}


@pytest.fixture
async def page(sandbox: Sandbox, chromium: str) -> AsyncIterator[Page]:
    """Any error in the page's own code fails the test."""
    async with opened_page(chromium) as page:
        await page.goto(sandbox.url)
        yield page


async def test_talking_and_pressing(bolt: AsyncApp, page: Page) -> None:
    """Type, read the answer in the thread, press its button, see the menu change, with the keyboard alone."""

    @bolt.event("message")
    async def answer(event: Body, say: AsyncSay) -> None:
        await say(
            text="menu",
            thread_ts=event["ts"],
            username="Maya Chen",
            icon_emoji=":mag:",
            blocks=[section("Ready?"), actions(button("go", "Continue", style="primary"))],
        )

    @bolt.action("go")
    async def pressed(ack: AsyncAck, body: Body, client: AsyncWebClient) -> None:
        where = {"channel": body["channel"]["id"], "ts": body["message"]["ts"]}
        await client.chat_update(**where, text=f"Chosen by <@{body['user']['id']}>", blocks=[])
        await ack()

    await page.get_by_role("radio", name="Grace").check(force=True)
    composer = page.get_by_label("Message #roundtable")
    await composer.fill("It is *too* bright <script>alert(1)</script>")
    await composer.press("Enter")

    said = page.locator("#channel-messages .message", has_text="too bright")
    await expect(said.locator("strong.author")).to_have_text("Grace")
    await expect(said).to_contain_text("<script>alert(1)</script>")
    await expect(said.locator(".words strong")).to_have_text("too")

    await said.get_by_role("button", name="1 reply").press("Enter")
    thread = page.get_by_role("complementary", name="Thread")
    await expect(thread.locator(".author").last).to_have_text("Maya Chen")
    await thread.get_by_role("button", name="Continue").press("Enter")

    await expect(thread).to_contain_text("Chosen by @grace")
    await expect(thread.get_by_role("button", name="Continue")).to_have_count(0)


async def test_what_the_app_is_doing_stands_under_the_thread(
    sandbox: Sandbox, bolt: AsyncApp, client: AsyncWebClient, page: Page, channel: str
) -> None:
    """In its own words, or with a button that stops it where it is an agent."""
    stopped = []

    @bolt.event("agent_session_stopped")
    async def stop(event: Body) -> None:
        stopped.append(event["user"])
        await client.agents_sessions_setStatus(**where, status="active")

    root = await sandbox.person("ada").say("#roundtable", "root")
    where = {"channel_id": channel, "thread_ts": root}
    await sandbox.person("ada").say("#roundtable", "a reply", thread_ts=root)
    await page.get_by_role("button", name="1 reply").click()
    thread = page.get_by_role("complementary", name="Thread")
    await client.assistant_threads_setStatus(channel_id=channel, thread_ts=root, status="is thinking…")
    await expect(thread.get_by_text("roundtable is thinking…")).to_be_visible()
    await expect(thread.get_by_role("button", name="Stop")).to_have_count(0)
    await client.assistant_threads_setStatus(channel_id=channel, thread_ts=root, status="")

    await client.agents_sessions_setStatus(**where, status="processing")
    await thread.get_by_role("button", name="Stop").click()
    await expect(thread.get_by_role("button", name="Stop")).to_have_count(0)
    assert len(stopped) == 1


async def test_a_command_a_form_and_a_confirmation(
    sandbox: Sandbox, bolt: AsyncApp, page: Page, channel: str
) -> None:
    """A command is typed like anything else; a modal shows what is wrong where it is wrong."""
    stopped = []

    @bolt.command("/roundtable")
    async def command(ack: AsyncAck, command: Body, client: AsyncWebClient) -> None:
        title = entry("title", {"type": "plain_text_input", "action_id": "title"}, label="Title")
        await client.views_open(trigger_id=command["trigger_id"], view=modal("start", title))
        await ack("One moment.")

    @bolt.view("start")
    async def submitted(ack: AsyncAck, view: Body) -> None:
        if len(view["state"]["values"]["title"]["title"]["value"]) < 3:
            await ack(response_action="errors", errors={"title": "Too short."})
        else:
            await ack()

    @bolt.action("stop")
    async def stop(ack: AsyncAck, body: Body) -> None:
        stopped.append(body["user"]["name"])
        await ack()

    composer = page.get_by_label("Message #roundtable")
    await composer.fill("/roundtable start")
    await composer.press("Enter")
    form = page.get_by_role("dialog", name="Start")
    await expect(page.locator(".ephemeral")).to_contain_text("Only visible to you")
    await form.get_by_label("Title").fill("x")
    await form.get_by_role("button", name="Begin").click()
    await expect(form).to_contain_text("Too short.")
    await form.get_by_label("Title").fill("Dark mode")
    await form.get_by_role("button", name="Begin").click()
    await expect(form).to_be_hidden()

    sure = {"title": plain("Sure?"), "text": plain("Really."), "confirm": plain("Stop"), "deny": plain("No")}
    blocks = [actions(button("stop", "Stop here", confirm=sure))]
    await bolt.client.chat_postMessage(channel=channel, text="menu", blocks=blocks)
    await page.locator("[data-action-id=stop]").click()
    await page.get_by_role("dialog", name="Sure?").get_by_role("button", name="Stop").click()
    await sandbox.until(lambda: stopped)

    assert stopped == ["ada"]


@pytest.mark.usefixtures("heard")
async def test_what_can_be_done_with_a_message(bolt: AsyncApp, page: Page, channel: str) -> None:
    """React and take it back, edit, start a shortcut, choose from a menu, delete."""
    done = []

    @bolt.event("reaction_added")
    async def added() -> None:
        pass

    @bolt.event("reaction_removed")
    async def removed() -> None:
        pass

    @bolt.shortcut("roundtable.start")
    async def shortcut(ack: AsyncAck, shortcut: Body) -> None:
        done.append(shortcut["message"]["text"])
        await ack()

    @bolt.action("depth")
    async def chosen(ack: AsyncAck, action: Body) -> None:
        done.append(action["selected_option"]["value"])
        await ack()

    composer = page.get_by_label("Message #roundtable")
    await composer.fill("Mondya")
    await composer.press("Enter")
    said = page.locator("#channel-messages .message").first
    await said.get_by_role("button", name="Add a reaction").focus()
    await page.keyboard.press("Enter")
    for name in ("pushpin", "raised hand", "question", "no entry sign"):  # those that mark a message
        await expect(page.get_by_role("menuitem", name=name, exact=False).last).to_be_visible()
    await page.get_by_role("menuitem", name="white check mark").click()
    reaction = said.locator("[data-reaction=white_check_mark]")
    await expect(reaction).to_have_attribute("aria-pressed", "true")
    await reaction.click()
    await expect(reaction).to_have_count(0)

    await said.get_by_role("button", name="More actions").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name="Edit message").click()
    await said.get_by_label("Edit message").fill("Monday")
    await said.get_by_role("button", name="Save").click()
    await expect(said).to_contain_text("Monday(edited)")

    await said.get_by_role("button", name="More actions").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name="Start a roundtable").click()

    select = {"type": "static_select", "action_id": "depth", "options": options("brief", "deep")}
    blocks = [actions({**select, "placeholder": plain("Depth")})]
    await bolt.client.chat_postMessage(channel=channel, text="menu", blocks=blocks)
    await page.get_by_label("Depth").select_option("deep")
    await expect(page.get_by_label("Depth")).not_to_have_attribute("aria-busy", "true")

    await said.get_by_role("button", name="More actions").focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name="Delete message").click()
    await expect(page.locator("#channel-messages .message")).to_have_count(1)
    assert done == ["Monday", "deep"]


async def test_a_failure_is_told_and_nothing_is_lost(page: Page) -> None:
    """No app is there: the page says so, for a command and in the corner."""
    await expect(page.get_by_role("status").first).to_have_text("roundtable is away")

    composer = page.get_by_label("Message #roundtable")
    await composer.fill("/roundtable list")
    await composer.press("Enter")

    await expect(page.get_by_role("alert")).to_contain_text("dispatch_failed")
    await expect(page.locator(".ephemeral")).to_contain_text("/roundtable failed with the error")


async def test_nobody_is_invited_to_talk_where_nobody_listens(page: Page) -> None:
    """An app that hears no direct messages is not said hello to; what it writes there can be read."""
    hears_nothing = Sandbox(app=App(events=frozenset({"message.channels"})))
    hello = page.get_by_role("button", name="Say hello to roundtable")
    await expect(hello).to_be_visible()

    async with hears_nothing as other:
        await page.goto(other.url)
        await expect(page.get_by_label("Message #roundtable")).to_be_visible()
        await expect(hello).to_be_hidden()
        client = AsyncWebClient(token=other.bot_token, base_url=other.api_url)
        await client.chat_postMessage(channel="U0ADA", text="Only for you")
        await page.reload()
        await page.locator("#directs a").click()

        await expect(page.locator("#channel-messages")).to_contain_text("Only for you")
        await expect(page.locator("#channel-foot")).to_have_text("roundtable does not read direct messages.")


async def test_commands_are_not_for_threads(sandbox: Sandbox, page: Page) -> None:
    """As in Slack; the page says what to type instead, and keeps what was typed."""
    root = await sandbox.person("ada").say("#roundtable", "root")
    await page.goto(f"{sandbox.url}#{sandbox.channel().id}/{root}")

    composer = page.get_by_label("Reply…")
    await composer.fill("/roundtable resume")
    await composer.press("Enter")

    await expect(page.get_by_role("alert")).to_contain_text("@roundtable resume")
    await expect(composer).to_have_value("/roundtable resume")


async def test_a_form_of_all_inputs_fits_a_phone(sandbox: Sandbox, bolt: AsyncApp, page: Page) -> None:
    """Choices, several of them, numbers and lines are filled in and come back; the buttons stay in sight."""
    submitted: list[Body] = []
    long = [
        {"text": plain(f"FR-{n:03}  A requirement with a longer title"), "value": f"FR-{n:03}"}
        for n in range(30)
    ]
    keep = [
        {"text": plain("Yes"), "value": "keep"},
        {"text": plain("No"), "value": "no", "description": plain("Gone")},
    ]
    elements: dict[str, Body] = {
        "title": {"type": "plain_text_input", "initial_value": "Soon"},
        "lines": {"type": "plain_text_input", "multiline": True},
        "days": {"type": "number_input", "is_decimal_allowed": False},
        "kind": {"type": "static_select", "option_groups": [{"label": plain("New"), "options": long}]},
        "needs": {"type": "multi_static_select", "options": long, "initial_options": long[:1]},
        "keep": {"type": "radio_buttons", "options": keep, "initial_option": keep[0]},
    }
    blocks = [
        entry(f"{name}.4", {**element, "action_id": f"roundtable.{name}"}, label=name, optional=True)
        for name, element in elements.items()
    ]

    @bolt.view("amend")
    async def submit(ack: AsyncAck, view: Body) -> None:
        submitted.append(view["state"]["values"])
        await ack()

    await page.set_viewport_size(PHONE)
    view = modal("amend", *blocks, title="Amend FR-003", submit="Save")
    await bolt.client.views_open(trigger_id=sandbox.slack.triggers.issue("U0ADA"), view=view)
    form = page.get_by_role("dialog", name="Amend FR-003")
    await expect(form.get_by_role("button", name="Save")).to_be_in_viewport()
    assert not await form.evaluate("dialog => dialog.scrollWidth > dialog.clientWidth")
    await form.get_by_role("textbox", name="title").fill("In 2 days")
    await form.get_by_label("days").fill("soon")
    await form.get_by_label("FR-003").check()
    await form.locator("select").select_option("FR-007")
    await form.get_by_role("radio", name="No").check()
    await form.get_by_role("button", name="Save").click()
    await expect(form).to_contain_text("A number, please.")
    await form.get_by_label("days").fill("2")
    await form.get_by_role("button", name="Save").click()
    await expect(form).to_be_hidden()

    (values,) = submitted
    entered = {block: next(iter(fields.values())) for block, fields in values.items()}
    assert (entered["title.4"]["value"], entered["days.4"]["value"]) == ("In 2 days", "2")
    assert [one["value"] for one in entered["needs.4"]["selected_options"]] == ["FR-000", "FR-003"]
    assert entered["kind.4"]["selected_option"]["value"] == "FR-007"
    assert entered["keep.4"]["selected_option"]["value"] == "no"


async def test_a_time_and_people_are_chosen_on_a_phone(sandbox: Sandbox, bolt: AsyncApp, page: Page) -> None:
    """With the keyboard alone; each control has its label as its name, and what was set before is there."""
    submitted: list[Body] = []
    due = {"type": "datetimepicker", "action_id": "due", "initial_date_time": 1_795_413_600}
    people = {"type": "multi_users_select", "action_id": "people", "initial_users": ["U0GRACE"]}
    later = {"type": "datetimepicker", "action_id": "later"}
    blocks = [
        entry("due", due, label="Until when?", optional=True),
        entry("people", people, label="Who?", optional=True),
        entry("later", later, label="And then?", optional=True),
    ]

    @bolt.view("start")
    async def submit(ack: AsyncAck, view: Body) -> None:
        submitted.append(view["state"]["values"])
        await ack()

    await page.set_viewport_size(PHONE)
    trigger = sandbox.slack.triggers.issue("U0ADA")
    await bolt.client.views_open(trigger_id=trigger, view=modal("start", *blocks))
    form = page.get_by_role("dialog", name="Start")
    time = form.get_by_label("Until when?")
    await expect(time).to_be_focused()
    before = await time.input_value()
    await time.fill(f"2031{before[4:]}")
    who = form.get_by_role("group", name="Who?")
    await expect(who.get_by_role("checkbox", name="Grace")).to_be_checked()
    await who.get_by_role("checkbox", name="Ada").press("Space")
    await who.get_by_role("checkbox", name="Grace").press("Space")
    await who.get_by_role("checkbox", name="Linus").press("Space")
    assert not await form.evaluate("dialog => dialog.scrollWidth > dialog.clientWidth")
    assert await flaws_of(page) == []
    await form.get_by_role("button", name="Begin").press("Enter")
    await expect(form).to_be_hidden()

    (values,) = submitted
    year = 2031 - 2026
    leap_days = 1  # in 2028
    assert values["due"]["due"]["selected_date_time"] == 1_795_413_600 + (365 * year + leap_days) * 86_400
    assert values["people"]["people"]["selected_users"] == ["U0ADA", "U0LINUS"]
    assert values["later"]["later"]["selected_date_time"] is None


async def test_everything_can_be_reached_on_a_phone(client: AsyncWebClient, page: Page) -> None:
    """Channels, direct messages, Home and who speaks: all in sight, all with their names."""
    await client.chat_postMessage(channel="U0ADA", text="Good morning.")
    await page.set_viewport_size(PHONE)
    sidebar = page.get_by_role("navigation", name="Workspace")
    names = ("# roundtable", "Roundtable", "roundtable: Home")
    links = [sidebar.get_by_role("link", name=name, exact=True) for name in names]
    people = [sidebar.get_by_role("radio", name=name) for name in ("Ada", "Grace", "Linus")]
    for one in (*links, *people):
        await expect(one).to_be_in_viewport()
        box = await one.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 390
    await links[1].press("Enter")
    await expect(page.locator("#channel-messages")).to_contain_text("Good morning.")
    await people[1].press("Space")
    await expect(people[1]).to_be_checked()
    assert await flaws_of(page) == []
    assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")


async def test_a_narrow_window_shows_one_thing_at_a_time(sandbox: Sandbox, page: Page) -> None:
    """The thread takes the place of the channel, and Escape leads back."""
    ada = sandbox.person("ada")
    root = await ada.say("#roundtable", "root")
    await ada.say("#roundtable", "reply", thread_ts=root)
    await page.set_viewport_size({"width": 420, "height": 780})

    await page.get_by_role("button", name="1 reply").click()
    await expect(page.get_by_label("Message #roundtable")).to_be_hidden()
    await page.keyboard.press("Escape")

    await expect(page.get_by_label("Message #roundtable")).to_be_visible()
    assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")


def bold(text: str) -> Body:
    return {"type": "text", "text": text, "style": {"bold": True}}


def rich_list(level: int, *elements: Body) -> Body:
    items = [{"type": "rich_text_section", "elements": [element]} for element in elements]
    return {"type": "rich_text_list", "style": "bullet", "indent": level, "elements": items}


async def test_a_card_on_a_phone(bolt: AsyncApp, page: Page, channel: str, sandbox: Sandbox) -> None:
    """Lists keep their levels, a menu opens, and each line's choice comes from the menu of that line."""
    chosen: list[Body] = []

    @bolt.action("line")
    async def line(ack: AsyncAck, body: Body) -> None:
        chosen.append(body["actions"][0])
        await ack()

    def suggestion(number: int) -> Body:
        offered = [{"text": plain(what), "value": f"k7/{number}/{what}"} for what in ("Accept", "Leave out")]
        menu = {"type": "overflow", "action_id": "line", "options": offered}
        return section(f"Suggestion {number}", accessory=menu)

    inert = {"type": "text", "text": "<b>*as* written</b>"}
    words = {"type": "rich_text", "elements": [rich_list(0, bold("FR-001")), rich_list(1, inert)]}
    await page.set_viewport_size(PHONE)
    blocks = [words, suggestion(1), suggestion(2)]
    await bolt.client.chat_postMessage(channel=channel, text="card", blocks=blocks)

    await expect(page.locator(".rich .level-0 strong")).to_have_text("FR-001")
    await expect(page.locator(".rich .level-1 li")).to_have_text("<b>*as* written</b>")
    await page.get_by_role("button", name="More actions").nth(1).click()
    await page.get_by_role("menuitem", name="Leave out").click()
    await sandbox.until(lambda: chosen)

    assert chosen[0]["type"] == "overflow"
    assert chosen[0]["selected_option"]["value"] == "k7/2/Leave out"
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390


async def test_the_first_screen_says_what_to_type(timing: Timing, chromium: str) -> None:
    """And a button types it."""
    app = App(example="/roundtable start Rate limiting")
    async with Sandbox(timing=timing, app=app) as sandbox, opened_page(chromium, viewport=PHONE) as page:
        await page.goto(sandbox.url)
        welcome = page.locator("#welcome")
        await expect(welcome).to_contain_text("/roundtable start Rate limiting")
        await welcome.get_by_role("button", name="Start this example").click()
        await expect(page.locator(".ephemeral")).to_contain_text("/roundtable failed")
        await expect(welcome).to_be_hidden()


async def test_the_home_tab_and_direct_messages(bolt: AsyncApp, page: Page) -> None:
    """Each person sees their own Home, presses there, and reads what the app wrote to them."""

    @bolt.event("app_home_opened")
    async def opened(event: Body, client: AsyncWebClient) -> None:
        await publish(client, event["user"], "Nothing waits for you.")

    async def publish(client: AsyncWebClient, user: str, text: str) -> None:
        blocks = [section(f"{user}: {text}"), actions(button("snooze", "Not today"))]
        await client.views_publish(user_id=user, view={"type": "home", "blocks": blocks})

    @bolt.action("snooze")
    async def snoozed(ack: AsyncAck, body: Body, client: AsyncWebClient) -> None:
        await publish(client, body["user"]["id"], "Not before tomorrow.")
        direct = await client.conversations_open(users=body["user"]["id"])
        await client.chat_postMessage(channel=direct["channel"]["id"], text="Good morning.")
        await ack()

    await page.get_by_role("link", name="roundtable: Home").click()
    home = page.get_by_role("region", name="Home")
    await expect(home).to_contain_text("U0ADA: Nothing waits for you.")
    await page.get_by_role("radio", name="Grace").check(force=True)
    await expect(home).to_contain_text("U0GRACE: Nothing waits for you.")
    await home.get_by_role("button", name="Not today").click()
    await expect(home).to_contain_text("U0GRACE: Not before tomorrow.")

    await page.locator("#directs a").click()
    await expect(page.locator("#channel-messages")).to_contain_text("Good morning.")
    await expect(home).to_be_hidden()
