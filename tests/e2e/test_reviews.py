"""Reviews in Slack: asked for in words, made by personas side by side, kept in git, shown in one message."""

from pathlib import Path
from shutil import rmtree

import aiohttp

from bot import app
from slack_sandbox import SandboxMessage
from tests import stored
from tests.command_line import CommandLine, Ran
from tests.e2e.meeting import CHANNEL, Meeting, settings
from tests.e2e.test_operating import asked, ready, wait_for
from tests.engine.review_room import PASSED
from tests.ports import free_port
from tests.test_posted import SECRET, request_body, signed

LINE = "REVIEW: metadata unavailable"
"""Without a model nobody judges."""


def notices(meeting: Meeting, channel: str = CHANNEL) -> list[SandboxMessage]:
    return [one for one in meeting.slack.messages(channel) if one.text.startswith("REVIEW: ")]


async def held(meeting: Meeting) -> None:
    """An item with one finished step."""
    await meeting.start("Offline sync")
    await meeting.do_step("Edits get lost. Scope: small")


async def test_a_review_is_asked_for_kept_and_shown(meeting: Meeting) -> None:
    """The line comes to the channel, the details to the thread, and the review itself to git, in a commit."""
    async with meeting.bot():
        await held(meeting)
        asked = await meeting.slack.person("ada").slash(CHANNEL, "/roundtable review offline-sync")
        details = await meeting.seen("*Review 1*")
        (notice,) = await meeting.until(lambda: notices(meeting))

    kept = (meeting.folder / "reviews" / "review-001.md").read_text()
    first, *_ = notice.text.splitlines()
    assert "Maya Chen (Business Analyst), Alex Rivera" in asked.response["text"]
    assert first == LINE
    assert first in details.text
    assert "Maya Chen (Business Analyst), Alex Rivera (Solutions Architect) and Jordan Park" in notice.text
    assert "Asked for by ada" in kept
    assert meeting.subjects()[-1] == "roundtable(offline-sync): review 001"
    assert meeting.git("status", "--porcelain") == ""


async def test_a_review_is_one_line_and_its_findings_are_behind_a_button(meeting: Meeting) -> None:
    """All of them, for the person who presses, also after a restart; typed, it is the same. Nothing comes of it."""
    async with meeting.bot():
        await held(meeting)
        ada = meeting.slack.person("ada")
        await ada.mention(CHANNEL, "review by Jordan", thread_ts=meeting.root)
        line = await meeting.seen("*Review 1*")
        await ada.mention(CHANNEL, "review by Alex", thread_ts=meeting.root)
        await meeting.seen("*Review 2*")
    before = meeting.subjects()
    async with meeting.bot():
        grace = meeting.slack.person("grace")
        await meeting.press_in(line, "findings", who="grace")
        await meeting.until(lambda: grace.ephemerals)
        await grace.mention(CHANNEL, "read 1", thread_ts=meeting.root)
        await meeting.until(lambda: len(grace.ephemerals) == 2)
        await grace.mention(CHANNEL, "read", thread_ts=meeting.root)
        await meeting.until(lambda: len(grace.ephemerals) == 3)
        await grace.mention(CHANNEL, "read 7", thread_ts=meeting.root)
        await meeting.until(lambda: len(grace.ephemerals) == 4)
        await meeting.slack.settled()

    kept = (meeting.folder / "reviews" / "review-001.md").read_text()
    pressed, typed, newest, none = (one.text for one in grace.ephemerals)
    assert line.text.partition("\n[")[0].count("\n") == 0
    assert pressed == typed
    assert "Jordan Park" in pressed
    gaps = [row.removeprefix("- ") for row in kept.splitlines() if row.startswith("- ")]
    assert all(gap.split("`")[0].split("\\")[0] in pressed for gap in gaps)
    assert "Review 2 of Offline sync" in newest
    assert "There is no review 7 of *Offline sync*. The newest ones are 1 to 2." in none
    assert meeting.subjects() == before


