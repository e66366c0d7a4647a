"""What follows when nobody writes for a while, over the sandbox, with simulated time and a restart in between."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.domain.values.timestamps import moment
from tests.e2e.meeting import Meeting, sandbox
from tests.e2e.test_thinking import good
from tests.other.published import unlike_published
from tests.storage.checkout import commit_all
from tests.voices.minds import ScriptedMind, thinking


@pytest.fixture
async def meeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Meeting]:
    """What is due is looked for at once, by the clock of Slack."""
    monkeypatch.setattr("bot.engine.engine.SWEEP_SECONDS", 0.05)
    async with sandbox() as slack:
        now = slack.clock.now
        yield Meeting(slack, tmp_path / "workspace", clock=lambda: moment(datetime.fromtimestamp(now(), UTC)))
        assert unlike_published(slack.calls) == []


async def step_done(meeting: Meeting) -> None:
    await meeting.start("Offline sync")
    await meeting.say("Edits get lost in tunnels. Scope: small", who="ada")
    await meeting.slack.settled()
    await meeting.finish_step()


async def minutes_pass(meeting: Meeting, minutes: float) -> None:
    await meeting.slack.settled()
    meeting.slack.clock.skip(60 * minutes)


async def test_a_discussion_ends_when_it_is_quiet(meeting: Meeting) -> None:
    """The personas use all turns; Ada and Grace are heard after the limit. Then nobody writes for ten minutes."""
    meeting.voices = thinking(ScriptedMind(script=good))
    async with meeting.bot():
        await step_done(meeting)
        meta = meeting.folder / "meta.json"
        told = {**json.loads(meta.read_text()), "elaboration_config": {"max_turns": 4}}
        meta.write_text(json.dumps(told))
        commit_all(meeting.workspace)
        await meeting.press("elaborate")
        await meeting.menu("ask_all")
        await meeting.slack.settled()
        await meeting.say("A queue on the device.", who="ada")
        await meeting.seen("ends by itself when nobody has written for 10 minutes")
        await minutes_pass(meeting, 9)
        await meeting.say("objection: the queue gets lost", who="grace")
        await meeting.seen("Open objection")
        await minutes_pass(meeting, 9)
    assert not meeting.menus("continue")
    async with meeting.bot():
        await meeting.slack.settled()
        meeting.slack.clock.skip(60 * 1.1)
        await meeting.seen("Elaboration Insights")
        await meeting.menu("continue")
        await meeting.slack.settled()

    said = [line.content for line in meeting.transcript.lines]
    assert any("Everybody was heard, and the thread has been quiet since." in one for one in said)
    assert any("**Exit**: quiet" in one for one in said)
    assert len([one for one in meeting.subjects() if "elaboration" in one]) == 1


async def test_feedback_is_committed_when_people_pause(meeting: Meeting) -> None:
    """Once, after two minutes, also when the bot was restarted. The card keeps its menu; going on adds no commit."""
    async with meeting.bot():
        await step_done(meeting)
        menu = await meeting.menu("continue")
        await meeting.say("FR: photos are synced, too", who="grace")
        await meeting.slack.settled()
        assert not feedback(meeting)
    meeting.slack.clock.skip(121)
    async with meeting.bot():
        await meeting.until(lambda: feedback(meeting))
        await meeting.slack.settled()
        assert (await meeting.menu("continue")).ts == menu.ts
        await meeting.press("continue")
        await meeting.menu("finish_step", since=menu.ts)
        await meeting.slack.settled()

    assert len(feedback(meeting)) == 1
    assert any("photos are synced" in line.content for line in meeting.transcript.lines)


def feedback(meeting: Meeting) -> list[str]:
    return [one for one in meeting.subjects() if ": feedback" in one]
