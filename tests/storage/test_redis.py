"""The Redis store: keys that people read, outages of the server, and other versions of this program."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import redis

from bot.domain.discussion.elaboration import Elaboration
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.errors import Conflict, NewerVersion, Unavailable
from bot.storage.redis import RedisStore
from bot.storage.serialization import SHAPE
from tests.redis_server import RedisServer, running_redis_server
from tests.storage.samples import NOW, OWED, PLACE, SLUG, a_roundtable

KEY = f"roundtable:T1:{{{SLUG}}}"


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url, decode_responses=True) as connected:
        yield connected


async def test_a_person_can_read_a_roundtable(redis_url: str, client: redis.Redis) -> None:
    """`HGETALL` shows where it stands and what is in its outbox."""
    debate = Elaboration(step_id="01-03", lead="business-analyst", topic="light", max_turns=7)
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(
            a_roundtable(
                stage=Stage.ELABORATING,
                phase_key="01-requirements",
                step_id="01-03",
                elaboration=debate.heard(by="U1", name="Ada", text="Hm.", ts="1.1"),
                outbox=OWED,
            ),
            expected=0,
        )

    shown = client.hgetall(KEY)
    assert isinstance(shown, dict)
    assert json.loads(shown.pop("state"))["slug"] == SLUG
    assert shown.pop("link") == shown.pop("begun")
    assert shown == {
        "version": "1",
        "incarnation": "i1",
        "stage": "elaborating",
        "phase": "01-requirements",
        "step": "01-03",
        "turn_count": "1",
        "max_turns": "7",
        "team": PLACE.team,
        "channel": PLACE.channel,
        "thread": PLACE.thread,
        "owes": "react",
        "updated": NOW,
        "due": "",
        "shape": "2",
    }


async def test_a_flushed_server_has_nothing(redis_url: str, client: redis.Redis) -> None:
    """Nothing that was in Redis before, not even a script, is needed to begin again."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(), expected=0)
        client.flushall()
        client.script_flush()

        assert await store.get(SLUG) is None
        await store.put(a_roundtable(), expected=0)


async def test_a_server_that_is_away_is_unavailable_until_it_is_back(
    redis_server: RedisServer, redis_url: str
) -> None:
    """Every call raises Unavailable; nothing has to be restarted, and what was saved is there."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(), expected=0)
        redis_server.stop()
        for call in (
            store.get(SLUG),
            store.put(a_roundtable(version=2), expected=1),
            store.at(PLACE),
            store.in_channel(PLACE.team, PLACE.channel),
            store.unfinished(),
            store.ping(),
        ):
            with pytest.raises(Unavailable):
                await call

        redis_server.start()
        assert await store.get(SLUG) == a_roundtable()
        await store.put(a_roundtable(version=2), expected=1)


async def test_a_server_that_hangs_is_unavailable_in_time(silent_redis_url: str) -> None:
    """Slack waits three seconds for the acknowledgement; without one it sends the event again."""
    async with RedisStore(silent_redis_url, team="T1") as store:
        with pytest.raises(Unavailable, match="Redis did not answer"):
            await store.get(SLUG)


async def test_a_server_that_is_full_says_so_and_forgets_nothing(redis_url: str, client: redis.Redis) -> None:
    """Saves are refused, and everything stored can be read; with memory again, saves succeed."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(outbox=OWED), expected=0)
        try:
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("maxmemory", "1")
            with pytest.raises(Unavailable, match="maxmemory"):
                await store.put(a_roundtable(version=2), expected=1)
            assert await store.get(SLUG) == a_roundtable(outbox=OWED)
            assert await store.unfinished() == (SLUG,)
        finally:
            client.config_set("maxmemory", "0")
        await store.put(a_roundtable(version=2), expected=1)
        assert await store.get(SLUG) == a_roundtable(version=2)


