"""
How long people wait for what they pressed while Slack's limits are on: 50 edits and 50 reactions a minute, one post a
second in a channel.

People pause for about a second before each word and each press. Four threads; sixteen threads with one press a second
in all; *Finish step* right after thirty answers; Home of ten people with roundtables in three channels; and what an
item of 24 steps takes of Slack.
"""

import asyncio
import statistics
from collections.abc import Awaitable, Iterable
from time import perf_counter

from bench import seeds
from bench.harness import Goal, Plan, Row, main, share
from bench.rooms import Item, Room, bots
from bench.throughput import Pauses
from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE

CROWD = tuple(
    User(id=f"U0CROWD{number:02}", name=f"crowd{number}", real_name=f"Crowd {number}") for number in range(10)
)
CHANNELS = ("one", "two", "three")
WHO = ("ada", "grace", "linus")
IDLE_SECONDS = 60.0
STEPS = 24
LIMITS = "the goal"


async def measure(plan: Plan) -> list[Row]:
    rows = await _threads(plan)
    rows += await _home(plan)
    return rows + await _whole_item(plan)


async def _threads(plan: Plan) -> list[Row]:
    async with bots(plan.folder / "threads", rate_limits=True) as room:
        four = [await room.item() for _ in range(4)]
        human = Pauses(4.0)
        waits = await _each(_worked(item, human, steps=plan.size(6, 1), words=3) for item in four)
        rows = [_row("4 threads, people who pause for a second", "press to answer p95", waits, goal=2.0)]

        [busy, *_] = four
        burst = await _burst(busy, seconds=15.0, words=plan.size(30, 5))
        rows.append(_row("right after 30 answers in 15 s", "finish", [burst], goal=2.0))

    async with bots(plan.folder / "sixteen", rate_limits=True) as room:
        sixteen = [await room.item() for _ in range(plan.size(16, 2))]
        pauses = Pauses(1.0)
        waits = await _each(_worked(item, pauses, steps=plan.size(4, 1), words=0) for item in sixteen)
        return [*rows, _row("16 threads, one press a second in all", "press to answer p95", waits, goal=3.0)]


async def _worked(item: Item, pauses: Pauses, *, steps: int, words: int) -> list[float]:
    """Seconds from each press to the menu, or to the next question."""
    waited = []
    for number in range(steps):
        for word in range(words):
            await pauses.pause()
            await item.write(seeds.ANSWERS[(number + word) % len(seeds.ANSWERS)], who=WHO[word % len(WHO)])
        await pauses.pause()
        waited.append(await item.finish())
        await pauses.pause()
        began = perf_counter()
        await item.go_on()
        waited.append(perf_counter() - began)
    return waited


async def _burst(item: Item, *, seconds: float, words: int) -> float:
    for number in range(words):
        await item.write(
            f"Answer {number}: {seeds.ANSWERS[number % len(seeds.ANSWERS)]}", who=WHO[number % 3]
        )
        await asyncio.sleep(seconds / words)
    return await item.finish()


async def _home(plan: Plan) -> list[Row]:
    async with bots(plan.folder / "home", rate_limits=True, people=(*PEOPLE, *CROWD)) as room:
        for name in CHANNELS:
            room.slack.add_channel(name)
            item = await room.item(f"#{name}")
            for person in CROWD:
                await item.write("I am in.", who=person.name)
        await room.quiet()
        opened = await _each(_opened(room, person.name) for person in CROWD)
        before = len(room.slack.calls_of("conversations.members"))
        await asyncio.sleep(plan.size(int(IDLE_SECONDS), 1))
        idle = len(room.slack.calls_of("conversations.members")) - before
        return [
            _row("Home of 10 people at once, 3 channels", "until it shows p95", opened, goal=1.5),
            share(
                "idle for a minute",
                "conversations.members",
                "calls",
                LIMITS,
                ours=idle,
                floor=6,
                goal=Goal(at_most=1),
            ),
        ]


async def _opened(room: Room, name: str) -> list[float]:
    person, began = room.slack.person(name), perf_counter()
    await person.open_home()
    await room.slack.until(lambda: person.home, seconds=60)
    return [perf_counter() - began]


async def _whole_item(plan: Plan) -> list[Row]:
    async with bots(plan.folder / "item", rate_limits=True) as room:
        item = await room.item()
        steps = plan.size(STEPS, 2)
        human = Pauses(1.0)
        for number in range(steps):
            for word, who in enumerate(WHO):
                await human.pause()
                await item.write(seeds.ANSWERS[(number + word) % len(seeds.ANSWERS)], who=who)
            await item.finish()
            if number + 1 < steps:
                await item.go_on()
        await room.quiet()
        counts = {method: len(room.slack.calls_of(method)) for method in ("chat.update", "chat.postMessage")}
        refused = [call.method for call in room.slack.calls if call.error == "ratelimited"]
        what = f"an item of {steps} steps"
        return [
            share(
                what,
                "chat.update",
                "calls",
                LIMITS,
                ours=counts["chat.update"],
                floor=80,
                goal=Goal(at_most=1),
            ),
            share(
                what, "chat.postMessage", "calls", "one a step", ours=counts["chat.postMessage"], floor=steps
            ),
            share(
                what, "refused as too many", "calls", LIMITS, ours=len(refused), floor=1, goal=Goal(at_most=0)
            ),
        ]


async def _each(people: Iterable[Awaitable[list[float]]]) -> list[float]:
    return [seconds for waited in await asyncio.gather(*people) for seconds in waited]


def _row(what: str, metric: str, waits: list[float], *, goal: float) -> Row:
    p95 = statistics.quantiles([*waits, waits[-1]], n=20, method="inclusive")[18]
    return share(what, metric, "s", LIMITS, ours=p95, floor=goal, goal=Goal(at_most=1))


if __name__ == "__main__":
    main("pace", measure)
