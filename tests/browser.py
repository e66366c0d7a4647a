"""One Chromium for each test process, and pages of it that know nothing of each other."""

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Page, async_playwright

from tests.patience import wait_here_until
from tests.redis_server import die_with_parent

QUIET = (
    "--headless", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
    "--force-color-profile=srgb",
)  # fmt: skip


@contextmanager
def running_chromium() -> Iterator[str]:
    """The address under which its pages can be driven."""
    command = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert command, "the tests of the page need Chromium: say where it is with CHROMIUM=/path/to/it"
    with TemporaryDirectory(prefix="roundtable-chromium-", ignore_cleanup_errors=True) as profile:
        running = subprocess.Popen(
            [command, *QUIET, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, looked up before the fork
        )
        try:
            told = Path(profile) / "DevToolsActivePort"
            wait_here_until(lambda: told.exists() and "\n" in told.read_text())
            port, path = told.read_text().split()
            yield f"ws://127.0.0.1:{port}{path}"
        finally:
            running.terminate()
            running.wait()


@asynccontextmanager
async def opened_page(chromium: str, **view: Any) -> AsyncIterator[Page]:
    """An empty page. An error in the code that it loads fails the test."""
    mistakes: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(chromium)
        context = await browser.new_context(**view)
        page = await context.new_page()
        page.on("pageerror", lambda error: mistakes.append(str(error)))
        yield page
        await context.close()
        await browser.close()
    assert mistakes == []
