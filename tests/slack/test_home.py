"""The Home tab and the daily message, as Slack takes them."""

import pytest

from bot.domain.messages.home_page import (
    DailyMessage,
    DecidedRow,
    HeldRow,
    HomePage,
    ReminderSettings,
    WaitingRow,
)
from bot.domain.messages.message import Message
from bot.domain.privacy.redaction import unchanged
from bot.engine.ports import Urgency
from bot.slack.chat import SlackChat
from bot.slack.home import daily, home_view
from bot.slack.markdown import named_with
from bot.slack.render import parts
from slack_sandbox import Sandbox
from slack_sandbox.rules.blocks import message_problems, view_problems

URL = "https://acme.slack.com/archives/C042/p1795374000000200"
PING = "<!channel> & <@U0ADA>"
WAITING = WaitingRow("Rate limiting", "Maya asks: how would you see it?", "Answer", URL)
HELD = HeldRow("Rate limiting", "C042", 8, 24, "Requirements, with Maya", "Waiting for you", URL)
FULL = HomePage(
    waiting=(WAITING, WAITING._replace(title=PING, text=PING)) * 5,
    held=(HELD, HELD._replace(title=PING, where=PING, state=PING, paused="dark-mode")) * 5,
    decided=(DecidedRow(PING, PING, URL, "x/DEC-001"), DecidedRow("x" * 300, "Ada", "", "x/DEC-002")),
    settings=ReminderSettings(not_before="2026-12-08"),
    notice=PING,
    today="2026-12-07",
)


@pytest.mark.parametrize("page", [FULL, HomePage(), HomePage(settings=ReminderSettings(off=True))])
async def test_slack_takes_the_page(page: HomePage, chat: SlackChat, sandbox: Sandbox) -> None:
    """Full, empty, and with everything turned off; the person sees it."""
    await chat.publish_home(sandbox.person("ada").id, page, urgency=Urgency.ANSWER)

    assert sandbox.person("ada").home
    assert view_problems(home_view(page, unchanged)) == []


def test_what_people_wrote_pings_nobody_on_home() -> None:
    """Titles, questions and decisions are anybody's text."""
    shown = str(home_view(FULL, unchanged))

    assert "<!channel>" not in shown
    assert "<@" not in shown
    assert "<#C042>" in shown


def test_progress_is_a_bar_and_words() -> None:
    """For the eye, and for who hears it read."""
    assert "▰▰▰▱▱▱▱▱▱▱  8 of 24 · Requirements, with Maya" in str(home_view(FULL, unchanged))


async def test_the_daily_message_comes_directly(chat: SlackChat, sandbox: Sandbox) -> None:
    """Its text says all that the blocks show, and ends with what can be pressed; its key is the person and the date."""
    message = DailyMessage("Ada", (WAITING, WAITING._replace(title=PING, label="Look")))
    part = daily(message, unchanged)
    assert message_problems(part.blocks) == []
    assert part.text.startswith("Good morning, Ada. 2 things wait for you.")
    assert part.text.endswith("[Answer] [Look] [Not today] [Other time…] [No reminders]")
    assert "<!channel>" not in part.text + str(part.blocks)

    await chat.send_daily(sandbox.person("ada").id, message, key="digest:U0ADA:2026-12-07")
    await chat.send_daily(sandbox.person("ada").id, message, key="digest:U0ADA:2026-12-08")

    posts = sandbox.calls_of("chat.postMessage")
    keys = [post.args["metadata"]["event_payload"]["key"] for post in posts]
    assert keys == ["digest:U0ADA:2026-12-07", "digest:U0ADA:2026-12-08"]
    assert len(sandbox.calls_of("conversations.open")) == 1


def test_secrets_are_hidden_there_too() -> None:
    """Titles also come from files, which are not redacted."""
    page = home_view(FULL, lambda text: text.replace("Rate limiting", "[hidden]"))

    assert "Rate limiting" not in str(page)


def test_only_ids_of_people_ping() -> None:
    """In a section of their own, in front of what is asked."""
    [part] = parts(Message(text="Grace: <@U0ADA>?", pings=("U0GRACE", "!channel", "C042", "")))

    assert part.text == "<@U0GRACE>\nGrace: &lt;@U0ADA&gt;?"
    assert part.blocks[0] == {"type": "section", "text": {"type": "mrkdwn", "text": "<@U0GRACE>"}}
    assert "<@U0ADA>" not in str(part.blocks)


@pytest.mark.parametrize(
    ("text", "title", "people"),
    [
        ("Offline sync", "Offline sync", ()),
        ("Offline sync with @U0ADA1 and @U0GRACE1", "Offline sync", ("U0ADA1", "U0GRACE1")),
        ("Offline sync: @U0ADA1, @U0GRACE1 @U0ADA1 ", "Offline sync", ("U0ADA1", "U0GRACE1")),
        ("Ask @U0ADA1 about sync", "Ask @U0ADA1 about sync", ("U0ADA1",)),
        ("Limits of @U0ADA1", "Limits of @U0ADA1", ("U0ADA1",)),
        ("Deal with", "Deal with", ()),
    ],
)
def test_who_is_named_in_a_start_takes_part(text: str, title: str, people: tuple[str, ...]) -> None:
    """Only `with …` at the end is no part of the title."""
    assert named_with(text) == (title, people)
