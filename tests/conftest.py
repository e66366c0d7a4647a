from collections.abc import Iterator

import pytest
import redis
from hypothesis import settings

from tests.redis_groups import RedisCluster, WatchedRedis, running_cluster, running_watched_redis
from tests.redis_server import RedisServer, running_redis_server

# How long one example takes is the machine's business, and the other tests' beside it.
settings.register_profile("roundtable", deadline=None)
settings.load_profile("roundtable")


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """One real server for each test process; a test may stop, kill and start it."""
    with running_redis_server() as server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of a running server with nothing in it."""
    redis_server.start()
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    return redis_server.url


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[RedisCluster]:
    """Like `redis_server`; it takes two seconds until it is one."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster_url(redis_cluster: RedisCluster) -> str:
    redis_cluster.start()
    redis_cluster.empty()
    return redis_cluster.url


@pytest.fixture(scope="session")
def watched_redis() -> Iterator[WatchedRedis]:
    with running_watched_redis() as watched:
        yield watched


@pytest.fixture
def sentinel_url(watched_redis: WatchedRedis) -> str:
    watched_redis.start()
    watched_redis.empty()
    return watched_redis.url