async def test_what_cannot_be_read_is_set_aside(
    redis_url: str, client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """The store treats the item as new, and an operator can still look at what was there."""
    async with RedisStore(redis_url, team="T1") as saver, RedisStore(redis_url, team="T1") as store:
        await saver.put(a_roundtable(), expected=0)
        client.hset(KEY, "state", '{"torn')

        assert await store.in_channel(PLACE.team, PLACE.channel) == ()
        assert await store.get(SLUG) is None
        await store.put(a_roundtable(), expected=0)
        assert await store.get(SLUG) == a_roundtable()

    assert client.hget(f"{KEY}:unreadable", "state") == '{"torn'
    assert "cannot be read" in caplog.text


async def test_what_a_later_version_wrote_is_left_to_it(redis_url: str, client: redis.Redis) -> None:
    """During a rollout the older version does not touch what it cannot read."""
    async with RedisStore(redis_url, team="T1") as newer, RedisStore(redis_url, team="T1") as store:
        await newer.put(a_roundtable(shape=SHAPE + 1), expected=0)

        with pytest.raises(NewerVersion, match="later version"):
            await store.get(SLUG)

    assert client.exists(KEY)


async def test_a_process_that_starts_sees_what_a_later_version_wrote(redis_url: str) -> None:
    """At once, by the field `shape`, without reading every roundtable."""
    async with RedisStore(redis_url, team="T1") as newer:
        await newer.put(a_roundtable(shape=SHAPE + 1), expected=0)
    async with RedisStore(redis_url, team="T1") as store:
        with pytest.raises(NewerVersion, match=f"{SLUG}.*later version"):
            await store.ping()


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"version": "soon"}, KEY),
        ({"owes": b"\xff"}, KEY),
        ({"stage": b"\xff", "thread": b"\xfe", "shape": b"\xfd"}, KEY),
        ({"state": b"\xff\xfe"}, KEY),
        ({"state": "[" * 100_000}, KEY),
        ({"state": "[1]"}, KEY),
        ({"state": '{"slug": ["bright-night"]}'}, KEY),
    ],
)
async def test_foreign_values_are_refused_and_stop_nothing(
    redis_url: str, client: redis.Redis, fields: dict[Any, Any], key: str
) -> None:
    """They are neither executed nor believed, and other roundtables are read as before."""
    other = a_roundtable("other", place=PLACE.but(thread="2.2"), outbox=OWED)
    async with RedisStore(redis_url, team="T1") as saver, RedisStore(redis_url, team="T1") as store:
        await saver.put(a_roundtable(outbox=OWED), expected=0)
        await saver.put(other, expected=0)
        client.hset(key, mapping=fields)
        client.zadd("roundtable:T1:owing", {b"\xff\xfe": 1})
        client.zadd("roundtable:T1:timers", {b"\xff\xfe": 1})

        assert "other" in await store.unfinished(now=NOW)
        assert sum((await store.stages()).values()) == 2
        await store.held()
        await store.ping()
        assert await store.get("other") == other
        if "state" in fields:
            assert await store.get(SLUG) is None


async def test_an_index_entry_without_its_roundtable_is_ignored(redis_url: str, client: redis.Redis) -> None:
    """After a kill between the index and the hash, or when the hash was deleted by hand."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(outbox=OWED, timers={"deadline": NOW}), expected=0)
        client.delete(KEY)

        assert await store.at(PLACE) is None
        assert await store.in_channel(PLACE.team, PLACE.channel) == ()
        assert await store.unfinished(now=NOW) == ()
        assert client.zcard("roundtable:T1:timers") == 0


async def test_what_was_begun_anew_is_another_one(redis_url: str, client: redis.Redis) -> None:
    """Another process saw the one before, and the version happens to be the same."""
    async with RedisStore(redis_url, team="T1") as one, RedisStore(redis_url, team="T1") as other:
        await one.put(a_roundtable(), expected=0)
        client.flushall()
        await other.put(a_roundtable(incarnation="anew"), expected=0)

        with pytest.raises(Conflict):
            await one.put(a_roundtable(version=2), expected=1)
        assert await one.get(SLUG) == a_roundtable(incarnation="anew")
        await one.put(a_roundtable(version=2, incarnation="and again"), expected=1)


async def test_an_index_entry_that_was_lost_is_written_again(redis_url: str, client: redis.Redis) -> None:
    """At the latest when the outbox is empty."""
    keys = f"roundtable:T1:thread:{{{PLACE.key}}}", f"roundtable:T1:channel:{{{PLACE.team}.{PLACE.channel}}}"
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(outbox=OWED), expected=0)
        client.delete(*keys)
        await store.put(a_roundtable(version=2), expected=1)

        assert await store.at(PLACE) == a_roundtable(version=2)
        assert await store.in_channel(PLACE.team, PLACE.channel) == (a_roundtable(version=2),)


async def test_an_empty_outbox_leaves_the_index_with_the_next_save(
    redis_url: str, client: redis.Redis
) -> None:
    """Of any roundtable: it costs no round trip of its own."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(outbox=OWED), expected=0)
        await store.put(a_roundtable(version=2), expected=1)
        await store.put(a_roundtable("other", outbox=OWED), expected=0)

    assert client.zrange("roundtable:T1:owing", 0, -1) == ["other"]


