"""Meetings that were held in the sandbox by the whole bot: what they leave behind holds."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.cli.replay import verified
from bot.domain.item.item_paths import TRANSCRIPT
from bot.record.reading import replay
from bot.record.verify import RecordedItem
from tests.e2e.meeting import Meeting, sandbox


@pytest.fixture
async def meeting(tmp_path: Path) -> AsyncIterator[Meeting]:
    async with sandbox() as slack:
        yield Meeting(slack, tmp_path / "workspace")


async def test_the_record_of_a_real_meeting_holds(meeting: Meeting) -> None:
    """Real sockets, real git, the offline voices, and a restart in the middle of a discussion."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step(
            "Field workers lose their edits.", "We decided to keep photos out. Who pays for it?"
        )
        await meeting.press("elaborate")
        await meeting.menu("end_elaboration")
        await meeting.say("Jordan, what does one see without a network?")
        await meeting.slack.settled()
    async with meeting.bot():
        await meeting.say("I disagree, we should keep the photos.", who="linus")
        await meeting.slack.settled()
        await meeting.say("done")
        await meeting.seen("Elaboration Insights")
        await meeting.slack.settled()
        await meeting.menu("continue")
        await meeting.say("stop")
        await meeting.menu("resume")
        await meeting.slack.settled()

    shared = meeting.workspace / "docs" / "common" / "nfr-matrix.md"
    item = RecordedItem(meeting.folder, meeting.folder / TRANSCRIPT, shared)
    state = replay(item.read_transcript())

    assert [str(one) for one in verified(item)] == []
    assert list(state.progress.steps_completed) == meeting.meta["steps_completed"] == ["00-01"]
    assert len(state.concluded) == 1
    assert state.permalink.startswith("http")
