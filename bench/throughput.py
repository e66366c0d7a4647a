"""
Presses in a second: 16 people work through the steps of 16 items at once. A press counts when what it leads to is
shown; every second one finishes a step, which is committed first.

One process with idle people, then with one press a second in all 16 threads together (each leads to three or four
calls of Slack, which takes about one a second from an app), then with people who never pause; two processes on one
workspace; two processes with a clone each and a remote. Goals: p95 of finishing a step ≤ 2 × idle, two processes on one
workspace ≥ 1.6 × one, two clones ≥ 1.4 × one. With `--beside DIR` also one process against one of another checkout,
goal ≥ 3 ×.

The sandbox and Redis need a share of the same cores, so with two cores the second process cannot add a whole one;
`cpu` is what the bots used for a press, all processes together, and hardly depends on that.
"""

import asyncio
import math
import random
import statistics
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from time import perf_counter

from bench import seeds
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, main
from bench.rooms import Item, Room, bots
from tests.redis_server import running_redis_server

AT_ONCE = 16
PRESSES, FINISH, CPU = "presses", "finish p95", "cpu"
UNITS = {PRESSES: "1/s", FINISH: "ms", CPU: "ms"}


async def measure(plan: Plan) -> list[Row]:
    async with AsyncExitStack() as stack:

        async def side(name: str, *, stored: bool = True, **how: object) -> Room:
            url = stack.enter_context(running_redis_server()).url if stored else ""
            running = bots(plan.folder / name, redis_url=url, **how)  # type: ignore[arg-type]
            return await stack.enter_async_context(running)

        one = await side("one")
        rows = await compared(
            plan, "one process, Redis, 16 threads, one press a second", floor_is="the same, one thread",
            floor=one, ours=one, goals={FINISH: Goal(at_most=2.0)}, floor_items=1, a_second=1.0,
        )  # fmt: skip
        rows += await compared(
            plan, "one process, Redis, 16 threads without a pause", floor_is="the same, one thread",
            floor=one, ours=one, goals={FINISH: Goal(at_most=2.0), PRESSES: NO_GOAL}, floor_items=1,
        )  # fmt: skip
        if plan.beside:
            for store in ("Redis", "embedded store"):
                stored = store == "Redis"
                before = await side(f"before, {store}", stored=stored, checkout=plan.beside)
                now = one if stored else await side("embedded", stored=False)
                rows += await compared(
                    plan, f"one process, {store}, 16 threads",
                    floor_is="the checkout beside", floor=before, ours=now,
                    goals={PRESSES: Goal(at_least=3.0), FINISH: NO_GOAL, CPU: NO_GOAL},
                )  # fmt: skip
        goals = {PRESSES: Goal(at_least=1.6), FINISH: NO_GOAL, CPU: NO_GOAL}
        two = await side("two", each=2)
        compared_to_one = partial(compared, plan, floor_is="one process", floor=one)
        rows += await compared_to_one("two processes, one workspace", ours=two, goals=goals)
        clones = await side("clones", clones=2, has_remote=True)
        goals |= {PRESSES: Goal(at_least=1.4)}
        return rows + await compared_to_one("two clones with a remote", ours=clones, goals=goals)


async def compared(
    plan: Plan,
    what: str,
    *,
    floor_is: str,
    floor: Room,
    ours: Room,
    goals: dict[str, Goal],
    floor_items: int = AT_ONCE,
    a_second: float = math.inf,
) -> list[Row]:
    rows = await plan.compare(
        what,
        floor_is=floor_is,
        floor=partial(pressed, plan, floor, items=floor_items),
        ours=partial(pressed, plan, ours, items=AT_ONCE, a_second=a_second),
        goals=goals,
    )
    return [row.with_unit(UNITS[row.metric]) for row in rows]


async def pressed(plan: Plan, place: Room, *, items: int, a_second: float = math.inf) -> Figures:
    """With new items, each at its first step."""
    begun = [await place.item() for _ in range(plan.size(items, min(items, 2)))]
    await place.quiet()
    steps = 18 if items == 1 else 6 if math.isinf(a_second) else 3
    return await worked(place, begun, steps=plan.size(steps, 1), a_second=a_second)


async def worked(place: Room, items: Sequence[Item], *, steps: int, a_second: float = math.inf) -> Figures:
    """At most so many presses *a_second*, of all people together."""
    began, cpu, before = perf_counter(), place.cpu(), sum(item.presses for item in items)
    pauses = Pauses(a_second)
    each = await asyncio.gather(*(_steps(item, steps, pauses) for item in items))
    seconds, used = perf_counter() - began, place.cpu() - cpu
    presses = sum(item.presses for item in items) - before
    finished = [one * 1000 for waited in each for one in waited]
    cuts = statistics.quantiles([*finished, finished[-1]], n=20, method="inclusive")
    return {
        PRESSES: presses / seconds,
        "finish p50": statistics.median(finished),
        FINISH: cuts[18],
        CPU: used * 1000 / presses,
    }


class Pauses:
    """Of people who know nothing of each other; the same ones in every round."""

    def __init__(self, a_second: float) -> None:
        self._a_second = a_second
        self._random = random.Random(1)  # noqa: S311 -- no secret
        self._next = 0.0

    async def pause(self) -> None:
        """Until it is the caller's turn to press."""
        now = perf_counter()
        self._next = max(self._next, now) + self._random.expovariate(self._a_second)
        await asyncio.sleep(self._next - now)


async def _steps(item: Item, steps: int, pauses: Pauses) -> list[float]:
    waited = []
    for number in range(steps):
        await item.say(seeds.ANSWERS[number % len(seeds.ANSWERS)])
        await pauses.pause()
        waited.append(await item.finish())
        await pauses.pause()
        await item.go_on()
    return waited


if __name__ == "__main__":
    main("throughput", measure, takes_beside=True)
