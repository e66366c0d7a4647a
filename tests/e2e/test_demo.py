"""A meeting of `meetings/`, played by the real bot on the sandbox's page."""

import math
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from bot import app
from bot.domain.item.item import generate_slug
from bot.errors import ContentError
from roundtable_eval import demo
from roundtable_eval.demo import Demo
from slack_sandbox import SandboxMessage
from slack_sandbox.recording import Recording, RecordingState
from tests.accessible import flaws_of
from tests.e2e.meeting import CHANNEL, Meeting, settings

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


PHONE, DESK = 390, 1280


@asynccontextmanager
async def offered(
    meeting: Meeting, name: str = "", *, speed: float = math.inf, at_once: bool = False
) -> AsyncIterator[Recording]:
    """As `roundtable try` does it."""
    ours = settings(meeting.slack, meeting.workspace)
    playbook = app.playbook(ours)
    found = demo.meeting_of(name, playbook)
    shown = Demo(meeting.slack, found, playbook=playbook, settings=ours)
    async with app.bot(ours, web=False, over=shown.over):
        recording = Recording(found.title, shown.play, at_once=at_once, characters_a_second=speed)
        meeting.slack.offer(recording)
        yield recording


async def is_over(meeting: Meeting, recording: Recording) -> None:
    over = {RecordingState.ENDED, RecordingState.FAILED}
    await meeting.until(lambda: recording.state in over)
    meeting.root = recording.as_json()["thread"]


async def test_a_recorded_meeting_goes_on_with_people(meeting: Meeting) -> None:
    """Words of the file, decisions of its people, a title that says what it is; then a person with the rules."""
    async with offered(meeting, "01") as recording:
        recording.press("play")
        await is_over(meeting, recording)
        assert recording.state is RecordingState.ENDED
        assert "Offline sync (recorded)" in meeting.thread[0].text
        meeting.slug = "offline-sync-recorded"
        said = [
            (line.meta["turn_id"], line.content)
            for line in meeting.transcript.lines
            if "turn_id" in line.meta
        ]
        assert said == [
            ("t01", "Where do edits wait while a driver is offline?"),
            ("t02", "A queue in Redis answers in 2 ms."),
            ("t03", "In a tunnel there is no server."),
            ("t04", "Devices have 500 MB free."),
            ("t05", "Then SQLite holds them, t03 is right."),
            ("t06", "decision: edits wait in SQLite on the device"),
        ]
        page = (meeting.folder / "quick-scan.md").read_text()
        assert "edits wait in SQLite on the device" in page

        await meeting.press("elaborate", who="linus")
        await meeting.menu("ask_all")
        last = recording.as_json()["last"]
        rules = await meeting.until(lambda: [one for one in meeting.thread if one.ts > last and one.by_bot])
        assert rules
        await meeting.press("end_elaboration", who="linus")
        await meeting.menu("continue", since=last)
        await meeting.slack.settled()


@pytest.mark.parametrize("number", [f"{number:02}" for number in range(2, 13)])
async def test_every_meeting_that_ships_is_played_to_its_end(meeting: Meeting, number: str) -> None:
    """All words of the file stand in the record in their order, also where the bot asks for a challenge by itself."""
    found = demo.meeting_of(number, app.playbook(settings(meeting.slack, meeting.workspace)))
    async with offered(meeting, number) as recording:
        recording.press("play")
        await is_over(meeting, recording)
        assert (recording.state, recording.as_json()["sentence"]) == (RecordingState.ENDED, "")
        await meeting.slack.settled()
    meeting.slug = generate_slug(f"{found.title} (recorded)")
    said = [line.content for line in meeting.transcript.lines if "turn_id" in line.meta]
    assert said == [one.says for one in found.thread]


async def test_played_again_it_is_another_item(meeting: Meeting) -> None:
    """What was recorded before is left as it is."""
    for title in ("Offline sync (recorded)", "Offline sync (recorded, 2)"):
        async with offered(meeting, "01") as recording:
            recording.press("play")
            await is_over(meeting, recording)
            assert title in meeting.thread[0].text


