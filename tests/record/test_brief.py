"""What the page of a record begins with: what the roundtable came to. It is read on phones, on paper, and aloud."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from bot.cli.replay import written
from bot.record.brief import Labels
from bot.record.verify import RecordedItem
from tests.accessible import flaws_of

LABELS = Labels(
    {"BusinessAnalyst": "Maya Chen", "SolutionsArchitect": "Alex Rivera"},
    (
        ("00-01", "Scope Estimation", "00-quick-scan"),
        ("00-02", "Keyword Search", "00-quick-scan"),
        ("01-01", "Business Context", "01-requirements"),
    ),
)
THREAD = "https://acme.slack.com/archives/C042/p1700000000000100"
STORE = "Where do the counters live?"
Fields = dict[str, Any]


def person(name: str, said: str, **meta: Any) -> Fields:
    given = {"user_id": name.lower(), "user_name": name, "channel_id": "C042"}
    return {"actor": "User", "role": "user", "source": "user", "content": said, "meta": {**given, **meta}}


def persona(actor: str, said: str, **meta: Any) -> Fields:
    return {"actor": actor, "role": "planning", "source": "model", "content": said, "meta": meta}


def host(said: str, **meta: Any) -> Fields:
    return {"actor": "PlanningAgent", "role": "planning", "source": "system", "content": said, "meta": meta}


def entry(id: str, kind: str, **fields: Any) -> list[Fields]:
    return [{"id": id, "kind": kind, "new": True, "set": fields}]


def stance(position: str, *because: str, issue: str = STORE) -> list[Fields]:
    return [{"issue": issue, "position": position, "because": list(because)}]


def a_disagreement() -> list[Fields]:
    first = entry("DEC-001", "decision", text="One counter in the database", reason="It is there")
    second = [
        *entry(
            "DEC-002",
            "decision",
            text="Token bucket in Redis",
            reason="Ten times faster",
            replaces=["DEC-001"],
        ),
        {"id": "DEC-001", "state": "superseded", "replaced_by": ["DEC-002"]},
    ]
    open_ = entry(
        "Q-001", "question", text="Who sets the limits per plan?", owner="linus", by_when="2026-12-03"
    )
    answered = entry("Q-002", "question", text="Which header?", owner="ada", answer="Retry-After")
    kept = entry(
        "OBJ-001", "objection", text="Redis becomes critical", outcome="kept as risk", outcome_text="RSK-004"
    )
    picture = {
        "id": "F1",
        "name": "latency.png",
        "type": "png",
        "permalink": "https://acme.slack.com/files/U1/F1",
    }
    foreign = {"id": "F2", "name": "notes.txt", "type": "text", "permalink": "https://evil.test/notes.txt"}
    return [
        host("Ada started a roundtable.", permalink=THREAD, change={"created": True}),
        person("Ada", "Here is what we measured.", attachments=[picture, foreign], message_ts="1700000001.000100"),
        host("Step 00-01 is written.", step_id="00-01", change={"steps": ["00-01"], "phases": ["00-quick-scan"]}),
        persona("BusinessAnalyst", "Redis or the database?", turn=1, turn_id="t01", stances=stance("in the database")),
        persona("SolutionsArchitect", "Redis.", turn=2, turn_id="t02", stances=stance("in Redis")),
        person("Grace", "The database is slow.", turn=3, turn_id="t03", stances=stance("in Redis", "t02")),
        person("Linus", "I know the database.", turn=4, turn_id="t04", stances=stance("in the database")),
        persona("BusinessAnalyst", "Then Redis.", turn=5, turn_id="t05", stances=stance("in Redis", "t03")),
        host("Linus stands elsewhere.", user_name="Linus", user_id="linus", stances=stance("In  Redis", "t03", "t05")),
        person("Ada", "decision: One counter in the database", entries=first, message_id="m1"),
        person("Ada", "decision: …", entries=second, message_id="m2", message_ts="1700000002.000100"),
        person("Linus", "open question: …", entries=open_, message_id="m3"),
        person("Linus", "open question: …", entries=answered, message_id="m4"),
        person("Grace", "objection: …", entries=kept, message_id="m5"),
    ]  # fmt: skip


def shown(folder: Path, rows: list[Fields]) -> str:
    """The address of their page."""
    given = {"round": 1, "phase": "workshop"}
    text = "".join(
        json.dumps({"ts": f"2026-11-20T10:{at // 60:02}:{at % 60:02}.000Z", **given, **row}) + "\n"
        for at, row in enumerate(rows)
    )
    (folder / "meeting.jsonl").write_text(text, encoding="utf-8")
    written(RecordedItem(folder, folder / "meeting.jsonl"), folder / "page.html", labels=LABELS)
    return (folder / "page.html").as_uri()


async def section(page: Page, name: str) -> list[str]:
    """Its points, with one space where there are several or a new line."""
    found = page.locator(".brief section", has=page.get_by_role("heading", name=name, level=2))
    return [" ".join(text.split()) for text in await found.locator("li").all_inner_texts()]


async def test_the_brief_says_what_it_came_to(page: Page, tmp_path: Path) -> None:
    """Who stands where, who moved because of what, and the transcript folded behind it."""
    await page.goto(shown(tmp_path, a_disagreement()))

    assert await section(page, "Decisions") == [
        (
            "DEC-002 Token bucket in Redis because: Ten times faster; replaces: DEC-001 "
            "Ada · 2026-11-20 · line 11 · in Slack"
        ),
        "DEC-001 One counter in the database because: It is there Ada · 2026-11-20 · replaced by DEC-002 · line 10",
    ]
    await expect(page.locator("s")).to_have_text(["One counter in the database"])
    assert await section(page, "Open questions") == [
        "Q-001 Who sets the limits per plan? owner: Linus; by: 2026-12-03 Linus · 2026-11-20 · line 12"
    ]
    assert await section(page, "Objections") == [
        "OBJ-001 Redis becomes critical RSK-004 Grace · 2026-11-20 · kept as risk · line 14"
    ]
    assert await section(page, "Steps") == [
        "Skipped: 00-02 Keyword Search",
        "Not reached: 01-01 Business Context",
    ]
    assert await section(page, "Links") == ["The thread in Slack"]

    map_ = page.locator("figure", has_text=STORE).locator(".map")
    assert [" ".join(text.split()) for text in await map_.locator("div").all_inner_texts()] == [
        "in the database Maya Chen Linus no one now",
        "in Redis Alex Rivera Grace Maya Chen Linus",
    ]
    assert await section(page, "Positions") == [
        "Maya Chen: in the database → in Redis (line 8, because of line 6)",
        "Linus: in the database → in Redis (line 9, because of line 6, line 8)",
    ]
    assert await map_.locator(".left").all_text_contents() == ["Maya Chen", "Linus"]
    assert await map_.locator(".person:not(.left)").all_text_contents() == ["Grace", "Linus"]

    await expect(page.locator("#L5")).to_be_hidden()

    await page.get_by_role("link", name="line 11").first.click()
    await expect(page.locator("#L11")).to_be_in_viewport()
    await expect(page.locator("#L5 .who")).to_have_text("Alex Rivera")
    await expect(page.locator("#L3 .who")).to_have_text("Roundtable")


async def test_who_decided_stands_beside_who_recorded_it(page: Page, tmp_path: Path) -> None:
    made = entry("DEC-009", "decision", text="Shadow mode first", deciders=["Grace", "Linus"])
    await page.goto(shown(tmp_path, [*a_disagreement(), person("Ada", "…", entries=made)]))

    (told,) = [one for one in await section(page, "Decisions") if one.startswith("DEC-009")]
    assert told.startswith("DEC-009 Shadow mode first decided by Grace and Linus, recorded by Ada")


async def test_files_that_were_shared_are_listed(page: Page, tmp_path: Path) -> None:
    """Only an address of the Slack that the thread is in becomes a link."""
    await page.goto(shown(tmp_path, a_disagreement()))

    assert await section(page, "Files") == ["latency.png png · Ada · line 2", "notes.txt text · Ada · line 2"]
    await expect(page.get_by_role("link", name="latency.png")).to_have_attribute(
        "href", re.compile(r"/files/U1/F1$")
    )
    await expect(page.get_by_role("link", name="notes.txt")).to_have_count(0)
    await page.locator("summary").click()
    await expect(page.locator("#L2")).to_contain_text("Attached: latency.png, notes.txt")


async def test_it_needs_no_script(page: Page, tmp_path: Path) -> None:
    """Without one the filters, which would do nothing, are not there; all else is."""
    browser = page.context.browser
    assert browser
    without = await (await browser.new_context(java_script_enabled=False)).new_page()
    await without.goto(shown(tmp_path, a_disagreement()))
    await expect(without.get_by_text("Token bucket in Redis")).to_be_visible()
    await without.locator("summary").click()
    await expect(without.locator("#L5")).to_be_visible()
    await expect(without.locator("#filters")).to_be_hidden()


def a_lot() -> list[Fields]:
    """More than anybody decides, in as many words as are kept."""
    words = "a rather long sentence that goes on and on about the same thing again " * 6
    rows = a_disagreement()
    for at in range(10, 110):
        rows.append(person("Ada", "…", entries=entry(f"DEC-{at:03}", "decision", text=words, reason=words)))
        rows.append(person("Grace", "…", entries=entry(f"Q-{at:03}", "question", text=words, owner="linus")))
        rows.append(
            person("Linus", "…", entries=entry(f"OBJ-{at:03}", "objection", text=words, outcome_text=words))
        )
        for turn, name in enumerate(("Ada", "Grace", "Linus", "Noor"), start=1):
            issue, told = f"Issue {at} {words}"[:120], f"{name} wants {words}"[:200]
            rows.append(person(name, "…", turn_id=f"x{at}-{turn}", stances=stance(told, issue=issue)))
        file = {"id": f"G{at}", "name": f"{words}.png"}
        rows.append(person("Noor", "…", attachments=[file]))
    return rows


async def test_the_brief_is_printed_on_six_pages_at_most(page: Page, tmp_path: Path) -> None:
    """However much was said; and the page says how much more there is. The folded transcript is not printed."""
    await page.goto(shown(tmp_path, a_disagreement()))
    assert pages(await page.pdf(format="A4")) <= 2

    await page.goto(shown(tmp_path, a_lot()))
    assert 3 <= pages(await page.pdf(format="A4")) <= 6
    assert 3 <= pages(await page.pdf(format="Letter")) <= 6
    await page.emulate_media(media="print")
    await expect(page.get_by_text("more: see the page.").first).to_be_visible()


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.parametrize("width", [320, 390, 1280])
async def test_it_fits_a_phone(page: Page, tmp_path: Path, width: int) -> None:
    """Nothing but the timeline, which scrolls by itself, is wider than the screen; the map's text is readable."""
    await page.set_viewport_size({"width": width, "height": 800})
    await page.goto(shown(tmp_path, [*a_disagreement(), person("W" * 80, "x" * 500, decision="y" * 300)]))
    await page.locator("summary").click()

    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    height = await page.locator(".map dt").first.evaluate("one => one.getBoundingClientRect().height")
    assert height >= 11


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_is_accessible(page: Page, tmp_path: Path, scheme: Any) -> None:
    """By day and by night: every control has a name, every text enough contrast, headings leave no level out."""
    await page.emulate_media(color_scheme=scheme)
    await page.goto(shown(tmp_path, a_disagreement()))
    await page.locator("summary").click()

    assert await flaws_of(page) == []


async def test_a_record_of_nothing_says_so(page: Page, tmp_path: Path) -> None:
    """No list is left empty without a word, and there is no map of nothing."""
    await page.goto(shown(tmp_path, []))

    await expect(page.get_by_text("Nothing recorded yet.")).to_have_count(3)
    await expect(page.locator(".map")).to_have_count(0)
