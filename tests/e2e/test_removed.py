"""The bot is removed from its channel, or the channel is archived: the roundtable pauses, and its starter is told."""

import pytest

from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting


def direct(meeting: Meeting, who: str) -> list[SandboxMessage]:
    workspace = meeting.slack.workspace
    channel = workspace.direct(workspace.user(who).id, meeting.slack.bot_user_id)
    return [one for one in channel.messages.values() if one.by_bot]


@pytest.mark.parametrize(
    ("archived", "sentence"),
    [(False, "I am no longer in the channel of *Offline sync*"), (True, "*Offline sync* was archived")],
)
async def test_the_starter_is_told_and_it_goes_on_later(
    meeting: Meeting, *, archived: bool, sentence: str
) -> None:
    """Nobody has to write in the thread for it, and what was said is in git."""
    async with meeting.bot():
        await meeting.start("Offline sync", who="ada")
        await meeting.say("Edits get lost in tunnels. Scope: small")
        await meeting.slack.settled()
        if archived:
            meeting.slack.archive(CHANNEL)
        else:
            meeting.slack.remove_bot(CHANNEL)
        await meeting.until(lambda: [one for one in direct(meeting, "ada") if sentence in one.text])
        await meeting.until(lambda: any("paused" in one for one in meeting.subjects()))
        assert not direct(meeting, "grace")
    assert "Edits get lost in tunnels" in "".join(line.content for line in meeting.lines("User"))

    meeting.slack.archive(CHANNEL, archived=False)
    meeting.slack.invite_bot(CHANNEL)
    async with meeting.bot():
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable resume offline-sync")
        await meeting.seen("Welcome back.")
        await meeting.finish_step()
    assert "Edits get lost in tunnels" in (meeting.folder / "quick-scan.md").read_text()
    assert len(direct(meeting, "ada")) == 1
