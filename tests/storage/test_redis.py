"""The Redis store: keys that people read, outages of the server, and other versions of this program."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from bot.domain.discussion.elaboration import Elaboration
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.errors import Conflict, Unavailable
from bot.storage.redis import RedisStore
from tests.redis_server import RedisServer
from tests.storage.samples import NOW, OWED, PLACE, SLUG, a_line, a_roundtable

TEAM = "roundtable:{T1}:"
KEY, PARTS = f"{TEAM}state:{SLUG}", f"{TEAM}parts:{SLUG}"
UNREADABLE = f"{TEAM}unreadable:"


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
    assert shown.pop("link")
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
        "shape": "4",
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
            with pytest.raises(Unavailable, match="OOM"):
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

    assert client.hget(f"{UNREADABLE}state:{SLUG}", "state") == '{"torn'
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    "fields",
    [
        {"version": "soon"},
        {"owes": b"\xff"},
        {"stage": b"\xff", "thread": b"\xfe", "shape": b"\xfd"},
        {"state": b"\xff\xfe"},
        {"state": "[" * 100_000},
        {"state": "[1]"},
        {"state": '{"slug": ["bright-night"]}'},
    ],
)
async def test_foreign_values_are_refused_and_stop_nothing(
    redis_url: str, client: redis.Redis, fields: dict[Any, Any]
) -> None:
    """They are neither executed nor believed, and other roundtables are read as before."""
    other = a_roundtable("other", place=PLACE.but(thread="2.2"), outbox=OWED)
    async with RedisStore(redis_url, team="T1") as saver, RedisStore(redis_url, team="T1") as store:
        await saver.put(a_roundtable(outbox=OWED), expected=0)
        await saver.put(other, expected=0)
        client.hset(KEY, mapping=fields)
        client.sadd(f"{TEAM}owing", b"\xff\xfe")
        client.zadd(f"{TEAM}timers", {b"\xff\xfe": 1})

        assert "other" in await store.unfinished(now=NOW)
        assert sum((await store.stages()).values()) == 2
        await store.held()
        await store.ping()
        assert await store.get("other") == other
        if "state" in fields:
            assert await store.get(SLUG) is None


async def test_an_index_entry_without_its_roundtable_is_ignored(redis_url: str, client: redis.Redis) -> None:
    """It has expired, or was deleted by hand. Listing the channel removes its entry."""
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(outbox=OWED, timers={"deadline": NOW}), expected=0)
        await store.put(a_roundtable("other", place=PLACE.but(thread="2.2")), expected=0)
        client.delete(KEY)

        assert await store.at(PLACE) is None
        assert [one.slug for one in await store.in_channel(PLACE.team, PLACE.channel)] == ["other"]
        assert await store.unfinished(now=NOW) == ()

    assert client.smembers(f"{TEAM}channel:{PLACE.team}.{PLACE.channel}") == {"other"}


async def test_an_index_entry_that_was_lost_is_written_again(redis_url: str, client: redis.Redis) -> None:
    """With the next save."""
    keys = f"{TEAM}thread:{PLACE.key}", f"{TEAM}channel:{PLACE.team}.{PLACE.channel}", f"{TEAM}owing"
    async with RedisStore(redis_url, team="T1") as store:
        await store.put(a_roundtable(outbox=OWED), expected=0)
        client.delete(*keys)
        await store.put(a_roundtable(version=2, outbox=OWED), expected=1)

        assert await store.at(PLACE) == a_roundtable(version=2, outbox=OWED)
        assert await store.in_channel(PLACE.team, PLACE.channel) == (a_roundtable(version=2, outbox=OWED),)
        assert await store.unfinished() == (SLUG,)


@pytest.mark.parametrize("days", [30, 365, None])
async def test_what_is_over_is_kept_as_long_as_the_setting_says(
    redis_url: str, client: redis.Redis, days: int | None
) -> None:
    """Its state, its parts and the entry of its thread; a roundtable that goes on is kept for good."""
    keys = KEY, PARTS, f"{TEAM}thread:{PLACE.key}"
    least, most = (-1, -1) if days is None else ((days - 1) * 24 * 3600, days * 24 * 3600)
    said: Any = {"lines": (a_line("C1.1"),)}
    async with RedisStore(redis_url, team="T1", days=days) as store:
        await store.put(a_roundtable(stage=Stage.ANALYSED, outbox=OWED, **said), expected=0)
        assert [client.ttl(key) for key in keys] == [-1, -1, -1]

        await store.put(a_roundtable(stage=Stage.ANALYSED, version=2, **said), expected=1)
        assert all(least <= int(str(client.ttl(key))) <= most for key in keys)

        await store.put(a_roundtable(stage=Stage.ELABORATING, version=3, **said), expected=2)
        assert [client.ttl(key) for key in keys] == [-1, -1, -1]


# --- parts ------------------------------------------------------------------------------------------------------------

LINES = tuple(a_line(f"C1.{number}", f"Line {number}: " + "x" * 1_000) for number in range(60))


def later(version: int, **fields: Any) -> Roundtable:
    """Each version has a line more."""
    return a_roundtable(version=version, **({"lines": LINES[:version]} | fields))


async def saved(store: RedisStore, *versions: int) -> None:
    for version in versions:
        await store.put(later(version), expected=version - 1)


async def read_elsewhere(redis_url: str) -> Roundtable | None:
    async with RedisStore(redis_url, team="T1") as other:
        found = await other.get(SLUG)
        assert await other.at(PLACE) == found
        return found


async def test_a_line_is_written_once(redis_url: str, client: redis.Redis) -> None:
    """The state names it by its number; a save writes the state and the lines that are new."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2, 3)

    state = json.loads(str(client.hget(KEY, "state")))
    assert (state["version"], state["lines"], state["parts"]["lines"]) == (3, [], [[1, 3]])
    assert sorted(client.hkeys(PARTS)) == ["line 1", "line 2", "line 3"]
    assert await read_elsewhere(redis_url) == later(3)


