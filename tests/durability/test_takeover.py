"""The process that owns a team is killed, stopped or frozen while people go on, and another one takes the team."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis

from bot.storage.team import SANDBOX, prefix
from tests.durability.mortal import Mortal, mortal
from tests.durability.processes import Process
from tests.durability.trap import POSTS, Order, When
from tests.patience import wait_until

HOSTS = ("127.0.0.1", "localhost")
"""Two names of one address: so that the sandbox can tell two bots apart."""
QUESTION = "Step 00-02"
WORDS = 5


@asynccontextmanager
async def owner_and_other(folder: Path, redis_url: str) -> AsyncIterator[tuple[Mortal, dict[str, Process]]]:
    """The first one owns the team."""
    processes: dict[str, Process] = {}
    async with mortal(folder) as bot:
        for host in HOSTS:
            api_url = bot.trap.slack.api_url.replace(HOSTS[0], host)
            await bot.live(REDIS_URL=redis_url, SLACK_API_URL=api_url)
            assert bot.process
            processes[host] = bot.process
            await wait_until(lambda: owner(redis_url))
        yield bot, processes


def owner(redis_url: str) -> bytes | None:
    with redis.Redis.from_url(redis_url) as client:
        found = client.get(f"{prefix(SANDBOX)}owner")
        return found if isinstance(found, bytes) else None


@pytest.mark.parametrize("fate", ["killed", "stopped", "frozen"])
async def test_what_people_say_meanwhile_is_heard_once(redis_url: str, tmp_path: Path, fate: str) -> None:
    """Slack delivers to both processes, and again what was not acknowledged: also by who wakes up with it at hand."""
    async with owner_and_other(tmp_path, redis_url) as (bot, processes):
        meeting, slack, before, words = bot.meeting, bot.trap.slack, owner(redis_url), list[str]()

        async def say_one() -> None:
            words.append(f"Word {len(words)} of many")
            await meeting.say(words[-1])
            said = slack.events("message")[-1]
            await slack.until(lambda: said.attempts > 0)

        await meeting.start("Offline sync")
        await meeting.menu("finish_step")
        await say_one()
        first = processes[HOSTS[0]]
        match fate:
            case "killed":
                first.kill()
            case "stopped":
                await first.stop()
            case "frozen":
                first.freeze()
        while len(words) < WORDS or owner(redis_url) in {None, before}:
            await say_one()
        first.thaw()
        await slack.until(lambda: all(one.acked for one in slack.events("message")))
        await meeting.finish_step()

    heard = [line.content for line in meeting.lines("User")]
    assert sorted(heard) == sorted(words)
    keys = [key for one in meeting.thread if (key := one.metadata.get("event_payload", {}).get("key"))]
    assert len(keys) == len(set(keys))


async def test_another_process_finishes_what_a_killed_one_began(redis_url: str, tmp_path: Path) -> None:
    """It is killed in the middle of its effects, and people do nothing; each message is posted once."""
    async with owner_and_other(tmp_path, redis_url) as (bot, processes):
        meeting = bot.meeting
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        dead: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def strike(host: str) -> None:
            processes[host].kill()
            dead.set_result(None)

        bot.trap.arm(Order(when=When.BEFORE, nth=0, strike=strike, methods=POSTS, text=QUESTION))
        await meeting.press("continue")
        await dead
        await meeting.seen(QUESTION)
        assert len([one for one in meeting.thread if QUESTION in one.text]) == 1
        await meeting.do_step("In tunnels, and on planes.")
        assert [process.alive for process in processes.values()] == [False, True]

    keys = [key for one in meeting.thread if (key := one.metadata.get("event_payload", {}).get("key"))]
    assert len(keys) == len(set(keys))
    assert meeting.meta["steps_completed"] == ["00-01", "00-02"]
