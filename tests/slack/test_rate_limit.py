"""`RateLimit`: no call beyond what a budget allows."""

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.pace import BUDGETS_REMEMBERED, RateBudget, RateLimit
from tests.patience import PATIENCE_SECONDS

SLOW = RateBudget("post:C1", 1 / 1_000, 3)
OTHER = RateBudget("post:C2", 1 / 1_000, 3)
NARROW = RateBudget("edit:C1.1", 1 / 1_000, 1)


@pytest.fixture
def limit() -> RateLimit:
    return RateLimit()


async def taken(*limits: RateLimit, budget: RateBudget = SLOW, spare: float = 0.0) -> list[bool]:
    """Which of *limits* let a call through, asked one after the other."""
    return [await limit.take([budget], spare=spare) == 0 for limit in limits]


async def until_taken(limit: RateLimit, budget: RateBudget) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
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


async def test_at_full_speed_only_a_hold_is_waited_for() -> None:
    """For a Slack on this machine, which takes any number of calls until it says otherwise."""
    limit = RateLimit(speed=math.inf)
    assert all(await taken(*[limit] * 200))
    await limit.hold(SLOW, seconds=100)
    assert await taken(limit) == [False]


async def test_budgets_that_are_not_used_are_forgotten() -> None:
    """There are more channels than memory."""
    limit = RateLimit()
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
    limit, budget = RateLimit(clock=lambda: now), RateBudget("post", 1, burst)
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
