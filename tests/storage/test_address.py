"""Every form of REDIS_URL, and every mistake in it."""

import pytest

from bot.errors import ConfigError
from bot.storage.redis_client import client, is_open


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://redis", "must specify one of the following schemes"),
        ("redis://:sesame@redis?database=1", "has an option that does not exist"),
        ("redis+sentinel://:sesame@redis:26379/main", "must specify one of the following schemes"),
        ("redis+cluster://:sesame@redis:7000?database=1", "has an option that does not exist"),
        ("redis+cluster://:sesame@redis:7000/1", "must be 0"),
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
        ("redis+cluster://redis", True),
        ("rediss+cluster://:sesame@redis", False),
    ],
)
def test_a_server_is_open_unless_something_opens_it(url: str, *, is_it: bool) -> None:
    """A password, a client certificate, or file permissions."""
    assert is_open(url) is is_it
