"""A meeting whose Redis master is lost and replaced: people notice next to nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.slack.manifest import SHORTCUT, SHORTCUT_NAME
from slack_sandbox import App, Sandbox
from tests.e2e.test_operating import IMPATIENT, ready, with_redis
from tests.redis_groups import WatchedRedis, wait_for_the_replica


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox(timing=IMPATIENT, app=App(shortcuts={SHORTCUT: SHORTCUT_NAME})) as sandbox:
        yield sandbox


async def test_a_meeting_goes_on_when_another_becomes_master(
    slack: Sandbox, tmp_path: Path, sentinel_url: str, watched_redis: WatchedRedis
) -> None:
    """What was said before, meanwhile and afterwards is all there, once, and everything that was owed is paid."""
    async with with_redis(slack, tmp_path, sentinel_url) as (meeting, port):
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await meeting.press("continue")
        await meeting.seen("Step 00-02")
        await slack.settled()
        lost = watched_redis.master()
        wait_for_the_replica(lost)
        watched_redis.kill(lost)
        await meeting.say("Two people may edit the same form")
        words = slack.events("message")[-1]

        await ready(port, is_ready=True)
        await slack.settled()
        if not words.acked:
            await slack.redeliver(words)
        await meeting.until(lambda: words.acked)
        await meeting.press("finish_step")
        await meeting.until(lambda: meeting.menus("continue"))

    assert [line.content for line in meeting.lines("User")] == [
        "Field workers lose their edits",
        "Two people may edit the same form",
    ]
    assert sum(" step " in subject for subject in meeting.subjects()) == 2
