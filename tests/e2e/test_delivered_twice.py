"""What Slack delivers twice is answered once."""

from tests.e2e.meeting import CHANNEL, Meeting


async def answers(meeting: Meeting, line: str, *, thread: str = "") -> int:
    """How many answers Ada gets to one mention, of which every delivery is repeated twice."""
    ada = meeting.slack.person("ada")
    before = len(ada.ephemerals)
    meeting.slack.faults.copies = 2
    await ada.mention(CHANNEL, line, thread_ts=thread)
    await meeting.slack.settled()
    meeting.slack.faults.copies = 0
    await meeting.until(lambda: len(ada.ephemerals) > before)
    last = await ada.slash(CHANNEL, "/roundtable help")
    assert last.acked
    return len([one for one in ada.ephemerals[before:] if "I hold roundtables" not in one.text])


LINES = ("status offline-sync", "status nonsense", "list", "depth sideways", "resume nonsense", "stop other")


async def test_a_mention(meeting: Meeting) -> None:
    """Answers, lists and refusals alike, in the channel and in the thread."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        told = {
            (line, place): await answers(meeting, line, thread=place)
            for line in LINES
            for place in ("", meeting.root)
        }

    assert set(told.values()) == {1}, told


async def test_a_start_by_mention(meeting: Meeting) -> None:
    """Its second delivery finds what the first one began, and says nothing of it."""
    async with meeting.bot():
        ada = meeting.slack.person("ada")
        meeting.slack.faults.copies = 2
        root = await ada.mention(CHANNEL, "start Dark mode")
        await meeting.until(
            lambda: [
                one for one in meeting.slack.thread(CHANNEL, root) if "roundtable.finish_step" in one.actions
            ]
        )
        await meeting.slack.settled()
        await ada.slash(CHANNEL, "/roundtable help")

        assert [one for one in ada.ephemerals if "already" in one.text] == []
