"""
Docket without unpickling: a task is its key, and the key holds a slug.

Docket pickles the arguments of a task into Redis, and unpickles what it finds there, so that write access to Redis
would be a way to run code here. All messages reach docket by two commands, XREADGROUP and XAUTOCLAIM. Their answers are
replaced here: of a message, only the key and a few numbers are read, and the arguments that docket unpickles are made
from the key in this process. Messages that do not have this form are removed from the stream, with one line in the log.

Strikes (rules that forbid tasks) would be unpickled too. They are not used, and not read.
"""

import logging
import pickle  # only to write; what docket unpickles is written here
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from docket import Docket, StrikeList

TASK = "pay"
SAFEGUARD = "_safeguard_wake"
"""Docket's own task: looks after a task that waits for another one of the same slug."""

KEY = re.compile(r"(?P<slug>[^\x00-\x1f\x7f]{1,300})#[0-9a-f]{32}")
SAFEGUARD_PREFIX = "__safeguard__:"
ATTEMPT = re.compile(rb"[0-9]{1,4}")
GENERATION = re.compile(rb"[0-9]{1,9}")
TRACE = re.compile(rb"[0-9a-f-]{55}")

log = logging.getLogger(__name__)


def key_for(slug: str) -> str:
    """A new key for a task that is about *slug*."""
    return f"{slug}#{uuid4().hex}"


class TaskDocket(Docket):
    def __init__(self, name: str, url: str, **options: Any) -> None:
        super().__init__(name, url, **options)
        self.tasks = {}  # docket's own tasks for demonstrations are not ours
        self._strikes = StrikeList(name=name)

    @property
    def strike_list(self) -> StrikeList:
        """One without a client."""
        return self._strikes

    @strike_list.setter
    def strike_list(self, connected: StrikeList) -> None:
        """Not taken: docket makes one with a client whenever it begins."""

    @asynccontextmanager
    async def redis(self) -> AsyncGenerator[Any, None]:
        async with super().redis() as client:
            yield _Checked(client, self)

    def message_of(self, found: Mapping[bytes, bytes]) -> Mapping[bytes, bytes] | None:
        """A message that is safe to unpickle, made from *found*; None when *found* is no task of ours."""
        key, function, attempt, generation = (
            found.get(name, b"") for name in (b"key", b"function", b"attempt", b"generation")
        )
        arguments = self._arguments(function, key)
        if arguments is None or not ATTEMPT.fullmatch(attempt) or not GENERATION.fullmatch(generation):
            return None
        args, kwargs = arguments
        trace = found.get(b"traceparent", b"")
        return {
            b"key": key,
            b"when": datetime.now(UTC).isoformat().encode(),
            b"function": function,
            b"args": pickle.dumps(args),
            b"kwargs": pickle.dumps(kwargs),
            b"attempt": attempt,
            b"generation": generation,
            **({b"traceparent": trace} if TRACE.fullmatch(trace) else {}),
        }

    def _arguments(self, function: bytes, key: bytes) -> tuple[tuple[str, ...], dict[str, Any]] | None:
        text = key.decode(errors="replace")
        named = KEY.fullmatch(text.removeprefix(SAFEGUARD_PREFIX))
        is_safeguard = text.startswith(SAFEGUARD_PREFIX)
        if not named or function != (SAFEGUARD if is_safeguard else TASK).encode():
            return None
        if not is_safeguard:
            return (named["slug"],), {}
        waiters = self.key(f"concurrency:slug:{named['slug']}:waiters")
        return (), {"waiter_stream": waiters, "max_concurrent": 1}


class _Checked:
    """A client of Redis that gives docket no message but ours."""

    def __init__(self, client: Any, docket: TaskDocket) -> None:
        self._client = client
        self._docket = docket

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:
        """That of the client: docket asks whether it is one of a cluster."""
        return type(self._client)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def xreadgroup(self, **options: Any) -> list[Any]:
        found = await self._client.xreadgroup(**options)
        return [(stream, await self._ours(messages)) for stream, messages in found]

    async def xautoclaim(self, **options: Any) -> list[Any]:
        cursor, messages, *rest = await self._client.xautoclaim(**options)
        return [cursor, await self._ours(messages), *rest]

    async def _ours(self, found: list[Any]) -> list[Any]:
        read = [(number, self._docket.message_of(message or {})) for number, message in found]
        if foreign := [number for number, message in read if message is None]:
            stream, group = self._docket.stream_key, self._docket.worker_group_name
            await self._client.xack(stream, group, *foreign)
            await self._client.xdel(stream, *foreign)
            log.warning(
                "removed %d entries of %s that this version did not write; what is unfinished is woken anyway",
                len(foreign),
                stream,
            )
        return [(number, message) for number, message in read if message is not None]
