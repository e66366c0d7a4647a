"""`RateLimit`: no call beyond what a budget allows, the same in one process and in several, and nothing ever fails."""

import asyncio
import math
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.engine.ports import RateBudget, RateLimit
from bot.errors import ConfigError
from bot.storage.limiter import BUDGETS_REMEMBERED, LocalRateLimit, RedisRateLimit
from tests.contracts.conftest import url_of
from tests.redis_server import RedisServer

Opening = Callable[[], AbstractAsyncContextManager[RateLimit]]
SLOW = RateBudget("post:C1", 1 / 1_000, 3)
OTHER = RateBudget("post:C2", 1 / 1_000, 3)
NARROW = RateBudget("edit:C1.1", 1 / 1_000, 1)


@pytest.fixture
def silent_redis_url() -> Iterator[str]:
    """Takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield f"redis://127.0.0.1:{silent.getsockname()[1]}/0"


@asynccontextmanager
async def alone(speed: float = 1) -> AsyncIterator[RateLimit]:
    yield LocalRateLimit(speed=speed)


@pytest.fixture(params=["local", "redis", "cluster"])
def open_limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Opening:
    """A rate limit, as one process has it, on a machine that may be busy."""
    monkeypatch.setattr("bot.storage.redis_client.CALL_SECONDS", 20.0)
    if request.param == "local":
        return alone
    url = url_of(request.param, request)
    return lambda: RedisRateLimit(url, team="T1")


@pytest.fixture
async def limit(open_limit: Opening) -> AsyncIterator[RateLimit]:
    async with open_limit() as opened:
        yield opened


async def taken(*limits: RateLimit, budget: RateBudget = SLOW, spare: float = 0.0) -> list[bool]:
    """Which of *limits* let a call through, asked one after the other."""
    return [await limit.take([budget], spare=spare) == 0 for limit in limits]


async def until_taken(limit: RateLimit, budget: RateBudget) -> None:
    async with asyncio.timeout(60):
        while await limit.take([budget]):  # noqa: ASYNC110 -- its clock is not ours
            await asyncio.sleep(0)


async def test_a_burst_goes_at_once_and_then_a_wait_is_named(limit: RateLimit) -> None:
    """A call that has to wait is not counted: asking often makes nobody wait longer."""
    assert await taken(*[limit] * 5) == [True, True, True, False, False]
    assert 990 < await limit.take([SLOW]) <= 1_000


async def test_a_budget_refills(limit: RateLimit) -> None:
    """One call for each interval that passes."""
    fast = RateBudget("post:C1", 50, 1)
    assert await taken(limit, budget=fast) == [True]
    await until_taken(limit, fast)


async def test_budgets_do_not_wait_for_each_other(limit: RateLimit) -> None:
    """A busy channel is no reason to be slow in another."""
    assert await taken(*[limit] * 4) == [True, True, True, False]
    assert await taken(limit, budget=OTHER) == [True]


async def test_a_call_counts_in_all_of_its_budgets_or_in_none(limit: RateLimit) -> None:
    """What the narrow one refuses takes nothing of the wide one."""
    assert await limit.take([SLOW, NARROW]) == 0
    for _ in range(5):
        assert await limit.take([SLOW, NARROW]) > 0
    assert await taken(*[limit] * 3) == [True, True, False]


async def test_what_is_not_urgent_leaves_a_part_of_the_burst(limit: RateLimit) -> None:
    """Half of three: it may take the first two, and the last one is left."""
    assert await taken(*[limit] * 3, spare=0.5) == [True, True, False]
    assert await taken(limit) == [True]


async def test_after_a_hold_there_is_no_burst(limit: RateLimit) -> None:
    """Slack said that too much was called already; and a hold never shortens another."""
    await limit.hold(SLOW, seconds=500)
    await limit.hold(SLOW, seconds=1)
    assert 490 < await limit.take([SLOW]) <= 500
    fast = RateBudget("post:C2", 100, 5)
    await limit.hold(fast, seconds=0.01)
    await until_taken(limit, fast)
    assert await limit.take([RateBudget("post:C2", 1 / 1_000, 5)], spare=1.0) > 0


async def test_processes_share_one_limit(shared_url: str) -> None:
    """Two replicas together make no more calls than one, and what Slack said to one was meant for both."""
    async with AsyncExitStack() as stack:
        ours, theirs = [
            await stack.enter_async_context(RedisRateLimit(shared_url, team="T1")) for _ in range(2)
        ]

        assert await taken(ours, theirs, ours, theirs) == [True, True, True, False]
        await ours.hold(OTHER, seconds=100)
        assert await taken(theirs, budget=OTHER) == [False]


async def test_nothing_of_it_stays_in_redis_for_ever(redis_url: str) -> None:
    """Every budget is forgotten some time after it was used last."""
    async with RedisRateLimit(redis_url, team="T1") as limit:
        await limit.take([RateBudget("post:C1", 1, 1)])
        await limit.hold(RateBudget("post:C2", 1, 1), seconds=1)

        keys = await limit._redis.keys("*")
        lives = [await limit._redis.ttl(key) for key in keys]

    assert sorted(keys) == [b"roundtable:{T1}:pace:post:C1", b"roundtable:{T1}:pace:post:C2"]
    assert all(0 < life < 120 for life in lives)


async def test_without_redis_every_process_keeps_the_limit_by_itself(
    redis_server: RedisServer, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No error, no burst that was not there before, and one line in the log."""
    async with RedisRateLimit(redis_url, team="T1") as limit:
        assert await taken(limit, limit) == [True, True]
        redis_server.stop()
        assert await taken(limit, limit) == [True, False]
        await limit.hold(OTHER, seconds=100)
        assert await taken(limit, budget=OTHER) == [False]

    assert len([record for record in caplog.records if record.name == "bot.storage.limiter"]) == 1


