"""
From a person's word to the first sign that it was heard: the bot's reaction on it (:memo: in a step).

Floor: a bare Bolt app over Socket Mode that adds the same reaction and saves nothing; it has a sandbox of its own, and
is asked the same things in turn. The bot saves the word first. Both are measured from outside, on the sandbox's
sockets. Goals, p50: one word at a time ≤ 5×, 16 at once in one thread ≤ 8×.

With `--beside DIR`, also against the bot of another checkout.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path

from bench import seeds
from bench.children import ROOT, child
from bench.harness import NO_GOAL, Figures, Goal, Plan, Row, main, timings
from bench.rooms import READY_SECONDS, WHO, Room, bots, room
from tests.redis_server import running_redis_server

FLOOR = "a bare Bolt app that only reacts"
AT_ONCE = 16
SIGN = "memo"
GOALS = {1: Goal(at_most=5.0), AT_ONCE: Goal(at_most=8.0)}

_words = count(1)


async def measure(plan: Plan) -> list[Row]:
    rows: list[Row] = []
    async with bare(plan.folder) as floor:
        for store in ("embedded store", "Redis"):
            async with AsyncExitStack() as stack:
                sides: dict[str, Room] = {}
                for name, checkout in {
                    "ours": ROOT,
                    **({"earlier": plan.beside} if plan.beside else {}),
                }.items():
                    redis = stack.enter_context(running_redis_server()) if store == "Redis" else None
                    running = bots(
                        plan.folder / f"{name} {store}",
                        checkout=checkout,
                        redis_url=redis.url if redis else "",
                    )
                    sides[name] = await stack.enter_async_context(running)
                rows += await compared(plan, store, floor, **sides)
    return rows


async def compared(
    plan: Plan, store: str, floor: Room, *, ours: Room, earlier: Room | None = None
) -> list[Row]:
    rows: list[Row] = []
    for at_once, goal in GOALS.items():
        number = plan.size(3 * AT_ONCE, 4)
        what = f"{store}, {at_once} at once in one thread" if at_once > 1 else f"{store}, one word at a time"
        goals = {"p50": goal, "p95": NO_GOAL}

        of_floor = partial(heard_by_floor, floor, number=number, at_once=at_once)
        of = partial(heard_by_bot, number=number, at_once=at_once)
        rows += await plan.compare(what, floor_is=FLOOR, floor=of_floor, ours=partial(of, ours), goals=goals)
        if earlier:
            rows += await plan.compare(
                what,
                floor_is="the checkout beside",
                floor=partial(of, earlier),
                ours=partial(of, ours),
                goals=dict.fromkeys(goals, NO_GOAL),
            )
    return rows


async def heard_by_floor(floor: Room, *, number: int, at_once: int) -> Figures:
    return await heard(floor, await floor.opened("Offline sync"), number=number, at_once=at_once)


async def heard_by_bot(side: Room, *, number: int, at_once: int) -> Figures:
    return await heard(side, (await side.item()).root, number=number, at_once=at_once)


async def heard(place: Room, root: str, *, number: int, at_once: int) -> Figures:
    await place.quiet()
    return timings(await signs(place, root, number=number, at_once=at_once))


async def signs(place: Room, root: str, *, number: int, at_once: int) -> list[float]:
    """Each word is said when all *at_once* before it were heard."""
    waited: list[float] = []
    for first in range(0, number, at_once):
        said = range(first, min(first + at_once, number))
        waited += await asyncio.gather(
            *(place.sign_for(root, _text(), who=WHO[each % len(WHO)]) for each in said)
        )
    return waited


def _text() -> str:
    number = next(_words)
    return f"{seeds.ANSWERS[number % len(seeds.ANSWERS)]} ({number})"


@asynccontextmanager
async def bare(folder: Path) -> AsyncIterator[Room]:
    async with room() as place:
        env = {
            "SLACK_API_URL": place.slack.api_url,
            "SLACK_BOT_TOKEN": place.slack.bot_token,
            "SLACK_APP_TOKEN": place.slack.app_token,
            "REACTION": SIGN,
            "PORT": "",
        }
        async with child("-m", "bench.bare_bolt", env=env, log=folder / "bare.log") as running:
            await place.slack.until(lambda: place.slack.connections, seconds=READY_SECONDS)
            place.bots.append(running)
            yield place


if __name__ == "__main__":
    main("first_sign", measure, takes_beside=True)
