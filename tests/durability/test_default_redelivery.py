"""Durable work of a process that dies is given to another one in the time that is set by default."""

import asyncio
from pathlib import Path

import pytest

from tests.durability.mortal import mortal
from tests.durability.processes import Process
from tests.durability.trap import POSTS, Order, When

HOSTS = ("127.0.0.1", "localhost")
"""Two names of one address: so that the sandbox can tell two bots apart."""
QUESTION = "Step 00-02"


@pytest.mark.thorough
async def test_another_process_finishes_what_a_killed_one_began(redis_url: str, tmp_path: Path) -> None:
    """
    One is killed in the middle of its effects, and nothing takes its place. The other one goes on after the default of
    `ROUNDTABLE_REDELIVERY_SECONDS`, though people do nothing; each message is posted once.
    """
    processes: dict[str, Process] = {}
    async with mortal(tmp_path) as bot:
        meeting, slack, loop = bot.meeting, bot.trap.slack, asyncio.get_running_loop()
        for host in HOSTS:
            await bot.live(REDIS_URL=redis_url, SLACK_API_URL=slack.api_url.replace(HOSTS[0], host))
            assert bot.process
            processes[host] = bot.process
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        dead: asyncio.Future[None] = loop.create_future()

        def strike(host: str) -> None:
            processes[host].kill()
            dead.set_result(None)

        bot.trap.arm(Order(when=When.BEFORE, nth=0, strike=strike, methods=POSTS, text=QUESTION))
        await meeting.press("continue")
        await dead
        await meeting.seen(QUESTION)
        assert len([one for one in meeting.thread if QUESTION in one.text]) == 1
        await meeting.do_step("In tunnels, and on planes.")
        assert sum(process.alive for process in processes.values()) == 1

    keys = [key for one in meeting.thread if (key := one.metadata.get("event_payload", {}).get("key"))]
    assert len(keys) == len(set(keys))
    assert meeting.meta["steps_completed"] == ["00-01", "00-02"]
