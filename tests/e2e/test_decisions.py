"""*decisions*: what was decided is found again, in every item that the person may see."""

from shutil import rmtree

from tests.e2e.meeting import CHANNEL, Meeting
from tests.e2e.test_private import SECRET, started_there


async def two_decisions(meeting: Meeting) -> None:
    await meeting.start("Rate limiting")
    await meeting.say("Decision: One counter in the database; because: it is there", who="grace")
    await meeting.slack.settled()
    await meeting.say(
        "Decision: Token bucket in Redis; because: ten times faster; replaces: DEC-001", who="linus"
    )
    await meeting.slack.settled()


async def test_they_are_found_with_who_and_why(meeting: Meeting) -> None:
    """By the command and by a mention, before anything is committed, and with the way to the message."""
    async with meeting.bot():
        await two_decisions(meeting)
        told = await meeting.command("decisions")
        assert "2 decisions, the newest first" in told
        assert "*DEC-002* Token bucket in Redis – Rate limiting (`rate-limiting`); Linus 20" in told
        assert "because ten times faster; replaces DEC-001" in told

        assert "One counter" not in await meeting.command("decisions redis BUCKET")
        assert "No decision about `postgres` was found" in await meeting.command("decisions postgres")

        linus = meeting.slack.person("linus")
        before = len(meeting.thread)
        await linus.mention(CHANNEL, "decisions counter", thread_ts=meeting.root)
        found = (await meeting.until(lambda: linus.ephemerals))[-1]
        await meeting.slack.settled()
        assert "DEC-001" in found.text
        assert "|DEC-001: Rate limiting>" in str(found.blocks)
        assert len(meeting.thread) == before + 1  # the mention; nothing was posted


async def test_they_are_found_after_a_restart_and_when_only_git_knows_them(meeting: Meeting) -> None:
    """A link that only a pushed file names is not shown."""
    async with meeting.bot():
        await two_decisions(meeting)
        await meeting.finish_step()
        await meeting.press("continue")
        await meeting.slack.settled()
    async with meeting.bot():
        assert "DEC-002" in await meeting.command("decisions redis")
    rmtree(meeting.workspace / ".roundtable")
    async with meeting.bot():
        told = await meeting.command("decisions redis")
        assert "Token bucket in Redis" in told
        assert "http" not in told


async def test_those_of_a_private_item_stay_in_its_channel(meeting: Meeting) -> None:
    """Elsewhere they do not exist; in the private channel those of public items are found, too."""
    async with meeting.bot():
        await two_decisions(meeting)
        root = await started_there(meeting, "Takeover")
        await meeting.slack.person("ada").say(SECRET, "Decision: We buy them", thread_ts=root)
        await meeting.slack.settled()

        assert "We buy them" not in await meeting.command("decisions")
        there = await meeting.command("decisions", channel=SECRET)
        assert "We buy them" in there
        assert "Token bucket" in there
