"""Who calls Slack first where its limits are short: what people wait for, never what tidies up."""

import asyncio
from collections.abc import Sequence
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from bot.engine.ports import Urgency
from bot.slack.pace import EDITING, POSTING, TIER_3, Pace, RateBudget, RateLimit, budgets
from tests.patience import wait_until

EDIT = budgets(EDITING, team="T1", channel="C1", message="7.1")


class Gate(RateLimit):
    """Lets as many calls through as a test opens it for."""

    def __init__(self) -> None:
        self.free = 0

    async def take(self, budgets: Sequence[RateBudget], *, spare: float = 0.0) -> float:  # noqa: ARG002
        if not self.free:
            return 0.001
        self.free -= 1
        return 0.0

    async def hold(self, budget: RateBudget, *, seconds: float) -> None:
        raise AssertionError((budget, seconds))


async def called_in_order(asked: Sequence[Urgency]) -> list[int]:
    """The numbers of those who *asked*, all while the gate was closed, in the order in which they may call."""
    gate = Gate()
    pace, came = Pace(gate), []

    async def call(number: int, urgency: Urgency) -> None:
        await pace.turn(EDIT, urgency)
        came.append(number)

    calls = [asyncio.create_task(call(number, one)) for number, one in enumerate(asked)]
    await asyncio.sleep(0)
    for number in range(1, len(asked) + 1):
        gate.free = 1
        await wait_until(partial(_has, came, number))
    await asyncio.gather(*calls)
    return came


def _has(came: list[int], number: int) -> bool:
    return len(came) == number


@given(st.lists(st.sampled_from(Urgency), max_size=8))
def test_the_most_urgent_goes_first_and_then_who_came_first(asked: list[Urgency]) -> None:
    """Whatever waits, and in whatever order it came."""
    came = asyncio.run(called_in_order(asked))

    assert came == sorted(range(len(asked)), key=lambda number: (asked[number], number))


async def test_a_caller_that_gives_up_holds_nobody_up() -> None:
    """The next one is first then."""
    gate = Gate()
    pace = Pace(gate)
    first = asyncio.create_task(pace.turn(EDIT, Urgency.ANSWER))
    second = asyncio.create_task(pace.turn(EDIT, Urgency.ANSWER))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    gate.free = 1
    await second
    assert gate.free == 0


async def test_what_tidies_up_leaves_room_for_a_press() -> None:
    """However much of it there is: after it, seven presses in a row are answered at once."""
    pace = Pace(RateLimit(clock=lambda: 0.0))
    for urgency in (Urgency.TIDY, Urgency.ROOT, Urgency.CARD):
        for number in range(100):
            wanted = budgets(EDITING, team="T1", channel="C1", message=f"{urgency}.{number}", urgency=urgency)
            await pace.try_turn(wanted, urgency)

    assert [await pace.try_turn(EDIT, Urgency.ANSWER) == 0 for _ in range(8)] == [True] * 7 + [False]


async def test_what_is_not_waited_for_never_overtakes_who_waits() -> None:
    """Also when there is room by then."""
    gate = Gate()
    pace = Pace(gate)
    waiting = asyncio.create_task(pace.turn(EDIT, Urgency.ANSWER))
    await asyncio.sleep(0)
    gate.free = 1
    assert await pace.try_turn(EDIT, Urgency.TIDY) > 0
    await waiting


async def test_a_message_is_edited_now_and_then_unless_it_was_pressed() -> None:
    """A card every four seconds, the first message every thirty; and only the newest edit is sent (ADR 43)."""
    pace = Pace(RateLimit(clock=lambda: 0.0))

    async def wait(urgency: Urgency) -> float:
        wanted = budgets(EDITING, team="T1", channel="C1", message="7.1", urgency=urgency)
        return await pace.try_turn(wanted, urgency)

    assert [await wait(Urgency.CARD), await wait(Urgency.CARD)] == [0, 4]
    assert await wait(Urgency.ANSWER) == 0
    assert await wait(Urgency.TIDY) == 0


def test_no_minute_sees_more_calls_than_slack_names() -> None:
    """A full bucket and what it fills with in a minute."""
    assert TIER_3.burst + TIER_3.per_second * 60 == 50
    assert [budget.name for budget in budgets("pins_add", team="T1")] == ["pins.add:T1"]
    posts = [budget.name for budget in budgets(POSTING, team="T1", channel="C1")]
    assert posts == ["chat.postMessage:T1.C1", "chat.postMessage:T1"]