async def test_lines_that_are_committed_are_deleted(redis_url: str, client: redis.Redis) -> None:
    """And a number is never used again."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2, 3)
        await store.put(later(4, lines=LINES[2:4]), expected=3)
        await store.put(later(5, lines=()), expected=4)
        await store.put(later(6, lines=LINES[4:5]), expected=5)

    assert client.hkeys(PARTS) == ["line 5"]
    assert await read_elsewhere(redis_url) == later(6, lines=LINES[4:5])


def copied(client: redis.Redis) -> list[bytes]:
    return [client.dump(key) or b"" for key in (KEY, PARTS)]


def failed_over(client: redis.Redis, replica: list[bytes]) -> None:
    """What was saved since *replica* was copied had not reached it, and it is the master now."""
    for key, content in zip((KEY, PARTS), replica, strict=True):
        client.restore(key, 0, content, replace=True)


@pytest.fixture
def raw(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as connected:
        yield connected


async def test_a_save_only_follows_the_save_that_was_seen(redis_url: str, raw: redis.Redis) -> None:
    """
    A master is lost with a save, and another process saves another value of the same version and moment: that value is
    not saved over, and what is read has nothing of the lost one, although its parts have the same numbers.
    """
    async with RedisStore(redis_url, team="T1") as one, RedisStore(redis_url, team="T1") as other:
        await saved(one, 1, 2)
        replica = copied(raw)
        await saved(one, 3)
        failed_over(raw, replica)
        assert await other.get(SLUG) == later(2)
        theirs = later(3, lines=(*LINES[:2], LINES[9]))
        await other.put(theirs, expected=2)

        with pytest.raises(Conflict, match="another value"):
            await one.put(later(4), expected=3)
        assert await one.get(SLUG) == theirs
        await one.put(theirs.but(version=4, permalink="Ours"), expected=3)
        assert await other.get(SLUG) == theirs.but(version=4, permalink="Ours")
    assert await read_elsewhere(redis_url) == theirs.but(version=4, permalink="Ours")


async def test_a_lost_save_is_forgotten(redis_url: str, raw: redis.Redis) -> None:
    """Also by the process that made it."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2)
        replica = copied(raw)
        await saved(store, 3)
        failed_over(raw, replica)

        with pytest.raises(Conflict, match="at version 2"):
            await saved(store, 4)
        assert await store.get(SLUG) == later(2)
        await store.put(later(3, title="Again"), expected=2)
    assert await read_elsewhere(redis_url) == later(3, title="Again")


async def test_parts_that_were_deleted_alone_are_saved_again(redis_url: str, client: redis.Redis) -> None:
    """By a process that remembers the roundtable."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2)
        client.delete(PARTS)
        await saved(store, 3, 4)

    assert await read_elsewhere(redis_url) == later(4)


@pytest.mark.parametrize("damage", ["torn", "missing", "deleted"])
async def test_a_part_that_cannot_be_read_is_never_left_out(
    redis_url: str, client: redis.Redis, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody would know that a line is lost. All of it is set aside, and the item is rebuilt from the workspace."""
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2, 3)
    if damage == "torn":
        client.hset(PARTS, "line 2", str(client.hget(PARTS, "line 2"))[:-9])
    elif damage == "missing":
        client.hdel(PARTS, "line 2")
    else:
        client.delete(PARTS)
    left = client.hgetall(PARTS)

    assert await read_elsewhere(redis_url) is None
    assert client.hgetall(f"{UNREADABLE}parts:{SLUG}") == left
    assert client.hget(f"{UNREADABLE}state:{SLUG}", "version") == "3"
    assert not client.exists(KEY, PARTS)
    assert "set aside" in caplog.text
    async with RedisStore(redis_url, team="T1") as store:
        await saved(store, 1, 2)
    assert await read_elsewhere(redis_url) == later(2)