async def test_an_outdated_index_entry_is_removed_by_the_next_search(
    redis_url: str, client: redis.Redis
) -> None:
    """It is left by a kill right after the outbox was saved as empty."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(), expected=0)
        client.zadd("roundtable:T1:owing", {SLUG: 1})

        assert await store.unfinished() == ()

    assert client.zcard("roundtable:T1:owing") == 0


async def test_what_is_over_is_kept_for_a_month(redis_url: str, client: redis.Redis) -> None:
    """The hash and the entry of its thread; a roundtable that goes on is kept for good."""
    keys = KEY, f"roundtable:T1:thread:{{{PLACE.key}}}"
    month = 30 * 24 * 3600
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(stage=Stage.ANALYSED, outbox=OWED), expected=0)
        assert [client.ttl(key) for key in keys] == [-1, -1]

        await store.put(a_roundtable(stage=Stage.ANALYSED, version=2), expected=1)
        assert all(0 < int(str(client.ttl(key))) <= month for key in keys)

        await store.put(a_roundtable(stage=Stage.ELABORATING, version=3), expected=2)
        assert [client.ttl(key) for key in keys] == [-1, -1]


async def test_a_channel_forgets_what_has_expired(redis_url: str, client: redis.Redis) -> None:
    """Listing the channel removes the entry."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(), expected=0)
        await store.put(a_roundtable("other"), expected=0)
        client.delete(KEY)

        assert [one.slug for one in await store.in_channel(PLACE.team, PLACE.channel)] == ["other"]

    assert client.smembers(f"roundtable:T1:channel:{{{PLACE.team}.{PLACE.channel}}}") == {"other"}


# --- changes ----------------------------------------------------------------------------------------------------------

CHANGES = f"{KEY}:changes"


def later(version: int, **fields: Any) -> Roundtable:
    return a_roundtable(version=version, **({"title": f"Title {version}"} | fields))


async def saved(store: RedisStore, *versions: int) -> None:
    for version in versions:
        await store.put(later(version) if version > 1 else a_roundtable(), expected=version - 1)


async def read_elsewhere(redis_url: str) -> Roundtable | None:
    async with RedisStore(redis_url, team="T1") as other:
        found = await other.get(SLUG)
        assert await other.at(PLACE) == found
        return found


def sent(client: redis.Redis) -> int:
    """How many bytes the server has sent so far."""
    return int(client.info("stats")["total_net_output_bytes"])


async def test_what_is_saved_next_is_a_line_of_its_own(redis_url: str, client: redis.Redis) -> None:
    """It says what differs; the whole value is saved when the process does not know the one before."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2, 3)

    lines = client.lrange(CHANGES, 0, -1)
    assert [set(json.loads(line[33:])["change"]["fields"]) for line in lines] == [{"version", "title"}] * 2
    assert json.loads(str(client.hget(KEY, "state")))["version"] == 1
    assert client.hmget(KEY, "version", "link") == ["3", lines[-1][:32]]
    assert await read_elsewhere(redis_url) == later(3)

    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 4)
    assert not client.exists(CHANGES)
    assert client.hget(KEY, "link") == client.hget(KEY, "begun")
    assert await read_elsewhere(redis_url) == later(4)


async def test_processes_that_take_turns_save_changes(redis_url: str, client: redis.Redis) -> None:
    """Each reads what the other has saved since, and nothing else."""
    long = "x" * 50_000
    async with RedisStore(redis_url, team="T1") as one, RedisStore(redis_url, team="T1") as other:
        await one.put(a_roundtable(permalink=long), expected=0)
        assert await other.get(SLUG) == a_roundtable(permalink=long)
        for version in range(2, 12):
            saver, reader = (one, other) if version % 2 else (other, one)
            await saver.put(later(version, permalink=long), expected=version - 1)
            before = sent(client)
            assert await reader.get(SLUG) == later(version, permalink=long)
            assert sent(client) - before < len(long)

    assert client.llen(CHANGES) == 10
    assert await read_elsewhere(redis_url) == later(11, permalink=long)


def failed_over(client: redis.Redis) -> None:
    """The last save had not reached the replica, which is the master now."""
    client.rpop(CHANGES)
    client.hset(KEY, mapping={"version": 2, "link": str(client.lindex(CHANGES, -1))[:32]})


async def test_a_change_is_only_made_to_the_save_it_was_made_from(
    redis_url: str, client: redis.Redis
) -> None:
    """
    A master is lost with a save, and another process saves another value of the same version: with changes or whole,
    that value is not saved over, and what is read has nothing of the lost one.
    """
    async with RedisStore(redis_url, team="T1") as one, RedisStore(redis_url, team="T1") as other:
        await saved(one, 1, 2, 3)
        failed_over(client)
        assert await other.get(SLUG) == later(2)
        theirs = later(3, title="Theirs", now="2026-11-21T10:00:01.000Z")
        await other.put(theirs, expected=2)

        for refused in (one.put(later(4), expected=3), one.put_whole(later(4), expected=3)):
            with pytest.raises(Conflict, match="another value"):
                await refused
        assert await one.get(SLUG, known=later(3)) == theirs
        await one.put(theirs.but(version=4, permalink="Ours"), expected=3)
        assert await other.get(SLUG) == theirs.but(version=4, permalink="Ours")
    assert await read_elsewhere(redis_url) == theirs.but(version=4, permalink="Ours")


async def test_two_values_of_one_version_and_one_moment_are_told_apart(
    redis_url: str, client: redis.Redis
) -> None:
    """Only their saves have different names."""
    async with RedisStore(redis_url, team="T1") as one, RedisStore(redis_url, team="T1") as other:
        await saved(one, 1, 2)
        mine = later(3)
        await one.put(mine, expected=2)
        failed_over(client)
        await other.get(SLUG)
        await other.put(later(3, title="Theirs"), expected=2)

        assert await one.get(SLUG, known=mine) == later(3, title="Theirs")


async def test_a_lost_save_is_forgotten(redis_url: str, client: redis.Redis) -> None:
    """Also by the process that made it, whose next save would have been a change of it."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2, 3)
        failed_over(client)

        with pytest.raises(Conflict, match="at version 2"):
            await saved(store, 4)
        assert await store.get(SLUG) == later(2)
        await store.put(later(3, title="Again"), expected=2)
    assert await read_elsewhere(redis_url) == later(3, title="Again")


