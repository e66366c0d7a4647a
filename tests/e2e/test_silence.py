"""Asides, muted personas, and a stop in the middle of a round, in Slack."""

from tests.e2e.meeting import CHANNEL, Meeting
from tests.e2e.test_thinking import good
from tests.voices.minds import ScriptedMind, thinking


async def test_an_aside_is_recorded_nowhere(meeting: Meeting) -> None:
    """No reaction, no answer, no line, and no trace in any file."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        before = len(meeting.thread)
        stamp = await meeting.say("aside: I think the bot likes tunnels")
        await meeting.slack.settled()
        assert len(meeting.thread) == before + 1
        assert not meeting.slack.workspace.find(stamp).reactions
        await meeting.do_step("Edits get lost. Scope: small")

    assert [line.content for line in meeting.lines("User")] == ["Edits get lost. Scope: small"]
    files = [path.read_bytes() for path in meeting.folder.rglob("*") if path.is_file()]
    assert not [text for text in files if b"likes tunnels" in text]


async def test_muted_personas_listen(meeting: Meeting) -> None:
    """By mention in the thread; unmuted, they answer what was said. Without a model they only listen anyway."""
    meeting.voices = thinking(ScriptedMind(script=good))
    async with meeting.bot():
        await meeting.start("Offline sync")
        ada = meeting.slack.person("ada")
        await ada.mention(CHANNEL, "mute", thread_ts=meeting.root)
        await meeting.seen("Ada muted the personas")
        await meeting.say("Edits get lost. Scope: small")
        await meeting.slack.settled()
        quiet = len(meeting.thread)
        await ada.slash(CHANNEL, "/roundtable status offline-sync")
        await ada.mention(CHANNEL, "unmute", thread_ts=meeting.root)
        unmuted = await meeting.seen("Ada unmuted the personas")
        await meeting.until(lambda: meeting.thread[-1].ts > unmuted.ts)

        said = [message for message in meeting.thread[quiet:] if message.by_bot and message.username]
        assert said
        assert "The personas are muted." in "".join(one.text for one in ada.ephemerals)
        await meeting.finish_step()
    assert [line.content for line in meeting.lines("User")] == ["Edits get lost. Scope: small"]


async def test_muting_from_the_channel_is_answered_there(meeting: Meeting) -> None:
    """With the one roundtable that runs in it; a second time, with a sentence."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        ada = meeting.slack.person("ada")
        first = await ada.slash(CHANNEL, "/roundtable mute")
        second = await ada.slash(CHANNEL, "/roundtable mute")

    assert "the personas are quiet now" in first.response["text"]
    assert "muted already" in second.response["text"]
