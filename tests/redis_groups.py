"""A Redis Cluster on this machine, for tests: three primaries, each a real server. It never outlives the tests."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import redis
from redis.cluster import RedisCluster as ClusterClient
from redis.crc import key_slot
from redis.exceptions import RedisError

from tests.patience import PATIENCE_SECONDS, wait_here_until
from tests.redis_server import RedisServer, asking

NODE = {"cluster-enabled": "yes", "cluster-node-timeout": "1000"}


def lacking() -> str:
    """Why no cluster can be started here, or ""."""
    if not (cli := shutil.which("redis-cli")):
        return "redis-cli is not installed, and it makes a cluster of three servers"
    told = subprocess.run([cli, "--cluster", "help"], capture_output=True, text=True, check=False)
    return "" if "create" in told.stdout + told.stderr else "this redis-cli has no --cluster create"


class RedisCluster:
    def __init__(self, nodes: tuple[RedisServer, ...]) -> None:
        self.nodes = nodes

    @property
    def url(self) -> str:
        """It names one node; the client learns the others from it."""
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    @contextmanager
    def client(self) -> Iterator[ClusterClient]:
        with ClusterClient(host="127.0.0.1", port=self.nodes[0].port) as opened:
            yield opened

    def node_of(self, key: str) -> RedisServer:
        """Which node keeps *key*."""
        with self.client() as client:
            port = client.nodes_manager.get_node_from_slot(key_slot(key.encode())).port
        return next(node for node in self.nodes if node.port == port)

    @contextmanager
    def replica_of(self, key: str) -> Iterator[RedisServer]:
        """
        The primary of *key*, while a fourth node is its replica, and has all that it has. Which of the two is the
        primary afterwards is the cluster's affair, so the cluster ends with this.
        """
        primary = self.node_of(key)
        with TemporaryDirectory(prefix="roundtable-replica-") as folder:
            replica = RedisServer(Path(folder), options=NODE)
            replica.start()
            try:
                with asking(primary) as one, asking(replica) as other:
                    other.execute_command("CLUSTER MEET", "127.0.0.1", primary.port)
                    name = one.execute_command("CLUSTER MYID")
                    wait_here_until(lambda: _done(other, "CLUSTER REPLICATE", name))
                    wait_here_until(lambda: other.info("replication").get("master_link_status") == "up")
                yield primary
            finally:
                replica.stop()

    def start(self) -> None:
        """Return once every node sees all slots served."""
        for node in self.nodes:
            node.start()
        wait_here_until(lambda: all(map(_is_whole, self.nodes)))


def caught_up(primary: RedisServer) -> bool:
    """Whether its replica has all that was saved."""
    with asking(primary) as client:
        told = client.info("replication")
    return bool(told["slave0"]["offset"] == told["master_repl_offset"])


def _done(client: Any, *command: str) -> bool:
    with suppress(RedisError):
        return bool(client.execute_command(*command))
    return False


def _is_whole(node: RedisServer) -> bool:
    with suppress(RedisError), redis.Redis(port=node.port) as client:
        told = client.execute_command("CLUSTER INFO")
        found = told if isinstance(told, dict) else {}
        return found.get("cluster_state") == "ok" and found.get("cluster_known_nodes") == "3"
    return False


@contextmanager
def running_redis_cluster() -> Iterator[RedisCluster]:
    with TemporaryDirectory(prefix="roundtable-cluster-") as folder, ExitStack() as stack:
        nodes = tuple(_node(Path(folder, str(number)), stack) for number in range(3))
        addresses = [f"127.0.0.1:{node.port}" for node in nodes]
        subprocess.run(
            ["redis-cli", "--cluster", "create", *addresses, "--cluster-yes"],
            check=True,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
        )
        cluster = RedisCluster(nodes)
        cluster.start()
        yield cluster


def _node(folder: Path, stack: ExitStack) -> RedisServer:
    folder.mkdir()
    node = RedisServer(folder, options=NODE)
    node.start()
    stack.callback(node.stop)
    return node
