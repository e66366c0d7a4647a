from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page

from tests.browser import opened_page


@pytest.fixture
async def page(chromium: str) -> AsyncIterator[Page]:
    """Of a real browser. Whatever the page asks the network for, or breaks, fails the test."""
    wrong: list[str] = []
    async with opened_page(chromium, viewport={"width": 1280, "height": 1000}) as page:
        page.on("console", lambda message: wrong.append(message.text))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on(
            "request", lambda asked: wrong.extend([asked.url] if not asked.url.startswith("file:") else [])
        )
        yield page
    assert wrong == []
