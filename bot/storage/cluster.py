"""
A client for a cluster that is used like one for a single server.

redis-py's own connects at once, tries again by itself, minds when a replica is away, and keeps no order among nodes.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from itertools import groupby
from types import TracebackType
from typing import Any, Self

from redis.asyncio import RedisCluster
from redis.asyncio.cluster import ClusterNode, ClusterPipeline
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ClusterDownError
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import TimeoutError as NoAnswerInTime

from bot.storage.address import Address

NODE_SECONDS = 0.3
"""Less than a call may take, so that it is noticed which node is silent, and another can be asked instead."""
CONNECTIONS_TO_A_NODE = 1_000
"""redis-py cannot wait here until one is free, so there must be enough of them."""
LOOK_SECONDS = 1.0
"""So long the end waits for whoever still finds out which nodes there are."""
SCRIPTS = {"EVAL", "EVALSHA"}


class Cluster(RedisCluster):
    """Use it as a context manager. It connects when it is first asked something."""

    def __init__(self, address: Address) -> None:
        super().__init__(
            startup_nodes=[ClusterNode(host, port) for host, port in address.hosts],
            **{
                "max_connections": CONNECTIONS_TO_A_NODE,
                "socket_timeout": NODE_SECONDS,
                "socket_connect_timeout": NODE_SECONDS,
                **address.options,
            },
            retry=Retry(NoBackoff(), 0),
            reinitialize_steps=0,  # else it closes every connection, also those in use, at the fifth slot that moved
        )
        self._doubtful = False
        self._silent: str | None = None
        self._looking: set[asyncio.Task[object]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._looking:
            await asyncio.wait(self._looking, timeout=LOOK_SECONDS)
        await self.aclose()
        for nodes in ("nodes_cache", "startup_nodes"):  # also while it is being found out anew which they are
            await self.nodes_manager.aclose(nodes)

    async def initialize(
        self,
        additional_startup_nodes_info: list[tuple[str, int]] | None = None,
        last_failed_node_name: str | None = None,
    ) -> Self:
        """Asks the node last that was silent just now."""
        if self._initialize:
            silent = last_failed_node_name or self._silent
            await self._to_the_end(super().initialize(additional_startup_nodes_info, silent))
        return self

    async def _to_the_end(self, look: Coroutine[Any, Any, object]) -> None:
        """Also when whoever wanted it waits no more: what redis-py has connected to by then, it would leave open."""
        looking = asyncio.create_task(look)
        self._looking.add(looking)
        looking.add_done_callback(self._looked)
        await asyncio.shield(looking)

    def _looked(self, look: asyncio.Task[object]) -> None:
        """Who still waits for it is told what went wrong; when nobody does, nobody has to be."""
        self._looking.discard(look)
        if not look.cancelled():
            look.exception()

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        async with self.asked():
            return await super().execute_command(*args, **kwargs)

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[None]:
        """Who got no answer leaves a doubt whether that is still the right node; the next one asks about it first."""
        await self.initialize()
        if self._doubtful:
            self._doubtful = False
            await self._to_the_end(self.nodes_manager.initialize(last_failed_node_name=self._silent))
        try:
            yield
        except (ConnectionLost, NoAnswerInTime, ClusterDownError, asyncio.CancelledError) as error:
            self._doubtful = True
            self._silent = getattr(error, "last_failed_node_name", None)
            raise

    async def ping(self, **kwargs: Any) -> Any:
        """Of the masters: a replica that is away keeps nobody from working."""
        return await super().ping(**{"target_nodes": self.PRIMARIES, **kwargs})

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> "Pipeline":
        assert not any((transaction, shard_hint)), "several nodes share no transaction"
        return Pipeline(self)  # type: ignore[abstract]  # only for redis-py's annotations

    def side_by_side(self) -> ClusterPipeline:
        return super().pipeline()


class Pipeline(ClusterPipeline):
    """
    What stands before a script is done before it; the rest is sent to all nodes at once.

    On one server that is so by itself.
    """

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._cluster = cluster
        self._calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._calls)

    def execute_command(self, *args: Any, **kwargs: Any) -> Self:
        self._calls.append((args, kwargs))
        return self

    def evalsha(self, sha: str, numkeys: int, *keys_and_args: Any) -> Self:
        """redis-py refuses it, since a node may not know the script: then the caller has to say it in full."""
        return self.execute_command("EVALSHA", sha, numkeys, *keys_and_args)

    async def execute(self, raise_on_error: bool = True, allow_redirections: bool = True) -> list[Any]:  # noqa: FBT001, FBT002 -- redis-py's
        calls, self._calls = self._calls, []
        answers: list[Any] = []
        for _, some in groupby(calls, key=lambda call: call[0][0] in SCRIPTS):
            together = self._cluster.side_by_side()
            for args, kwargs in some:
                together.execute_command(*args, **kwargs)
            async with self._cluster.asked():
                answers += await together.execute(raise_on_error, allow_redirections)
        return answers
