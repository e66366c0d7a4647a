"""A bot dies right after it has begun a thread, and its store is lost: people's first word takes the thread up."""

from pathlib import Path
from shutil import rmtree

import pytest

from tests.durability.checks import Item, of_meeting
from tests.durability.mortal import mortal
from tests.durability.trap import When
from tests.e2e.meeting import CHANNEL
from tests.e2e.test_sealed_home import recorded, sealed

WORDS = "Edits get lost in tunnels."


@pytest.mark.parametrize("when", [When.DURING, pytest.param(When.AFTER, marks=pytest.mark.thorough)])
async def test_the_first_word_takes_up_what_only_slack_knows(tmp_path: Path, when: When) -> None:
    """Nothing is in git, and the next one dies, too, when it has just looked whether the thread is ours."""
    async with mortal(tmp_path) as bot:
        meeting = bot.meeting
        await bot.live()
        bot.dies_at("chat.postMessage", when=when)
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable start Offline sync")
        await bot.dead()
        [root] = meeting.slack.messages(CHANNEL)
        assert not list(meeting.workspace.glob("docs/**/meta.json"))
        rmtree(meeting.workspace)
        meeting.root, meeting.slug = root.ts, "offline-sync"

        await bot.live()
        bot.dies_at("conversations.replies", when=When.AFTER)
        said = [await meeting.say(WORDS)]
        await bot.dead()
        await bot.live()
        await meeting.until(lambda: meeting.folder.exists() and WORDS in recorded(meeting))
        await meeting.until(lambda: sealed(meeting) == meeting.root)
        said.append(await meeting.say("Scope: small", who="linus"))
        await meeting.slack.settled()
        await meeting.press("finish_step")
        await meeting.menu("continue")
        await bot.die()

        assert meeting.slack.messages(CHANNEL) == [meeting.slack.message(root.ts)]
        item = Item(meeting.workspace, meeting.slug)
        assert of_meeting(item, meeting.thread, said, lost_until=root.ts) == []
    assert meeting.meta["steps_completed"] == ["00-01"]
