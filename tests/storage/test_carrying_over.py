"""
What the last version without teams in its keys left in Redis, and what becomes of such a version that still runs.

`shapes/redis-2026-11.json` are the commands that make a Redis as that version left it: written by its own code, while
it worked on `bright-night`, and the times of its last signs of life made older.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from bot.domain.messages.home_page import ReminderSettings
from bot.errors import BotError, ConfigError, Conflict, NewerVersion, Unavailable
from bot.storage import carrying_over
from bot.storage.carrying_over import BARRED, CarryingOver, EarlierVersionWorks
from bot.storage.notices import RedisNotices
from bot.storage.redis import RedisStore
from bot.storage.tasks import name_for
from tests.storage.samples import OWED, PLACE, a_roundtable

LEFT = json.loads((Path(__file__).parent / "shapes" / "redis-2026-11.json").read_bytes())
SLUGS = {"bright-night", "dark-mode", "offline-sync"}
LEASE_SECONDS = 30.0
ONE_WRITE = "local function write(...) return redis.call(...) end"


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    """Of a Redis as the last release left it."""
    with redis.Redis.from_url(redis_url) as connected:
        leave(connected)
        yield connected


class EarlierStore(RedisStore):
    """As in the versions without teams: only the keys were other ones."""

    def __init__(self, url: str) -> None:
        super().__init__(url, team="T1")
        self._prefix = "roundtable:"
        self._unfinished, self._timers = "roundtable:owing", "roundtable:timers"


async def moved(url: str, team: str = "T1") -> None:
    await CarryingOver(url, team, lease_seconds=LEASE_SECONDS)()


def leave(client: redis.Redis) -> None:
    client.flushdb()
    for command in LEFT:
        client.execute_command(*(one.encode("latin-1") for one in command))  # type: ignore[no-untyped-call]


def everything(client: redis.Redis, pattern: str = "*") -> dict[bytes, Any]:
    """Each key with its value, without the time that it has left."""
    reads: dict[Any, Callable[[bytes], Any]] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        b"stream": client.xrange,
    }
    return {key: reads[client.type(key)](key) for key in client.scan_iter(match=pattern)}


async def test_everything_that_was_left_is_found_by_its_team(client: redis.Redis, redis_url: str) -> None:
    await moved(redis_url)

    async with RedisStore(redis_url, team="T1") as store, RedisNotices(redis_url, team="T1") as notices:
        synced = await store.get("offline-sync")
        assert synced
        assert (synced.version, synced.title) == (3, "Offline sync"), "the value with its changes"
        assert await store.at(PLACE) == a_roundtable(outbox=OWED)
        assert {one.slug for one in await store.in_channel("T1", "C1")} == SLUGS
        assert set(await store.unfinished()) == {"bright-night", "offline-sync"}
        assert sum((await store.stages()).values()) == len(SLUGS)
        assert await store.listened() == "1700000000.000500"
        assert not await store.first("C1.1700000000.000100", seconds=60), "an event that was answered"
        assert await store.people() == {"U1": ReminderSettings()}
        assert await notices.unfinished() == ("dark-mode",)
        assert await notices.get("dark-mode")
        await store.put(synced.but(version=4), expected=3)
    assert client.exists("roundtable:T1:{broken}:unreadable")
    assert client.ttl("roundtable:T1:{dark-mode}") > 0, "it expires as before"
    left = {key.decode() for key in client.scan_iter() if not key.startswith(b"roundtable:T1:")}
    assert left == {*BARRED, *(f"roundtable:{{{slug}}}" for slug in SLUGS)}, "and no task of the old queue"


async def test_a_start_that_stops_anywhere_is_continued_by_the_next(
    client: redis.Redis, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis stops a script when its memory is full."""
    keys, script = client.dbsize(), carrying_over.MOVE
    await moved(redis_url)
    whole, writes = everything(client, "roundtable:T1:*"), 0
    assert ONE_WRITE in script, "every write of it can be stopped"
    while True:
        leave(client)
        stopping = f"""
            local left = {writes}
            local function write(...)
                left = left - 1
                if left < 0 then error('memory is full') end
                return redis.call(...)
            end"""
        monkeypatch.setattr(carrying_over, "MOVE", script.replace(ONE_WRITE, stopping))
        try:
            await moved(redis_url)
            break
        except Unavailable:
            writes += 1
        monkeypatch.setattr(carrying_over, "MOVE", script)
        await moved(redis_url)

        assert everything(client, "roundtable:T1:*") == whole, f"stopped before write {writes}"
        assert all(client.type(key) == b"string" for key in BARRED)
    assert writes > keys, "it was stopped before each of its writes"