async def test_those_who_run_the_bot_see_what_becomes_of_reviews(meeting: Meeting) -> None:
    """What is owed for them, since when, and how many came to a message; while Slack refuses it, nobody is unready."""
    port = free_port()
    async with app.bot(settings(meeting.slack, meeting.workspace, ROUNDTABLE_HEALTH_PORT=str(port))):
        await held(meeting)
        meeting.slack.fail_next("chat.postMessage", status=503, times=1_000)
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable review offline-sync")
        await wait_for(lambda parts: parts["reviews"].get("oldest_seconds", 0) > 0, port)
        parts = await ready(port, is_ready=True)
        meeting.slack.faults.clear()
        await meeting.seen("*Review 1*")
        await wait_for(lambda parts: parts["reviews"].get("owing") == 0, port)
        _, text = await asked(port, "/metrics")

    assert parts["reviews"]["owing"] == 1
    for result in ("taken", "posted"):
        assert f'roundtable_reviews_total{{result="{result}",team="T0SANDBOX"}} 1.0' in text
    assert 'roundtable_review_queue_notices{team="T0SANDBOX"} 0.0' in text


async def test_a_mention_in_the_thread_asks_for_its_item(meeting: Meeting) -> None:
    """
    And for whose lens is named: by name, by role, or by what they look at. The menu, meta.json and the transcript stay
    the same; the next press counts. It is read only in its own channel.
    """
    meeting.slack.add_channel("elsewhere")
    async with meeting.bot():
        await held(meeting)
        ada = meeting.slack.person("ada")
        before = meeting.meta, meeting.transcript
        await ada.mention(CHANNEL, "review by Jordan", thread_ts=meeting.root)
        await meeting.seen("*Review 1*")
        await ada.mention(CHANNEL, "review for risks", thread_ts=meeting.root)
        await meeting.seen("*Review 2*")
        (notice,) = await meeting.until(lambda: notices(meeting))
        assert (meeting.meta, meeting.transcript) == before
        elsewhere = await ada.slash("#elsewhere", "/roundtable read offline-sync")
        here = await ada.slash(CHANNEL, "/roundtable read offline-sync 1")
        await meeting.press("continue")
        await meeting.seen("Step 00-02")

    assert "are read in its own channel" in elsewhere.response["text"]
    assert "Review 1 of Offline sync" in here.response["text"]
    assert "by lead: Jordan Park (System Designer)." in (await meeting.seen("*Review 1*")).text
    assert "by lead: Alex Rivera (Solutions Architect)." in notice.text
    assert "Maya Chen (Business Analyst) did not review it" in notice.text


async def test_an_item_that_nobody_runs_is_reviewed(meeting: Meeting) -> None:
    """Its files are enough: the store has lost the roundtable, and it stays so."""
    async with meeting.bot():
        await held(meeting)
    rmtree(meeting.workspace / ".roundtable")
    async with meeting.bot():
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable review offline-sync")
        await meeting.until(lambda: notices(meeting))
        await meeting.seen("*Review 1*")

    assert not stored.in_file(meeting.workspace, "offline-sync")


async def test_what_cannot_be_reviewed_is_explained(meeting: Meeting) -> None:
    """
    Only to the person, with what there is. Alone in its channel an item need not be named, and a word that is no item
    may be somebody's name.
    """
    meeting.slack.add_channel("elsewhere")
    async with meeting.bot():
        await held(meeting)
        ada = meeting.slack.person("ada")
        for where, asked, answer in (
            (CHANNEL, "nobody", "No matching item found for `nobody`"),
            (CHANNEL, "offline-sync by Bob", "No persona covers “bob”"),
            ("#elsewhere", "", "There is no item in this channel"),
        ):
            assert answer in (await ada.slash(where, f"/roundtable review {asked}")).response["text"]
        assert not (meeting.folder / "reviews").exists()
        delivery = await ada.slash(CHANNEL, "/roundtable review maya")
        details = await meeting.seen("*Review 1*")

    assert "Maya Chen (Business Analyst) will review *Offline sync*" in delivery.response["text"]
    assert "by lead: Maya Chen (Business Analyst)." in details.text


