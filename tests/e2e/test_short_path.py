"""The short path as a team goes through it: five cards, in one thread, and what is in git afterwards."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from slack_sandbox import Sandbox
from tests.e2e.meeting import SHORT_PATH, Meeting, sandbox

CARDS = (
    (
        "1. Guests leave at the account form. 2. Finished checkouts: from 61 % to 75 %. 3. The sale, 1 October.",
    ),
    ("2. Pay without an account\nAC: a guest pays with two fields\n4. Vouchers", "Must: FR-001"),
    ("2. Orders by guests get lost -> a link by mail",),
    ("1. A token in the link; for: simple; against: can be forwarded", "decision: a token; because: simple"),
    ("2. The form -> Grace; by: Friday",),
)


@pytest.fixture
def steps() -> str:
    return SHORT_PATH["ROUNDTABLE_STEPS"]


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with sandbox() as running:
        yield running


@pytest.fixture
def meeting(slack: Sandbox, tmp_path: Path) -> Meeting:
    return Meeting(slack, tmp_path / "workspace", more=SHORT_PATH)


def posts(meeting: Meeting) -> list[str]:
    """Of the bot, without the first message, which is edited, and without what people wrote."""
    return [one.words for one in meeting.thread[1:] if one.bot_id]


async def go_on(meeting: Meeting) -> None:
    """To the next card, or to the end."""
    await meeting.slack.settled()
    card = await meeting.menu("next")
    await meeting.press_in(card, "next")
    await meeting.until(
        lambda: (
            [one for one in meeting.menus("next") if one.ts != card.ts]
            or "Analysis complete" in str(posts(meeting))
        )
    )
    await meeting.slack.settled()


async def test_five_cards_in_a_few_messages(meeting: Meeting) -> None:
    """Killed after the third: the next process goes on with the fourth."""
    async with meeting.bot():
        await meeting.start("Guest checkout")
        for answers in CARDS[:3]:
            for answer in answers:
                await meeting.say(answer)
            await go_on(meeting)
    async with meeting.bot():
        for answers in CARDS[3:]:
            for answer in answers:
                await meeting.say(answer)
            await go_on(meeting)
        await meeting.seen("Analysis complete.")

    assert len(posts(meeting)) <= 12
    assert len(meeting.meta["phases_completed"]) == 5
    assert meeting.meta["steps_completed"][:3] == ["00-01", "01-01", "01-06"]
    assert "**FR-001** Pay without an account" in (meeting.folder / "brief.md").read_text()
    assert meeting.git("status", "--porcelain") == ""
    saved = [one for one in meeting.subjects() if " step " in one]
    assert [one.partition(" step ")[2] for one in saved] == [
        "00-01 What and why",
        "01-01 Who, and what it must do",
        "02-01 What it touches, and what can go wrong",
        "03-01 Options and decisions",
        "04-01 Design and done",
    ]


async def test_every_untouched_card_can_be_answered_in_a_form(meeting: Meeting) -> None:
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        await meeting.start("Guest checkout")
        for _ in CARDS:
            await meeting.press_in(await meeting.menu("next"), "amend")
            await meeting.until(lambda: ada.view is not None)
            assert "roundtable.amend" in str(ada.view)
            await ada.dismiss()
            await go_on(meeting)