async def test_a_redis_that_says_nothing_is_not_asked_again_and_again(
    silent_redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Once; then nobody asks it for a while."""
    async with RedisRateLimit(silent_redis_url, team="T1") as limit:
        fast = RateBudget("post:C1", 10_000, 100)
        assert await taken(*[limit] * 20, budget=fast) == [True] * 20

    assert len([record for record in caplog.records if record.name == "bot.storage.limiter"]) == 1


async def test_redis_is_used_again_when_it_is_back(
    redis_server: RedisServer, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing has to be started again."""
    monkeypatch.setattr("bot.storage.limiter.COOL_DOWN_SECONDS", 0)
    async with RedisRateLimit(redis_url, team="T1") as limit:
        redis_server.stop()
        await limit.take([SLOW])
        redis_server.start()
        await limit.take([SLOW])

        assert await limit._redis.exists("roundtable:{T1}:pace:post:C1")


async def test_a_redis_url_that_is_none_is_said_at_once() -> None:
    """As everywhere where it is used."""
    with pytest.raises(ConfigError, match="REDIS_URL"):
        RedisRateLimit("http://nowhere", team="T1")


@pytest.mark.parametrize("shared", [False, True], ids=["local", "redis"])
async def test_at_full_speed_only_a_hold_is_waited_for(redis_url: str, *, shared: bool) -> None:
    """For a Slack on this machine, which takes any number of calls until it says otherwise."""
    async with (
        RedisRateLimit(redis_url, speed=math.inf, team="T1") if shared else alone(speed=math.inf) as limit
    ):
        assert all(await taken(*[limit] * 200))
        await limit.hold(SLOW, seconds=100)
        assert await taken(limit) == [False]


async def test_budgets_that_are_not_used_are_forgotten() -> None:
    """There are more channels than memory."""
    limit = LocalRateLimit()
    for number in range(BUDGETS_REMEMBERED + 10):
        await limit.take([RateBudget(f"post:C{number}", 1e9, 2)])

    assert len(limit._buckets) <= BUDGETS_REMEMBERED


@given(
    st.lists(st.tuples(st.floats(0, 3), st.sampled_from(["take", "take", "take", "hold"])), max_size=60),
    st.integers(1, 6),
)
def test_whatever_happens_the_limit_is_kept(happenings: list[tuple[float, str]], burst: int) -> None:
    """Any calls and holds at any times: in no stretch more than allowed, and nothing at all during a hold."""
    now = 0.0
    limit, budget = LocalRateLimit(clock=lambda: now), RateBudget("post", 1, burst)
    called: list[float] = []
    holds: list[float] = []
    for pause, what in happenings:
        now += pause
        if what == "hold":
            asyncio.run(limit.hold(budget, seconds=2))
            holds.append(now)
        elif asyncio.run(limit.take([budget])) == 0:
            called.append(now)

    assert all(later - earlier >= 1 - 1e-9 for earlier, later in zip(called, called[burst:], strict=False))
    assert not [call for call in called for hold in holds if hold < call < hold + 2 - 1e-9]
