"""Reviews from the wish to the one message: personas side by side, and nothing twice whatever dies in between."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from shutil import rmtree

import pytest

from bot.domain.catalog.personas import Persona
from bot.domain.reviews.notice import ENTRIES_KEPT
from bot.domain.reviews.text import ReviewerOpinion
from bot.engine.ports import now
from bot.engine.reviews import PREFIX
from bot.errors import VoiceError
from bot.slack.client import opened
from slack_sandbox import Sandbox
from tests.engine.review_room import (
    CHANNEL,
    PASSED,
    SLUG,
    Opening,
    Room,
    finds_nothing,
    finds_one,
    item,
    never,
    room,
)
from tests.patience import wait_until

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
PASS_LINE = "REVIEW: PASS | issues=3 (critical=0) | missing_inputs=1"


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
async def thread(slack: Sandbox, tmp_path: Path) -> str:
    """An item that is held in a thread; nothing runs."""
    ts = await slack.person("ada").say(CHANNEL, "Offline sync")
    item(tmp_path, slack, ts)
    return ts


# --- who reviews ------------------------------------------------------------------------------------------------------


async def test_personas_review_side_by_side(open_room: Opening) -> None:
    """None waits for another: each of them sees that all have begun."""
    meeting = asyncio.Barrier(3)

    async def together(persona: Persona) -> ReviewerOpinion:
        await meeting.wait()
        return await finds_one(persona)

    says = {MAYA: together, ALEX: together, JORDAN: together}
    async with open_room(says=says) as here:
        await here.have_reviewed()

    assert "REVIEW: FAIL | issues=3 (critical=3) | missing_inputs=0" in here.messages()[0].text


async def test_one_who_is_late_is_told_of_and_holds_up_nobody(open_room: Opening) -> None:
    """In the channel, in the thread and in the review itself."""
    async with open_room(says={MAYA: finds_one, ALEX: never}, seconds=0.1) as here:
        await here.have_reviewed()

    excuse = "Alex Rivera (Solutions Architect) did not answer within 0 s"
    (notice,), (details,) = here.messages(), here.details()
    assert "issues=1 (critical=1)" in notice.text
    assert all(excuse in text for text in (notice.text, here.review(1)))
    assert "\n" not in details.text.partition("[Read…]")[0].strip()


@pytest.mark.parametrize("error", [VoiceError("The model said nothing."), KeyError("a mistake of ours")])
async def test_one_who_fails_sinks_no_other(open_room: Opening, error: Exception) -> None:
    """What the others found is shown; of a mistake of ours people see no more than that there was one."""

    async def fails(_persona: Persona) -> ReviewerOpinion:
        raise error

    async with open_room(says={MAYA: fails, ALEX: finds_one}) as here:
        await here.have_reviewed()

    (notice,) = here.messages()
    assert "Maya Chen (Business Analyst) could not review it" in notice.text
    assert "issues=1 (critical=1)" in notice.text
    assert "a mistake of ours" not in notice.text + here.review(1)


async def test_every_line_of_a_review_says_what_it_is_about(
    open_room: Opening, slack: Sandbox, lines: io.StringIO
) -> None:
    async with open_room(says={MAYA: never, ALEX: finds_one}, seconds=0.1) as here:
        await here.have_reviewed()

    (line,) = [
        one for one in map(json.loads, lines.getvalue().splitlines()) if "did not review" in one["event"]
    ]
    assert (line["team"], line["item"]) == (slack.team_id, SLUG)
    assert line["effect"]


async def test_a_review_by_nobody_is_none(open_room: Opening, slack: Sandbox, tmp_path: Path) -> None:
    """No verdict comes of silence: whoever asked is told, and nothing is kept or shown."""
    says = {MAYA: never, ALEX: never, JORDAN: never}
    async with open_room(says=says, seconds=0.05) as here:
        await here.have_reviewed()

    assert here.messages() == []
    assert not (tmp_path / f"docs/requirements/{SLUG}/reviews").exists()
    told = slack.person("ada").ephemerals or slack.calls_of("chat.postEphemeral")
    assert "No review of" in str(told)


async def test_a_review_that_cannot_be_kept_waits_for_the_disk(
    open_room: Opening, slack: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked is told once; when the branch can be written again, the very same review is kept."""
    monkeypatch.setattr(
        "bot.engine.reviews.ReviewTriage._wait_seconds", lambda _triage, _effect: 0.0
    )  # the pauses are over
    monkeypatch.setattr("bot.storage.git.tree.STALE_SECONDS", 600.0)
    lock = tmp_path / ".git/refs/heads/main.lock"
    says = {MAYA: finds_one}
    async with open_room(says=says, lock_seconds=0.05) as here:
        await here.ask(MAYA)
        lock.touch()
        for _ in range(3):
            await here.pay()
        told = slack.calls_of("chat.postEphemeral")
        lock.unlink()
        await here.pay()

    assert len(told) == 1
    assert "could not be kept" in str(told[0].args)
    assert here.reviewers.asked == [MAYA]
    assert "Maya Chen" in here.review(1)
    assert len(here.messages()) == 1


