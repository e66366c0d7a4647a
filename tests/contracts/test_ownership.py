"""One process owns a team at a time, and the next one takes it when that process ends, freezes or gives it up."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
import redis

from bot.domain.reviews.notice import Notice
from bot.errors import NotOwner, Unavailable
from bot.storage import ownership
from bot.storage.ownership import Ownership, Share
from bot.storage.redis import RedisStore
from tests.contracts.killed_owner import TICKET, own
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.redis_server import RedisServer
from tests.storage.proxy import lossy
from tests.storage.samples import NOW, SLUG, a_roundtable

FEWEST_LINES = 60
ROUNDS = [30, pytest.param(1_000, marks=pytest.mark.thorough)]


async def _nothing(slug: str) -> None:
    raise AssertionError(slug)


@asynccontextmanager
async def owning(owner: Ownership, holding: set[Ownership] | None = None) -> AsyncIterator[None]:
    """It takes the team when it can. It is among *holding* while its work may run."""

    async def hold() -> None:
        if holding is None:
            return
        holding.add(owner)
        try:
            await asyncio.Event().wait()
        finally:
            holding.discard(owner)

    running = asyncio.create_task(owner.run(_nothing, hold))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait({running})


class Other:
    """Another process, that owns the team and saves all the time."""

    def __init__(self, running: Process) -> None:
        self.running = running

    async def heard(self) -> str:
        assert self.running.stdout
        return (await self.running.stdout.readline()).decode().strip()

    async def says(self, words: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await self.heard() == words


@asynccontextmanager
async def another(url: str, *teams: str) -> AsyncIterator[Other]:
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.contracts.owner", url, *teams, stdin=PIPE, stdout=PIPE
    )
    other = Other(running)
    try:
        await other.says("ready" if teams else "owns")
        yield other
    finally:
        with suppress(ProcessLookupError):
            running.kill()
        await running.wait()


@asynccontextmanager
async def two(url: str) -> AsyncIterator[tuple[Ownership, Ownership]]:
    async with Ownership(url, team="T1") as one, Ownership(url, team="T1") as other:
        yield one, other


# --- who owns it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_two_that_start_at_once_never_both_own(
    redis_url: str, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And when the one that has it stops, the other takes it."""
    monkeypatch.setattr(ownership, "LOOK_SECONDS", 0.005)
    async with two(redis_url) as (one, other):
        for _ in range(rounds):
            await _one_after_the_other(one, other)


async def _one_after_the_other(one: Ownership, other: Ownership) -> None:
    holding = set[Ownership]()
    async with AsyncExitStack() as second, AsyncExitStack() as first:
        stacks = {one: first, other: second}
        for owner, stack in stacks.items():
            await stack.enter_async_context(owning(owner, holding))
        for _ in range(100):
            await asyncio.sleep(0)
            assert len(holding) < 2
        await wait_until(lambda: holding)
        [owner] = holding
        assert one.mine is not other.mine
        await stacks[owner].aclose()
        await wait_until(lambda: holding == {one, other} - {owner})
        assert one.mine is not other.mine


TEAMS = [f"T{number:02}" for number in range(20)]


class Several:
    """One process, and its part in each team."""

    def __init__(self, url: str, teams: Iterable[str]) -> None:
        share = Share()
        self._owners = [Ownership(url, team=team, share=share) for team in teams]

    @property
    def many(self) -> int:
        return sum(one.mine for one in self._owners)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in self._owners:
                await stack.enter_async_context(one)
                await stack.enter_async_context(owning(one))
            yield


async def test_processes_that_start_together_share_the_teams(redis_url: str) -> None:
    """Whichever is the first. When one of them ends, the other has all of them."""
    first, second = Several(redis_url, TEAMS), Several(redis_url, TEAMS)
    async with first.running():
        async with second.running():
            await wait_until(lambda: first.many + second.many == len(TEAMS))
            assert min(first.many, second.many) >= len(TEAMS) // 4, (first.many, second.many)
        await wait_until(lambda: first.many == len(TEAMS))


