"""The bot was away for longer than Slack repeats what it could not deliver."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from slack_sandbox.delivery import Timing
from slack_sandbox.server import PEOPLE
from tests.e2e.meeting import Meeting, sandbox
from tests.e2e.test_pressing import GUS, REFUSED

LONG_AGO = "2026-11-21T10:00:00.000Z"


@pytest.fixture
async def meeting(tmp_path: Path) -> AsyncIterator[Meeting]:
    """In a Slack that says everything once, with a guest."""
    async with sandbox((*PEOPLE, GUS), timing=Timing(ack_seconds=0.2, retry_seconds=())) as slack:
        yield Meeting(slack, tmp_path / "workspace")


async def test_what_was_said_while_nobody_listened_is_read_and_answered(meeting: Meeting) -> None:
    """In one line people are told; their words answer the step, and are in the record, once."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost in tunnels. Scope: small")
        await meeting.until(lambda: [one for one in meeting.thread if one.text.startswith("Maya Chen")])
        await meeting.slack.settled()

    await meeting.say("And nobody notices until Monday.", who="linus")
    await meeting.until(lambda: meeting.slack.deliveries[-1].attempts)
    meeting.was_last_heard(LONG_AGO)

    async with meeting.bot():
        await meeting.seen("I was away for a while, and have now read your message from that time.")
        await meeting.slack.settled()
        await meeting.finish_step()

    said = [line.content for line in meeting.lines("User")]
    assert said.count("And nobody notices until Monday.") == 1
    assert said.count("Edits get lost in tunnels. Scope: small") == 1
    assert "nobody notices until Monday" in (meeting.folder / "quick-scan.md").read_text()


async def test_a_guests_words_do_not_act_afterwards(meeting: Meeting) -> None:
    """Who said what is read is asked of Slack as well: `stop` of a guest whom nobody knew is only recorded."""
    async with meeting.bot():
        await meeting.start("Offline sync")
    await meeting.say("stop", who="gus")
    await meeting.until(lambda: meeting.slack.deliveries[-1].attempts)
    meeting.was_last_heard(LONG_AGO)

    async with meeting.bot():
        await meeting.told(REFUSED, who="gus")
        assert not meeting.menus("resume")
