"""A line that a person's commit damages while the bot is down, or a disk that is full while the bot runs."""

import resource
from pathlib import Path

import pytest

from slack_sandbox import Delivery
from tests.all_steps import all_steps
from tests.durability import checks
from tests.durability.mortal import Mortal, mortal
from tests.durability.trap import When
from tests.oracle import unlike

TORN_BYTES = 30
PUT_BACK = "1 line was changed or removed in"


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
    meeting.git("-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "--quiet", "-am", "damage")
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
        bot.dies_at("chat.postMessage", when=when, text=PUT_BACK)
        await meeting.press("finish_step")
        await bot.dead()
        await bot.live()
        await meeting.menu("continue")
        await meeting.until(lambda: [one for one in meeting.thread if PUT_BACK in one.text])
        await meeting.slack.settled()
        await bot.die()

        assert len([one for one in meeting.thread if PUT_BACK in one.text]) == 1
    assert (meeting.folder / "planning/meeting.jsonl").read_bytes().startswith(whole)
    assert meeting.transcript.flaws == ()
    assert meeting.git("status", "--short", "--", "docs") == ""


def may_write(bot: Mortal, most: int | None) -> None:
    """How large the files of the running bot may be: 0 is the nearest to a full disk that needs no disk."""
    assert bot.process
    _, hard = resource.prlimit(bot.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(bot.process.pid, resource.RLIMIT_FSIZE, (hard if most is None else most, hard))


async def test_a_full_disk_loses_no_word(tmp_path: Path) -> None:
    """What cannot be saved is not acknowledged, so Slack repeats it; when there is room again, all goes on."""
    async with mortal(tmp_path) as bot:
        meeting = bot.meeting
        await bot.live()
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        await meeting.press("continue")
        await meeting.seen("Step 00-02")
        said = [await meeting.say("In tunnels, and on planes.")]
        await meeting.slack.settled()

        def delivered() -> Delivery:
            (found,) = [one for one in meeting.slack.events("message") if one.event.get("ts") == said[-1]]
            return found

        may_write(bot, 0)
        said.append(await meeting.say("About twenty files are touched."))
        await meeting.until(lambda: delivered().attempts > 1)
        assert not delivered().acked
        may_write(bot, None)
        await meeting.until(lambda: delivered().acked)
        await meeting.finish_step()
        await meeting.slack.settled()
        await bot.at_rest()
        await bot.die()

        item = checks.Item(meeting.workspace, meeting.slug)
        assert checks.of_meeting(item, meeting.thread, said) == []
        assert checks.of_workspace(meeting.workspace) == []
        assert unlike(tmp_path, all_steps()) == []
