"""What only a cluster can show: that work is spread over it, and that some of it may be away."""

import asyncio
import time

import pytest

from bot.domain.roundtable.state import Roundtable
from bot.errors import Unavailable
from bot.storage.redis import OWING, RedisStore
from bot.storage.tasks import DocketWake
from tests.contracts.test_wake import working
from tests.redis_groups import RedisCluster, asking
from tests.redis_server import RedisServer
from tests.storage.samples import OWED, PLACE, a_roundtable, wait_until

SLUGS = [f"item-{number}" for number in range(60)]
IN_TIME_SECONDS = 3.0
"""What Slack waits; a call takes half a second, and the rest is for a busy machine."""


def holder(cluster: RedisCluster, key: str) -> RedisServer:
    """The master that has *key*."""
    with asking(cluster.servers[0]) as client:
        slot = client.execute_command("CLUSTER KEYSLOT", key)
        slots = client.execute_command("CLUSTER SLOTS")
    [port] = [master[1] for first, last, master, *_ in slots if first <= slot <= last]
    [server] = [server for server in cluster.servers if server.port == port]
    return server


def kept_by(cluster: RedisCluster, server: RedisServer) -> str:
    """A slug whose roundtable is kept there."""
    return next(slug for slug in SLUGS if holder(cluster, f"roundtable:{{{slug}}}") is server)


async def saved(store: RedisStore, roundtable: Roundtable) -> bool:
    """Whether it could be saved, of which one is told in time."""
    began = time.monotonic()
    try:
        await store.put(roundtable, expected=roundtable.version - 1)
    except Unavailable:
        return False
    finally:
        assert time.monotonic() - began < IN_TIME_SECONDS
    return True


async def test_roundtables_are_spread_over_all_masters(cluster_url: str, redis_cluster: RedisCluster) -> None:
    """And are all found, from whatever is known of them."""
    async with RedisStore(cluster_url) as store:
        for slug in SLUGS:
            await store.put(a_roundtable(slug, outbox=OWED), expected=0)

        assert sorted(await store.owing()) == sorted(SLUGS)
        assert sorted(one.slug for one in await store.in_channel(PLACE.team, PLACE.channel)) == sorted(SLUGS)
        assert sum((await store.stages()).values()) == len(SLUGS)

    for master in redis_cluster.masters():
        with asking(master) as client:
            assert client.keys("roundtable:{item-*}")


@pytest.mark.thorough
async def test_what_moves_to_another_node_is_followed(cluster_url: str, redis_cluster: RedisCluster) -> None:
    """While it moves, and afterwards; a save is done once, whoever does it."""
    [*_, slug] = SLUGS
    key = f"roundtable:{{{slug}}}"
    source = holder(redis_cluster, key)
    target = next(master for master in redis_cluster.masters() if master is not source)
    async with RedisStore(cluster_url) as store:
        await store.put(a_roundtable(slug), expected=0)
        with redis_cluster.moving(key, source, target):
            await store.put(a_roundtable(slug, version=2), expected=1)
            assert await store.get(slug) == a_roundtable(slug, version=2)
        assert holder(redis_cluster, key) is target
        await store.put(a_roundtable(slug, version=3), expected=2)
        assert await store.get(slug) == a_roundtable(slug, version=3)
        with redis_cluster.moving(key, target, source):
            pass


@pytest.mark.thorough
async def test_a_lost_master_is_replaced_and_the_others_go_on(
    cluster_url: str, redis_cluster: RedisCluster
) -> None:
    """What it kept is unavailable until its replica has taken over; nobody starts anything again."""
    lost = redis_cluster.with_replica()
    other = next(master for master in redis_cluster.masters() if master is not lost)
    here, there = kept_by(redis_cluster, lost), kept_by(redis_cluster, other)
    async with RedisStore(cluster_url) as store:
        for slug in (here, there):
            await store.put(a_roundtable(slug), expected=0)
        wait_for_the_replica(lost)
        redis_cluster.kill(lost)
        with pytest.raises(Unavailable):
            await store.get(here)
        assert await store.get(there) == a_roundtable(there)

        await until_saved(store, a_roundtable(here, version=2))
        assert await store.get(here) == a_roundtable(here, version=2)
        await store.ping()


