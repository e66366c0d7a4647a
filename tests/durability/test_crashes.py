"""
Real bot processes, killed at every boundary that shows outside, while a team holds its meetings with them.

What has to be true afterwards is in `checks`, what has to be true all the while in `watch`. Every change runs some of
them, `scripts/test --all` all, and `scripts/durability` the same for longer. A failure tells its story; its seed
is in the name of the test.
"""

from pathlib import Path

import pytest

from tests.durability import stall
from tests.durability.ordeal import Ordeal
from tests.durability.plan import ACKED, API, KINDS, KINDS_WITH_REMOTE, RESET, RETRY, SAVE, SPOKEN, Plan
from tests.durability.trap import When


async def lived_through(plan: Plan, folder: Path) -> None:
    verdict = await Ordeal(plan, folder).run()

    assert not verdict.wrong, verdict.story
    assert verdict.kills >= plan.kills


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.thorough)])
async def test_one_process_that_is_killed_again_and_again(seed: int, tmp_path: Path) -> None:
    """Without Redis: the next one takes up what the files say, and nobody in the thread can tell."""
    await lived_through(Plan(seed=seed, kills=8, meetings=2), tmp_path)


async def test_one_process_and_redis(redis_url: str, tmp_path: Path) -> None:
    """What the dead were paying for is paid by their successor."""
    await lived_through(Plan(seed=3, kills=5, redis_url=redis_url), tmp_path)


@pytest.mark.thorough
async def test_two_processes_and_redis(redis_url: str, tmp_path: Path) -> None:
    """Either may die at any time; the other goes on with what it was doing."""
    await lived_through(Plan(seed=4, kills=8, redis_url=redis_url, replicas=2, meetings=2), tmp_path)


@pytest.mark.thorough
async def test_a_store_that_forgets_everything(redis_url: str, tmp_path: Path) -> None:
    """People say `resume`, and the meeting goes on from what is in git."""
    await lived_through(Plan(seed=5, kills=4, redis_url=redis_url, flushes=2), tmp_path)


@pytest.mark.thorough
async def test_workshops_are_planned_through_every_death(redis_url: str, tmp_path: Path) -> None:
    """Questions, answers, verdicts and plans of two processes that die: each is there once, in one order."""
    await lived_through(Plan(seed=7, kills=6, redis_url=redis_url, replicas=2), tmp_path)


@pytest.mark.thorough
async def test_a_clone_each_and_a_remote_between_them(redis_url: str, tmp_path: Path) -> None:
    """Either may die with commits that nobody else has, or in the middle of a push: the remote has all of it, once."""
    plan = Plan(seed=8, kills=4, redis_url=redis_url, replicas=2, remote=True, kinds=KINDS_WITH_REMOTE)
    await lived_through(plan, tmp_path)


@pytest.mark.thorough
async def test_a_death_while_something_is_tried_again(tmp_path: Path) -> None:
    """Slack was too busy at first; then the bot dies in the wait, in the look, or in the second attempt."""
    await lived_through(Plan(seed=9, kills=3, kinds=(RETRY,)), tmp_path)


@pytest.mark.thorough
async def test_a_post_that_lands_when_the_successor_is_there(tmp_path: Path) -> None:
    """The bot dies, and Slack is slow: its successor waits for what may be on its way before it looks."""
    await lived_through(Plan(seed=6, kills=3, kinds=(API,), moments=(When.LATE,)), tmp_path)


@pytest.mark.thorough
async def test_a_workspace_that_goes_back(tmp_path: Path) -> None:
    """The bot dies in the middle of a commit, and up to three commits are reset away: all of it is there again."""
    await lived_through(Plan(seed=10, kills=5, kinds=(RESET, RESET, SAVE)), tmp_path)


@pytest.mark.thorough
async def test_slack_over_signed_http(redis_url: str, tmp_path: Path) -> None:
    """What was posted to a process that died comes again, signed in the same second or later, and is taken once."""
    kinds = (*KINDS, SPOKEN, SPOKEN, ACKED, ACKED)
    await lived_through(Plan(seed=11, kills=6, redis_url=redis_url, http=True, kinds=kinds), tmp_path)


async def test_a_commit_that_waits_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It is acknowledged while the lock is held, which ends only after that."""
    assert await stall.seconds_to_acknowledge(tmp_path)