# --- one message ------------------------------------------------------------------------------------------------------


async def test_each_review_edits_the_one_message(open_room: Opening) -> None:
    """The newest line is on top, the ones before are below it, and the thread has the details of each."""
    async with open_room(says={MAYA: finds_one}) as here:
        await here.have_reviewed(MAYA)
        await here.have_shown(by=("lint-bot",))

    (notice,) = here.messages()
    rows = notice.text.splitlines()
    assert rows[0] == PASS_LINE
    assert "review 2. Reviewed by lint-bot." in rows[1]
    assert "• 1: REVIEW: FAIL | issues=1 (critical=1) | missing_inputs=0" in rows
    assert [f"Review {number}" in one.text for number, one in enumerate(here.details(), 1)] == [True, True]
    assert "docs/requirements/offline-sync/reviews/review-002.md" in notice.text


async def test_the_triage_channel_may_be_another(open_room: Opening, slack: Sandbox, thread: str) -> None:
    """Given by its name; the link leads to the item's thread, where the details are."""
    slack.add_channel("triage")
    async with open_room(channel="#triage") as here:
        await here.have_shown()
        await here.have_shown(PASSED + b"2")

    (notice,) = here.messages("#triage")
    assert here.messages() == []
    assert f"p{thread.replace('.', '')}" in notice.text
    assert len(here.details()) == 2


async def test_files_can_be_linked_to(open_room: Opening) -> None:
    """Where people read the workspace is a setting."""
    url = "https://git.example/blob/main/{path}"
    async with open_room(file_url=url) as here:
        await here.have_shown()

    link = "https://git.example/blob/main/docs/requirements/offline-sync/reviews/review-001.md"
    assert link in here.messages()[0].text
    assert link in here.details()[0].text


async def test_an_item_without_a_thread_is_reviewed_as_well(slack: Sandbox, tmp_path: Path) -> None:
    """Its line comes to where somebody asked."""
    item(tmp_path, slack, "")
    async with room(slack, tmp_path) as here:
        await here.have_reviewed()

    assert len(here.messages()) == 1
    assert "Asked for by Ada" in here.review(1)


async def test_an_item_of_no_channel_keeps_its_reviews(slack: Sandbox, tmp_path: Path) -> None:
    """Nobody asked in Slack, and it is held nowhere: there is nowhere to show it, and nothing is owed."""
    item(tmp_path, slack, "")
    async with room(slack, tmp_path) as here:
        await here.have_shown()
        assert not await here.triage.is_unfinished(SLUG)

    assert slack.messages() == []
    assert here.review(1) == PASSED.decode()


async def test_a_notice_that_somebody_deleted_comes_again(open_room: Opening, slack: Sandbox) -> None:
    """With the next review, and once."""
    async with open_room() as here:
        await here.have_shown()
        async with opened(slack.bot_token, api_url=slack.api_url) as client:
            await client.chat_delete(channel=slack.channel().id, ts=here.messages()[0].ts)
        assert here.messages() == []
        for number in (2, 3):
            await here.have_shown(PASSED + b"%d" % number)

    (notice,) = here.messages()
    assert "review 3." in notice.text


async def test_a_channel_that_shuts_us_out_delays_nothing_else(open_room: Opening, slack: Sandbox) -> None:
    """The details say why the line is missing; invited, the next review brings all of it."""
    slack.add_channel("triage", with_bot=False)
    async with open_room(channel=slack.channel("#triage").id) as here:
        await here.have_shown()
        assert "The line is not in the triage channel: I'm not in this channel" in here.details()[0].text

        slack.invite_bot("#triage")
        await here.have_shown(PASSED + b"2")

    (notice,) = here.messages("#triage")
    assert f"• 1: {PASS_LINE}" in notice.text


async def test_old_lines_make_room(open_room: Opening) -> None:
    """The message stays short however many reviews there are."""
    async with open_room() as here:
        for number in range(12):
            await here.arrive(PASSED + b"%d" % number)
        await here.pay()

    (notice,) = here.messages()
    assert notice.text.count("REVIEW: ") == ENTRIES_KEPT
    (details,) = here.details()
    assert "And 7 more came in" in details.text


# --- never twice ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
async def test_a_post_whose_answer_was_lost_is_found_again(
    open_room: Opening, slack: Sandbox, method: str
) -> None:
    """Another process goes on, looks first, and posts nothing beside it."""
    async with open_room() as here:
        await here.arrive()
        slack.fail_next(method, hang_up=True, after=True)
        await here.pay()
    async with open_room() as here:
        await here.pay()
        await here.arrive(PASSED + b"2")
        while await here.triage.is_unfinished(SLUG):
            await here.pay()

    assert len(here.messages()) == 1
    assert len(here.details()) == 2