@pytest.mark.thorough
async def test_a_master_that_hangs_is_replaced_as_well(cluster_url: str, redis_cluster: RedisCluster) -> None:
    """Every call ends in time; when it is back, it is a replica, and whoever still asks it is sent on."""
    hung = redis_cluster.with_replica()
    slug = kept_by(redis_cluster, hung)
    async with RedisStore(cluster_url) as store:
        await store.put(a_roundtable(slug), expected=0)
        wait_for_the_replica(hung)
        redis_cluster.freeze(hung)
        try:
            assert not await saved(store, a_roundtable(slug, version=2))
            await until_saved(store, a_roundtable(slug, version=2))
        finally:
            hung.thaw()
        await until_saved(store, a_roundtable(slug, version=3))


@pytest.mark.thorough
async def test_a_replica_that_is_away_keeps_nobody_from_working(
    cluster_url: str, redis_cluster: RedisCluster
) -> None:
    """Readiness does not ask it."""
    masters = redis_cluster.masters()
    [replica] = [server for server in redis_cluster.servers if server not in masters]
    async with RedisStore(cluster_url) as store:
        await store.ping()
        replica.kill()
        await store.ping()
        assert await saved(store, a_roundtable())


@pytest.mark.thorough
async def test_nothing_is_saved_that_could_not_be_found_again(
    cluster_url: str, redis_cluster: RedisCluster
) -> None:
    """On one server, the indexes are written before the roundtable; so they are when other nodes keep them."""
    lost = holder(redis_cluster, OWING)
    other = next(master for master in redis_cluster.masters() if master is not lost)
    slug = kept_by(redis_cluster, other)
    async with RedisStore(cluster_url) as store:
        await store.get(slug)
        lost.freeze()
        try:
            assert not await saved(store, a_roundtable(slug, outbox=OWED))
            assert await store.get(slug) is None
        finally:
            lost.thaw()


@pytest.mark.thorough
async def test_a_cluster_that_comes_late_is_no_reason_to_fail(redis_cluster: RedisCluster) -> None:
    """Neither the store nor the work need it at the start; what is woken meanwhile is paid as soon as it is there."""
    redis_cluster.start()
    redis_cluster.empty()
    redis_cluster.stop()
    paid = []

    async def pay(slug: str) -> None:
        paid.append(slug)

    async with RedisStore(redis_cluster.url) as store, working(redis_cluster.url, pay) as wake:
        with pytest.raises(Unavailable, match="Redis did not answer"):
            await store.ping()
        await wake.wake("early")
        redis_cluster.start()
        await wait_until(lambda: paid == ["early"])
        await store.ping()


@pytest.mark.thorough
async def test_work_goes_on_when_its_master_is_lost(cluster_url: str, redis_cluster: RedisCluster) -> None:
    """Also for who has been waiting for it all the time."""
    paid = []

    async def pay(slug: str) -> None:
        paid.append(slug)

    async with working(cluster_url, pay, redelivery_seconds=1) as wake:
        await wake.wake("before")
        await wait_until(lambda: paid == ["before"])
        lost = redis_cluster.with_replica()
        assert holder(redis_cluster, "{roundtable-work}") is lost
        wait_for_the_replica(lost)
        redis_cluster.kill(lost)
        await wake.wake("after")
        await wait_until(lambda: "after" in paid)


@pytest.mark.thorough
async def test_all_work_of_a_cluster_is_in_one_slot(cluster_url: str, redis_cluster: RedisCluster) -> None:
    """As docket needs it."""
    async with DocketWake(cluster_url) as wake:
        await wake.wake("some")
        await wait_until(lambda: any(keys_of_work(redis_cluster)))

    assert sum(bool(keys) for keys in keys_of_work(redis_cluster)) == 1


def keys_of_work(cluster: RedisCluster) -> list[object]:
    found: list[object] = []
    for master in cluster.masters():
        with asking(master) as client:
            found.append(client.keys("{roundtable-work}:*"))
    return found


def wait_for_the_replica(master: RedisServer) -> None:
    """What a replica does not have yet is lost with its master; that is so in every Redis."""
    with asking(master) as client:
        assert client.wait(1, 5_000) == 1


async def until_saved(store: RedisStore, roundtable: Roundtable) -> None:
    async with asyncio.timeout(20):
        while not await saved(store, roundtable):
            pass
