"""
One process owns a team at a time: it performs the work of the team, and answers what others hand over to it
(ADR 62).

The owner holds a lock of redis-py's, which ends six seconds after the last sign of life. Every save of the owner names
it, and the store refuses the save when another process has taken the team since.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from math import inf
from secrets import token_hex
from typing import Any

from redis.exceptions import LockNotOwnedError

from bot.engine.ports import Pay, Sweep, Wake
from bot.errors import NotOwner, Unavailable
from bot.storage.local_wake import AT_ONCE, LocalWake
from bot.storage.redis_client import Connected

LEASE_SECONDS = 6.0
EXTEND_SECONDS = 2.0
AGAIN_SECONDS = 0.5
LOOK_SECONDS = 0.25
"""So often a process that does not own the team tries to take it."""
EACH_SECONDS, LONGEST_SECONDS = 0.025, 0.5
"""For each team that a process owns it leaves a free one to others for so long, so that processes share the teams."""
ANSWER_SECONDS = 2.5
"""How long the owner is waited for. Slack waits three seconds."""
READ_SECONDS = 1.0
END_SECONDS = 1.0
KEPT_SECONDS = 60
MOST_REQUESTS = 1_000
CONNECTIONS = 64

log = logging.getLogger(__name__)

TAKEN = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[1])
return 1
"""
"""KEYS: the lock, the fence. ARGV: the process. From now on, only saves of this owner are accepted."""


RESTING = "resting"
Answer = Callable[[str], Awaitable[str]]
OTHER_CONTENT = "the owner of %s has other steps or personas (%s) than this process (%s)"

_decided_by: ContextVar[str] = ContextVar("decided_by", default="")
"""The owner that the request at hand was brought to."""

NOT_OWNER = -4
REFUSE_FORMER_OWNER = f"""
local fence = redis.call('GET', {{fence}})
if {{owner}} ~= '' and fence and fence ~= {{owner}} then return {NOT_OWNER} end
"""
"""The first lines of each script that saves what the owner of a team has decided."""


class Share:
    """The teams that one process owns. It takes one after the other."""

    def __init__(self) -> None:
        self.owned = set[str]()
        self.taking = asyncio.Lock()

    @property
    def seconds(self) -> float:
        return min(EACH_SECONDS * len(self.owned), LONGEST_SECONDS)


