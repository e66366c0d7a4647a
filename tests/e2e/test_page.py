"""The sandbox's page in a real browser, used as somebody would who has never seen the bot."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser import opened_page
from tests.e2e.meeting import Meeting


@pytest.fixture
async def page(chromium: str) -> AsyncIterator[Page]:
    async with opened_page(chromium, viewport={"width": 1280, "height": 1000}) as page:
        yield page


async def test_a_roundtable_held_on_the_page(meeting: Meeting, page: Page, tmp_path: Path) -> None:
    """Start, answer, finish, discuss, end: all by typing and pressing what the page shows."""
    async with meeting.bot():
        await page.goto(meeting.slack.url)
        await page.get_by_label("Message #roundtable").fill("/roundtable start Offline sync")
        await page.keyboard.press("Enter")

        await page.get_by_text("1 reply").click()
        thread = page.get_by_role("complementary")
        await expect(thread.get_by_text("I'm Maya, your Business Analyst")).to_be_visible()
        await thread.get_by_role("textbox").fill("Field workers lose their edits. Scope: medium")
        await page.keyboard.press("Enter")
        await expect(thread.get_by_text("Still missing")).to_be_visible()
        await thread.get_by_role("button", name="Finish step").click()
        await page.get_by_role("button", name="Finish anyway").click()

        await expect(thread.get_by_role("button", name="Continue")).to_be_visible()
        await thread.get_by_role("button", name="Discuss").click()
        await expect(thread.get_by_text("Discussion: ")).to_be_visible()
        await expect(thread.get_by_text("We just covered Scope Estimation").first).to_be_visible()
        await thread.get_by_role("textbox").fill("A queue on the device.")
        await page.keyboard.press("Enter")
        await expect(thread.get_by_text("A queue on the device.", exact=True)).to_be_visible()
        await thread.get_by_role("button", name="End", exact=True).click()
        await expect(thread.get_by_text("Elaboration Insights")).to_be_visible()
        await expect(thread.get_by_role("button", name="Discuss")).to_be_visible()
        await page.screenshot(path=tmp_path / "thread.png")

    meeting.slug = "offline-sync"
    assert meeting.meta["steps_completed"] == ["00-01"]
    assert [record["step_id"] for record in meeting.meta["elaborations"]] == ["00-01"]
    assert (tmp_path / "thread.png").stat().st_size > 10_000
