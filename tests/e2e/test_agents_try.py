"""`roundtable try` shows on its page the one line that connects a coding agent, and the line works."""

import asyncio
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import Page, async_playwright, expect

from bot.cli import commands
from bot.content import mcp
from bot.settings import Settings
from tests.accessible import flaws_of
from tests.command_line import ROOT
from tests.e2e.test_agents_ask import told
from tests.patience import PATIENCE_SECONDS
from tests.ports import free_port

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WORDS = "Is 10 a second too low?"


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


async def test_the_line_on_the_page_connects_an_agent(tmp_path: Path) -> None:
    """It asks, the person who reads the page presses, and it goes on. The line is the same after a restart."""
    port = free_port()
    async with tried(tmp_path, port) as page:
        line = await connecting(page)
        assert await flaws_of(page) == []
        assert line[:6] == ["claude", "mcp", "add", "--transport", "http", "roundtable"]
        url, option, header = line[6:]
        assert option == "--header"
        name, _, value = header.partition(": ")
        await page.get_by_role("button", name="Start this example").click()
        await page.locator("button.replies").click()
        thread = page.get_by_role("complementary", name="Thread")
        await expect(thread).to_contain_text("Save and go on")
        async with (
            httpx2.AsyncClient(headers={name: value}, timeout=PATIENCE_SECONDS) as http,
            Client(streamable_http_client(url, http_client=http)) as agent,
        ):
            item = "rate-limiting-of-the-public-api"
            given = {"item": item, "question": WORDS, "options": ["Yes", "No"]}
            asked = await told(agent, "ask_people", **given)
            assert asked["question"] == f"{item}/Q-001", asked
            await expect(thread).to_contain_text("coding-agent, an agent for Ada, asks")
            await thread.get_by_role("button", name="No", exact=True).click()
            await expect(thread).to_contain_text("Ada answered: No")
            answer = await told(agent, "get_answer", question=asked["question"], wait_seconds=20)
            assert (answer["status"], answer["answers"]) == ("answered", [{"by": "Ada", "words": "No"}])
        await page.screenshot(path=tmp_path / "connected.png")
    async with tried(tmp_path, port) as page:
        assert await connecting(page) == line


def test_without_the_extra_the_box_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "is_installed", lambda: False)

    agents = commands._agents_of_sandbox(
        Settings.from_env({"ROUNDTABLE_WORKSPACE": str(tmp_path)}), free_port()
    )

    assert "pip install '.[mcp]'" in agents.connect
    assert not agents.env