@pytest.mark.parametrize("sign", ["roundtable-work:workers", "roundtable-work:concurrency:slug:dark-mode"])
async def test_nothing_is_moved_while_an_earlier_version_works(
    client: redis.Redis, redis_url: str, sign: str
) -> None:
    """It would not see what was moved, and would post it again."""
    client.zadd(sign, {"alive": time.time()})
    before = everything(client)

    with pytest.raises(EarlierVersionWorks, match="Stop it"):
        await moved(redis_url)
    assert everything(client) == before

    client.zadd(sign, {"alive": time.time() - LEASE_SECONDS - 5})
    await moved(redis_url)
    assert client.exists("roundtable:T1:{dark-mode}")


async def test_the_state_of_another_team_is_left_to_it(client: redis.Redis, redis_url: str) -> None:
    before = everything(client)

    with pytest.raises(ConfigError, match="has roundtables of 'T1', another Slack workspace than T2"):
        await moved(redis_url, "T2")
    assert everything(client) == before

    await moved(redis_url)
    mine = everything(client, "roundtable:T1:*")
    await moved(redis_url, "T2")
    assert everything(client, "roundtable:T1:*") == mine
    async with RedisStore(redis_url, team="T2") as store:
        assert await store.get("offline-sync") is None


async def test_what_the_sandbox_left_beside_ours_keeps_nobody_from_starting(
    client: redis.Redis, redis_url: str
) -> None:
    client.hset("roundtable:{bird-song}", mapping={"team": "T0SANDBOX", "stage": "paused"})

    await moved(redis_url)

    assert client.exists("roundtable:T1:{dark-mode}", "roundtable:T1:{bird-song}") == 2


async def test_an_earlier_version_can_save_nothing_afterwards(client: redis.Redis, redis_url: str) -> None:
    """One that was forgotten, or was started again, is not ready, and says that a later version was there."""
    async with EarlierStore(redis_url) as forgotten:
        known = await forgotten.get("bright-night")
        assert known
        await moved(redis_url)
        mine = everything(client, "roundtable:T1:*")

        with pytest.raises((Conflict, Unavailable)):
            await forgotten.put(known.but(version=2), expected=1)
        with pytest.raises(NewerVersion, match="Run the later version again"):
            await forgotten.get("bright-night", known=known)
    async with EarlierStore(redis_url) as started:
        with pytest.raises(NewerVersion, match="'offline-sync' was saved by a later version"):
            await started.get("offline-sync")
        with pytest.raises(BotError):
            await started.unfinished(now="2026-11-21T10:00:00.000Z")
        with pytest.raises(NewerVersion):
            await started.ping()
        for outbox in ((), OWED):
            with pytest.raises(Unavailable):
                await started.put(a_roundtable("bird-song", outbox=outbox), expected=0)
    assert everything(client, "roundtable:T1:*") == mine
    await moved(redis_url)
    assert everything(client, "roundtable:T1:*") == mine


async def test_an_empty_redis_is_barred_for_earlier_versions_too(redis_url: str) -> None:
    await moved(redis_url)

    async with EarlierStore(redis_url) as earlier:
        with pytest.raises(Unavailable):
            await earlier.put(a_roundtable(outbox=OWED), expected=0)
        with pytest.raises(Unavailable):
            await earlier.unfinished()


async def test_a_bare_start_costs_one_short_call(client: redis.Redis, redis_url: str) -> None:
    await moved(redis_url)
    after = everything(client)
    client.config_resetstat()

    await moved(redis_url)
    calls: dict[str, Any] = client.info("commandstats")
    assert "cmdstat_scan" not in calls
    assert everything(client) == after


@pytest.mark.parametrize("team", ["", "t1", "T1:T2", "T1}", "T 1", "T*", "T1\n"])
def test_a_team_is_letters_and_digits(team: str) -> None:
    """It is a part of keys."""
    with pytest.raises(ConfigError, match="begins with a capital letter"):
        name_for(team)