async def test_a_kill_between_the_post_and_its_note_posts_nothing_twice(
    open_room: Opening, slack: Sandbox
) -> None:
    """Both posts, of the notice and of the details: each process dies right after Slack has taken one."""
    async with open_room() as here:
        await here.arrive()
    for posted in (1, 2):
        async with open_room() as here:
            slack.fail_next("chat.postMessage", after=True, delay=5)
            dying = asyncio.create_task(here.pay())
            await slack.until(partial(_standing, here, posted))
            dying.cancel()
            await asyncio.wait({dying})
    async with open_room() as here:
        await here.pay()
        assert not await here.triage.is_unfinished(SLUG)

    assert len(here.messages()) == 1
    assert len(here.details()) == 1


def _standing(here: Room, posted: int) -> bool:
    return len(here.messages()) + len(here.details()) == posted


async def test_a_kill_while_personas_review_loses_no_wish(open_room: Opening) -> None:
    """The next process asks them again, and one review is kept."""
    async with open_room(says={MAYA: never}) as here:
        await here.ask(MAYA)
        dying = asyncio.create_task(here.pay())
        await wait_until(lambda: here.reviewers.asked)
        dying.cancel()
        await asyncio.wait({dying})
    async with open_room(says={MAYA: finds_nothing}) as here:
        assert await here.notices.unfinished() == (SLUG,)
        await here.pay()

    assert len(here.messages()) == 1
    assert here.review(1)


async def test_a_store_that_lost_everything_still_has_one_message(
    open_room: Opening, slack: Sandbox, tmp_path: Path
) -> None:
    """It is found in Slack, behind hundreds of other messages, and its earlier lines are read from git."""
    async with open_room() as here:
        await here.have_shown()
    ada = slack.person("ada")
    for number in range(450):
        await ada.say(CHANNEL, f"Something else {number}")
    rmtree(tmp_path / ".roundtable")
    async with open_room() as here:
        await here.have_shown(PASSED + b"2")

    (notice,) = here.messages()
    assert "review 2." in notice.text
    assert f"• 1: {PASS_LINE}" in notice.text
    assert len(here.details()) == 2


async def test_after_a_loss_nothing_is_told_again(open_room: Opening, tmp_path: Path) -> None:
    """A program that posts the same review again finds it in the thread already."""
    async with open_room() as here:
        await here.have_shown()
    rmtree(tmp_path / ".roundtable")
    async with open_room() as here:
        kept = await here.have_shown()

    assert (kept.number, kept.is_new) == (1, False)
    assert len(here.messages()) == 1
    assert len(here.details()) == 1


async def test_two_processes_post_one_message(open_room: Opening, redis_url: str) -> None:
    """Both take reviews of one item and both pay, at once: one message, every line, every detail once."""
    async with (
        open_room(redis_url=redis_url) as one,
        open_room(redis_url=redis_url) as other,
    ):
        rooms: list[Room] = [one, other, one, other]
        await asyncio.gather(*(here.arrive(PASSED + b"%d" % number) for number, here in enumerate(rooms)))
        await asyncio.gather(*(here.pay() for here in rooms))
        while await one.triage.is_unfinished(SLUG):
            await asyncio.gather(*(here.pay() for here in rooms))

    (notice,) = one.messages()
    assert notice.text.count("REVIEW: PASS") == 4
    told = "\n".join(message.text for message in one.details())
    assert [told.count(f"*Review {number}*") for number in range(1, 5)] == [1, 1, 1, 1]


# --- for those who watch ----------------------------------------------------------------------------------------------


async def test_what_is_owed_for_reviews_gets_older_until_it_is_paid(open_room: Opening) -> None:
    """Those who watch see a notice that does not come."""
    async with open_room() as here:
        assert await here.triage.queue.waiting() == (0, 0.0)
        await here.arrive()
        arrived = now()
        await wait_until(lambda: now() > arrived)
        unfinished, seconds = await here.triage.queue.waiting()
        await here.pay()
        performed = await here.triage.queue.waiting()

    assert unfinished == 1
    assert seconds > 0
    assert performed == (0, 0.0)


async def test_the_sweep_wakes_for_what_can_be_begun_soon(
    open_room: Opening, slack: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was refused just now is left until its time has come; until then nobody asks for it again and again."""
    async with open_room() as here:
        await here.arrive()
        here.woken.slugs.clear()
        await here.triage.sweep()
        assert here.woken.slugs == [PREFIX + SLUG]

        monkeypatch.setattr("bot.engine.reviews.FIRST_WAIT_SECONDS", 60.0)
        slack.fail_next("chat.postMessage", error="internal_error")
        await here.pay()
        here.woken.slugs.clear()
        await here.triage.sweep()
        assert await here.notices.unfinished() == (SLUG,)
        assert here.woken.slugs == []
