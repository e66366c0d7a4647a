"""What a card cuts is read by one person, and a page of it stands in the first message."""

from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting


def root_of(meeting: Meeting) -> SandboxMessage:
    return next(one for one in meeting.slack.messages(CHANNEL) if one.ts == meeting.root)


async def in_the_second_step(meeting: Meeting) -> None:
    await meeting.start("Rate limiting")
    await meeting.do_step("problem: Batch jobs starve everybody else.")
    await meeting.press("continue")
    await meeting.seen("Step 00-02:")


async def test_what_a_card_cuts_is_read_by_one_person(meeting: Meeting) -> None:
    """The button and `read 00-02` show the same, to the person who asked; in the thread nothing is posted."""
    ada, grace = meeting.slack.person("ada"), meeting.slack.person("grace")
    async with meeting.bot():
        await in_the_second_step(meeting)
        for number in range(16):
            await meeting.say(f"We also look for part {number} of the gateway.")
        await meeting.seen("more")
        await meeting.slack.settled()
    posts = len(meeting.thread)
    async with meeting.bot():
        await meeting.press("read", who="grace")
        await meeting.until(lambda: grace.ephemerals)
        await ada.mention(CHANNEL, "read 09-09", thread_ts=meeting.root)
        await meeting.until(lambda: "I don't know that step." in str(ada.ephemerals))
        await ada.mention(CHANNEL, "read 00-02", thread_ts=meeting.root)
        await meeting.until(lambda: ada.ephemerals[1:])

    told = grace.ephemerals[-1].text
    assert all(f"part {number} of the gateway" in told for number in range(16))
    assert ada.ephemerals[-1].text == told
    assert len([one for one in meeting.thread if one.by_bot]) == len(
        [one for one in meeting.thread[:posts] if one.by_bot]
    )


async def test_what_there_is_so_far_is_told_to_one_person(meeting: Meeting) -> None:
    """The button of the root and the typed words say the same, also after a restart and a pause."""
    ada, grace = meeting.slack.person("ada"), meeting.slack.person("grace")
    async with meeting.bot():
        await in_the_second_step(meeting)
        await meeting.slack.settled()
        posts = len(meeting.thread)
        root = root_of(meeting)
        assert (await meeting.press_in(root, "read", who="grace")).acked
        await meeting.until(lambda: grace.ephemerals)
    assert "1 of 24 steps done" in grace.ephemerals[-1].text
    assert "Batch jobs starve everybody else." in grace.ephemerals[-1].text
    assert len(meeting.thread) == posts

    async with meeting.bot():
        await ada.mention(CHANNEL, "what do we have so far?", thread_ts=meeting.root)
        await meeting.until(lambda: ada.ephemerals)
        asked = await meeting.slack.person("linus").slash(CHANNEL, "/roundtable read so far")
        await ada.mention(CHANNEL, "stop", thread_ts=meeting.root)
        await meeting.seen("Paused by")
        assert "What we have so far" in str(root_of(meeting).blocks)
    assert ada.ephemerals[0].text == grace.ephemerals[-1].text
    assert "Batch jobs starve everybody else." in str(asked.response["text"])
