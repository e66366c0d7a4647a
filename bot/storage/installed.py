"""
In which Slack workspaces the app is installed, where there are several, and who is about to install it.

What is kept of an installation holds a token: it is sealed before it comes here.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from redis.exceptions import LockError

from bot.errors import Unavailable
from bot.storage.ownership import RESTING
from bot.storage.redis_client import Connected
from bot.storage.team import prefix

CONNECTIONS, KEYS_AT_ONCE = 10, 1000
RENEWAL_SECONDS = 60.0
"""A process that is renewing a token for longer has died."""
WAIT_SECONDS = 20.0

REPLACE = "if redis.call('GET', KEYS[1]) == ARGV[2] then redis.call('SET', KEYS[1], ARGV[1]) end"
"""KEYS: an installation. ARGV: the new one, and that which it replaces."""


class SqliteInstallations:
    """Of one process, in a store of its own beside those of the teams."""

    def __init__(self, rows: Callable[..., Awaitable[list[Any]]]) -> None:
        self._rows = rows

    async def get(self, team: str) -> str:
        """Empty when it is not installed there."""
        found = await self._rows("SELECT sealed FROM installations WHERE team = ?", team)
        return str(found[0][0]) if found else ""

    async def put(self, team: str, sealed: str) -> None:
        await self._rows("DELETE FROM removals WHERE team = ?", team)
        await self._rows("REPLACE INTO installations VALUES (?, ?)", team, sealed)

    async def replace(self, team: str, sealed: str, *, of: str) -> None:
        await self._rows(
            "UPDATE installations SET sealed = ? WHERE team = ? AND sealed = ?", sealed, team, of
        )

    async def remove(self, team: str, *, at: str) -> None:
        await self._rows(
            "INSERT OR IGNORE INTO removals SELECT team, ? FROM installations WHERE team = ?", at, team
        )
        await self._rows("DELETE FROM installations WHERE team = ?", team)

    async def removed_at(self, team: str) -> str:
        """Empty unless somebody removed the app there, and it was not installed again or dropped since."""
        found = await self._rows("SELECT at FROM removals WHERE team = ?", team)
        return str(found[0][0]) if found else ""

    async def drop(self, team: str, *, noted_for: int | None) -> bool:
        """The state is in a file of its own. Without other processes it need not be noted any more."""
        if noted_for is not None:
            await self._rows("DELETE FROM removals WHERE team = ?", team)
        return True

    async def orphaned(self, _teams: Sequence[str]) -> tuple[str, ...]:
        """There is no other process that could have owned one."""
        return ()

    async def issue(self, state: str, *, seconds: float) -> None:
        await self._rows("DELETE FROM installing WHERE until <= ?", time.time())
        await self._rows("INSERT INTO installing VALUES (?, ?)", state, time.time() + seconds)

    async def take(self, state: str) -> bool:
        """Whether it was issued, and nobody has taken it. It is gone after that."""
        found = await self._rows("DELETE FROM installing WHERE state = ? RETURNING until", state)
        return bool(found) and found[0][0] > time.time()

    @asynccontextmanager
    async def renewing(self, _team: str) -> AsyncIterator[None]:
        """There is no other process that could renew its token."""
        yield


class RedisInstallations(Connected):
    """Several processes may share it."""

    def __init__(self, url: str) -> None:
        super().__init__(url, connections=CONNECTIONS)

    async def get(self, team: str) -> str:
        """Empty when it is not installed there."""
        async with self._bounded():
            return await self._redis.get(_key(team)) or ""

    async def put(self, team: str, sealed: str) -> None:
        async with self._bounded(), self._redis.pipeline(transaction=True) as putting:
            putting.set(_key(team), sealed)
            putting.delete(_stopped(team))
            await putting.execute()

    async def replace(self, team: str, sealed: str, *, of: str) -> None:
        async with self._bounded():
            await self._redis.eval(REPLACE, 1, _key(team), sealed, of)

    async def remove(self, team: str, *, at: str) -> None:
        async with self._bounded():
            if not await self._redis.get(_key(team)):
                return
            async with self._redis.pipeline(transaction=True) as removing:
                removing.set(_stopped(team), at, nx=True)
                removing.delete(_key(team))
                await removing.execute()

    async def removed_at(self, team: str) -> str:
        """Empty unless somebody removed the app there, and it was not installed again or dropped since."""
        async with self._bounded():
            return await self._redis.get(_stopped(team)) or ""

    async def drop(self, team: str, *, noted_for: int | None) -> bool:
        """All keys of a team that removed the app, but for when that was, which goes last."""
        kept, is_any = {_key(team), stopped := _stopped(team)}, False
        async with self._bounded(WAIT_SECONDS):
            async for key in self._redis.scan_iter(f"{prefix(team)}*", KEYS_AT_ONCE):
                if key not in kept:
                    await self._redis.delete(key)
                    is_any = True
            if noted_for is not None and await self._redis.ttl(stopped) < 0:
                await self._redis.expire(stopped, noted_for)
        return is_any

    async def orphaned(self, teams: Sequence[str]) -> tuple[str, ...]:
        """Those whose last owner is gone, and had something left to do."""
        asked = ("installation", "fence", "owner", RESTING)
        async with self._bounded(), self._redis.pipeline(transaction=False) as asking:
            for team in teams:
                asking.mget(*(f"{prefix(team)}{key}" for key in asked))
            found = await asking.execute()
        return tuple(
            team
            for team, (installed, last, owner, resting) in zip(teams, found, strict=True)
            if installed and last and not owner and resting != last
        )

    async def issue(self, state: str, *, seconds: float) -> None:
        async with self._bounded():
            await self._redis.set(_installing(state), "1", px=int(1000 * seconds))

    async def take(self, state: str) -> bool:
        """Whether it was issued, and nobody has taken it. It is gone after that."""
        async with self._bounded():
            return bool(await self._redis.getdel(_installing(state)))

    @asynccontextmanager
    async def renewing(self, team: str) -> AsyncIterator[None]:
        """One process at a time renews the token of *team*: what it is renewed with is good once."""
        lock = self._redis.lock(
            f"{prefix(team)}renewing", timeout=RENEWAL_SECONDS, blocking_timeout=WAIT_SECONDS
        )
        async with self._bounded(WAIT_SECONDS + 1):
            is_ours = await lock.acquire()
        if not is_ours:
            raise Unavailable(f"another process is renewing the token of {team}")
        try:
            yield
        finally:
            with suppress(LockError, Unavailable):  # it ends by itself
                async with self._bounded():
                    await lock.release()

    async def ping(self) -> None:
        await self._probe("roundtable:installing:probe")


def _key(team: str) -> str:
    return f"{prefix(team)}installation"


def _stopped(team: str) -> str:
    return f"{prefix(team)}stopped"


def _installing(state: str) -> str:
    return f"roundtable:installing:{state}"
