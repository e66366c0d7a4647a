"""Redis Cluster: all keys of a team in one slot, many calls at once, and nodes that end."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from redis.asyncio.cluster import RedisCluster as AnyCluster

from bot.domain.reviews.notice import Notice
from bot.errors import Unavailable
from bot.storage.ownership import Ownership
from bot.storage.redis import RedisStore
from tests.patience import wait_until
from tests.redis_groups import RedisCluster
from tests.storage.samples import NOW, OWED, PLACE, SLUG, a_roundtable

TEAM = "roundtable:{T1}:"
KEY = f"{TEAM}state:{SLUG}"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[tuple[str, ...]]]:
    """The keys of every call of every script, by script."""
    found: dict[str, set[tuple[str, ...]]] = {}
    evaluated = AnyCluster.eval

    def noting(client: Any, script: str, count: int, *given: Any) -> Any:
        found.setdefault(script, set()).add(given[:count])
        return evaluated(client, script, count, *given)

    monkeypatch.setattr(AnyCluster, "eval", noting)
    return found


@pytest.mark.usefixtures("patient")
async def test_the_keys_of_every_script_are_in_one_slot(
    redis_cluster: RedisCluster, scripts: dict[str, set[tuple[str, ...]]]
) -> None:
    """By the server's own count; the cluster would refuse others."""
    async with RedisStore(redis_cluster.url, team="T1") as store:
        await store.put(a_roundtable(outbox=OWED, timers={"deadline": NOW}), expected=0)
        await store.get(SLUG)
        await store.notices.put(Notice(slug=SLUG, version=1, now=NOW), expected=0)
        with redis_cluster.client() as client:
            client.hset(KEY, "state", '{"torn')
            async with RedisStore(redis_cluster.url, team="T1") as other:
                assert await other.get(SLUG) is None
            await store.in_channel(PLACE.team, PLACE.channel)
            slots = {
                script: {client.cluster_keyslot(key) for keys in calls for key in keys}
                for script, calls in scripts.items()
            }

    assert len(slots) == 5, "saving, reading, setting aside, unlisting, a notice"
    assert len(set.union(*slots.values())) == 1


@pytest.mark.usefixtures("patient")
async def test_many_calls_at_once_are_all_answered(redis_cluster: RedisCluster) -> None:
    """Also the first ones; redis-py refuses what finds no free connection."""
    for _ in range(3):
        async with RedisStore(redis_cluster.url, team="T1") as store:
            assert (
                await asyncio.gather(*(store.get(f"item-{number}") for number in range(300))) == [None] * 300
            )
            await asyncio.gather(*(store.ping() for _ in range(100)))


@pytest.mark.usefixtures("patient")
async def test_an_answer_is_never_taken_for_that_of_another_call(redis_cluster: RedisCluster) -> None:
    """Calls are cancelled in every moment, and connections are used again."""
    async with RedisStore(redis_cluster.url, team="T1") as store:
        await store.note("listened", "before")
        for moment in range(60):
            calling = asyncio.ensure_future(store.first(f"key {moment}", seconds=60))
            for _ in range(moment):
                await asyncio.sleep(0)
            calling.cancel()
            await asyncio.wait({calling})
            assert await store.noted("listened") == "before"


async def test_a_node_that_ends_is_unavailable_until_it_is_back(redis_cluster: RedisCluster) -> None:
    """The node of the team; nothing has to be restarted, and what was saved is there."""
    async with RedisStore(redis_cluster.url, team="T1") as store:
        await wait_until(lambda: _saved(store))
        redis_cluster.node_of(TEAM).kill()
        for call in (
            store.get(SLUG),
            store.put(a_roundtable(version=2), expected=1),
            store.at(PLACE),
            store.unfinished(),
            store.ping(),
        ):
            with pytest.raises(Unavailable, match="Redis did not answer"):
                await call

        redis_cluster.start()
        assert await wait_until(lambda: _found(store)) == a_roundtable()
        await store.put(a_roundtable(version=2), expected=1)


async def _saved(store: RedisStore) -> bool:
    """The first call asks the nodes who they are."""
    try:
        await store.ping()
    except Unavailable:
        return False
    await store.put(a_roundtable(), expected=0)
    return True


async def _found(store: RedisStore) -> Any:
    try:
        return await store.get(SLUG)
    except Unavailable:
        return None


async def test_an_owner_is_there_again_when_a_node_comes_back(redis_cluster: RedisCluster) -> None:
    """The node of the team: what is asked meanwhile is refused, and what is asked afterwards is answered."""

    async def echo(request: str) -> str:
        return request

    async def pay(slug: str) -> None:
        raise AssertionError(slug)

    async def answered() -> str:
        with suppress(Unavailable):
            return await other.ask("a request")
        return ""

    async with (
        Ownership(redis_cluster.url, team="T1") as one,
        Ownership(redis_cluster.url, team="T1") as other,
    ):
        running = asyncio.create_task(one.run(pay))
        async with one.answering(echo):
            await wait_until(answered)
            redis_cluster.node_of(TEAM).kill()
            with pytest.raises(Unavailable):
                await other.ask("a request")
            redis_cluster.start()
            await wait_until(answered)
        running.cancel()
        await asyncio.wait({running})
