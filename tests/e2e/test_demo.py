"""The demo of `meetings/`, played by the real bot on the sandbox's page."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from bot import app
from bot.content.playbook import load
from bot.domain.specification.claim_check import NOT_CONFIRMED
from bot.errors import ContentError
from bot.shipped import meetings_dir, personas_dir, steps_dir
from roundtable_eval import demo
from roundtable_eval.demo import Demo
from slack_sandbox import SandboxMessage, SlackRefused
from slack_sandbox.recording import RUNNING, Recording, RecordingState
from tests.accessible import flaws_of
from tests.browser import opened_page
from tests.e2e.documents import as_kept, kept
from tests.e2e.meeting import SHORT_PATH, Meeting, settings
from tests.patience import PATIENCE_SECONDS, wait_until

PLAYBOOK = load(personas_dir(), steps_dir())
TEXT = (meetings_dir() / demo.SHIPPED).read_text("utf-8")
LONGEST_SECONDS = 100
SLOW = 0.01
"""In the time of a test no second event comes, unless people skip."""
SLUG = "change-the-delivery-address-recorded"

PHONE, DESK = 390, 1280


@asynccontextmanager
async def offered(
    meeting: Meeting, *, speed: float = math.inf, at_once: bool = False
) -> AsyncIterator[Recording]:
    """As `roundtable try` does it."""
    ours = settings(meeting.slack, meeting.workspace, **SHORT_PATH)
    playbook = app.playbook(ours)
    script = demo.script_of(None, playbook)
    shown = Demo(meeting.slack, script, playbook=playbook, settings=ours)
    async with app.bot(ours, web=False, how=app.Variations(over=shown.over, policies=shown.policies)):
        recording = Recording(script.title, shown.play, at_once=at_once, speed=speed)
        meeting.slack.offer(recording)
        yield recording


def thread(meeting: Meeting, recording: Recording) -> list[SandboxMessage]:
    root = recording.as_json().get("thread", "")
    return meeting.slack.thread(demo.CHANNEL, root) if root else []


async def is_over(meeting: Meeting, recording: Recording) -> None:
    await meeting.until(lambda: recording.state not in RUNNING, seconds=4 * PATIENCE_SECONDS)


async def seen(meeting: Meeting, recording: Recording, words: str) -> SandboxMessage:
    """The newest message with *words*, once there is one."""
    found = await meeting.until(lambda: [one for one in thread(meeting, recording) if words in one.words])
    return found[-1]


async def test_it_ends_with_a_record_that_was_read_and_kept(meeting: Meeting) -> None:
    """
    In 100 seconds: the five cards, what people and personas brought, the brief with one point that is not settled, the
    record and the plan. Somebody who was not there could build the right thing from the documents tomorrow.
    """
    async with offered(meeting) as recording:
        recording.press("play")
        await is_over(meeting, recording)
        await meeting.slack.settled()

        assert (recording.state, recording.as_json()["sentence"]) == (RecordingState.ENDED, "")
        assert recording.second <= LONGEST_SECONDS
        brief, exported, plan = thread(meeting, recording)[-3:]
        meeting.slug = SLUG
        assert len(meeting.meta["phases_completed"]) == 5
        assert open_points(meeting) == ["- Q-001 who tells the carrier about 11:45? (Noor)"]
        assert "Analysis complete." in brief.text
        assert [file["name"].rpartition(".")[2] for file in exported.files] == ["md", "html"]
        assert "*Plan*" in plan.words
        assert_read_code_is_the_source(meeting)

        await meeting.slack.person("ada").press(plan, "roundtable.finish_step")
        await meeting.until((meeting.folder / "planning" / "plan.md").exists)
        await meeting.slack.settled()

    assert as_kept(meeting.folder) == kept()


def open_points(meeting: Meeting) -> list[str]:
    _, _, rest = (meeting.folder / "brief.md").read_text().partition("## Not settled")
    return [row for row in rest.partition("\n## ")[0].splitlines() if row.startswith("- ")]


def assert_read_code_is_the_source(meeting: Meeting) -> None:
    """
    Of what a persona proposed. It counts as accepted by the person who pressed; the words of people stay theirs. The
    demo has no second model to confirm other words than those of the code.
    """
    (risk,) = [
        patch
        for line in meeting.lines("SolutionsArchitect")
        for patch in line.meta.get("entries", ())
        if patch.get("kind") == "risk"
    ]
    assert [one.partition("@")[0] for one in risk["sources"]] == ["shipping/labels.py:5", "shop/orders.py:2"]
    assert risk["unverified"] == {"text": NOT_CONFIRMED}
    spec = (meeting.folder / "requirements-spec.md").read_text()
    assert "a change before 11:45 is on the label" in spec
    assert not (meeting.workspace / "shipping").exists()


async def test_played_again_it_is_another_item(meeting: Meeting) -> None:
    """What was recorded before is left as it is."""
    for title in ("Change the delivery address (recorded)", "Change the delivery address (recorded, 2)"):
        async with offered(meeting) as recording:
            recording.press("play")
            await seen(meeting, recording, "What and why")
            recording.press("now_you")
            await is_over(meeting, recording)
            assert title in thread(meeting, recording)[0].text


async def test_a_person_goes_on_in_the_same_thread(meeting: Meeting) -> None:
    """What they say is read as before; of the file nothing more comes."""
    async with offered(meeting, speed=20) as recording:
        recording.press("play")
        await seen(meeting, recording, "must not slow down picking")
        recording.press("now_you")
        await is_over(meeting, recording)
        assert (recording.state, recording.as_json()["sentence"]) == (RecordingState.ENDED, "")

        root, grace = recording.as_json()["thread"], meeting.slack.person("grace")
        ts = await grace.say(demo.CHANNEL, "4. Orders from abroad", thread_ts=root)
        await meeting.until(lambda: meeting.slack.message(ts).reactions)
        await meeting.until(lambda: "Orders from abroad" in thread(meeting, recording)[0].words)
        await meeting.slack.settled()
        assert not any("Can you reopen it?" in one.words for one in thread(meeting, recording))


async def test_a_visitor_may_end_it(meeting: Meeting, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recording says in one sentence that it stopped, and the roundtable is there to go on in."""
    monkeypatch.setattr(demo, "PATIENCE_SECONDS", 1.0)
    async with offered(meeting, speed=20) as recording:
        recording.press("play")
        await seen(meeting, recording, "What and why")
        recording.press("pause")
        root = recording.as_json()["thread"]
        await meeting.slack.person("linus").say(demo.CHANNEL, "stop", thread_ts=root)
        await seen(meeting, recording, "Paused")
        recording.press("skip")
        await is_over(meeting, recording)
        assert recording.as_json()["sentence"] == demo.OWN_WAY