@pytest.mark.thorough
async def test_twenty_teams_on_three_processes(redis_url: str) -> None:
    """Each has one owner, and each process at least half of its share. Those of one that is killed get another one."""
    said: list[tuple[Other, str]] = []

    async def listen(other: Other) -> None:
        while team := await other.heard():
            said.append((other, team))

    async with AsyncExitStack() as stack, asyncio.TaskGroup() as listening:
        processes = [await stack.enter_async_context(another(redis_url, *TEAMS)) for _ in range(3)]
        for one in processes:
            assert one.running.stdin
            one.running.stdin.write(b"go\n")
            listening.create_task(listen(one))
            await wait_until(lambda: said)  # it might take all before the others begin
        await wait_until(lambda: len(said) >= len(TEAMS))
        assert sorted(team for _, team in said) == TEAMS
        many = Counter(other for other, _ in said)
        assert min(many[one] for one in processes) >= len(TEAMS) // 6, many

        dead, *others = processes
        dead.running.kill()
        await wait_until(lambda: len(said) >= len(TEAMS) + many[dead])
        taken = [team for other, team in said if other in others]
        assert sorted(taken) == TEAMS, "each of the dead one's once, and none of those that had an owner"
        for one in others:
            one.running.kill()


async def test_a_process_without_teams_takes_one_before_a_process_with_many(redis_url: str) -> None:
    """As when replicas are replaced one by one: a new one gets what an old one leaves."""
    old, busy, new = (Several(redis_url, TEAMS[part]) for part in (slice(5), slice(20), slice(5)))
    async with AsyncExitStack() as stack:
        leaving = await stack.enter_async_context(AsyncExitStack())
        await leaving.enter_async_context(old.running())
        await wait_until(lambda: old.many == 5)
        for one in (busy, new):
            await stack.enter_async_context(one.running())
        await wait_until(lambda: busy.many == 15)
        await leaving.aclose()
        await wait_until(lambda: busy.many + new.many == len(TEAMS))
        assert new.many >= 4, (busy.many, new.many)


