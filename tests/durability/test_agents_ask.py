"""A bot dies between saving what an agent asks and posting it: the next one posts it once, under the same id."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.durability.mortal import Mortal, mortal
from tests.durability.trap import When
from tests.e2e.test_agents_ask import ITEM, Door, ask, questions


@pytest.mark.parametrize("when", [When.BEFORE, When.DURING, When.AFTER])
async def test_a_question_is_posted_once(tmp_path: Path, when: When) -> None:
    """Whether or not Slack performed the call. The agent asks again meanwhile, as agents do."""
    async with mortal(tmp_path) as bot:
        door = Door(bot.meeting, tmp_path)
        secret = door.key()
        await bot.live(**bot.meeting.more)
        await bot.meeting.start("Offline sync")
        await bot.at_rest()
        bot.dies_at("chat.postMessage", when=when, text="an agent for")
        with suppress(Exception):  # the bot may die before it answers
            async with door.agent(secret) as agent:
                await ask(agent, options=["Yes", "No"])
        await bot.dead()

        await bot.live(**bot.meeting.more)
        async with door.agent(secret) as agent:
            found = [await ask(agent, options=["Yes", "No"]) for _ in range(3)]
            assert {one["question"] for one in found} == {f"{ITEM}/Q-001"}
            await bot.meeting.until(lambda: questions(bot.meeting))
            await bot.at_rest()
            await _answered(bot)
        assert len(questions(bot.meeting)) == 1


async def _answered(bot: Mortal) -> None:
    (message,) = questions(bot.meeting)
    await bot.meeting.press_in(message, "answer_option", who="grace")
    await bot.meeting.until(lambda: "Grace answered: Yes" in questions(bot.meeting)[0].text)