@pytest.fixture
def steps() -> str:
    return SHORT_PATH["ROUNDTABLE_STEPS"]


@pytest.fixture
async def page(request: pytest.FixtureRequest, chromium: str) -> AsyncIterator[Page]:
    """As wide as a phone, or as the parameter says."""
    width = getattr(request, "param", PHONE)
    async with opened_page(chromium, viewport={"width": width, "height": 800}) as page:
        yield page


@pytest.mark.parametrize("page", [PHONE, pytest.param(DESK, marks=pytest.mark.thorough)], indirect=True)
async def test_watched_on_a_page(meeting: Meeting, page: Page) -> None:
    """By keyboard: started, paused, skipped to the brief; then a visitor goes on, and settles the last point."""
    async with offered(meeting, speed=SLOW) as recording:
        await page.goto(meeting.slack.url)
        await page.get_by_role("link", name="# demo").click()
        await page.get_by_role("button", name="Play a recorded meeting").press("Enter")
        banner, shown = (
            page.get_by_role("region", name="Recording"),
            page.get_by_role("complementary", name="Thread"),
        )
        caption = banner.get_by_role("status")
        await expect(caption).to_have_text("Ada starts in Slack. The first message is the brief.")
        await expect(caption).to_have_attribute("aria-live", "polite")
        await banner.get_by_role("button", name="Pause").press("Enter")
        await expect(banner).to_contain_text("Recorded, paused")
        assert recording.state is RecordingState.PAUSED
        await expect(banner.get_by_role("button", name="Play")).to_be_focused()
        await expect(shown).to_contain_text("What and why")
        assert await flaws_of(page) == []
        assert await is_above(banner, shown)

        await banner.get_by_role("button", name="Skip to the brief").press("Enter")
        await expect(caption).to_contain_text("The brief:", timeout=PATIENCE_SECONDS * 1000)
        await expect(shown.get_by_text("Analysis complete.").first).to_be_visible()
        await banner.get_by_role("button", name="Now you").press("Enter")
        await expect(caption).to_have_text("Now you. Choose who you are, and write in the thread.")
        await expect(banner.get_by_role("button")).to_have_count(0)

        await page.get_by_role("radio", name="Noor").check(force=True)
        await page.get_by_label("Reply…").fill("I call them tomorrow.")
        await page.keyboard.press("Enter")
        mine = shown.locator(".message[data-author=Noor]", has_text="I call them tomorrow.")
        await expect(mine).to_be_visible()
        await expect(mine.get_by_text("RECORDED")).to_have_count(0)
        assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")

        await shown.get_by_role("button", name="Settle…").last.press("Enter")
        await page.get_by_label("Answer").fill("Noor calls them.")
        await page.get_by_role("button", name="Save").press("Enter")
        await expect(shown.get_by_text("Not settled")).to_have_count(0)
        await meeting.slack.settled()


