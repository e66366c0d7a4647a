"""People who use a keyboard, a screen reader or large contrast can use the page."""

import shutil
from typing import Any

import pytest
from playwright.async_api import async_playwright, expect
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox import Sandbox
from tests.accessible import flaws_of

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_page_is_accessible(
    sandbox: Sandbox, client: AsyncWebClient, channel: str, scheme: Any
) -> None:
    """Empty, and with a thread that has a menu: names, headings, contrast."""
    async with async_playwright() as playwright:
        command = shutil.which("chromium") or shutil.which("google-chrome")
        browser = await playwright.chromium.launch(executable_path=command, args=ARGUMENTS)
        page = await browser.new_page(color_scheme=scheme)
        await page.goto(sandbox.url)
        await expect(page.get_by_label("Message #roundtable")).to_be_visible()
        assert await flaws_of(page) == []

        go = {
            "type": "button",
            "text": {"type": "plain_text", "text": "Continue"},
            "action_id": "go",
            "style": "primary",
        }
        more = {"type": "overflow", "action_id": "more", "options": [
            {"text": {"type": "plain_text", "text": name}, "value": name} for name in ("Stop", "Skip")
        ]}  # fmt: skip
        text = {"type": "mrkdwn", "text": "*Ready?* See `quick-scan.md`, <https://example.test|there>."}
        blocks: list[dict[str, Any]] = [
            {"type": "section", "text": text},
            {"type": "actions", "elements": [go, more]},
        ]
        root = await client.chat_postMessage(channel=channel, text="root", blocks=blocks)
        await client.chat_postMessage(channel=channel, text="menu", thread_ts=root["ts"], blocks=blocks)
        await page.get_by_role("button", name="1 reply").click()
        await expect(page.get_by_role("complementary", name="Thread")).to_contain_text("Ready?")
        assert await flaws_of(page) == []
        await browser.close()
