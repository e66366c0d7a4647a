"""
Redis servers for tests of Sentinel: a master, its replica and a sentinel.

All of them require a password, so that every test shows that it is sent. One address in the URL never answers, as after
the loss of a machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.patience import wait_here_until
from tests.redis_server import RedisServer

PASSWORD = "open-sesame"
NOBODY = "127.0.0.1:1"
SERVICE = "main"
LOST_AFTER, BUSY_AFTER = 1_500, 30_000
"""Milliseconds until a silent server counts as lost; the longer one is for tests that are not about that."""
OPTIONS = {
    "requirepass": PASSWORD,
    "masterauth": PASSWORD,
    "repl-diskless-sync": "yes",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
}
SENTINEL = f"""
requirepass {PASSWORD}
sentinel monitor {SERVICE} 127.0.0.1 {{port}} 1
sentinel auth-pass {SERVICE} {PASSWORD}
sentinel down-after-milliseconds {SERVICE} {LOST_AFTER}
sentinel failover-timeout {SERVICE} 2000
"""


class WatchedRedis:
    """A master and its replica, and a sentinel that promotes the replica when the master is lost."""

    def __init__(self, folder: Path) -> None:
        self.servers = [_server(folder, name) for name in ("one", "other")]
        self._file = folder / "sentinel.conf"
        self._sentinel = RedisServer(folder, sentinel=self._file)

    @property
    def url(self) -> str:
        hosts = f"{_address(self._sentinel)},{NOBODY}"
        return f"redis+sentinel://:{PASSWORD}@{hosts}/{SERVICE}/0?sentinel_password={PASSWORD}"

    def start(self) -> None:
        """Return once there is a master and its replica has everything."""
        for server in self.servers:
            server.start()
        if not self._file.exists():
            self._file.write_text(SENTINEL.format(port=self.servers[0].port))
            self._follow(self.servers[0])  # first, since a sentinel asks only now and then who has come
        self._sentinel.start()
        self._follow(self.master())
        wait_here_until(self._settled)
        self._lost_after(BUSY_AFTER)

    def stop(self) -> None:
        for server in (self._sentinel, *self.servers):
            server.kill()

    def empty(self) -> None:
        with asking(self.master()) as client:
            client.flushall()

    def master(self) -> RedisServer:
        with asking(self._sentinel) as sentinel:
            _, port = sentinel.execute_command("SENTINEL GET-MASTER-ADDR-BY-NAME", SERVICE)
        [master] = [server for server in self.servers if server.port == int(port)]
        return master

    def kill(self, server: RedisServer) -> None:
        self._lost_after(LOST_AFTER)
        server.kill()

    def freeze(self, server: RedisServer) -> None:
        self._lost_after(LOST_AFTER)
        server.freeze()

    def fail_over(self) -> None:
        """As an operator does, with a master that is well."""
        former = self.master()
        with asking(self._sentinel) as sentinel:
            sentinel.execute_command("SENTINEL FAILOVER", SERVICE)
        wait_here_until(lambda: self.master() is not former)

    def _lost_after(self, milliseconds: int) -> None:
        with asking(self._sentinel) as sentinel:
            sentinel.execute_command("SENTINEL SET", SERVICE, "down-after-milliseconds", milliseconds)

    def _follow(self, master: RedisServer) -> None:
        for server in self.servers:
            if server is not master and _role(server)[0] == "master":
                with asking(server) as client:
                    client.replicaof("127.0.0.1", master.port)
        wait_here_until(lambda: all(map(_replicates, self.servers)))

    def _settled(self) -> bool:
        with asking(self._sentinel) as sentinel:
            [replica] = sentinel.execute_command("SENTINEL REPLICAS", SERVICE)
            master = sentinel.execute_command("SENTINEL MASTER", SERVICE)
        return bool(master["flags"] == "master" and replica["flags"] == "slave")


@contextmanager
def running_watched_redis() -> Iterator[WatchedRedis]:
    with TemporaryDirectory(prefix="roundtable-redis-") as folder:
        watched = WatchedRedis(Path(folder))
        try:
            watched.start()
            yield watched
        finally:
            watched.stop()


@contextmanager
def asking(server: RedisServer, *, password: str | None = PASSWORD) -> Iterator[Any]:
    once = Retry(NoBackoff(), 0)
    with redis.Redis(port=server.port, password=password, decode_responses=True, retry=once) as client:
        yield client


def wait_for_the_replica(master: RedisServer) -> None:
    """What a replica does not have yet is lost with its master; that is so in every Redis."""
    with asking(master) as client:
        assert client.wait(1, 5_000) == 1


def _server(folder: Path, name: str) -> RedisServer:
    (folder / name).mkdir()
    return RedisServer(folder / name, options=OPTIONS)


def _address(server: RedisServer) -> str:
    return f"127.0.0.1:{server.port}"


def _role(server: RedisServer) -> list[object]:
    with asking(server) as client:
        return list(client.role())


def _replicates(server: RedisServer) -> bool:
    """A master always does."""
    role = _role(server)
    return role[0] == "master" or role[3] == "connected"
