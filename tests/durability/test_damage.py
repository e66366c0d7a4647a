"""A committed line is damaged while the bot is down, and the bot that brings it back dies of it."""

from pathlib import Path

import pytest

from bot.domain.messages.trouble_wording import lines_mended
from tests.durability.mortal import Mortal, mortal
from tests.durability.trap import When

TORN_BYTES = 30


async def torn(bot: Mortal) -> bytes:
    """The end of the transcript's last committed line is gone. The transcript as it was."""
    meeting = bot.meeting
    await bot.live()
    await meeting.start("Offline sync")
    await meeting.do_step("Edits get lost in tunnels. Scope: small")
    await bot.die()
    path = meeting.folder / "planning/meeting.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-TORN_BYTES])
    return whole


@pytest.mark.parametrize("when", [When.BEFORE, pytest.param(When.DURING, marks=pytest.mark.thorough)])
async def test_a_damaged_line_is_back_and_told_once(tmp_path: Path, when: When) -> None:
    """Its process is killed in the call that would tell people."""
    async with mortal(tmp_path) as bot:
        meeting = bot.meeting
        whole = await torn(bot)
        await bot.live()
        await meeting.press("continue")
        await meeting.seen("Step 00-02")
        await meeting.say("In tunnels, and on planes.")
        await meeting.slack.settled()
        bot.dies_at("chat.postMessage", when=when, text=lines_mended(1))
        await meeting.press("finish_step")
        await bot.dead()
        await bot.live()
        await meeting.menu("continue")
        await meeting.until(lambda: [one for one in meeting.thread if one.text == lines_mended(1)])
        await meeting.slack.settled()
        await bot.die()

        assert len([one for one in meeting.thread if one.text == lines_mended(1)]) == 1
    assert (meeting.folder / "planning/meeting.jsonl").read_bytes().startswith(whole)
    assert meeting.transcript.flaws == ()
    assert meeting.git("status", "--short", "--", "docs") == ""