async def test_another_program_posts_a_review(meeting: Meeting, port: int) -> None:
    """To the bot that runs, over Socket Mode or not; the line comes to the channel that is set for it."""
    meeting.slack.add_channel("triage")
    more = {
        "ROUNDTABLE_PORT": str(port),
        "ROUNDTABLE_HEALTH_PORT": str(free_port()),
        "ROUNDTABLE_REVIEW_SECRET": SECRET,
        "ROUNDTABLE_TRIAGE_CHANNEL": "#triage",
    }
    async with app.bot(settings(meeting.slack, meeting.workspace, **more)), aiohttp.ClientSession() as http:
        await held(meeting)
        body = request_body()
        async with http.post(f"http://127.0.0.1:{port}/reviews", data=body, headers=signed(body)) as answer:
            assert answer.status == 201
        await meeting.seen("*Review 1*")
        (notice,) = await meeting.until(lambda: notices(meeting, "#triage"))

    assert notice.text.startswith("REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1")
    assert notices(meeting) == []


async def test_a_file_is_posted_by_hand(meeting: Meeting, tmp_path: Path, loaded: CommandLine) -> None:
    """`roundtable review FILE --item SLUG --post` goes to the same one message as everything else."""
    async with meeting.bot():
        await held(meeting)
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable review offline-sync")
        await meeting.seen("*Review 1*")
    (tmp_path / "review.md").write_bytes(PASSED)
    ran = await by_hand(meeting, loaded, tmp_path, "--item", "offline-sync")

    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-1] == "Posted"
    (notice,) = notices(meeting)
    assert notice.text.startswith("REVIEW: PASS | issues=3")
    assert "• 1: REVIEW: " in notice.text
    assert "*Review 2*" in meeting.thread[-1].text


async def test_a_line_is_posted_by_hand(meeting: Meeting, tmp_path: Path, loaded: CommandLine) -> None:
    """Without an item it is a message of its own; the same again is not posted again, and nothing by a slip."""
    (tmp_path / "review.md").write_bytes(PASSED)
    for words in (("--channel", "C1"), ("--post",)):
        ran = await loaded.run(tmp_path, "review", "review.md", *words)
        assert ran.code in {1, 2}
        assert "--channel" in ran.err
    assert meeting.slack.messages(CHANNEL) == []
    for _ in range(2):
        ran = await by_hand(meeting, loaded, tmp_path, "--channel", CHANNEL)
        assert ran.out.splitlines()[1:] == [f"Posted to {meeting.slack.channel().id}"]

    (posted,) = meeting.slack.messages(CHANNEL)
    assert posted.text == "REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1"


async def test_by_hand_beside_a_running_bot_is_explained(
    meeting: Meeting, tmp_path: Path, loaded: CommandLine
) -> None:
    """Without Redis the bot has the store for itself; the review is kept all the same, and one sentence says so."""
    (tmp_path / "review.md").write_bytes(PASSED)
    async with meeting.bot():
        await held(meeting)
        ran = await by_hand(meeting, loaded, tmp_path, "--item", "offline-sync")

    assert ran.code == 1
    assert "another roundtable process uses this workspace" in ran.err
    assert (meeting.folder / "reviews/review-001.md").exists()


async def by_hand(meeting: Meeting, loaded: CommandLine, folder: Path, *words: str) -> Ran:
    return await loaded.run(
        folder,
        *("review", "review.md", "--post", *words),
        SLACK_API_URL=meeting.slack.api_url,
        SLACK_BOT_TOKEN=meeting.slack.bot_token,
        ROUNDTABLE_WORKSPACE=str(meeting.workspace),
    )
