"""A word to a persona without a model, a word at a stopped roundtable, `stop` while a step is written down."""

from slack_sandbox import Fault
from tests.e2e.meeting import CHANNEL, Meeting


async def test_the_card_says_who_listens_and_a_stop_gives_a_hint_once(meeting: Meeting) -> None:
    """The hint is not given again by the process that comes after."""
    grace = meeting.slack.person("grace")
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Maya, is that enough?", who="grace")
        await meeting.seen("Maya listens. Without a model")
        await meeting.say("stop", who="ada")
        await meeting.menu("resume")
        await meeting.slack.settled()
        await meeting.say("One more thing", who="grace")
        hint = await meeting.until(lambda: [one for one in grace.ephemerals if "is stopped" in one.text])
    async with meeting.bot():
        await meeting.say("And another", who="grace")
        await meeting.until(lambda: "And another" in str(meeting.lines("User")))
        await meeting.slack.settled()
        assert [one for one in grace.ephemerals if "is stopped" in one.text] == hint


async def test_stop_while_the_thread_is_opened(meeting: Meeting) -> None:
    """The question is asked when people go on."""
    async with meeting.bot():
        meeting.slack.faults.plan(Fault(method="conversations.replies", delay=2))
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable start Offline sync")
        await meeting.until(lambda: meeting.slack.messages(CHANNEL))
        meeting.root, meeting.slug = meeting.slack.messages(CHANNEL)[-1].ts, "offline-sync"
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable stop offline-sync")
        await meeting.menu("resume")
    async with meeting.bot():
        await meeting.press("resume")
        await meeting.menu("finish_step")
