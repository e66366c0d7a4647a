"""
Redis servers that belong together, for tests: a cluster, and a master with its replica and a sentinel.

They all want a password, so that every test shows that it is sent. One address in each URL is one where nobody answers,
as after the loss of a machine.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.redis_server import RedisServer

PASSWORD = "open-sesame"
NOBODY = "127.0.0.1:1"
SERVICE = "main"
READY_SECONDS = 30.0
SLOTS = 16_384
MASTERS = 3
LOST_AFTER, BUSY_AFTER = 1_500, 30_000
"""Milliseconds until a silent server is taken for lost; on a busy machine, only where a test is about that."""
OPTIONS = {
    "requirepass": PASSWORD,
    "masterauth": PASSWORD,
    "repl-diskless-sync": "yes",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
}
CLUSTER = {
    "cluster-enabled": "yes",
    "cluster-node-timeout": str(LOST_AFTER),
    "cluster-replica-validity-factor": "0",
}
SENTINEL = f"""
requirepass {PASSWORD}
sentinel monitor {SERVICE} 127.0.0.1 {{port}} 1
sentinel auth-pass {SERVICE} {PASSWORD}
sentinel down-after-milliseconds {SERVICE} {LOST_AFTER}
sentinel failover-timeout {SERVICE} 2000
"""


class Group(ABC):
    """Whoever of them is lost is soon replaced by another."""

    def kill(self, server: RedisServer) -> None:
        self._lost_after(LOST_AFTER)
        server.kill()

    def freeze(self, server: RedisServer) -> None:
        self._lost_after(LOST_AFTER)
        server.freeze()

    @abstractmethod
    def _lost_after(self, milliseconds: int) -> None:
        """Of silence."""


class RedisCluster(Group):
    """Three masters, and a replica of the first. Which of them is a master now is theirs to say."""

    def __init__(self, folder: Path) -> None:
        self.servers = [_server(folder, name, **CLUSTER) for name in ("one", "two", "three", "spare")]
        self._joined = False

    @property
    def url(self) -> str:
        return f"redis+cluster://:{PASSWORD}@{NOBODY},{','.join(map(_address, self.servers))}"

    def start(self) -> None:
        """Return once every slot is served and the replica has everything."""
        for server in self.servers:
            server.start()
        if not self._joined:
            self._join()
        wait_until(lambda: all(map(self._settled, self.servers)))
        self._lost_after(BUSY_AFTER)

    def stop(self) -> None:
        for server in self.servers:
            server.kill()  # one that has just become a replica does not listen to anything else

    def empty(self) -> None:
        for master in self.masters():
            with asking(master) as client:
                client.flushall()

    def masters(self) -> list[RedisServer]:
        return [server for server in self.servers if _role(server)[0] == "master"]

    def with_replica(self) -> RedisServer:
        """The master that another can stand in for."""
        [master] = [server for server in self.masters() if _role(server)[2]]
        return master

    @contextmanager
    def moving(self, key: str, source: RedisServer, target: RedisServer) -> Iterator[None]:
        """Inside, *key* is at the target already, and its slot still belongs to the source."""
        with asking(source) as here, asking(target) as there:
            slot = here.execute_command("CLUSTER KEYSLOT", key)
            names = [client.execute_command("CLUSTER MYID") for client in (here, there)]
            there.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", names[0])
            here.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", names[1])
            keys = here.execute_command("CLUSTER GETKEYSINSLOT", slot, 1000)
            moved = ["", 0, 5000, "AUTH", PASSWORD, "KEYS", *keys]
            here.execute_command("MIGRATE", "127.0.0.1", target.port, *moved)
            yield
            for client in (there, here):
                client.execute_command("CLUSTER SETSLOT", slot, "NODE", names[1])

    def _lost_after(self, milliseconds: int) -> None:
        for server in self.servers:
            with asking(server) as client:
                client.config_set("cluster-node-timeout", milliseconds)

    def _join(self) -> None:
        for number, server in enumerate(self.servers[:MASTERS]):
            with asking(server) as client:
                first, end = SLOTS * number // MASTERS, SLOTS * (number + 1) // MASTERS
                client.execute_command("CLUSTER ADDSLOTS", *range(first, end))
                client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
        for one, other in combinations(self.servers, 2):
            with asking(one) as client:
                client.execute_command("CLUSTER MEET", "127.0.0.1", other.port)
        with asking(self.servers[0]) as client:
            master = client.execute_command("CLUSTER MYID")
        with asking(self.servers[-1]) as spare:
            wait_until(lambda: master in {node["node_id"] for node in _nodes(spare)})
            spare.execute_command("CLUSTER REPLICATE", master)
        self._joined = True

    def _settled(self, server: RedisServer) -> bool:
        with asking(server) as client:
            state = client.execute_command("CLUSTER INFO")
            nodes = _nodes(client)
        roles = [flag for node in nodes for flag in node["flags"].split(",") if flag in {"master", "slave"}]
        return (
            state["cluster_state"] == "ok"
            and sorted(roles) == ["master"] * MASTERS + ["slave"]
            and not any("fail" in node["flags"] for node in nodes)
            and _replicates(server)
        )


class WatchedRedis(Group):
    """A master and its replica under the eyes of a sentinel, who makes the other one master when it has to."""

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
        wait_until(self._settled)
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

    def fail_over(self) -> None:
        """As an operator does, with a master that is well."""
        former = self.master()
        with asking(self._sentinel) as sentinel:
            sentinel.execute_command("SENTINEL FAILOVER", SERVICE)
        wait_until(lambda: self.master() is not former)

    def _lost_after(self, milliseconds: int) -> None:
        with asking(self._sentinel) as sentinel:
            sentinel.execute_command("SENTINEL SET", SERVICE, "down-after-milliseconds", milliseconds)

    def _follow(self, master: RedisServer) -> None:
        for server in self.servers:
            if server is not master and _role(server)[0] == "master":
                with asking(server) as client:
                    client.replicaof("127.0.0.1", master.port)
        wait_until(lambda: all(map(_replicates, self.servers)))

    def _settled(self) -> bool:
        with asking(self._sentinel) as sentinel:
            [replica] = sentinel.execute_command("SENTINEL REPLICAS", SERVICE)
            master = sentinel.execute_command("SENTINEL MASTER", SERVICE)
        return bool(master["flags"] == "master" and replica["flags"] == "slave")


@contextmanager
def running_cluster() -> Iterator[RedisCluster]:
    with TemporaryDirectory(prefix="roundtable-redis-") as folder:
        cluster = RedisCluster(Path(folder))
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


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


def _server(folder: Path, name: str, **options: str) -> RedisServer:
    (folder / name).mkdir()
    return RedisServer(folder / name, options=OPTIONS | options)


def _address(server: RedisServer) -> str:
    return f"127.0.0.1:{server.port}"


def _nodes(client: Any) -> list[dict[str, str]]:
    return list(client.execute_command("CLUSTER NODES").values())


def _role(server: RedisServer) -> list[object]:
    with asking(server) as client:
        return list(client.role())


def _replicates(server: RedisServer) -> bool:
    """A master always does."""
    role = _role(server)
    return role[0] == "master" or role[3] == "connected"


def wait_until(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not happened():
        assert time.monotonic() < deadline, "the servers do not agree"
        time.sleep(0.01)
