"""`Pace`: nobody calls Slack faster than it allows, whoever comes first goes first, and nothing ever fails."""

import asyncio
import math
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.engine.ports import RateLimit
from bot.errors import ConfigError
from bot.storage.limiter import BUDGETS_REMEMBERED, LocalRateLimit, RedisRateLimit
from tests.redis_server import RedisServer

Opening = Callable[[], AbstractAsyncContextManager[RateLimit]]
GRACE_SECONDS = 0.001
"""Two clocks are read one after the other."""


@pytest.fixture
def silent_redis_url() -> Iterator[str]:
    """Takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield f"redis://127.0.0.1:{silent.getsockname()[1]}/0"


@asynccontextmanager
async def alone(speed: float = 1) -> AsyncIterator[RateLimit]:
    yield LocalRateLimit(speed=speed)


@pytest.fixture(params=["local", "redis"])
def open_pace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Opening:
    """A pace, as one process has it, on a machine that may be busy."""
    monkeypatch.setattr("bot.storage.limiter.CALL_SECONDS", 20.0)
    if request.param == "local":
        return alone
    url = request.getfixturevalue("redis_url")
    return lambda: RedisRateLimit(url, team="T1")


@pytest.fixture
async def pace(open_pace: Opening) -> AsyncIterator[RateLimit]:
    async with open_pace() as opened:
        yield opened


async def seconds_of(*turns: RateLimit, per_second: float, burst: int) -> list[float]:
    """When each of *turns* came, all of them asked for at once and in this order."""
    began = time.monotonic()
    came: dict[int, float] = {}

    async def take(number: int, pace: RateLimit) -> None:
        await pace.turn("post:C1", per_second=per_second, burst=burst)
        came[number] = time.monotonic() - began

    await asyncio.gather(*(take(number, pace) for number, pace in enumerate(turns)))
    return [came[number] for number in sorted(came)]


async def test_a_burst_goes_at_once_and_the_rest_in_step(pace: RateLimit) -> None:
    """Three at once, and then one every twentieth of a second."""
    came = await seconds_of(*[pace] * 6, per_second=20, burst=3)

    assert came[3] >= 1 / 20 - GRACE_SECONDS
    assert came[4] >= 2 / 20 - GRACE_SECONDS
    assert came[5] >= 3 / 20 - GRACE_SECONDS
    assert came[2] < came[3]


async def test_first_come_first_served(pace: RateLimit) -> None:
    """Nobody overtakes."""
    came = await seconds_of(*[pace] * 8, per_second=50, burst=2)

    assert came == sorted(came)


async def test_budgets_do_not_wait_for_each_other(pace: RateLimit) -> None:
    """A busy channel is no reason to be slow in another."""
    await pace.turn("post:C1", per_second=0.001, burst=1)

    async with asyncio.timeout(5):
        await pace.turn("post:C2", per_second=0.001, burst=1)


async def test_a_hold_is_waited_for_by_everybody_also_by_those_who_waited_before(pace: RateLimit) -> None:
    """Slack said so; who was in the queue keeps their place, and nothing bursts out afterwards."""
    waiting = asyncio.create_task(seconds_of(*[pace] * 3, per_second=4, burst=1))
    await asyncio.wait({waiting}, timeout=0.1)  # by now all three have their places
    await pace.hold("post:C1", seconds=0.4)
    began = time.monotonic()
    await pace.turn("post:C1", per_second=4, burst=1)
    own = time.monotonic() - began
    first, second, third = await waiting

    assert first <= second <= third
    assert second >= 0.1 + 0.4 - GRACE_SECONDS
    assert third >= 0.1 + 0.4 + 1 / 4 - GRACE_SECONDS
    assert own >= 0.4 + 1 / 4 - GRACE_SECONDS


async def test_after_a_hold_there_is_no_burst(pace: RateLimit) -> None:
    """Whoever was told to slow down has used up what there was to use."""
    await pace.turn("post:C1", per_second=20, burst=10)
    await pace.hold("post:C1", seconds=0.1)

    came = await seconds_of(*[pace] * 3, per_second=20, burst=10)

    assert came[0] >= 0.1 - 0.01
    assert came[2] >= 0.1 + 2 / 20 - 0.01


async def test_a_hold_never_shortens_another(pace: RateLimit) -> None:
    """Two replicas may be told different things."""
    began = time.monotonic()
    await pace.hold("post:C1", seconds=0.2)
    await pace.hold("post:C1", seconds=0.01)

    await pace.turn("post:C1", per_second=1_000, burst=10)

    assert time.monotonic() - began >= 0.2 - 0.02


async def test_whoever_gives_up_holds_up_nobody_for_long(pace: RateLimit) -> None:
    """A cancelled wait costs one call's time at most."""
    await pace.turn("post:C1", per_second=2, burst=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await pace.turn("post:C1", per_second=2, burst=1)

    async with asyncio.timeout(5):
        await pace.turn("post:C1", per_second=2, burst=1)


async def test_processes_share_one_pace(redis_url: str) -> None:
    """Two replicas together are no faster than one."""
    async with AsyncExitStack() as stack:
        ours, theirs = [
            await stack.enter_async_context(RedisRateLimit(redis_url, team="T1")) for _ in range(2)
        ]

        came = await seconds_of(*[ours, theirs] * 3, per_second=20, burst=1)

    assert came[-1] >= 5 / 20 - GRACE_SECONDS


async def test_processes_share_a_hold(redis_url: str) -> None:
    """What Slack said to one of them was meant for all."""
    async with AsyncExitStack() as stack:
        ours, theirs = [
            await stack.enter_async_context(RedisRateLimit(redis_url, team="T1")) for _ in range(2)
        ]
        await ours.hold("post:C1", seconds=0.2)

        came = await seconds_of(theirs, per_second=1_000, burst=10)

    assert came[0] >= 0.2 - 0.02


async def test_nothing_of_it_stays_in_redis_for_ever(redis_url: str) -> None:
    """Every budget is forgotten some time after it was used last."""
    async with RedisRateLimit(redis_url, team="T1") as pace:
        await pace.turn("post:C1", per_second=1, burst=1)
        await pace.hold("post:C2", seconds=1)

        keys = await pace._redis.keys("*")
        lives = [await pace._redis.ttl(key) for key in keys]

    assert sorted(keys) == [b"roundtable:T1:pace:post:C1", b"roundtable:T1:pace:post:C2"]
    assert all(0 < life < 120 for life in lives)


async def test_without_redis_every_process_keeps_the_pace_by_itself(
    redis_server: RedisServer, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No error, no burst that was not there before, and one line in the log."""
    async with RedisRateLimit(redis_url, team="T1") as pace:
        await pace.turn("post:C1", per_second=20, burst=1)
        redis_server.stop()
        came = await seconds_of(*[pace] * 3, per_second=20, burst=1)
        await pace.hold("post:C1", seconds=0.1)
        held = await seconds_of(pace, per_second=20, burst=1)

    assert came[-1] >= 2 / 20 - 0.02
    assert held[0] >= 0.1 - 0.02
    assert len([record for record in caplog.records if record.name == "bot.storage.limiter"]) == 1


async def test_a_redis_that_says_nothing_is_not_waited_for_twice(silent_redis_url: str) -> None:
    """Half a second, once; then nobody asks it for a while."""
    async with RedisRateLimit(silent_redis_url, team="T1") as pace:
        began = time.monotonic()
        for _ in range(20):
            await pace.turn("post:C1", per_second=10_000, burst=10)

    assert time.monotonic() - began < 2


async def test_redis_is_used_again_when_it_is_back(
    redis_server: RedisServer, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing has to be started again."""
    monkeypatch.setattr("bot.storage.limiter.COOL_DOWN_SECONDS", 0)
    async with RedisRateLimit(redis_url, team="T1") as pace:
        redis_server.stop()
        await pace.turn("post:C1", per_second=1_000, burst=1)
        redis_server.start()
        await pace.turn("post:C1", per_second=1_000, burst=1)

        assert await pace._redis.exists("roundtable:T1:pace:post:C1")


async def test_a_redis_url_that_is_none_is_said_at_once() -> None:
    """As everywhere where it is used."""
    with pytest.raises(ConfigError, match="REDIS_URL"):
        RedisRateLimit("http://nowhere", team="T1")


@pytest.mark.parametrize("shared", [False, True], ids=["local", "redis"])
async def test_at_full_speed_only_a_hold_is_waited_for(redis_url: str, *, shared: bool) -> None:
    """For a Slack on this machine, which has all the time in the world until it says otherwise."""
    async with (
        RedisRateLimit(redis_url, speed=math.inf, team="T1") if shared else alone(speed=math.inf) as pace
    ):
        async with asyncio.timeout(20):
            await seconds_of(*[pace] * 200, per_second=0.001, burst=1)
        await pace.hold("post:C1", seconds=0.1)
        came = await seconds_of(pace, per_second=0.001, burst=1)

    assert came[0] >= 0.1 - 0.02


async def test_budgets_nobody_uses_are_forgotten() -> None:
    """There are more channels than memory."""
    pace = LocalRateLimit()
    for number in range(BUDGETS_REMEMBERED + 10):
        await pace.turn(f"post:C{number}", per_second=1e9, burst=2)

    assert len(pace._buckets) <= BUDGETS_REMEMBERED


@given(
    st.lists(st.tuples(st.floats(0, 3), st.sampled_from(["turn", "turn", "turn", "hold"])), max_size=60),
    st.integers(1, 6),
)
def test_whatever_happens_order_and_pace_are_kept(happenings: list[tuple[float, str]], burst: int) -> None:
    """Any turns and holds at any times: in no stretch more than allowed, and nothing at all during a hold."""
    now = 0.0
    pace = LocalRateLimit(clock=lambda: now)
    waiting: list[Callable[[], float]] = []
    called: list[float] = []
    holds: list[float] = []
    for pause, what in happenings:
        now += pause
        while waiting and waiting[0]() <= now:
            called.append(waiting.pop(0)())
        if what == "hold":
            pace.held("post", seconds=2)
            holds.append(now)
        else:
            bucket, place = pace.taken("post", per_second=1, burst=burst)
            waiting.append(partial(bucket.due, place))
    called += [due() for due in waiting]

    assert called == sorted(called)
    assert all(later - earlier >= 1 - 1e-9 for earlier, later in zip(called, called[burst:], strict=False))
    assert not [call for call in called for hold in holds if hold + 1e-9 < call < hold + 2 - 1e-9]