async def is_above(one: Locator, other: Locator) -> bool:
    upper, lower = await one.bounding_box(), await other.bounding_box()
    assert upper
    assert lower
    return upper["y"] + upper["height"] <= lower["y"]


async def test_the_command_plays_it_when_the_page_is_opened(meeting: Meeting, page: Page) -> None:
    """Not before: nobody would see how it begins."""
    async with offered(meeting, speed=SLOW, at_once=True) as recording:
        assert recording.state is RecordingState.OFFERED
        await page.goto(meeting.slack.url)
        await expect(page.get_by_role("region", name="Recording")).to_contain_text("Ada starts in Slack.")
        await expect(page.get_by_role("complementary", name="Thread")).to_contain_text("What and why")
        recording.press("now_you")
        await is_over(meeting, recording)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("by: Grace", "by: Zoe", "Zoe is not among the people or personas of the demo."),
        ("said: Noor", "said: Zoe", "Zoe is not among the people or personas of the demo."),
        ("{at: 2, by: Roundtable", "{at: 95, by: Roundtable", "the time goes back, from 95 to 3."),
        ("press: next", "press: save", "nothing can be pressed that is called 'save'."),
        ("by: Ada, press: next", "by: Maya, press: next", "Maya is no person and presses nothing."),
        ("kind: risk", "kind: danger", "there is no kind danger."),
        ("read_file shipping/crontab:1", "read_file secrets:1", "a look is `search_code WORDS` or "),
        ("prompt: agreed", "prompt: applause", "nothing is called 'applause' that people are asked."),
        ("by: Grace, say:", "by: Grace, cry:", "turns.3.cry: extra inputs are not permitted."),
        (
            "Numbered answers",
            "Numbered answers of all of them, and of others, too,",
            "a caption has at most 12 words.",
        ),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    """A person who is missing, a time that goes back, a press that does not exist, and so on."""
    assert old in TEXT
    (tmp_path / "own.yaml").write_text(TEXT.replace(old, new, 1))
    before, _, _ = TEXT.partition(old)
    line = before.count("\n") + (2 if "goes back" in sentence else 1)
    with pytest.raises(ContentError) as raised:
        demo.script_of(tmp_path / "own.yaml", PLAYBOOK)
    assert str(raised.value).startswith(f"own.yaml, line {line}: {sentence}")
    assert "\n" not in str(raised.value)


def test_a_meeting_to_be_scored_is_no_demo(tmp_path: Path) -> None:
    for text, sentence in (
        ("title: x", "own.yaml, line 1: people: field required."),
        ("- [", "own.yaml cannot be read: "),
    ):
        (tmp_path / "own.yaml").write_text(text)
        with pytest.raises(ContentError, match=f"^{sentence}"):
            demo.script_of(tmp_path / "own.yaml", PLAYBOOK)


# --- the clock of a recording -----------------------------------------------------------------------------------------


async def test_a_paused_clock_stands_until_somebody_plays_on_or_skips() -> None:
    """What was skipped has happened, and the clock goes on from there."""
    passed: list[int] = []

    async def play(recording: Recording) -> None:
        try:
            for second in (0, 10, 20, 9_999):
                await recording.until(second)
                passed.append(second)
                if second == 20:
                    recording.skipped()
                    recording.press("pause")
        finally:
            recording.ended("1")

    recording = Recording("x", play, speed=SLOW)
    recording.press("play")
    await wait_until(lambda: passed == [0])
    recording.press("pause")
    with pytest.raises(SlackRefused):
        recording.press("pause")
    recording.press("skip")
    await wait_until(lambda: passed == [0, 10, 20])
    assert (recording.state, int(recording.second)) == (RecordingState.PAUSED, 20)
    with pytest.raises(SlackRefused):
        recording.press("skip")
    recording.press("play")
    recording.press("now_you")
    await wait_until(lambda: recording.state is RecordingState.ENDED)
    assert passed == [0, 10, 20]
    with pytest.raises(SlackRefused, match="recording_is_over"):
        recording.press("now_you")
