"""`roundtable forget` is killed before each of its steps: run again, it finishes, and nothing of the name is left."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from tests.e2e.meeting import Meeting, environment, sandbox
from tests.e2e.test_forgetting import HERS
from tests.e2e.test_people import played

WORDS = [*HERS, "clerks sign in pencil"]
FEWEST_MOMENTS = 20


@pytest.mark.parametrize("what", [pytest.param("person", marks=pytest.mark.thorough), "item"])
@pytest.mark.parametrize("store", ["sqlite", pytest.param("redis", marks=pytest.mark.thorough)])
async def test_forgetting_that_was_killed_anywhere_is_finished_by_the_next(
    tmp_path: Path, redis_url: str, store: str, what: str
) -> None:
    """The record still verifies, the checkout is clean, and a live discussion is not taken for the old one."""
    async with sandbox() as slack:
        more = {"REDIS_URL": redis_url} if store == "redis" else {}
        meeting = Meeting(slack, tmp_path / "workspace", more={"ROUNDTABLE_EXPORTS": "openspec", **more})
        async with meeting.bot():
            await played(meeting)
            await meeting.say("The clerks sign in pencil on Tuesdays.", who="grace")
            await meeting.slack.settled()
        user = slack.person("grace").id if what == "person" else ""
        needles = [*WORDS, "Grace", user] if user else [*WORDS, "offline-sync"]
        given = environment(meeting.slack, meeting.workspace, **meeting.more)
        driver = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.durability.killed_forgetting"),
            *map(str, (meeting.workspace, tmp_path / "copies", user, *needles)),
            env={**os.environ, **given},
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await driver.communicate()

    found = json.loads(told)
    assert found["wrong"] == []
    assert found["killed"] >= FEWEST_MOMENTS
    assert found["unlike"] > 1
