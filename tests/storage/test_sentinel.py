"""Sentinel: a replica becomes master, and the store and the work find it."""

import asyncio

import pytest
from redis.exceptions import ConnectionError as ConnectionLost

from bot.domain.roundtable.state import Roundtable
from bot.errors import Unavailable
from bot.storage import tasks
from bot.storage.redis import RedisStore
from bot.storage.redis_client import client
from tests.contracts.conftest import on_docket
from tests.contracts.test_wake import working
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.redis_groups import NOBODY, WatchedRedis, asking, wait_for_the_replica
from tests.storage.samples import SLUG, a_roundtable


async def saved(store: RedisStore, roundtable: Roundtable) -> bool:
    """Whether it could be saved."""
    try:
        await store.put(roundtable, expected=roundtable.version - 1)
    except Unavailable:
        return False
    return True


async def until_saved(store: RedisStore, roundtable: Roundtable) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await saved(store, roundtable):
            pass


async def test_a_lost_master_is_replaced(sentinel_url: str, watched_redis: WatchedRedis) -> None:
    """Until then every call raises Unavailable; nothing has to be restarted."""
    async with RedisStore(sentinel_url, team="T1") as store:
        await store.put(a_roundtable(), expected=0)
        wait_for_the_replica(watched_redis.master())
        watched_redis.kill(watched_redis.master())
        with pytest.raises(Unavailable):
            await store.ping()

        await until_saved(store, a_roundtable(version=2))
        assert await store.get(SLUG) == a_roundtable(version=2)


@pytest.mark.thorough
async def test_a_master_that_hangs_is_replaced_as_well(
    sentinel_url: str, watched_redis: WatchedRedis
) -> None:
    """Every call ends in time."""
    hung = watched_redis.master()
    async with RedisStore(sentinel_url, team="T1") as store:
        await store.put(a_roundtable(), expected=0)
        wait_for_the_replica(hung)
        watched_redis.freeze(hung)
        try:
            assert not await saved(store, a_roundtable(version=2))
            await until_saved(store, a_roundtable(version=2))
        finally:
            hung.thaw()


@pytest.mark.thorough
async def test_an_operator_may_change_masters(sentinel_url: str, watched_redis: WatchedRedis) -> None:
    """What was saved before is there, and connections to the former master are given up."""
    async with RedisStore(sentinel_url, team="T1") as store:
        await store.put(a_roundtable(), expected=0)
        wait_for_the_replica(watched_redis.master())
        watched_redis.fail_over()

        await until_saved(store, a_roundtable(version=2))
        assert await store.get(SLUG) == a_roundtable(version=2)

    with asking(watched_redis.master()) as master:
        assert master.hget(f"roundtable:T1:{{{SLUG}}}", "version") == "2"


@pytest.mark.thorough
async def test_a_master_that_became_a_replica_is_left(sentinel_url: str, watched_redis: WatchedRedis) -> None:
    """Also when a script is refused the write, in the words of an older Redis."""
    script = "return redis.call('SADD', KEYS[1], 'x')"
    [replica] = [server for server in watched_redis.servers if server is not watched_redis.master()]
    async with client(sentinel_url, connections=1) as redis:
        assert await redis.eval(script, 1, "written") == 1
        with asking(watched_redis.master()) as former:
            former.replicaof("127.0.0.1", replica.port)
            with pytest.raises(ConnectionLost, match="has become a replica"):
                await redis.eval(script, 1, "unwritten")
            former.replicaof("NO", "ONE")
        assert await redis.eval(script, 1, "written again") == 1


@pytest.mark.parametrize("others", [[NOBODY], [NOBODY, "nowhere.invalid"]])
@pytest.mark.thorough
async def test_sentinels_that_are_down_delay_nothing(sentinel_url: str, others: list[str]) -> None:
    """One sentinel that answers is enough, wherever it is in the URL."""
    url = sentinel_url.replace("@", f"@{','.join(others)},")
    async with RedisStore(url, team="T1") as store:
        assert await saved(store, a_roundtable())


@pytest.mark.thorough
async def test_a_sentinel_that_hangs_delays_no_call(sentinel_url: str, silent_redis_url: str) -> None:
    """All of them are asked at once."""
    silent = silent_redis_url.removeprefix("redis://").removesuffix("/0")
    async with RedisStore(sentinel_url.replace("@", f"@{silent},"), team="T1") as store:
        assert await saved(store, a_roundtable())


@pytest.mark.parametrize(
    ("written", "wrong", "reason"),
    [
        ("/main/", "/other/", "no sentinel names the master of 'other': the sentinels do not know it"),
        ("?sentinel_password=", "?sentinel_password=in", "invalid username-password pair"),
        ("//:", "//:in", "invalid username-password pair"),
    ],
    ids=["service", "sentinel_password", "password"],
)
async def test_what_is_wrong_is_said_without_the_password(
    sentinel_url: str, written: str, wrong: str, reason: str
) -> None:
    """An operator who mistypes something learns what, and the log stays clean."""
    url = sentinel_url.partition(f",{NOBODY}")[0] + sentinel_url.partition(f",{NOBODY}")[2]
    async with RedisStore(url.replace(written, wrong), team="T1") as store:
        with pytest.raises(Unavailable, match=reason) as refused:
            await store.ping()

    assert "sesame" not in str(refused.value)


@pytest.mark.thorough
async def test_a_sentinel_that_hangs_delays_no_work(sentinel_url: str, silent_redis_url: str) -> None:
    """Docket itself would ask the sentinels one after another, and wait a minute for this one."""
    silent = silent_redis_url.removeprefix("redis://").removesuffix("/0")
    performed = []

    async def pay(slug: str) -> None:
        performed.append(slug)

    async with working(on_docket(sentinel_url.replace("@", f"@{silent},"), team="T1"), pay) as wake:
        await wake.wake(SLUG)
        await wait_until(lambda: performed == [SLUG])


@pytest.mark.thorough
async def test_work_goes_on_when_the_master_is_lost(sentinel_url: str, watched_redis: WatchedRedis) -> None:
    """A wake during the outage is sent as soon as there is a master again."""
    performed = []

    async def pay(slug: str) -> None:
        performed.append(slug)

    async with working(on_docket(sentinel_url, redelivery_seconds=1), pay) as wake:
        await wake.wake("before")
        await wait_until(lambda: performed == ["before"])
        wait_for_the_replica(watched_redis.master())
        watched_redis.kill(watched_redis.master())
        await wake.wake("after")
        await wait_until(lambda: "after" in performed)


@pytest.mark.thorough
async def test_work_goes_on_when_the_master_hangs(
    sentinel_url: str, watched_redis: WatchedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docket itself has no time limit for an answer."""
    monkeypatch.setattr(tasks, "HUNG_SECONDS", 1.0)
    performed = []

    async def pay(slug: str) -> None:
        performed.append(slug)

    hung = watched_redis.master()
    async with working(on_docket(sentinel_url, redelivery_seconds=1), pay) as wake:
        await wake.wake("before")
        await wait_until(lambda: performed == ["before"])
        wait_for_the_replica(hung)
        watched_redis.freeze(hung)
        try:
            await wake.wake("after")
            await wait_until(lambda: "after" in performed)
        finally:
            hung.thaw()


@pytest.mark.thorough
async def test_an_abandoned_call_leaves_no_answer_to_the_next(sentinel_url: str) -> None:
    """A call that timed out leaves nothing on its connection for the next call to read."""
    async with client(sentinel_url, connections=1) as redis:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await redis.blpop(["never"], timeout=1)
        await redis.set("a", "1")
        assert await redis.get("a") == b"1"
