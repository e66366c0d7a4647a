"""A meeting on a Redis Cluster of three nodes, and the end of one of them in its middle."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.storage.team import prefix
from slack_sandbox import Sandbox
from tests.e2e.test_operating import (
    IMPATIENT,
    asked,
    assert_heard_once,
    go_on,
    meet_while_redis_ends,
    ready,
    with_redis,
)
from tests.patience import wait_until
from tests.redis_groups import RedisCluster, caught_up, lacking, running_redis_cluster
from tests.redis_server import asking
from tests.stored import SANDBOX


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox(timing=IMPATIENT) as sandbox:
        yield sandbox


async def test_a_meeting_is_held_on_a_cluster(
    slack: Sandbox, tmp_path: Path, redis_cluster: RedisCluster
) -> None:
    """Every key that it leaves is the team's, in one node."""
    async with with_redis(slack, tmp_path, redis_cluster.url) as (meeting, port):
        await ready(port, is_ready=True)
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits")
        await meeting.press("continue")
        await meeting.do_step("Two of ten lose an hour a day")
        await slack.settled()
        _, metrics = await asked(port, "/metrics")

    assert "roundtables{" in metrics
    found: dict[int, list[str]] = {}
    for node in redis_cluster.nodes:
        with asking(node) as client:
            found[node.port] = sorted(client.scan_iter())
    [(_, keys)] = [one for one in found.items() if one[1]]
    assert len(keys) > 6
    assert [key for key in keys if not key.startswith(prefix(SANDBOX))] == []


async def test_a_node_that_ends_in_mid_meeting_loses_and_doubles_nothing(
    slack: Sandbox, tmp_path: Path, redis_cluster: RedisCluster
) -> None:
    """Without a replica: nothing is acknowledged and people are told, until the node is back."""
    node = redis_cluster.node_of(prefix(SANDBOX))
    await meet_while_redis_ends(slack, tmp_path, redis_cluster.url, node.kill, redis_cluster.start)


@pytest.fixture
def own_cluster() -> Iterator[RedisCluster]:
    """Who is a primary in it may change; the tests that follow share the other one."""
    if why := lacking():
        pytest.skip(why)
    with running_redis_cluster() as cluster:
        yield cluster


async def test_a_replica_goes_on_when_its_node_ends(
    slack: Sandbox, tmp_path: Path, own_cluster: RedisCluster
) -> None:
    """It becomes the primary within seconds; the node that ended stays away, and the bot goes on by itself."""
    with own_cluster.replica_of(prefix(SANDBOX)) as primary:
        async with with_redis(slack, tmp_path, own_cluster.url) as (meeting, port):
            await ready(port, is_ready=True)
            await meeting.start("Offline sync")
            await slack.settled()
            await wait_until(lambda: caught_up(primary))
            primary.kill()

            await meeting.say("Field workers lose their edits")
            words = slack.events("message")[-1]
            await ready(port, is_ready=False)
            await go_on(meeting, port, words)
    assert_heard_once(meeting)
