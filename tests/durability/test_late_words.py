"""Typed commands that Slack delivers late, to a process that did not ask what they answer."""

from pathlib import Path

import pytest

from tests.durability.mortal import Mortal, mortal


async def delivered(bot: Mortal, *, dies_at: str) -> None:
    """What was held comes to a successor; or to the process that is there, which dies at the first call about it."""
    slack = bot.meeting.slack
    if dies_at:
        bot.dies_at(dies_at)
        slack.release_events()
        await bot.dead()
        await bot.live()
        return
    await bot.die()
    await bot.live()
    slack.release_events()


def refusals(bot: Mortal, who: str) -> list[str]:
    return [one.text for one in bot.meeting.slack.person(who).ephemerals if "You wrote" in one.text]


@pytest.mark.parametrize("dies_at", [pytest.param("", marks=pytest.mark.thorough), "chat.postEphemeral"])
async def test_words_from_before_the_newest_question_are_answered_once(
    tmp_path: Path, *, dies_at: str
) -> None:
    """Others pressed meanwhile. The question stays open, and their authors alone are told."""
    async with mortal(tmp_path) as bot:
        meeting = bot.meeting
        await bot.live()
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost in tunnels. Scope: small", who="ada")
        await meeting.slack.settled()
        meeting.slack.hold_events()
        await meeting.say("finish", who="grace")
        await meeting.press("finish_step")
        await meeting.menu("continue")
        await meeting.say("C", who="linus")
        await meeting.press("continue")
        await meeting.seen("Step 00-02")
        question = await meeting.menu("finish_step")

        await delivered(bot, dies_at=dies_at)
        await meeting.until(lambda: refusals(bot, "grace") and refusals(bot, "linus"))
        await meeting.say("In tunnels, and on planes.", who="ada")
        await meeting.slack.settled()
        assert (await meeting.menu("finish_step")).ts == question.ts
        await meeting.say("finish", who="grace")
        await meeting.menu("continue")

        await meeting.until(lambda: meeting.meta["steps_completed"] == ["00-01", "00-02"])
        assert [len(refusals(bot, who)) for who in ("ada", "grace", "linus")] == [0, 1, 1]
        assert "_finish_ before this question" in refusals(bot, "grace")[0]
        assert "_C_ before this question" in refusals(bot, "linus")[0]


@pytest.mark.parametrize("dies_at", [pytest.param("", marks=pytest.mark.thorough), "chat.update"])
async def test_words_below_the_newest_question_are_obeyed(tmp_path: Path, *, dies_at: str) -> None:
    """However late they come, and whoever asked."""
    async with mortal(tmp_path) as bot:
        meeting = bot.meeting
        await bot.live()
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost in tunnels. Scope: small", who="ada")
        await meeting.slack.settled()
        meeting.slack.hold_events()
        await meeting.say("finish", who="grace")
        await delivered(bot, dies_at=dies_at)
        await meeting.menu("continue")
        await meeting.slack.settled()
        await bot.at_rest()

        meeting.slack.hold_events()
        await meeting.say("C", who="linus")
        await delivered(bot, dies_at=dies_at)
        await meeting.seen("Step 00-02")
        await meeting.menu("finish_step")

        assert meeting.meta["steps_completed"] == ["00-01"]
        assert [refusals(bot, who) for who in ("grace", "linus")] == [[], []]
        assert len([one for one in meeting.thread if "Step 00-02" in one.text]) == 1
