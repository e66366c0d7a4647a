"""
The story of README in two minutes, played in `roundtable try`: people agree, an agent reads it with who said it and
asks back, a person answers, and the trace says what is not built.

`python -m tests.e2e.test_story docs/story.png` draws README's picture of it.
"""

import asyncio
import html
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import Locator, Page, async_playwright, expect

from tests.accessible import flaws_of
from tests.command_line import python_m_bot
from tests.e2e.test_agents_ask import told
from tests.e2e.test_agents_try import ARGUMENTS, BROWSER, connecting, tried
from tests.patience import PATIENCE_SECONDS
from tests.ports import free_port

ITEM = "rate-limiting"
REQUIREMENT = "requirement: Each client gets at most 100 requests a second"
CRITERION = "AC: when a client sends the 101st request, then it gets 429"
QUESTION = "Does the limit count refused requests, too?"
SESSION = """
<style>
body {{ margin: 0; display: flex; font: 15px/1.5 system-ui, sans-serif; background: #fff }}
img {{ width: 560px; border-right: 1px solid #ddd; align-self: flex-start }}
main {{ width: 640px; padding: 16px 20px; box-sizing: border-box }}
h2 {{ font-size: 15px; margin: 14px 0 4px }}
pre {{ margin: 0; padding: 10px 12px; background: #1e1e1e; color: #eee; border-radius: 6px; white-space: pre-wrap;
  overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, monospace }}
</style>
<img src="{picture}" alt=""><main>{parts}</main>
"""


class Story(NamedTuple):
    """The line that connects an agent, what it was given and told with it, and what `roundtable trace` printed."""

    line: list[str]
    entry: dict[str, Any]
    answer: dict[str, Any]
    trace: str


async def play(folder: Path, picture: Path, port: int) -> Story:
    """In a repository at *folder*; *picture* becomes the page with the thread."""
    async with tried(folder, port) as page:
        line = await connecting(page)
        url, _, header = line[6:]
        name, _, value = header.partition(": ")
        thread = await agree(page)
        async with (
            httpx2.AsyncClient(headers={name: value}, timeout=PATIENCE_SECONDS) as http,
            Client(streamable_http_client(url, http_client=http)) as agent,
        ):
            entry = await told(agent, "get_entry", address=f"{ITEM}/FR-001")
            given = {"item": ITEM, "question": QUESTION, "options": ["Yes", "No"], "about": ["FR-001"]}
            asked = await told(agent, "ask_people", **given)
            await expect(thread).to_contain_text("coding-agent, an agent for Ada, asks about FR-001")
            await person(page, "Grace")
            await thread.get_by_role("button", name="No", exact=True).click()
            await expect(thread).to_contain_text("Grace answered: No")
            answer = await told(agent, "get_answer", question=asked["question"], wait_seconds=20)
        await page.locator("#thread").screenshot(path=picture)
    ran = await python_m_bot(folder, "trace", "--check")
    assert ran.code == 1, ran.err
    return Story(line, entry, answer, ran.out)


async def agree(page: Page) -> Locator:
    """Grace says it, Ada saves the card: from now on it is in git."""
    await page.get_by_label("Message #roundtable").fill("/roundtable start Rate limiting")
    await page.keyboard.press("Enter")
    await page.locator("button.replies").click()
    thread = page.get_by_role("complementary", name="Thread")
    await expect(thread).to_contain_text("Save and go on")
    await person(page, "Grace")
    for words, id in ((REQUIREMENT, "FR-001"), (CRITERION, "AC-001-01")):
        await thread.get_by_role("textbox").fill(words)
        await page.keyboard.press("Enter")
        await expect(thread).to_contain_text(id)
    await person(page, "Ada")
    await thread.get_by_role("button", name="Save and go on").first.click()
    await expect(thread.get_by_text("Saved", exact=False).first).to_be_visible()
    return thread


async def person(page: Page, name: str) -> None:
    """Who speaks and presses from now on."""
    await page.get_by_role("radio", name=name).check(force=True)


async def draw(story: Story, thread: Path, to: Path) -> None:
    """The thread, and beside it what the agent and CI saw."""
    [claim] = story.entry["claims"]["title"]
    read = {key: story.entry[key] for key in ("address", "state", "text")} | {
        "said_by": claim["said_by"]["name"]
    }
    trace = re.sub(r", http\S+?\)", ")", story.trace.strip())
    parts = (
        ("A coding agent reads what was agreed, with who said it", f"get_entry {ITEM}/FR-001\n{shown(read)}"),
        ("It asks the team back, in the thread", f"ask_people “{QUESTION}”"),
        ("A person answers, and the agent goes on", f"get_answer\n{json.dumps(story.answer['answers'])}"),
        ("CI says what is not built", f"$ roundtable trace --check\n{trace}"),
    )
    rows = "".join(f"<h2>{html.escape(title)}</h2><pre>{html.escape(text)}</pre>" for title, text in parts)
    session = thread.with_suffix(".html")
    session.write_text(SESSION.format(picture=thread.as_uri(), parts=rows))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        page = await browser.new_page(viewport={"width": 1_200, "height": 600})
        await page.goto(session.as_uri())
        await page.screenshot(path=to, full_page=True)
        await browser.close()


def shown(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=1, ensure_ascii=False)


async def test_people_agree_an_agent_asks_and_the_trace_says_what_is_not_built(tmp_path: Path) -> None:
    """The line is the same after a restart."""
    port, folder = free_port(), tmp_path / "workspace"
    story = await play(folder, tmp_path / "thread.png", port)

    assert story.line[:6] == ["claude", "mcp", "add", "--transport", "http", "roundtable"]
    assert story.line[7] == "--header"
    assert (story.entry["state"], story.entry["text"]) == (
        "accepted",
        "Each client gets at most 100 requests a second",
    )
    [claim] = story.entry["claims"]["title"]
    assert claim["said_by"]["name"] == "Grace"
    assert story.answer["answers"] == [{"by": "Grace", "words": "No"}]
    assert f"silent   {ITEM}/FR-001 Each client" in story.trace
    assert "said by Grace" in story.trace
    assert "no test names AC-001-01" in story.trace
    async with tried(folder, port) as page:
        assert await connecting(page) == story.line
        assert await flaws_of(page) == []


async def draw_anew(to: Path) -> None:
    with tempfile.TemporaryDirectory() as made:
        thread = Path(made) / "thread.png"
        await draw(await play(Path(made) / "workspace", thread, free_port()), thread, to)


if __name__ == "__main__":
    asyncio.run(draw_anew(Path(sys.argv[1])))
