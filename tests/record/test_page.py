"""The page of a record in a real browser: what hostile text can do there (nothing), and what people can."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from bot.cli.replay import written
from bot.domain.privacy.redaction import Redactor
from bot.record.page import STATIC
from bot.record.verify import RecordedItem
from tests.record.kept import an_evening
from tests.record.kept import written as kept_in

GOLDEN = Path(__file__).parent / "golden" / "workshop.jsonl"
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    '<svg onload=alert(1)><a href="javascript:alert(1)">x</a> <style>*{display:none}</style>'
    "<!-- --><base href=//evil.test> ' \" onmouseover=alert(1) \u202egnp.exe\u2066 \x00\x1b[31m **bold** `code`\n# Top"
)  # fmt: skip
MANY = 10_000

Showing = Callable[[Path], str]


@pytest.fixture
def show(tmp_path: Path) -> Showing:
    """The address of a transcript's page."""

    def address(transcript: Path) -> str:
        written(RecordedItem(transcript.parent, transcript), tmp_path / "page.html")
        return (tmp_path / "page.html").as_uri()

    return address


def lines(path: Path, *rows: dict[str, object]) -> Path:
    given = {
        "round": 1,
        "phase": "workshop",
        "role": "planning",
        "source": "model",
        "actor": "Maya",
        "content": "…",
    }
    stamps = (f"2025-03-01T10:{at // 60 % 60:02}:{at % 60:02}.000Z" for at in range(len(rows)))
    text = "".join(
        json.dumps({"ts": ts, **given, **row}) + "\n" for ts, row in zip(stamps, rows, strict=True)
    )
    path.write_text(text, encoding="utf-8")
    return path


async def test_people_can_see_who_said_what(page: Page, show: Showing) -> None:
    """The picture in words, what was decided, everything that was said."""
    await page.goto(show(GOLDEN))
    await page.locator("summary").click()

    picture = page.get_by_role("img", name="Timeline of 12 lines")
    await expect(picture).to_have_accessible_description(
        "12 lines in 6 rounds. Lines by speaker: ProductPlanner 1, SystemDesigner 1, SeniorDeveloper 2, "
        "TestPlanner 1, RiskPlanner 1, Ada 2, Grace 1, Roundtable 3. 1 decision at line 9. "
        "2 open questions at lines 3, 7. 1 change of position at line 10."
    )
    await expect(page.get_by_role("heading", name="Decisions")).to_be_visible()
    await expect(page.get_by_text("12 of 12 lines")).to_be_visible()
    await expect(page.locator("#L6")).to_contain_text("position: render in the browser")


async def test_filters_by_persona_step_and_round(page: Page, show: Showing, tmp_path: Path) -> None:
    """Each narrows what the others left, and one button shows all again."""
    await page.goto(show(kept_in(an_evening(), tmp_path).transcript))
    await page.locator("summary").click()
    total = await page.locator("#record li").count()

    await page.get_by_role("checkbox", name="Roundtable").uncheck()
    assert await page.locator("#record li.host:visible").count() == 0
    await page.get_by_label("Step").select_option("01-01")
    assert set(
        await page.locator(".round:visible").evaluate_all("all => all.map(one => one.dataset.step)")
    ) == {"01-01"}
    await page.get_by_label("Round from").fill("22")
    await page.get_by_label("Round to").fill("22")
    await expect(page.get_by_role("status")).to_have_text(f"2 of {total} lines")

    await page.get_by_role("button", name="Show all").click()
    await expect(page.get_by_role("status")).to_have_text(f"{total} of {total} lines")


async def test_it_can_be_used_without_a_mouse(page: Page, show: Showing) -> None:
    """Tab reaches everything, and a space or an arrow does it."""
    await page.goto(show(GOLDEN))
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to what was said")).to_be_focused()
    await page.keyboard.press("Enter")

    await page.get_by_role("checkbox", name="Roundtable").focus()
    await page.keyboard.press("Space")
    await expect(page.get_by_role("status")).to_have_text("9 of 12 lines")


async def test_a_line_has_an_address(page: Page, show: Showing) -> None:
    """A link to it shows it, also when it is filtered out."""
    address = show(GOLDEN)
    await page.goto(f"{address}#L9")
    await expect(page.locator("#L9")).to_be_in_viewport()

    await page.get_by_role("checkbox", name="Ada").uncheck()
    await expect(page.locator("#L9")).to_be_hidden()
    await page.locator(".brief").get_by_role("link", name="line 9").first.click()
    await page.evaluate("location.hash = 'L2'")
    await expect(page.locator("#L2")).to_be_in_viewport()