async def test_a_visitor_may_end_it(meeting: Meeting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recording says in one sentence that it stopped, and the roundtable is there to go on in."""
    monkeypatch.setattr(demo, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(demo, "FLOOR_SECONDS", 0.2)
    async with offered(meeting, "01", speed=1.0) as recording:
        recording.press("play")
        await stepped_until(
            meeting, recording, lambda thread: any("Where do edits" in m.text for m in thread)
        )
        meeting.root = recording.as_json()["thread"]
        await meeting.press("end_elaboration", who="linus")
        await meeting.menu("continue")
        await stepped_until(meeting, recording, lambda _: recording.state is RecordingState.FAILED)
        assert recording.as_json()["sentence"] == demo.OWN_WAY
        await meeting.press("elaborate", who="linus")
        await meeting.menu("ask_all")


async def stepped_until(
    meeting: Meeting, recording: Recording, wanted: Callable[[list[SandboxMessage]], bool]
) -> None:
    def is_so() -> bool:
        thread = recording.as_json().get("thread", "")
        found = wanted(meeting.slack.thread(CHANNEL, thread) if thread else [])
        if not found and recording.state in {RecordingState.PLAYING, RecordingState.PAUSED}:
            recording.press("step")
        return found

    await meeting.until(is_so)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title: x", "own.yaml is not a meeting: about: field required."),
        ("- [", "own.yaml cannot be read: "),
        (None, "own.yaml cannot be read: No such file or directory."),
    ],
)
def test_a_bad_meeting_is_one_sentence(
    tmp_path: Path, text: str | None, sentence: str, meeting: Meeting
) -> None:
    """Which file, and what is wrong with it."""
    if text is not None:
        (tmp_path / "own.yaml").write_text(text)
    playbook = app.playbook(settings(meeting.slack, tmp_path))
    with pytest.raises(ContentError) as raised:
        demo.meeting_of(str(tmp_path / "own.yaml"), playbook)
    assert str(raised.value).startswith(sentence)
    assert "\n" not in str(raised.value)


async def test_all_meetings_that_ship_can_be_played(meeting: Meeting, tmp_path: Path) -> None:
    """A meeting that another persona opens, or without people, cannot: one sentence says so."""
    playbook = app.playbook(settings(meeting.slack, tmp_path))
    found = [demo.meeting_of(f"{number:02}", playbook).key[:2] for number in range(1, 13)]
    assert found == [f"{number:02}" for number in range(1, 13)]
    script = "script: {panel: {}, alone: {}, pasted: {}}"
    for name, thread in {"alex": "- Alex: Yes.\n  - Ada: No.", "alone": "- Maya: Yes."}.items():
        file = tmp_path / f"{name}.yaml"
        file.write_text(f"title: T\nabout: A\nthread:\n  {thread}\n{script}\n")
        with pytest.raises(ContentError, match=f"^{name} cannot be played: "):
            demo.meeting_of(str(file), playbook)
    with pytest.raises(ContentError, match=r"^There is no meeting 'nothing'"):
        demo.meeting_of("nothing", playbook)


@pytest.fixture
async def page(request: pytest.FixtureRequest) -> AsyncIterator[Page]:
    """As wide as a phone, or as the parameter says."""
    mistakes: list[str] = []
    async with async_playwright() as playwright:
        command = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = await playwright.chromium.launch(executable_path=command, args=ARGUMENTS)
        page = await browser.new_page(viewport={"width": getattr(request, "param", PHONE), "height": 800})
        page.on("pageerror", lambda error: mistakes.append(str(error)))
        yield page
        await browser.close()
    assert mistakes == []


@pytest.mark.parametrize("page", [PHONE, DESK], indirect=True)
async def test_watched_on_a_page(meeting: Meeting, page: Page) -> None:
    """Started from the first screen, paused, stepped, labelled in all places; then a visitor writes in it."""
    async with offered(meeting, "01", speed=1.0) as recording:
        await page.goto(meeting.slack.url)
        await page.get_by_role("button", name="Play a recorded meeting").press("Enter")
        banner = page.get_by_role("region", name="Recording")
        await expect(banner).to_contain_text("Recorded")
        await banner.get_by_role("button", name="Pause").press("Enter")
        await expect(banner).to_contain_text("paused")
        thread = page.get_by_role("complementary", name="Thread")
        await stepped_until(
            meeting, recording, lambda shown: any("Where do edits" in one.text for one in shown)
        )
        await expect(thread.get_by_text("Where do edits wait")).to_be_visible()
        assert recording.state is RecordingState.PAUSED
        assert await flaws_of(page) == []

        await banner.get_by_role("button", name="Step").press("Enter")
        alex = thread.locator(".message", has_text="A queue in Redis")
        await expect(alex.get_by_text("RECORDED")).to_be_visible()
        await expect(banner.get_by_role("button", name="Step")).to_be_focused()
        await stepped_until(meeting, recording, lambda _: recording.state is RecordingState.ENDED)
        await expect(banner).to_contain_text("From here on it is live")
        await expect(banner.get_by_role("button")).to_have_count(0)
        shown = thread.locator(".message")
        assert await shown.count() == await thread.locator(".message .badge.recorded").count()

        await page.get_by_role("radio", name="Linus").check(force=True)
        await page.get_by_label("Reply…").fill("On which devices?")
        await page.keyboard.press("Enter")
        mine = thread.locator(".message[data-author=Linus]", has_text="On which devices?")
        await expect(mine).to_be_visible()
        await expect(mine.get_by_text("RECORDED")).to_have_count(0)
        assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")
        await meeting.slack.settled()


async def test_the_command_plays_it_when_the_page_is_opened(meeting: Meeting, page: Page) -> None:
    """Not before: nobody would see how it begins."""
    async with offered(meeting, "01", speed=1.0, at_once=True) as recording:
        assert recording.state is RecordingState.OFFERED
        await page.goto(meeting.slack.url)
        await expect(page.get_by_role("region", name="Recording")).to_contain_text("Offline sync")
        await expect(page.get_by_role("complementary", name="Thread")).to_contain_text("Quick Scan")
        await meeting.slack.settled()
