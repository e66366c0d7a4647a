import os
import shutil
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, async_playwright

QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    """Of a real browser. Whatever the page asks the network for, or breaks, fails the test."""
    wrong: list[str] = []
    async with async_playwright() as playwright:
        command = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = await playwright.chromium.launch(executable_path=command, args=QUIET)
        page = await browser.new_page(viewport={"width": 1280, "height": 1000})
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on(
            "request", lambda asked: wrong.extend([asked.url] if not asked.url.startswith("file:") else [])
        )
        yield page
        await browser.close()
    assert wrong == []
