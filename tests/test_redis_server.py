"""The server other tests rely on."""

import redis

from tests.redis_server import RedisServer


def test_every_test_finds_it_empty(redis_url: str) -> None:
    """What another test left behind is gone."""
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("left", "behind")


def test_every_other_test_finds_it_empty_too(redis_url: str) -> None:
    """In whatever order the two run."""
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("left", "behind")


def test_what_was_stored_survives_a_power_cut(redis_server: RedisServer, redis_url: str) -> None:
    """The same address answers again, with the same contents."""
    with redis.Redis.from_url(redis_url) as client:
        client.set("kept", "yes")

    redis_server.kill()
    redis_server.start()

    with redis.Redis.from_url(redis_url) as client:
        assert client.get("kept") == b"yes"
