"""`roundtable try` shows on its page the one line that connects a coding agent; `test_story` connects one with it."""

import asyncio
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

from bot.cli import commands
from bot.content import mcp
from bot.settings import Settings
from tests.command_line import ROOT
from tests.patience import PATIENCE_SECONDS
from tests.ports import free_port

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@asynccontextmanager
async def tried(folder: Path, port: int) -> AsyncIterator[Page]:
    """The page of `roundtable try`."""
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "try", "--port", str(port), "--workspace", str(folder), cwd=ROOT,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert running.stdout
        await asyncio.wait_for(running.stdout.readline(), PATIENCE_SECONDS)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
            page = await browser.new_page(viewport={"width": 1_280, "height": 800})
            await page.goto(f"http://127.0.0.1:{port}/")
            yield page
            await browser.close()
    finally:
        running.send_signal(signal.SIGINT)
        await asyncio.wait_for(running.wait(), PATIENCE_SECONDS)


async def connecting(page: Page) -> list[str]:
    """The words of the line."""
    await page.get_by_text("Connect a coding agent").click()
    return shlex.split(await page.locator("#connect-command").text_content() or "")


def test_without_the_extra_the_box_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "is_installed", lambda: False)

    agents = commands._agents_of_sandbox(
        Settings.from_env({"ROUNDTABLE_WORKSPACE": str(tmp_path)}), free_port()
    )

    assert "pip install '.[mcp]'" in agents.connect
    assert not agents.env
