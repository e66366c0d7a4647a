"""Every form of REDIS_URL, and every mistake in it."""

import pytest

from bot.errors import ConfigError
from bot.storage.redis_client import SentinelAddress, client, is_open, sentinel_address
from bot.storage.tasks import DocketWake


def test_sentinels_are_named_with_the_master_they_watch() -> None:
    """With credentials for the server and others for the sentinels; the port of a sentinel has a default."""
    told = sentinel_address("redis+sentinel://bot:p%40ss@one:26380,[::1]/main/2?sentinel_password=s%20s")

    assert told == SentinelAddress(
        hosts=(("one", 26380), ("::1", 26379)),
        options={"username": "bot", "password": "p@ss", "db": 2},
        sentinel_options={"password": "s s"},
        service="main",
    )


def test_what_is_secure_is_so_towards_sentinels_too() -> None:
    """One certificate authority usually signs for all of them."""
    told = sentinel_address("rediss+sentinel://one/main?ssl_ca_certs=ca.pem&health_check_interval=5")

    assert told.options == {"ssl": True, "ssl_ca_certs": "ca.pem", "health_check_interval": 5, "db": 0}
    assert told.sentinel_options == {"ssl": True, "ssl_ca_certs": "ca.pem"}


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://redis", "must specify one of the following schemes"),
        ("redis://:sesame@redis?database=1", "has an option that does not exist"),
        ("redis+sentinel://:sesame@redis:26379", "the name of the master is missing"),
        ("redis+sentinel://:sesame@redis/main/first", "the database is not a number"),
        ("redis+sentinel://:sesame@redis/main?database=1", "has an option that does not exist"),
        ("redis+sentinel://:sesame@/main", "a host or its port cannot be read"),
        ("redis+sentinel://:sesame@redis:7000,redis:x/main", "a host or its port cannot be read"),
        ("redis+sentinel://:sesame@redis:7000,/main", "a host or its port cannot be read"),
        ("redis+sentinel://:sesame@redis/main?socket_timeout=x", "Invalid value for 'socket_timeout'"),
        ("redis+cluster://:sesame@redis:7000", "must specify one of the following schemes"),
    ],
)
def test_a_url_that_cannot_be_used_is_said_at_once(url: str, reason: str) -> None:
    """In one sentence, without the password."""
    with pytest.raises(ConfigError, match=reason) as refused:
        client(url, connections=1)

    assert str(refused.value).startswith("REDIS_URL cannot be used: ")
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "is_it"),
    [
        ("redis://redis:6379/0", True),
        ("redis://bot@redis", True),
        ("redis://:sesame@redis", False),
        ("rediss://redis?password=sesame", False),
        ("rediss://redis?ssl_certfile=bot.pem", False),
        ("rediss://redis?ssl_ca_certs=ca.pem", True),
        ("unix:///run/redis.sock", False),
        ("redis+sentinel://one,two/main?sentinel_password=sesame", True),
        ("redis+sentinel://:sesame@one,two/main", False),
    ],
)
def test_a_server_is_open_unless_something_opens_it(url: str, *, is_it: bool) -> None:
    """A password, a client certificate, or file permissions; the password of the sentinels does not count."""
    assert is_open(url) is is_it


async def test_the_work_refuses_what_the_store_refuses() -> None:
    """Also when it is opened first."""
    with pytest.raises(ConfigError, match="REDIS_URL cannot be used") as refused:
        async with DocketWake("redis+sentinel://:sesame@redis", team="T1"):
            pass

    assert "sesame" not in str(refused.value)
