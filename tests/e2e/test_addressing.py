"""A question to the bot or to a persona without a model, a word at a stopped roundtable, `stop` while we write."""

from slack_sandbox import Fault
from tests.e2e.meeting import CHANNEL, Meeting


async def test_a_question_to_a_persona_without_a_model_is_kept_as_an_open_question(meeting: Meeting) -> None:
    """By the button below the answer that the asker alone sees."""
    grace = meeting.slack.person("grace")
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Maya, is that enough?", who="grace")
        told = await meeting.until(
            lambda: [one for one in grace.ephemerals if "Maya has no model" in one.text]
        )
        await meeting.press_in(told[0], "file", who="grace")
        await meeting.seen("Q-001 Maya, is that enough?")


async def test_a_question_to_the_bot_is_answered_and_is_in_no_file(meeting: Meeting) -> None:
    grace = meeting.slack.person("grace")
    bot = f"<@{meeting.slack.bot_user_id}>"
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say(f"{bot} what if we don't agree?", who="grace")
        await meeting.until(lambda: [one for one in grace.ephemerals if "If you don't agree" in one.text])
        await meeting.say(f"{bot} is the moon full?", who="grace")
        await meeting.until(lambda: [one for one in grace.ephemerals if "I can't answer that" in one.text])
        await meeting.do_step("For field engineers.")

    files = "".join(path.read_text() for path in meeting.folder.glob("*.md"))
    assert "For field engineers." in files
    assert "moon" not in files


async def test_a_stop_gives_a_hint_once(meeting: Meeting) -> None:
    """The hint is not given again by the process that comes after."""
    grace = meeting.slack.person("grace")
    async with meeting.bot():
        await meeting.start("Offline sync")
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
