"""A commit that has to wait, and what else the bot does meanwhile."""

import asyncio
import fcntl
from pathlib import Path
from random import Random

from tests import stored
from tests.all_steps import all_steps
from tests.durability.processes import Nursery, wait_until
from tests.durability.team import CHANNEL, FINISH, Team
from tests.durability.trap import Trap
from tests.patience import PATIENCE_SECONDS
from tests.ports import free_port


async def seconds_to_acknowledge(folder: Path, *planted: str) -> float:
    """How long somebody waits for an acknowledgement while somebody else keeps the workspace's lock."""
    trap, workspace, log = Trap(), folder / "workspace", folder / "bot.log"
    async with Nursery(planted) as nursery, trap.slack as slack:
        env = {
            "SLACK_API_URL": slack.api_url,
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "ROUNDTABLE_WORKSPACE": str(workspace),
            "ROUNDTABLE_PORT": str(free_port()),
            "ROUNDTABLE_HEALTH_PORT": str(free_port()),
            "ROUNDTABLE_STEPS": all_steps(),
        }
        process = await nursery.bear(env, log=log)
        await wait_until(
            lambda: log.exists() and "is listening" in log.read_text(),
            seconds=PATIENCE_SECONDS,
            what="a bot that listens",
        )
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
                ),
                seconds=PATIENCE_SECONDS,
                what="a commit that is owed",
            )
            loop, before = asyncio.get_running_loop(), len(slack.events("message"))
            began = loop.time()
            await slack.person("grace").say(CHANNEL, "And one thing more", thread_ts=team.root)
            said = slack.events("message")[before]
            await wait_until(lambda: said.acked, seconds=PATIENCE_SECONDS, what="an acknowledgement")
            seconds = loop.time() - began
        await process.stop()
    return seconds
