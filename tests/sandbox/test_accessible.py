"""People who use a keyboard, a screen reader or large contrast can use the page."""

from typing import Any

import pytest
from playwright.async_api import expect
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox
from tests.accessible import flaws_of
from tests.browser import opened_page
from tests.sandbox.blocks import actions, button, options, section


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_page_is_accessible(
    sandbox: Sandbox, client: AsyncWebClient, channel: str, chromium: str, scheme: Any
) -> None:
    """Empty, and with a thread that has a menu: names, headings, contrast."""
    async with opened_page(chromium, color_scheme=scheme) as page:
        await page.goto(sandbox.url)
        await expect(page.get_by_label("Message #roundtable")).to_be_visible()
        assert await flaws_of(page) == []

        more = {"type": "overflow", "action_id": "more", "options": options("Stop", "Skip")}
        ready = section("*Ready?* See `quick-scan.md`, <https://example.test|there>.")
        blocks = [ready, actions(button("go", "Continue", style="primary"), more)]
        root = await client.chat_postMessage(channel=channel, text="root", blocks=blocks)
        await client.chat_postMessage(channel=channel, text="menu", thread_ts=root["ts"], blocks=blocks)
        await page.get_by_role("button", name="1 reply").click()
        await expect(page.get_by_role("complementary", name="Thread")).to_contain_text("Ready?")
        assert await flaws_of(page) == []
