"""The short path as a team goes through it: five cards, in one thread, and what is in git afterwards."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.item.item_paths import TRANSCRIPT
from bot.record.verify import RecordedItem, differences
from bot.storage.git.history import versions
from slack_sandbox import Sandbox
from tests.e2e.meeting import SHORT_PATH, Meeting, sandbox
from tests.specification.meeting import PLAYBOOK

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


@pytest.mark.parametrize("card", range(5))
async def test_every_untouched_card_can_be_answered_in_a_form(meeting: Meeting, card: int) -> None:
    async with meeting.bot():
        await meeting.start("Guest checkout")
        for _ in range(card):
            await go_on(meeting)
        await meeting.press("amend")
        ada = meeting.slack.person("ada")
        await meeting.until(lambda: ada.view is not None)
        assert "roundtable.amend" in str(ada.view)


async def test_going_deeper_at_the_end(meeting: Meeting) -> None:
    """The missing steps are asked in the thread, also by another process, until the analysis is complete again."""
    async with meeting.bot():
        await meeting.start("Guest checkout")
        for answers in CARDS:
            for answer in answers:
                await meeting.say(answer)
            await go_on(meeting)
        brief = await meeting.seen("Analysis complete.")
        done = meeting.meta["steps_completed"]
        assert f"{len(done)} of 24 steps have content; go deeper for the others." in brief.words

        await meeting.press_in(brief, "go_deeper", who="grace")
        await meeting.until(lambda: meeting.meta["phases_completed"] == [])
        card = await meeting.menu("finish_step", since=brief.ts)
        assert "Keyword Search" in card.words
        await meeting.slack.settled()
        assert not [one for one in meeting.menus("go_deeper") if one.ts == brief.ts]
        (first,) = (one for one in meeting.thread if one.ts == brief.ts)
        assert "chosen by Grace" in first.words
        await meeting.press_in(brief, "go_deeper", who="linus")
        linus = meeting.slack.person("linus")
        await meeting.until(lambda: [one for one in linus.ephemerals if "asked already" in one.words])

    async with meeting.bot():
        for _ in range(24 - len(done)):
            await meeting.do_step("What we know about that.")
            await meeting.press("continue")
            await meeting.slack.settled()
        briefs = await meeting.until(
            lambda: [one for one in meeting.thread if "Analysis complete." in one.words and one.ts > brief.ts]
        )

    assert not [one for one in meeting.menus("go_deeper") if one.ts == briefs[-1].ts]
    assert sorted(meeting.meta["steps_completed"]) == [step.step_id for step in PLAYBOOK.agenda.steps]
    assert len(meeting.meta["phases_completed"]) == 5
    asked = [line for line in meeting.transcript.lines if "chose: Go deeper" in line.content]
    assert [line.content for line in asked] == [f"Grace chose: Go deeper: {24 - len(done)} steps"]
    folder = meeting.folder
    item = RecordedItem(folder, folder / TRANSCRIPT, meeting.workspace / "docs/common/nfr-matrix.md")
    assert [str(one) for one in differences(item, tuple(versions(folder)), playbook=PLAYBOOK)] == []