async def test_what_is_over_has_no_changes(redis_url: str, client: redis.Redis) -> None:
    """It expires, and nothing is left of it."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2)
        assert client.llen(CHANGES) == 1
        await store.put(later(3, stage=Stage.ANALYSED), expected=2)
        assert not client.exists(CHANGES)
        await saved(store, 4)
        assert (client.ttl(CHANGES), client.ttl(KEY)) == (-1, -1)


async def test_no_change_follows_what_is_gone(redis_url: str, client: redis.Redis) -> None:
    """Redis has deleted the changes alone; whoever remembers the roundtable saves all of it."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2)
        client.delete(CHANGES)
        await saved(store, 3, 4)

    assert client.llen(CHANGES) == 1
    assert await read_elsewhere(redis_url) == later(4)


@pytest.mark.parametrize("damage", ["torn", "foreign", "missing", "deleted", "other"])
async def test_changes_that_cannot_be_read_are_never_left_out(
    redis_url: str, client: redis.Redis, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What is left would be an older state. All of it is set aside, and the item is rebuilt from the workspace."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2, 3, 4)
    lines = client.lrange(CHANGES, 0, -1)
    bad = {
        "torn": [*lines[:2], lines[2][:-9]],
        "foreign": ["{}", *lines],
        "missing": [lines[0], lines[2]],
        "deleted": [],
        "other": [lines[0], lines[1], lines[1]],
    }[damage]
    client.delete(CHANGES)
    if bad:
        client.rpush(CHANGES, *bad)
    client.rpush(f"{KEY}:unreadable:changes", "of an earlier one")

    assert await read_elsewhere(redis_url) is None
    assert client.lrange(f"{KEY}:unreadable:changes", 0, -1) == bad
    assert client.hget(f"{KEY}:unreadable", "version") == "4"
    assert not client.exists(KEY, CHANGES)
    assert "set aside" in caplog.text
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2)
    assert await read_elsewhere(redis_url) == later(2)


async def test_a_state_of_an_earlier_version_is_set_aside(
    redis_url: str, client: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """It is not read with guesses: the item is rebuilt from git."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1)
    state = json.dumps(json.loads(str(client.hget(KEY, "state"))) | {"shape": SHAPE - 1})
    client.hset(KEY, mapping={"state": state, "shape": SHAPE - 1})

    assert await read_elsewhere(redis_url) is None
    assert client.hget(f"{KEY}:unreadable", "state") == state
    assert "an earlier version saved it" in caplog.text


UNWRITABLE = {
    "a replica": ({"replicaof": "127.0.0.1 1"}, {"replicaof": ""}),
    "too few replicas": ({"min-replicas-to-write": "1"}, {"min-replicas-to-write": "0"}),
    "full": ({"maxmemory": "1", "maxmemory-policy": "noeviction"}, {"maxmemory": "0"}),
}


@pytest.mark.parametrize("state", UNWRITABLE)
async def test_a_redis_that_takes_no_writes_is_not_ready(state: str) -> None:
    """It answers a PING all the same. When it takes them again, it is ready again."""
    with running_redis_server() as server, redis.Redis.from_url(server.url) as operator:
        async with RedisStore(server.url, team="T1") as store:
            await store.ping()
            breaking, mending = UNWRITABLE[state]
            configured(operator, breaking)
            assert operator.ping()

            with pytest.raises(Unavailable, match="Redis did not answer"):
                await store.ping()
            configured(operator, mending)
            await store.ping()


def configured(operator: redis.Redis, options: Mapping[str, str]) -> None:
    for name, value in options.items():
        if name == "replicaof":
            operator.slaveof(*(value.split() or ("NO", "ONE")))
        else:
            operator.config_set(name, value)
