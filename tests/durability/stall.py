"""A commit that has to wait, and what else the bot does meanwhile."""

import asyncio
import fcntl
from pathlib import Path
from random import Random

from tests import stored
from tests.durability.mortal import mortal
from tests.durability.team import CHANNEL, FINISH, Team
from tests.patience import wait_until


async def seconds_to_acknowledge(folder: Path, *planted: str) -> float:
    """How long somebody waits for an acknowledgement while somebody else keeps the workspace's lock."""
    async with mortal(folder, *planted) as bot:
        slack, workspace = bot.trap.slack, bot.meeting.workspace
        await bot.live()
        team = Team(slack, "Delta rollout", Random(1), lambda: 1.0)
        await team.start()
        with (workspace / ".roundtable" / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            await team.say()
            await team.acknowledged()
            await slack.person("ada").press(team.thread_menu(FINISH), f"roundtable.{FINISH}")
            await wait_until(
                lambda: any(
                    effect["kind"] == "commit" for effect in stored.in_file(workspace, team.slug)["outbox"]
                )
            )
            loop, before = asyncio.get_running_loop(), len(slack.events("message"))
            began = loop.time()
            await slack.person("grace").say(CHANNEL, "And one thing more", thread_ts=team.root)
            said = slack.events("message")[before]
            await wait_until(lambda: said.acked)
            seconds = loop.time() - began
        assert bot.process
        await bot.process.stop()
    return seconds