class Ownership(Connected, Wake):
    """An async context manager. Inside `run` this process takes the team when no other process has it."""

    def __init__(
        self,
        url: str,
        *,
        team: str,
        at_once: int = AT_ONCE,
        share: Share | None = None,
        content: Callable[[], str] = str,
    ) -> None:
        """*content* is the fingerprint of the steps and personas that are in use here."""
        super().__init__(url, team=team, connections=CONNECTIONS)
        self._requests = _Requests(url, team=team)
        self._team = team
        self._at_once = at_once
        self._share = share or Share()
        self._process = token_hex(8)
        self._own_content = content
        self._known_content = ""
        """The owner's."""
        self._owner, self._content = f"{self._prefix}owner", f"{self._prefix}content"
        self._lock = self._redis.lock(self._owner, timeout=LEASE_SECONDS, thread_local=False)
        self._held_until = 0.0
        self._local: LocalWake | None = None
        """There while the team is ours."""
        self.is_resting = False
        """Nothing is left to do: after this owner, none is needed until something comes in."""
        self._was_mine = False
        """Until this process has seen who owns it now."""
        self._refused = asyncio.Event()
        self._answer: Answer | None = None
        self._may_answer = asyncio.Event()
        self._answering: set[asyncio.Task[None]] = set()

    async def __aexit__(self, *about: object) -> None:
        await self._requests.__aexit__(*about)
        await super().__aexit__(*about)

    @property
    def mine(self) -> bool:
        return self._local is not None

    @property
    def fence(self) -> str:
        """
        What a save names; "" when it is not made as the owner. Raises Unavailable where only the owner may decide: it
        has other content.
        """
        if self.mine or self._was_mine or _decided_by.get() == self._process:
            return self._process
        if self.differs:
            raise Unavailable(OTHER_CONTENT % (self._team, self._known_content, self._own_content()))
        return ""

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """What begins inside while the team is ours is saved as its owner's or not at all, in tasks, too."""
        before = _decided_by.set(self._process if self.mine else "")
        try:
            yield
        finally:
            _decided_by.reset(before)

    @property
    def differs(self) -> bool:
        """Whether the owner had other steps or personas than this process when this process looked last."""
        return not self.mine and self._known_content not in {"", self._own_content()}

    def refused(self) -> None:
        """A save was, because another process has taken the team."""
        if not self._refused.is_set():
            self._refused.set()
            log.warning(
                "another process has taken %s, and what this one had at hand is not saved", self._team
            )

    # --- the work of the team ---------------------------------------------------------------------------------------

    async def wake(self, slug: str) -> None:
        if self._local:
            await self._local.wake(slug)
            return
        try:
            await self._requests.add({"wake": slug})
        except Unavailable as error:  # the owner's sweep finds it
            log.warning("woken later: %s (%s)", slug, error)

    async def run(self, pay: Pay, sweep: Sweep | None = None) -> None:
        while True:
            await self._take()
            self._refused.clear()
            local = self._local = LocalWake(at_once=self._at_once)
            self._was_mine = True
            log.info("this process owns %s now", self._team)
            working = asyncio.create_task(local.run(pay, sweep), name=f"work of {self._team}")
            keeping = asyncio.create_task(self._keep(), name=f"lease of {self._team}")
            reading = asyncio.create_task(self._read_requests(local), name=f"requests for {self._team}")
            try:
                await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
                if keeping.done():
                    log.warning("this process does not own %s any more", self._team)
                    self._local = None
                    local.cut_off()
                else:
                    working.result()
            finally:
                reading.cancel()
                try:
                    await self._ended(working, local)
                finally:
                    keeping.cancel()
                    await self._release()

    async def _ended(self, working: asyncio.Task[None], local: LocalWake) -> None:
        """What is at hand may end, until this is cancelled."""
        working.cancel()
        try:
            await asyncio.wait({working})
        except asyncio.CancelledError:
            local.cut_off()
            await asyncio.wait({working})
            raise

    async def _take(self) -> None:
        """When no other process has it, and this one does not leave it to others."""
        loop, free_since = asyncio.get_running_loop(), inf
        while True:
            pause = LOOK_SECONDS
            with suppress(Unavailable):  # readiness says so
                owner = await self._looked()
                if owner in {None, self._process}:
                    free_since, pause = min(free_since, loop.time()), EACH_SECONDS
                    async with self._share.taking:
                        if loop.time() - free_since >= self._share.seconds and await self._taken(owner):
                            self._share.owned.add(self._team)
                            return
                else:
                    free_since = inf
            await asyncio.sleep(pause)

    async def _looked(self) -> str | None:
        """Which process owns the team."""
        differed = self.differs
        async with self._bounded():
            owner, content = await self._redis.mget(self._owner, self._content)
        self._known_content = content or ""
        if self.differs and not differed:
            log.warning(OTHER_CONTENT, self._team, content, self._own_content())
        self._was_mine = owner == self._process
        return str(owner) if owner else None

    async def _tell_content(self) -> None:
        if (content := self._own_content()) != self._known_content:
            await self._redis.set(self._content, content)
            self._known_content = content

    async def _taken(self, owner: str | None) -> bool:
        """It may be ours already: an earlier attempt had no answer."""
        began = asyncio.get_running_loop().time()
        async with self._bounded():
            if owner:
                self._lock.local.token = self._process  # as if that answer had come
                is_ours = await self._extended()
            else:
                is_ours = bool(await self._lock.acquire(blocking=False, token=self._process))
            if is_ours:
                keys = self._owner, f"{self._prefix}fence"
                is_ours = bool(await self._redis.eval(TAKEN, len(keys), *keys, self._process))
            if is_ours:
                await self._tell_content()
        self._held_until = began + LEASE_SECONDS
        return is_ours

    async def _keep(self) -> None:
        """Until the team is another's, or may be."""
        loop, wait = asyncio.get_running_loop(), EXTEND_SECONDS
        while loop.time() < self._held_until:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._refused.wait()
                    return
            began = loop.time()
            try:
                async with self._bounded():
                    is_ours = await self._extended()
                    if is_ours:
                        await self._tell_content()
            except Unavailable:
                wait = AGAIN_SECONDS
            else:
                if not is_ours:
                    return
                self._held_until, wait = began + LEASE_SECONDS, EXTEND_SECONDS

    async def _extended(self) -> bool:
        with suppress(LockNotOwnedError):
            return bool(await self._lock.extend(LEASE_SECONDS, replace_ttl=True))
        return False

    async def _release(self) -> None:
        """The next owner need not wait for the lease to end."""
        self._local = None
        self._share.owned.discard(self._team)
        with suppress(Unavailable):
            async with self._bounded():
                if self.is_resting:
                    await self._redis.set(f"{self._prefix}{RESTING}", self._process)
                with suppress(LockNotOwnedError):
                    await self._lock.release()

    # --- what is handed over ----------------------------------------------------------------------------------------

    async def ask(self, request: str) -> str:
        return await self._requests.ask(request)

    @asynccontextmanager
    async def answering(self, answer: Answer) -> AsyncIterator[None]:
        """While the team is ours, *answer* is given what is handed over. On leaving, what has begun is answered."""
        self._answer = answer
        self._may_answer.set()
        try:
            yield
        finally:
            self._may_answer.clear()
            if self._answering:
                await asyncio.wait(self._answering, timeout=END_SECONDS)

    async def _read_requests(self, local: LocalWake) -> None:
        """Also what was handed over to an earlier owner, who had no time for it."""
        seen = "0"
        while True:
            try:
                found = await self._requests.after(seen)
            except Unavailable:
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            for seen, request in found:
                if "request" in request:
                    await self._may_answer.wait()
                task = asyncio.create_task(self._taken_on(seen, request, local))
                self._answering.add(task)
                task.add_done_callback(self._answering.discard)

    async def _taken_on(self, number: str, request: Mapping[str, str], local: LocalWake) -> None:
        """One that was withdrawn is not begun."""
        try:
            if not await self._requests.withdrawn(number):
                return
            if slug := request.get("wake"):
                await local.wake(slug)
            elif (ticket := request.get("ticket")) and self._answer:
                await self._requests.answered(ticket, await self._answer(request.get("request", "")))
            else:
                log.warning("removed from the requests for %s: what no process has written", self._team)
        except (Unavailable, ValueError) as error:  # ValueError: it is not what we write
            log.warning("not answered: %s", error)