async def test_messages_lead_to_slack(page: Page, show: Showing, tmp_path: Path) -> None:
    """Where the thread's own address is known; no other address ever becomes a link."""
    known = {"channel_id": "C1", "message_ts": "1700000001.000200"}
    thread = {"permalink": "https://team.slack.com/archives/C1/p1700000000000100"}
    forged = {"permalink": "javascript:alert(1)//archives/C1/p1700000000000100"}
    await page.goto(
        show(lines(tmp_path / "a.jsonl", {"meta": {**known, **thread}}, {"meta": {"channel_id": "C2"}}))
    )

    assert await page.locator("a.slack").evaluate_all("all => all.map(one => one.href)") == [
        "https://team.slack.com/archives/C1/p1700000001000200?thread_ts=1700000000.000100&cid=C1"
    ]
    await page.goto(show(lines(tmp_path / "b.jsonl", {"meta": {**known, **forged}})))
    await expect(page.locator("a.slack")).to_have_count(0)


async def test_hostile_text_is_text(page: Page, show: Showing, tmp_path: Path) -> None:
    """Wherever it stands: in what was said, names, ids, steps, providers, positions, decisions."""
    meta: dict[str, object] = {
        "message_id": HOSTILE, "step_id": HOSTILE, "phase_key": HOSTILE, "turn": 1, "turn_id": HOSTILE,
        "provider": HOSTILE, "model": HOSTILE, "tokens_in": 1, "position": HOSTILE, "decision": HOSTILE,
        "question": [HOSTILE], "objection": HOSTILE, "permalink": HOSTILE, "channel_id": HOSTILE, "depth": HOSTILE,
    }  # fmt: skip
    people = {"user_id": HOSTILE, "user_name": HOSTILE, "message_ts": HOSTILE}
    rows: list[dict[str, object]] = [
        {"actor": HOSTILE, "role": HOSTILE, "content": HOSTILE, "meta": meta},
        {"actor": "User", "source": "user", "content": HOSTILE, "meta": {**meta, **people}},
        {"phase": HOSTILE},
    ]
    await page.goto(show(lines(tmp_path / "meeting.jsonl", *rows)))
    await page.locator("summary").click()

    assert await page.title() == "meeting – record"
    assert await page.locator("#L1 .text").inner_text() == (
        "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
        '<svg onload=alert(1)><a href="javascript:alert(1)">x</a> <style>*{display:none}</style>'
        "<!-- --><base href=//evil.test> ' \" onmouseover=alert(1) gnp.exe [31m bold code\nTop"
    )
    elements = "script, style, img, a, svg, base, [onerror], [onload], [onmouseover]"
    found = await page.locator(elements).evaluate_all("all => all.map(one => one.outerHTML.slice(0, 40))")
    assert not [one for one in found if "alert" in one or "owned" in one or "evil" in one]
    assert await page.locator("script").count() == 1
    assert await page.locator("style").count() == 1


async def test_the_policy_allows_nothing_but_the_page_itself(page: Page, show: Showing) -> None:
    """Were something let through by mistake, it could neither run, nor look different, nor fetch anything."""
    await page.goto(show(GOLDEN))
    policy = await page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")

    assert policy
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


async def test_ten_thousand_lines_are_one_page(page: Page, show: Showing, tmp_path: Path) -> None:
    """All of them are there, and a filter goes over all of them between two frames that people notice."""
    path = lines(tmp_path / "long.jsonl", *(one_of_many(at) for at in range(MANY)))
    await page.goto(show(path))
    await page.locator("summary").click()

    await page.get_by_role("checkbox", name="Maya").uncheck()
    await expect(page.get_by_role("status")).to_have_text("7,500 of 10,000 lines")
    await page.get_by_label("Step").select_option("00-03")
    assert 0 < await page.locator("#record li:visible").count() < MANY / 5


def one_of_many(at: int) -> dict[str, object]:
    return {
        "ts": "2025-03-01T10:00:00.000Z",
        "round": at // 8,
        "actor": ("Maya", "Alex", "Jordan", "PlanningAgent")[at % 4],
        "content": f"Something about {at}. " * 9,
        "meta": {"step_id": f"00-0{at // 999 % 9}"},
    }


def test_our_own_script_and_style_look_like_no_secret() -> None:
    """A record is redacted on its way out, and the policy of the page lets run only what it was."""
    for name in ("page.css", "page.js"):
        assert Redactor()((STATIC / name).read_text(encoding="utf-8")).kinds == ()