@pytest.mark.parametrize("ends_by", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
async def test_another_process_takes_the_team(shared_url: str, ends_by: signal.Signals) -> None:
    """From one that was killed, stopped or frozen."""
    async with another(shared_url) as other, Ownership(shared_url, team="T1") as here, owning(here):
        assert not here.mine
        other.running.send_signal(ends_by)
        await wait_until(lambda: here.mine)


async def test_an_owner_that_is_killed_at_any_line_is_followed(redis_url: str) -> None:
    """No later than its lease says. What one has saved the next one finds, and no request is answered twice."""
    program = (sys.executable, "-m", "tests.contracts.killed_owner", redis_url)
    killing = await asyncio.create_subprocess_exec(*program, stdout=PIPE)
    lines = int((await killing.communicate())[0])
    assert lines > FEWEST_LINES
    teams = [f"T{number + 1}" for number in range(lines)]
    with redis.Redis.from_url(redis_url) as client:
        for team in teams:
            assert client.pttl(f"roundtable:{{{team}}}:owner") in {-2, *range(1, 6_001)}, "none, or a lease"
        saved = [client.hget(f"roundtable:{{{team}}}:state:{SLUG}", "version") for team in teams]
        await asyncio.gather(*(own(redis_url, team) for team in teams))
        for team, before in zip(teams, saved, strict=True):
            after = client.hget(f"roundtable:{{{team}}}:state:{SLUG}", "version")
            assert int(after) == int(before or 0) + 1
            assert client.llen(f"roundtable:{{{team}}}:answer:{TICKET}") <= 1
            assert client.exists(f"roundtable:{{{team}}}:owner") == 0
    assert {before is None for before in saved} == {True, False}


async def test_a_frozen_owner_that_wakes_up_saves_nothing_any_more(redis_url: str) -> None:
    """Its state is the newest, and nobody has saved since; versions alone would let it save."""
    async with another(redis_url) as other, Ownership(redis_url, team="T1") as here:
        async with owning(here), RedisStore(redis_url, team="T1", owner=here) as store:
            other.running.send_signal(signal.SIGSTOP)
            await wait_until(lambda: here.mine)
            seen = await store.get(SLUG)
            other.running.send_signal(signal.SIGCONT)
            await other.says("ends")
            assert await store.get(SLUG) == seen
        await other.says("owns")  # as soon as nobody else does


async def test_an_owner_whose_save_is_refused_gives_the_team_up(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With one line in the log; a notice is refused like a roundtable."""
    async with (
        Ownership(redis_url, team="T1") as here,
        RedisStore(redis_url, team="T1", owner=here) as store,
        owning(here),
    ):
        await wait_until(lambda: here.mine)
        with redis.Redis.from_url(redis_url) as client:
            client.set("roundtable:{T1}:fence", "another process")
            client.set("roundtable:{T1}:owner", "another process")
            with pytest.raises(NotOwner):
                await store.put(a_roundtable(), expected=0)
            with pytest.raises(NotOwner):
                await store.notices.put(Notice(slug=SLUG, version=1, now=NOW), expected=0)
            assert await store.get(SLUG) is None
            await wait_until(lambda: not here.mine)
            client.delete("roundtable:{T1}:owner")
            await wait_until(lambda: here.mine)
        await store.put(a_roundtable(), expected=0)

    assert caplog.text.count("another process has taken T1, and what this one had at hand is not saved") == 1


async def test_what_was_brought_to_a_former_owner_is_not_saved(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was frozen with that at hand, and versions alone would let it save. What comes later is not concerned."""
    monkeypatch.setattr(ownership, "EXTEND_SECONDS", 0.02)
    async with (
        Ownership(redis_url, team="T1") as here,
        RedisStore(redis_url, team="T1", owner=here) as store,
        owning(here),
    ):
        await wait_until(lambda: here.mine)
        lost = asyncio.Event()

        async def save_later() -> None:
            await lost.wait()
            await store.put(a_roundtable(), expected=0)

        with here.deciding():
            in_task = asyncio.create_task(save_later())
            with redis.Redis.from_url(redis_url) as client:
                for key in ("fence", "owner"):
                    client.set(f"roundtable:{{T1}}:{key}", "another process")
            await wait_until(lambda: not here.mine and not here._was_mine)
            with pytest.raises(NotOwner):
                await store.put(a_roundtable(), expected=0)
        lost.set()
        with pytest.raises(NotOwner):
            await in_task
        assert await store.get(SLUG) is None
        with here.deciding():
            await store.put(a_roundtable(), expected=0)


async def test_a_process_with_other_content_than_the_owner_saves_nothing(redis_url: str) -> None:
    """Only the owner decides, also about what comes by another way than Slack."""
    async with (
        Ownership(redis_url, team="T1", content=lambda: "aaaa") as there,
        Ownership(redis_url, team="T1", content=lambda: "bbbb") as here,
        RedisStore(redis_url, team="T1", owner=here) as store,
        owning(there),
    ):
        await wait_until(lambda: there.mine)
        async with owning(here):
            await wait_until(lambda: here.differs)
            others = r"the owner of T1 has other steps or personas \(aaaa\) than this process \(bbbb\)"
            with pytest.raises(Unavailable, match=others):
                await store.put(a_roundtable(), expected=0)
            with pytest.raises(Unavailable, match=others):
                await store.notices.put(Notice(slug=SLUG, version=1, now=NOW), expected=0)
            assert await store.get(SLUG) is None


async def test_a_process_that_does_not_own_the_team_saves_by_versions_alone(redis_url: str) -> None:
    """A command, or what comes by another way than Slack."""
    async with another(redis_url) as other, Ownership(redis_url, team="T1") as here, owning(here):
        async with RedisStore(redis_url, team="T1", owner=here) as store:
            await store.put(a_roundtable("another-item"), expected=0)
        assert not here.mine
        assert other.running.returncode is None


@pytest.mark.parametrize("nth", range(1, 7))
async def test_an_attempt_to_take_the_team_whose_answer_got_lost(
    redis_url: str, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have the team and not know it: it need not wait for its own lease to end."""
    monkeypatch.setattr(ownership, "LEASE_SECONDS", 1_000.0)
    async with lossy(redis_url) as way, Ownership(way.url, team="T1") as here:
        way.lose_answer(nth)
        async with owning(here):
            await wait_until(lambda: here.mine)
            with redis.Redis.from_url(redis_url) as client:
                assert client.get("roundtable:{T1}:fence") == client.get("roundtable:{T1}:owner")


async def test_a_redis_that_forgets_everything_has_an_owner_again(redis_url: str) -> None:
    """As a replica may that became master before it heard of the owner."""
    async with two(redis_url) as (one, other):
        holding = set[Ownership]()
        async with owning(one, holding), owning(other, holding):
            await wait_until(lambda: holding)
            with redis.Redis.from_url(redis_url) as client:
                client.flushall()
                await wait_until(lambda: client.get("roundtable:{T1}:fence"))
            await wait_until(lambda: len(holding) == 1)


async def test_an_owner_that_cannot_reach_redis_stops_working(
    redis_server: RedisServer, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may reach it. When it is back, the work goes on."""
    monkeypatch.setattr(ownership, "LEASE_SECONDS", 1.0)
    monkeypatch.setattr(ownership, "EXTEND_SECONDS", 0.1)
    monkeypatch.setattr("bot.storage.redis_client.CALL_SECONDS", 0.2)
    async with Ownership(redis_url, team="T1") as here, owning(here):
        await wait_until(lambda: here.mine)
        redis_server.stop()
        await wait_until(lambda: not here.mine)
        redis_server.start()
        await wait_until(lambda: here.mine)


# --- whether its steps and personas are those of others -------------------------------------------------------------


async def test_a_process_compares_its_content_with_that_of_the_owner(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also when the owner has read other files since. The next owner has its own, and the log says so once."""
    monkeypatch.setattr(ownership, "EXTEND_SECONDS", 0.05)
    read = {"here": "aaaa", "there": "bbbb"}
    async with (
        Ownership(redis_url, team="T1", content=lambda: read["here"]) as here,
        Ownership(redis_url, team="T1", content=lambda: read["there"]) as there,
    ):
        async with owning(here):
            await wait_until(lambda: here.mine)
            async with owning(there):
                await wait_until(lambda: there.differs)
                assert not here.differs
                read["here"] = "bbbb"
                await wait_until(lambda: not there.differs)
                read["here"] = "cccc"
                await wait_until(lambda: there.differs)
        async with owning(there):
            await wait_until(lambda: there.mine)
            assert not there.differs
            async with owning(here):
                await wait_until(lambda: here.differs)

    said = [one for one in caplog.messages if "other steps or personas" in one]
    assert said == [
        "the owner of T1 has other steps or personas (aaaa) than this process (bbbb)",
        "the owner of T1 has other steps or personas (cccc) than this process (bbbb)",
        "the owner of T1 has other steps or personas (bbbb) than this process (cccc)",
    ]


# --- what is handed over --------------------------------------------------------------------------------------------


async def echo(request: str) -> str:
    return f"answer to {request}"


async def never(request: str) -> str:
    await asyncio.Event().wait()
    return request


async def test_the_owner_answers_what_another_process_is_asked(shared_url: str) -> None:
    async with two(shared_url) as (one, other), owning(one), one.answering(echo), other.answering(never):
        await wait_until(lambda: one.mine)
        answers = await asyncio.gather(*(other.ask(f"request {number}") for number in range(200)))
    assert answers == [f"answer to request {number}" for number in range(200)]


async def test_what_a_stopping_owner_has_not_begun_the_next_one_answers(redis_url: str) -> None:
    async with two(redis_url) as (one, other):
        async with owning(one):
            await wait_until(lambda: one.mine)
            async with one.answering(never):
                pass
            asking = asyncio.create_task(other.ask("a request"))
            await wait_until(lambda: requests(redis_url))
        async with owning(other), other.answering(echo):
            assert await asking == "answer to a request"


async def test_a_request_that_nobody_answers_is_withdrawn(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was told that it was not saved can rely on that."""
    monkeypatch.setattr(ownership, "ANSWER_SECONDS", 0.1)
    async with Ownership(redis_url, team="T1") as here:
        with pytest.raises(Unavailable, match="did not answer in time"):
            await here.ask("a request")
    assert requests(redis_url) == 0


async def test_an_answer_after_its_time_disturbs_nobody(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "ANSWER_SECONDS", 0.2)
    late, may_end = asyncio.Event(), asyncio.Event()

    async def slow(request: str) -> str:
        late.set()
        await may_end.wait()
        return await echo(request)

    async with two(redis_url) as (one, other), owning(one), one.answering(slow):
        with pytest.raises(Unavailable):
            await other.ask("a request")
        await late.wait()
        may_end.set()
        monkeypatch.setattr(ownership, "ANSWER_SECONDS", 20.0)
        assert await other.ask("another request") == "answer to another request"


async def test_foreign_requests_are_removed_with_one_line_each(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with redis.Redis.from_url(redis_url) as client:
        for odd in ({b"\xff": b"\xfe"}, {"ticket": b"\xff"}, {"request": "without a ticket"}):
            client.xadd("roundtable:{T1}:requests", odd)
    async with two(redis_url) as (one, other), owning(one), one.answering(echo):
        assert await other.ask("a request") == "answer to a request"
        await wait_until(lambda: requests(redis_url) == 0)
    assert caplog.text.count("what no process has written") == 2
    assert "Traceback" not in caplog.text


async def test_a_wake_during_an_outage_delays_nobody(port: int, caplog: pytest.LogCaptureFixture) -> None:
    """The log says that the work is begun later: the owner's sweep finds it."""
    async with Ownership(f"redis://127.0.0.1:{port}", team="T1") as here:
        await here.wake(SLUG)
    assert "woken later: bright-night" in caplog.text


def requests(url: str) -> int:
    with redis.Redis.from_url(url) as client:
        return int(client.xlen("roundtable:{T1}:requests"))