class _Requests(Connected):
    """
    A stream of what the owner is asked. Whoever removes a request has it: the owner, who then answers it, or who asked
    and has waited long enough.
    """

    def __init__(self, url: str, *, team: str) -> None:
        super().__init__(url, team=team, connections=CONNECTIONS)
        self._stream = f"{self._prefix}requests"

    async def add(self, request: Mapping[str, str]) -> str:
        async with self._bounded(), self._redis.pipeline(transaction=False) as adding:
            adding.xadd(self._stream, request, maxlen=MOST_REQUESTS, approximate=True)
            adding.expire(self._stream, KEPT_SECONDS)
            number, _ = await adding.execute()
        return str(number)

    async def ask(self, request: str) -> str:
        """Raises Unavailable. What the owner has begun by then may still be saved."""
        ticket = token_hex(8)
        number = await self.add({"ticket": ticket, "request": request})
        async with self._bounded(ANSWER_SECONDS + AGAIN_SECONDS):
            if found := await self._redis.blpop([self._answers(ticket)], timeout=ANSWER_SECONDS):
                return str(found[1])
        await self.withdrawn(number)
        raise Unavailable("the process that owns the team did not answer in time")

    async def after(self, seen: str) -> list[tuple[str, Mapping[str, str]]]:
        """Waits for a moment when there is none."""
        async with self._bounded(READ_SECONDS + AGAIN_SECONDS):
            found: Any = await self._redis.xread({self._stream: seen}, block=int(1000 * READ_SECONDS))
        messages = found[0][1] if found else ()
        return [(number, fields or {}) for number, fields in messages]

    async def withdrawn(self, number: str) -> bool:
        async with self._bounded():
            return bool(await self._redis.xdel(self._stream, number))

    async def answered(self, ticket: str, answer: str) -> None:
        async with self._bounded(), self._redis.pipeline(transaction=False) as answering:
            answering.rpush(self._answers(ticket), answer)
            answering.expire(self._answers(ticket), KEPT_SECONDS)
            await answering.execute()

    def _answers(self, ticket: str) -> str:
        return f"{self._prefix}answer:{ticket}"


def not_owner(owner: Ownership | None) -> NotOwner:
    """The error for a refused save."""
    if owner:
        owner.refused()
    return NotOwner("another process has taken the team")
